//! `gonets send APP TYPE`: posts a message and, with `--wait`, follows it to the end.

use std::{collections::BTreeMap, io::Read, path::PathBuf, time::Duration};

use http::Method;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::print_json;
use crate::{
    client::{Api, ApiFlags, segment},
    error::Error,
    runtime,
    terminal::{Terminal, Tone},
};

/// How often the server is asked while waiting.
const ASK_EVERY: Duration = Duration::from_millis(200);

#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// The application's id or uid
    app: String,
    /// The event type, such as order.paid
    #[arg(value_name = "TYPE")]
    event_type: String,
    /// The payload: a file of JSON, or - for standard input [default: {}]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Your own id of the event; a second message with it is refused
    #[arg(long, value_name = "ID")]
    event_id: Option<String>,
    /// Follow the message until each of its deliveries has ended
    #[arg(long)]
    wait: bool,
    /// JSON instead of lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    api: ApiFlags,
}

/// The part of a message's answer that is needed here.
#[derive(Deserialize)]
struct Posted {
    id: String,
}

/// One delivery: an endpoint with how the message fares there.
#[derive(Deserialize, serde::Serialize, Clone, PartialEq, Debug)]
#[serde(rename_all = "camelCase")]
struct Delivery {
    id: String,
    url: String,
    /// 0 success, 1 pending, 2 fail, 3 sending, 4 canceled.
    status: u8,
    #[serde(default)]
    next_attempt: Option<String>,
}

#[derive(Deserialize)]
struct Page {
    data: Vec<Delivery>,
}

impl Delivery {
    const fn has_ended(&self) -> bool {
        matches!(self.status, 0 | 2 | 4)
    }

    const fn word(&self) -> (&'static str, Tone) {
        match self.status {
            0 => ("delivered", Tone::Good),
            1 => ("waiting", Tone::Waiting),
            2 => ("failed", Tone::Bad),
            3 => ("will be tried again", Tone::Waiting),
            _ => ("cancelled", Tone::Bad),
        }
    }
}

impl Arguments {
    pub fn run(self) -> Result<(), Error> {
        runtime::on_one_thread(self.send())
    }

    async fn send(self) -> Result<(), Error> {
        let api = Api::of(&self.api)?;
        let body = self.body(&self.payload()?)?;
        let path = format!("/app/{}/msg", segment(&self.app));
        let posted: Posted = api.ask(Method::POST, &path, body.into()).await?;
        let terminal = Terminal::of_process();
        if !self.json {
            terminal.line(format_args!("{}  accepted", posted.id));
        }
        if !self.wait {
            return if self.json { print_json(&serde_json::json!({ "id": posted.id })) } else { Ok(()) };
        }
        let deliveries =
            follow(&api, &format!("{path}/{}/endpoint", posted.id), (!self.json).then_some(terminal)).await?;
        if self.json {
            print_json(&serde_json::json!({ "id": posted.id, "deliveries": deliveries }))?;
        }
        judge(&deliveries)
    }

    fn payload(&self) -> Result<Box<RawValue>, Error> {
        let text = match &self.data {
            None => "{}".to_owned(),
            Some(path) => {
                let told = |cause| Error::Read { path: path.clone(), cause };
                if path.as_os_str() == "-" {
                    let mut text = String::new();
                    std::io::stdin().lock().read_to_string(&mut text).map_err(told)?;
                    text
                } else {
                    std::fs::read_to_string(path).map_err(told)?
                }
            }
        };
        serde_json::from_str(&text).map_err(Error::NotJson)
    }

    /// The payload travels byte for byte.
    fn body(&self, payload: &RawValue) -> Result<Vec<u8>, Error> {
        #[derive(serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        struct MessageIn<'a> {
            event_type: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            event_id: Option<&'a str>,
            payload: &'a RawValue,
        }
        let message = MessageIn { event_type: &self.event_type, event_id: self.event_id.as_deref(), payload };
        serde_json::to_vec(&message).map_err(Error::NotJson)
    }
}

/// Asks until every delivery has ended, and tells each change.
async fn follow(api: &Api, path: &str, told: Option<Terminal>) -> Result<Vec<Delivery>, Error> {
    let mut before: BTreeMap<String, Delivery> = BTreeMap::new();
    loop {
        let Page { data } = api.get(path).await?;
        for delivery in &data {
            if let Some(terminal) = told.filter(|_| before.get(&delivery.id) != Some(delivery)) {
                terminal.line(as_text(terminal, delivery));
            }
            before.insert(delivery.id.clone(), delivery.clone());
        }
        if data.iter().all(Delivery::has_ended) {
            return Ok(data);
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
}

fn as_text(terminal: Terminal, delivery: &Delivery) -> String {
    let (word, tone) = delivery.word();
    let next =
        delivery.next_attempt.as_deref().map_or_else(String::new, |at| format!(", next attempt at {at}"));
    format!("  {}  {}{next}", delivery.url, terminal.paint(tone, word))
}

fn judge(deliveries: &[Delivery]) -> Result<(), Error> {
    if deliveries.is_empty() {
        return Err(Error::NotDelivered(
            "no endpoint of the application takes this type, so nobody gets it.".to_owned(),
        ));
    }
    let lost = deliveries.iter().filter(|delivery| delivery.status != 0).count();
    if lost > 0 {
        return Err(Error::NotDelivered(format!(
            "{lost} of {} deliveries did not succeed.",
            deliveries.len()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(status: u8) -> Delivery {
        Delivery { id: "ep_1".to_owned(), url: "http://x/".to_owned(), status, next_attempt: None }
    }

    #[test]
    fn only_a_message_that_everyone_got_is_a_success() {
        assert!(judge(&[delivery(0), delivery(0)]).is_ok());
        let error = judge(&[delivery(0), delivery(2), delivery(4)]).unwrap_err().to_string();
        assert_eq!(error, "2 of 3 deliveries did not succeed.");
        assert!(judge(&[]).unwrap_err().to_string().starts_with("no endpoint"));
    }

    #[test]
    fn waiting_goes_on_while_anything_may_still_happen() {
        assert_eq!(
            [0, 1, 2, 3, 4].map(|status| delivery(status).has_ended()),
            [true, false, true, false, true]
        );
    }

    #[test]
    fn the_payload_is_posted_byte_for_byte() {
        use clap::Parser;
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            arguments: Arguments,
        }
        let line = Line::parse_from(["send", "shop", "order.paid"]);
        let payload = serde_json::from_str::<Box<RawValue>>("{\"b\": 1.00,  \"a\":2}").unwrap();
        let body = line.arguments.body(&payload).unwrap();
        assert_eq!(body, br#"{"eventType":"order.paid","payload":{"b": 1.00,  "a":2}}"#);
    }
}
