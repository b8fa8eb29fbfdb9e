//! `gonets completions SHELL`: completions for a shell, on standard output.

use clap::CommandFactory;

use crate::{cli::Cli, error::Error, terminal::Terminal};

#[derive(clap::Args, Debug)]
pub struct Arguments {
    shell: clap_complete::Shell,
}

impl Arguments {
    pub fn run(self) -> Result<(), Error> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "gonets", &mut script);
        Terminal::of_process().raw(&String::from_utf8_lossy(&script));
        Ok(())
    }
}
