//! Retry-After as receivers write it (R8).

use std::time::Duration;

use serde_json::{Value, json};

use super::partner::{self, Partner};
use crate::{
    client::Client,
    receiver::Reply,
    server::{Data, Server},
};

const PROFILES: &str = r#"
[profiles.quick]
extends = "payments"
[profiles.quick.outage]
delays = ["300ms", "300ms"]
[profiles.quick.breaker]
enabled = false
"#;

/// The pause until the next attempt of a delivery whose first was answered 503 with these lines.
async fn pause_after(client: &mut Client, lines: String) -> (Duration, Value) {
    let mut partner = Partner::start(Reply { lines: lines.clone(), ..Reply::status(503) }).await;
    let (app, endpoint) = partner::subscriber(client, "quick", &partner.url(), json!({})).await;
    let message = partner::post(client, &app, true, 1).await;
    partner.next().await;
    let path = format!("/api/v1/app/{app}/delivery/{message}.{endpoint}");
    let delivery =
        partner::until(client, &path, "an attempt", |delivery| delivery["used"]["outage"] == 1).await;
    let instant = |text: &Value| text.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    let next = instant(&delivery["nextAttempt"]).unwrap_or_else(|| panic!("{lines:?}: {delivery}"));
    let attempts = delivery["timeline"].as_array().expect("a timeline");
    let attempt = attempts.iter().find(|event| event["kind"] == "attempt").expect("an attempt");
    let at = instant(&attempt["at"]).expect("an instant");
    let pause = next.duration_since(at);
    (Duration::try_from(pause).unwrap_or_default(), delivery)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r08_every_form_of_retry_after_is_read_or_ignored_and_spends_one_step() {
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let ahead = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(100);
    let date = |format: &str| ahead.strftime(format).to_string();
    let forms = [
        ("seconds", "retry-after: 20\r\n".to_owned(), 20_000),
        ("IMF-fixdate", format!("retry-after: {}\r\n", date("%a, %d %b %Y %H:%M:%S GMT")), 100_000),
        ("RFC 850", format!("retry-after: {}\r\n", date("%A, %d-%b-%y %H:%M:%S GMT")), 100_000),
        ("asctime", format!("retry-after: {}\r\n", date("%a %b %e %H:%M:%S %Y")), 100_000),
        ("past", "retry-after: Wed, 21 Oct 2015 07:28:00 GMT\r\n".to_owned(), 300),
        ("garbage", "retry-after: soon\r\n".to_owned(), 300),
        ("negative", "retry-after: -30\r\n".to_owned(), 300),
        ("fraction", "retry-after: 1.5\r\n".to_owned(), 300),
        ("huge", "retry-after: 999999999999999999999999\r\n".to_owned(), 3_600_000),
        ("twice", "retry-after: 7\r\nretry-after: 9\r\n".to_owned(), 9_000),
        ("one of them garbage", "retry-after: x\r\nretry-after: 4\r\n".to_owned(), 4_000),
        ("shorter than the ladder", "retry-after: 0\r\n".to_owned(), 300),
    ];
    for (name, lines, expected) in forms {
        let (pause, delivery) = pause_after(&mut client, lines).await;
        // Dates are whole seconds, and some time passes until they are read. Both instants were cut to
        // milliseconds.
        let (low, high) =
            if expected == 100_000 { (90_000, 101_000) } else { (expected - 5, expected + 250) };
        let millis = pause.as_millis() as i64;
        assert!((low..=high).contains(&millis), "{name}: {millis} ms: {delivery}");
        assert_eq!(delivery["used"]["refusal"], 0, "{name}");
    }
}
