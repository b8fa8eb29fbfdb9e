//! The binary: command line, configuration, wiring and the order of starting and stopping. What
//! the parts do is in their crates; nothing here decides what becomes of a delivery.
//!
//! - [`cli`], [`commands`]: the command line, one module for each command.
//! - [`config`], [`secrets`]: what a server is started with.
//! - [`serving`]: store, engine, service and API put together, and taken apart in order.
//! - [`installation`]: a data directory that no server has open.
//! - [`client`]: a running server, over its API. [`receiver`]: the other end of a delivery.
//! - [`demo`]: all of it in one process, to look at.
//! - [`files`], [`logs`], [`terminal`], [`timekeeper`]: the process and its surroundings.

use clap::Parser;

mod cli;
mod client;
mod commands;
mod config;
mod demo;
mod error;
mod files;
mod installation;
mod logs;
mod receiver;
mod runtime;
mod secrets;
mod serving;
mod terminal;
mod timekeeper;

/// An eighth of the CPU is the allocator's; this one is the quickest for small, short-lived pieces.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::Cli::parse().run()
}
