//! The API over a real engine and the store in memory.

mod applications;
mod description;
mod endpoints;
mod messages;
mod rest;
mod world;
