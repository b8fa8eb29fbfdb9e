//! `gonets backup FILE`: a copy of the store, whether its server runs or not.

use std::path::PathBuf;

use gonets_store_sqlite::Sqlite;

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
        Sqlite::copy(&super::data_dir(&self.config)?, &self.file).map_err(Error::Backup)?;
        Terminal::of_process().line(format_args!(
            "Copied the store to {}. To restore it, put it as gonets.db into an empty data directory.",
            self.file.display()
        ));
        Ok(())
    }
}
