//! `gonets demo`: everything in one process, to look at.

use std::net::SocketAddr;

use crate::{demo, error::Error, runtime};

#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// The address of the demo's server
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8071")]
    listen: SocketAddr,
    /// End when all sample events have come to their ends; status 1 if one was lost, unverified or
    /// delivered twice
    #[arg(long)]
    once: bool,
}

impl Arguments {
    pub fn run(self) -> Result<(), Error> {
        runtime::on_all_cores(demo::run(self.listen, self.once))
    }
}
