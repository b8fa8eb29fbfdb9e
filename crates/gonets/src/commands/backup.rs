//! `gonets backup FILE`: a copy of a stopped server's store.

use std::path::PathBuf;

use super::on_directory;
use crate::{config::ConfigFlags, error::Error, terminal::Terminal};

#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// The file to make; it must not be there yet
    file: PathBuf,
    #[command(flatten)]
    config: ConfigFlags,
}

impl Arguments {
    pub fn run(self) -> Result<(), Error> {
        on_directory(&self.config, |installation| installation.backup(&self.file))?;
        Terminal::of_process().line(format_args!(
            "Copied the store to {}. To restore it, put it as gonets.db into an empty data directory.",
            self.file.display()
        ));
        Ok(())
    }
}
