//! `gonets openapi`: the API's description, on standard output.

use crate::{error::Error, serving, terminal::Terminal};

#[derive(clap::Args, Debug)]
pub struct Arguments {}

impl Arguments {
    pub fn run(self) -> Result<(), Error> {
        Terminal::of_process().line(serving::openapi()?);
        Ok(())
    }
}
