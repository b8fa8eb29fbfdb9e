//! `gonets simulate`: the timeline that a profile gives a delivery, from the machine that delivers.

mod drawing;
mod table;

use std::{path::PathBuf, sync::Arc, time::Duration};

use gonets_api::models::simulation::SimulationOut;
use gonets_core::duration::DurationText;
use gonets_dispatch::simulate::{Meets, Plan, Script, simulate};

use super::print_json;
use crate::{
    config::{self as configuration, Config, ConfigFlags, Variables},
    error::Error,
    terminal::Terminal,
};

#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// The profile, built in or of the configuration [default: the default profile]
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// The message is critical
    #[arg(long)]
    critical: bool,
    /// What the endpoint answers, attempt after attempt: 500, 429:30 (with Retry-After), timeout, network,
    /// blocked, interrupted; the last goes on
    #[arg(long, value_name = "ANSWERS", value_delimiter = ',', required_unless_present = "repeat")]
    outcomes: Vec<Meets>,
    /// What it answers after those
    #[arg(long, value_name = "ANSWER")]
    repeat: Option<Meets>,
    /// How long the message waits for an endpoint first, such as 6d
    #[arg(long, value_name = "TIME")]
    held_until: Option<DurationText>,
    /// A TOML file with own profiles
    #[arg(long, value_name = "FILE", env = "GONETS_CONFIG")]
    config: Option<PathBuf>,
    /// JSON instead of a table and a drawing
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub fn run(self) -> Result<(), Error> {
        let json = self.json;
        let plan = self.plan()?;
        let timeline = simulate(&plan);
        if json {
            return print_json(&SimulationOut::from(&timeline));
        }
        let terminal = Terminal::of_process();
        let critical = if plan.critical { ", critical" } else { "" };
        terminal.line(format_args!("{}{critical}\n", plan.profile.name));
        table::lines(terminal, &timeline).iter().for_each(|line| terminal.line(line));
        terminal.line("");
        drawing::lines(terminal, &timeline).iter().for_each(|line| terminal.line(line));
        Ok(())
    }

    fn plan(self) -> Result<Plan, Error> {
        let flags = ConfigFlags { config: self.config, ..ConfigFlags::default() };
        let Config { profiles, default_profile, .. } = configuration::load(&flags, &Variables::of_process())?;
        let profile = match &self.profile {
            None => default_profile,
            Some(name) => profiles.get(name).map(Arc::clone).ok_or_else(|| {
                let known: Vec<_> = profiles.iter().map(|known| known.name.as_str()).collect();
                Error::NoSuchProfile { name: name.clone(), known: known.join(", ") }
            })?,
        };
        let script = Script::new(self.outcomes, self.repeat)
            .ok_or(Error::Request("--outcomes says nothing. Give at least one answer, or --repeat."))?;
        let held_for = self.held_until.map_or(Duration::ZERO, Duration::from);
        Ok(Plan { profile, critical: self.critical, script, held_for })
    }
}

/// A span as a person says it, in its two largest units: `1 d 3 h`, `8 min 31 s`, `0 s`.
fn spoken(span: Duration) -> String {
    const UNITS: [(u128, &str); 5] =
        [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms")];
    let mut rest = span.as_millis();
    let mut parts = Vec::new();
    for (length, unit) in UNITS {
        let count = rest / length;
        rest %= length;
        if count > 0 && parts.len() < 2 {
            parts.push(format!("{count} {unit}"));
        }
    }
    if parts.is_empty() { "0 s".to_owned() } else { parts.join(" ") }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser, Debug)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn plan(line: &str) -> Result<Plan, String> {
        let line = Line::try_parse_from(line.split(' ')).map_err(|error| error.to_string())?;
        line.arguments.plan().map_err(|error| error.to_string())
    }

    #[test]
    fn spans_are_spoken_in_two_units() {
        let spoken = |millis| spoken(Duration::from_millis(millis));
        assert_eq!(spoken(0), "0 s");
        assert_eq!(spoken(511_000), "8 min 31 s");
        assert_eq!(spoken(97_200_000), "1 d 3 h");
        assert_eq!(spoken(519_300_000), "6 d 15 min");
        assert_eq!(spoken(1_250), "1 s 250 ms");
    }

    #[test]
    fn the_command_line_becomes_a_plan() {
        let plan =
            plan("simulate --profile payments --critical --outcomes 500,429:30,timeout --held-until 6d");
        let plan = plan.unwrap();
        assert_eq!((plan.profile.name.as_str(), plan.critical), ("payments", true));
        assert_eq!(plan.held_for, Duration::from_secs(6 * 86_400));
        assert_eq!(simulate(&plan).attempts[1].meets.to_string(), "429:30");
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(plan("simulate").unwrap_err().contains("--outcomes"));
        assert!(plan("simulate --outcomes ok").unwrap_err().contains("\"ok\" is no answer"));
        let error = plan("simulate --profile nothing --outcomes 200").unwrap_err();
        assert_eq!(error, "there is no profile \"nothing\". There are payments, standard, svix.");
    }
}
