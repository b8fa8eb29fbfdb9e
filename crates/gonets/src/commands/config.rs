//! `gonets config check|print`: what file, environment and flags come to.

use clap::Subcommand;
use gonets_egress::Egress;

use crate::{
    config::{self as configuration, Config, ConfigFlags, Variables},
    error::Error,
    terminal::Terminal,
};

#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Say whether a server could start with this configuration
    Check(ConfigFlags),
    /// Print every setting as TOML, secrets masked
    Print(ConfigFlags),
}

impl Arguments {
    pub fn run(self) -> Result<(), Error> {
        match self.action {
            Action::Check(flags) => check(&flags),
            Action::Print(flags) => print(&flags),
        }
    }
}

fn check(flags: &ConfigFlags) -> Result<(), Error> {
    let config = configuration::load(flags, &Variables::of_process())?;
    Egress::new(config.egress.clone())?;
    let own = config.settings.profiles.len();
    Terminal::of_process().line(format_args!(
        "The configuration is good: listens on {}, data in {}, default profile {}, {own} own profile{}.",
        config.settings.listen,
        config.settings.data_dir.display(),
        config.default_profile.name,
        if own == 1 { "" } else { "s" },
    ));
    Ok(())
}

/// What cannot be served is printed too, with the reason on standard error: whoever looks for a
/// mistake needs to see what was read.
fn print(flags: &ConfigFlags) -> Result<(), Error> {
    let settings = configuration::settings(flags, &Variables::of_process())?;
    Terminal::of_process().raw(&configuration::to_toml(&settings)?);
    Config::of(settings, flags.dev)?;
    Ok(())
}
