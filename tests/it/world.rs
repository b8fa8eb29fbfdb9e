//! The usual set-up: applications with endpoints.

use serde_json::{Value, json};

use crate::client::Client;

/// Makes an application with one endpoint; gives their ids.
pub async fn subscriber(client: &mut Client, name: &str, url: &str) -> (String, String) {
    let app = application(client, &json!({"name": name})).await;
    let endpoint = endpoint(client, &app, url).await;
    (app, endpoint)
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
    let path = format!("/api/v1/app/{app}/attempt/msg/{message}");
    for _ in 0..200 {
        let page = client.get(&path).await;
        let data = page["data"].as_array().expect("a list").clone();
        if data.len() >= many {
            return data;
        }
        tokio::task::yield_now().await;
    }
    panic!("{many} attempts were not journaled in time");
}

fn id(answer: &Value) -> String {
    answer["id"].as_str().unwrap_or_else(|| panic!("no id in {answer}")).to_owned()
}
