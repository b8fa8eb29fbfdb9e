//! The API over a real engine and the store in memory.

mod applications;
mod description;
mod endpoints;
mod journal;
mod messages;
mod pages;
mod races;
mod rest;
mod words;
mod world;
