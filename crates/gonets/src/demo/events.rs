//! What the demo's platform posts, and when: two and a half seconds of a busy shop, and then, if it
//! is to go on, an event now and then.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{client::Api, error::Error};

/// One event.
#[derive(Clone, Debug)]
pub struct Event {
    /// Since the beginning.
    pub after: Duration,
    /// The application it is for.
    pub partner: &'static str,
    pub event_type: &'static str,
    pub payload: Value,
}

/// Rounds of the beginning, and the pause between them.
const ROUNDS: u32 = 5;
const ROUND: Duration = Duration::from_millis(500);
/// The pause between events later on.
const LATER: Duration = Duration::from_millis(1500);

/// The events in order: an end of them with `once`, none without.
pub fn script(once: bool) -> impl Iterator<Item = Event> {
    let beginning = (0..ROUNDS).flat_map(round);
    let rest = if once { 0 } else { u32::MAX };
    beginning.chain((0..rest).map(later))
}

fn round(round: u32) -> Vec<Event> {
    let at = |partner, event_type, n| event(ROUND * round, partner, event_type, n);
    let n = round * 10;
    let mut events = vec![
        at("healthy", "order.paid", n),
        at("flaky", "order.paid", n + 1),
        at("down", "order.paid", n + 2),
        at("healthy", "order.shipped", n + 3),
    ];
    if round.is_multiple_of(2) {
        events.insert(2, at("refusing", "payment.status_changed", n + 4));
    }
    events
}

fn later(n: u32) -> Event {
    const TURNS: [(&str, &str); 6] = [
        ("healthy", "order.paid"),
        ("flaky", "order.paid"),
        ("healthy", "order.shipped"),
        ("down", "order.paid"),
        ("flaky", "order.shipped"),
        ("refusing", "payment.status_changed"),
    ];
    let (partner, event_type) = TURNS[n as usize % TURNS.len()];
    event(ROUND * ROUNDS + LATER * (n + 1), partner, event_type, 1000 + n)
}

fn event(after: Duration, partner: &'static str, event_type: &'static str, n: u32) -> Event {
    let payload = match event_type {
        "payment.status_changed" => {
            json!({ "payment": format!("pay_{n}"), "status": "paid", "amount": "49.90", "currency": "EUR" })
        }
        _ => json!({ "order": format!("ord_{n}"), "amount": "49.90", "currency": "EUR" }),
    };
    Event { after, partner, event_type, payload }
}

/// Posts an event through the API and gives the message's id.
///
/// # Errors
/// As the API's.
pub async fn post(api: &Api, event: &Event) -> Result<String, Error> {
    #[derive(Deserialize)]
    struct Posted {
        id: String,
    }
    let path = format!("/app/{}/msg", event.partner);
    let body = json!({ "eventType": event.event_type, "payload": event.payload });
    api.post::<Posted>(&path, &body).await.map(|posted| posted.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_has_an_end_in_which_every_partner_gets_something() {
        let events: Vec<Event> = script(true).collect();
        for partner in ["healthy", "flaky", "refusing", "down"] {
            assert!(events.iter().any(|event| event.partner == partner), "{partner}");
        }
        assert!(events.windows(2).all(|pair| pair[0].after <= pair[1].after), "they come in order");
        assert!(events.last().unwrap().after < Duration::from_secs(3));
        assert_eq!(script(false).take(1000).count(), 1000);
    }
}
