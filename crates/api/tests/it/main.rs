//! The API over a real engine and the store in memory.

mod applications;
mod balances;
mod deliveries;
mod description;
mod enabling;
mod endpoints;
mod gates;
mod journal;
mod messages;
mod operational;
mod pages;
mod partner;
mod profiles;
mod races;
mod rest;
mod words;
mod world;
