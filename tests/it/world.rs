//! The usual set-up: applications with endpoints.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{client::Client, peer::Closed};

/// Makes an application with one endpoint; gives their ids.
pub async fn subscriber(client: &mut Client, name: &str, url: &str) -> (String, String) {
    let app = application(client, &json!({"name": name})).await;
    let endpoint = endpoint(client, &app, url).await;
    (app, endpoint)
}

/// Makes applications with one endpoint each, at ports that are closed as long as they are kept.
pub async fn dead_subscribers(client: &mut Client, many: usize) -> (Vec<String>, Vec<Closed>) {
    let (mut apps, mut ports) = (Vec::new(), Vec::new());
    for n in 0..many {
        let port = Closed::new();
        apps.push(subscriber(client, &format!("dead {n}"), &port.url()).await.0);
        ports.push(port);
    }
    (apps, ports)
}

pub async fn application(client: &mut Client, body: &Value) -> String {
    id(&client.post("/api/v1/app", body).await)
}

pub async fn endpoint(client: &mut Client, app: &str, url: &str) -> String {
    id(&client.post(&format!("/api/v1/app/{app}/endpoint"), &json!({"url": url})).await)
}

pub async fn secret(client: &mut Client, app: &str, endpoint: &str) -> String {
    let answer = client.get(&format!("/api/v1/app/{app}/endpoint/{endpoint}/secret")).await;
    answer["key"].as_str().expect("a secret").to_owned()
}

/// Posts an event; gives the message's id.
pub async fn post(client: &mut Client, app: &str, payload: &Value) -> String {
    let body = json!({"eventType": "order.paid", "payload": payload});
    id(&client.post(&format!("/api/v1/app/{app}/msg"), &body).await)
}

/// The attempts of a message once there are `many`; the record of the last may be a moment behind.
pub async fn attempts(client: &mut Client, app: &str, message: &str, many: usize) -> Vec<Value> {
    attempts_by(client, app, message, many, Instant::now() + Duration::from_secs(10)).await
}

/// The attempts of a message once there are `many`, newest first; asks until `deadline`.
pub async fn attempts_by(
    client: &mut Client,
    app: &str,
    message: &str,
    many: usize,
    deadline: Instant,
) -> Vec<Value> {
    let path = format!("/api/v1/app/{app}/attempt/msg/{message}?limit=250");
    loop {
        let page = client.get(&path).await;
        let data = page["data"].as_array().expect("a list").clone();
        if data.len() >= many {
            return data;
        }
        assert!(Instant::now() < deadline, "{} of {many} attempts in time: {data:?}", data.len());
        // The API can only be asked, not waited for.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn id(answer: &Value) -> String {
    answer["id"].as_str().unwrap_or_else(|| panic!("no id in {answer}")).to_owned()
}
