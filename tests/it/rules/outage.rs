//! A server that is down with deliveries waiting behind its open breaker, and what its release looks like:
//! the situation that the tests of breakers, of kills and of people's hands share.

use std::time::Duration;

use serde_json::{Value, json};

use super::partner::{self, Arrival, Partner};
use crate::client::Client;

pub const PAUSE: Duration = Duration::from_millis(1_500);
pub const PROFILES: &str = r#"
[profiles.quick]
extends = "payments"
timeout = "2s"
[profiles.quick.outage]
delays = ["1s", "1s", "1s", "1s", "1s", "1s", "1s", "1s", "1s", "1s", "1s", "1s"]
[profiles.quick.breaker]
pause = "1500ms"
pause_max = "1500ms"
recheck = "300ms"
"#;

/// How far before its pause is over a probe may seem to come: clocks are read at both ends.
pub const EARLY: Duration = Duration::from_millis(20);

pub async fn breakers(client: &mut Client, app: &str) -> Vec<Value> {
    let answer = client.get(&format!("/api/v1/app/{app}/breaker")).await;
    answer["breakers"].as_array().expect("a list").clone()
}

pub async fn until_open(client: &mut Client, app: &str) {
    let path = format!("/api/v1/app/{app}/breaker");
    partner::until(client, &path, "an open breaker", |answer| {
        answer["breakers"].as_array().is_some_and(|all| !all.is_empty())
    })
    .await;
}

/// A server whose partner is down, with `many` deliveries waiting behind an open breaker, the last five
/// of them critical. Gives their messages in the order of posting.
pub async fn down_with(
    client: &mut Client,
    partner: &mut Partner,
    many: usize,
) -> (String, String, Vec<String>) {
    let (app, endpoint) = partner::subscriber(client, "quick", &partner.url(), json!({})).await;
    let mut messages = Vec::new();
    for n in 0..5 {
        messages.push(partner::post(client, &app, false, n).await);
    }
    until_open(client, &app).await;
    for n in 5..many {
        messages.push(partner::post(client, &app, n >= many - 5, n).await);
    }
    // Those in flight at the opening.
    while partner.next_within(Duration::from_millis(200)).await.is_some() {}
    (app, endpoint, messages)
}

/// What comes during the release: the first second after `from` and the order of all.
pub fn check_release(arrivals: &[Arrival], waiting: &[String], critical: &[String]) {
    let from = arrivals[0].at;
    let in_first_second = arrivals.iter().filter(|one| one.at - from <= Duration::from_secs(1)).count();
    assert!(in_first_second <= 3, "{in_first_second} requests in the first second");
    let ids: Vec<_> = arrivals.iter().map(Arrival::id).collect();
    let mut sorted: Vec<_> = ids.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), ids.len(), "each comes once");
    for id in waiting {
        assert!(ids.contains(id), "{id} did not come");
    }
    let place = |id: &String| ids.iter().position(|one| one == id).expect("it came");
    let last_critical = critical.iter().map(place).max().unwrap_or(0);
    let of_others = waiting.iter().filter(|id| !critical.contains(id)).map(place);
    let passed = of_others.clone().filter(|at| *at < last_critical).count();
    let places: Vec<_> = critical.iter().map(place).collect();
    assert!(passed == 0, "{passed} others came before the last critical one: {places:?} of {}", ids.len());
    // While they go one by one, they go by age.
    let slow: Vec<_> = ids.iter().take(8).filter(|id| !critical.contains(id)).collect();
    assert!(slow.windows(2).all(|two| two[0] < two[1]), "{slow:?}");
}
