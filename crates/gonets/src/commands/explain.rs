//! `gonets explain`: what became of a delivery or a message, and what comes next, from the API.

use serde_json::Value;

use super::{facts, plain, print_json};
use crate::{
    client::{Api, ApiFlags, segment},
    error::Error,
    runtime,
    terminal::{Terminal, Tone},
};

#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// A delivery (msg_….ep_…), or the id or eventId of a message
    #[arg(value_name = "DELIVERY|MESSAGE")]
    name: String,
    /// The id or uid of its application
    #[arg(long)]
    app: String,
    /// JSON as the API has it instead of lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    api: ApiFlags,
}

impl Arguments {
    pub fn run(self) -> Result<(), Error> {
        let api = Api::of(&self.api)?;
        let (app, name) = (segment(&self.app), segment(&self.name));
        let is_delivery = is_delivery(&self.name);
        let path = if is_delivery {
            format!("/app/{app}/delivery/{name}")
        } else {
            format!("/app/{app}/msg/{name}/explain")
        };
        let shown: Value = runtime::on_one_thread(api.get(&path))?;
        if self.json {
            return print_json(&shown);
        }
        let terminal = Terminal::of_process();
        let lines = if is_delivery { delivery(terminal, &shown) } else { message(terminal, &shown) };
        lines.iter().for_each(|line| terminal.line(line));
        Ok(())
    }
}

/// Event ids may have a full stop in them, too.
fn is_delivery(name: &str) -> bool {
    name.split_once('.')
        .is_some_and(|(message, endpoint)| message.starts_with("msg_") && endpoint.starts_with("ep_"))
}

/// A message, then each of its deliveries.
fn message(terminal: Terminal, shown: &Value) -> Vec<String> {
    let mut table = vec![("message", plain(&shown["messageId"])), ("event", event(shown))];
    let state = plain(&shown["state"]);
    let state = match &shown["reason"] {
        Value::Null => state,
        reason => format!("{state} ({})", plain(reason)),
    };
    table.push(("state", terminal.paint(tone(&plain(&shown["state"])), state)));
    table.extend(held(&shown["hold"]).map(|held| ("held", held)));
    table.push(("expires", plain(&shown["expiresAt"])));
    let mut lines = facts(&table);
    for one in shown["deliveries"].as_array().into_iter().flatten() {
        lines.push(String::new());
        lines.extend(delivery(terminal, one));
    }
    if shown["hasMore"] == true {
        lines.extend([String::new(), "There are more deliveries than these.".to_owned()]);
    }
    lines
}

/// The facts of a delivery, then its timeline.
fn delivery(terminal: Terminal, shown: &Value) -> Vec<String> {
    let state = plain(&shown["state"]);
    let mut table = vec![
        ("delivery", plain(&shown["id"])),
        ("event", event(shown)),
        ("state", terminal.paint(tone(&state), &state)),
    ];
    if shown["reason"].is_string() {
        table.push(("reason", plain(&shown["reason"])));
    }
    table.extend(held(&shown["hold"]).map(|held| ("held", held)));
    if shown["nextAttempt"].is_string() {
        let rule = shown["nextAttemptRule"].as_str().map_or_else(String::new, |rule| format!(" ({rule})"));
        table.push(("next", format!("{}{rule}", plain(&shown["nextAttempt"]))));
    }
    let counted = |count: &Value, what: &str| format!("{count} {what}{}", if *count == 1 { "" } else { "s" });
    let used = [
        counted(&shown["attempts"], "attempt"),
        counted(&shown["used"]["outage"], "outage step"),
        counted(&shown["used"]["refusal"], "refusal step"),
    ];
    table.push(("used", used.join(", ")));
    if state == "waiting" {
        table.push(("expires", plain(&shown["expiresAt"])));
    }
    let mut lines = facts(&table);
    lines.push(String::new());
    lines.extend(shown["timeline"].as_array().into_iter().flatten().map(|event| happened(terminal, event)));
    lines
}

fn event(shown: &Value) -> String {
    let critical = if shown["critical"] == true { ", critical" } else { "" };
    format!("{}{critical}", plain(&shown["eventType"]))
}

fn held(hold: &Value) -> Option<String> {
    let until = hold["until"].as_str().map_or_else(String::new, |until| format!(" (until {until})"));
    hold["sentence"].as_str().map(|sentence| format!("{sentence}{until}"))
}

fn happened(terminal: Terminal, event: &Value) -> String {
    let kind = event["outcome"].as_str().or(event["kind"].as_str()).unwrap_or_default();
    let at = terminal.paint(Tone::Faint, plain(&event["at"]));
    format!("  {at}  {}", terminal.paint(tone(kind), plain(&event["text"])))
}

fn tone(word: &str) -> Tone {
    match word {
        "delivered" => Tone::Good,
        "failed" | "cancelled" | "skipped" => Tone::Bad,
        "accepted" | "routed" | "routed_nowhere" | "shortened" => Tone::Strong,
        _ => Tone::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_delivery_is_told_from_an_event_id_with_a_full_stop() {
        assert!(is_delivery("msg_1.ep_2"));
        assert!(!is_delivery("msg_1") && !is_delivery("order.17") && !is_delivery("msg_1.2"));
    }

    #[test]
    fn a_delivery_is_a_table_of_facts_and_its_timeline() {
        let shown = json!({
            "id": "msg_1.ep_2", "eventType": "order.paid", "critical": true, "state": "waiting", "reason": null,
            "hold": {"name": "breaker_open", "sentence": "the server is down", "until": "T3"},
            "used": {"outage": 1, "refusal": 0}, "attempts": 2, "nextAttempt": "T3", "nextAttemptRule": "breaker",
            "expiresAt": "T9",
            "timeline": [{"at": "T1", "kind": "accepted", "text": "accepted as order.paid"}],
        });
        assert_eq!(
            delivery(Terminal::plain(), &shown),
            [
                "delivery  msg_1.ep_2",
                "event     order.paid, critical",
                "state     waiting",
                "held      the server is down (until T3)",
                "next      T3 (breaker)",
                "used      2 attempts, 1 outage step, 0 refusal steps",
                "expires   T9",
                "",
                "  T1  accepted as order.paid",
            ]
        );
    }

    #[test]
    fn a_message_without_deliveries_says_what_it_waits_for() {
        let shown = json!({
            "messageId": "msg_1", "eventType": "order.paid", "critical": false, "state": "waiting",
            "hold": {"name": "no_endpoint", "sentence": "the application has no endpoint yet", "until": null},
            "expiresAt": "T9", "deliveries": [], "hasMore": false,
        });
        let lines = message(Terminal::plain(), &shown);
        assert_eq!(lines[3], "held     the application has no endpoint yet");
        assert_eq!(lines.len(), 5);
    }
}
