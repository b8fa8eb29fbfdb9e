//! `gonets breaker status|reset APP`: what holds an application's deliveries back, and "they are back".

use clap::Subcommand;
use http::Method;
use serde_json::{Value, json};

use super::{facts, plain, print_json};
use crate::{
    client::{Api, ApiFlags, segment},
    error::Error,
    runtime,
    terminal::Terminal,
};

#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Show open breakers, throttled endpoints and freezes
    Status(Flags),
    /// Probe at once; the pause starts over
    Reset {
        /// Only this endpoint's, where endpoints have breakers of their own: id or uid
        #[arg(long, value_name = "ENDPOINT")]
        endpoint: Option<String>,
        #[command(flatten)]
        on: Flags,
    },
}

#[derive(clap::Args, Debug)]
struct Flags {
    /// The application's id or uid
    app: String,
    /// One JSON value instead of lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    api: ApiFlags,
}

impl Arguments {
    pub fn run(self) -> Result<(), Error> {
        match self.action {
            Action::Status(on) => status(&on),
            Action::Reset { endpoint, on } => reset(endpoint.as_deref(), &on),
        }
    }
}

fn status(on: &Flags) -> Result<(), Error> {
    let api = Api::of(&on.api)?;
    let path = format!("/app/{}/breaker", segment(&on.app));
    let shown: Value = runtime::on_one_thread(api.get(&path))?;
    if on.json {
        return print_json(&shown);
    }
    let terminal = Terminal::of_process();
    facts(&table(&shown)).iter().for_each(|line| terminal.line(line));
    Ok(())
}

fn reset(endpoint: Option<&str>, on: &Flags) -> Result<(), Error> {
    let api = Api::of(&on.api)?;
    let path = format!("/app/{}/breaker/reset", segment(&on.app));
    let body = endpoint.map_or_else(|| json!({}), |endpoint| json!({ "endpointId": endpoint }));
    runtime::on_one_thread(api.order(Method::POST, &path, &body))?;
    if on.json {
        return print_json(&json!({ "reset": true }));
    }
    Terminal::of_process().line(format_args!("{}  breaker reset; what was open is probed at once", on.app));
    Ok(())
}

fn table(shown: &Value) -> Vec<(&'static str, String)> {
    let each = |name: &str| shown[name].as_array().cloned().unwrap_or_default();
    let mut table: Vec<(&'static str, String)> = Vec::new();
    for breaker in each("breakers") {
        let what = breaker["endpointId"].as_str().unwrap_or("the application");
        let (since, next) = (plain(&breaker["openedAt"]), plain(&breaker["probeAt"]));
        let pause_s = breaker["pauseMs"].as_u64().unwrap_or(0) / 1000;
        table.push(("open", format!("{what}, since {since}, next probe at {next}, pause {pause_s} s")));
    }
    for throttle in each("throttles") {
        table.push((
            "throttled",
            format!("{} until {}", plain(&throttle["endpointId"]), plain(&throttle["until"])),
        ));
    }
    if let Some(scope) = shown["frozen"]["scope"].as_str() {
        table.push(("frozen", format!("{scope}, since {}", plain(&shown["frozen"]["since"]))));
    }
    if let Some(since) = shown["sendingPausedSince"].as_str() {
        table.push(("paused", format!("all sending, since {since}: our own network seems to be down")));
    }
    if table.is_empty() {
        let closed = match shown["scope"].as_str() {
            Some(scope) => format!("closed (one for each {scope}); nothing is held back"),
            None => "none: the profile has no breaker; nothing is held back".to_owned(),
        };
        table.push(("breaker", closed));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_deliveries_back_is_one_line_each() {
        let nothing = json!({
            "scope": "endpoint", "breakers": [], "throttles": [], "frozen": null, "sendingPausedSince": null
        });
        assert_eq!(
            facts(&table(&nothing)),
            ["breaker  closed (one for each endpoint); nothing is held back"]
        );
        let all = json!({
            "scope": "application",
            "breakers": [{"scope": "application", "state": "open", "openedAt": "T0", "pauseMs": 300_000, "probeAt": "T1"}],
            "throttles": [{"endpointId": "ep_1", "until": "T2"}],
            "frozen": {"scope": "environment", "since": "T3"},
            "sendingPausedSince": "T4",
        });
        assert_eq!(
            facts(&table(&all)),
            [
                "open       the application, since T0, next probe at T1, pause 300 s",
                "throttled  ep_1 until T2",
                "frozen     environment, since T3",
                "paused     all sending, since T4: our own network seems to be down",
            ]
        );
    }
}
