//! The command line: which commands there are, and the exit status. What each does is in
//! [`crate::commands`]; only commands that work are declared.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{commands, error::Error};

/// Gonets delivers a platform's events to its partners' HTTP endpoints.
#[derive(Parser, Debug)]
#[command(name = "gonets", version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// See it work: a server, four receivers, sample events and a live account
    Demo(commands::demo::Arguments),
    /// Run the server
    Serve(commands::serve::Arguments),
    /// Receive deliveries on this machine and show them, verified or not
    Listen(commands::listen::Arguments),
    /// Post a message to a running server
    Send(commands::send::Arguments),
    /// What became of a delivery or a message, and what comes next
    Explain(commands::explain::Arguments),
    /// Show what holds an application's deliveries back, and reset its breaker
    Breaker(commands::breaker::Arguments),
    /// Stop sending for an application, an environment or all; accepting goes on
    Freeze(commands::freeze::Arguments),
    /// Let what was frozen go on
    Thaw(commands::freeze::Arguments),
    /// The timeline that a profile gives a delivery
    Simulate(commands::simulate::Arguments),
    /// Check a signature from a file of headers and body
    Verify(commands::verify::Arguments),
    /// Make, list and revoke admin keys
    Key(commands::key::Arguments),
    /// Make and list environments
    Env(commands::env::Arguments),
    /// Check or print the configuration
    Config(commands::config::Arguments),
    /// Copy the store into one file, whether its server runs or not
    Backup(commands::backup::Arguments),
    /// Print the API's OpenAPI description
    Openapi(commands::openapi::Arguments),
    /// Print completions for a shell
    Completions(commands::completions::Arguments),
}

impl Cli {
    /// Runs the command; what went wrong is one sentence on standard error.
    pub fn run(self) -> ExitCode {
        match self.command.run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("gonets: {error}");
                ExitCode::from(error.status())
            }
        }
    }
}

impl Command {
    fn run(self) -> Result<(), Error> {
        match self {
            Self::Demo(arguments) => arguments.run(),
            Self::Serve(arguments) => arguments.run(),
            Self::Listen(arguments) => arguments.run(),
            Self::Send(arguments) => arguments.run(),
            Self::Explain(arguments) => arguments.run(),
            Self::Breaker(arguments) => arguments.run(),
            Self::Freeze(arguments) => arguments.freeze(),
            Self::Thaw(arguments) => arguments.thaw(),
            Self::Simulate(arguments) => arguments.run(),
            Self::Verify(arguments) => arguments.run(),
            Self::Key(arguments) => arguments.run(),
            Self::Env(arguments) => arguments.run(),
            Self::Config(arguments) => arguments.run(),
            Self::Backup(arguments) => arguments.run(),
            Self::Openapi(arguments) => arguments.run(),
            Self::Completions(arguments) => arguments.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_the_contract_shows_is_understood() {
        for line in [
            "gonets demo",
            "gonets demo --once --listen 127.0.0.1:0",
            "gonets serve --config g.toml --listen 127.0.0.1:0 --data d --dev",
            "gonets serve --database postgres://localhost/gonets",
            "gonets listen --port 0 --secret whsec_x --status 500 --delay 2s",
            "gonets send shop order.paid --data - --wait --url http://127.0.0.1:8071 --token dev",
            "gonets explain msg_1.ep_2 --app shop --json",
            "gonets explain order-17 --app shop --url http://127.0.0.1:8071 --token dev",
            "gonets breaker status shop",
            "gonets breaker reset shop --endpoint ep_2",
            "gonets freeze shop",
            "gonets freeze --environment",
            "gonets thaw --all --json",
            "gonets simulate --profile payments --critical --outcomes 500,500,404,200",
            "gonets simulate --profile payments --repeat 500 --held-until 6d --config g.toml --json",
            "gonets verify request.txt --secret whsec_x",
            "gonets key create ci --data d",
            "gonets key list --url http://127.0.0.1:8071 --token dev --json",
            "gonets key revoke key_1",
            "gonets env create staging",
            "gonets env list --json",
            "gonets config check --config g.toml",
            "gonets config print --dev",
            "gonets backup copy.sqlite",
            "gonets openapi",
            "gonets completions bash",
        ] {
            let parsed = Cli::try_parse_from(line.split(' '));
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }

    #[test]
    fn mistakes_in_the_command_line_have_status_2() {
        for line in
            ["gonets", "gonets serve --frobnicate", "gonets listen --status 99", "gonets listen --delay 2"]
        {
            let error = Cli::try_parse_from(line.split(' ')).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
