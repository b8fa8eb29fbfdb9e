//! The journal of what was deleted stays readable for administrators (R20).

use serde_json::json;

use crate::world::World;

/// An application whose one message failed at its one endpoint.
async fn failed(world: &World) -> (String, String, String) {
    let app = world.app("shop").await;
    let endpoint = json!({"url": "http://127.0.0.1:9/", "uid": "e"}).to_string();
    let endpoint = world.post("/app/shop/endpoint", &endpoint).await.is(201).id();
    let body = r#"{"eventType":"a","payload":{"n":1},"eventId":"event-1"}"#;
    let message = world.post("/app/shop/msg", body).await.is(202).id();
    world.outcomes(1).await;
    (app, endpoint, message)
}

/// What can be asked of the journal, and how many entries each answer has.
fn questions(app: &str, endpoint: &str, message: &str) -> Vec<String> {
    [
        "msg".to_owned(),
        format!("msg/{message}/endpoint"),
        format!("endpoint/{endpoint}/msg"),
        format!("attempt/endpoint/{endpoint}"),
        format!("attempt/msg/{message}"),
        format!("attempt/msg/{message}?endpoint_id={endpoint}"),
    ]
    .map(|path| format!("/app/{app}/{path}"))
    .into()
}

async fn is_readable(world: &World, app: &str, endpoint: &str, message: &str) {
    for path in questions(app, endpoint, message) {
        let page = world.get(&path).await.is(200).json();
        assert_eq!(page["data"].as_array().unwrap().len(), 1, "{path}: {page}");
    }
    for name in [message, "event-1"] {
        let shown = world.get(&format!("/app/{app}/msg/{name}")).await.is(200).json();
        assert_eq!((&shown["id"], &shown["payload"]), (&json!(message), &json!({"n": 1})));
    }
    let attempts = world.get(&format!("/app/{app}/attempt/msg/{message}")).await.is(200).json();
    let attempt = attempts["data"][0]["id"].as_str().unwrap();
    world.get(&format!("/app/{app}/msg/{message}/attempt/{attempt}")).await.is(200);
}

#[tokio::test]
async fn the_journal_of_a_deleted_endpoint_stays_readable_by_id_for_administrators() {
    let world = World::new().await;
    let (_, endpoint, message) = failed(&world).await;
    let made = world.post("/key", r#"{"name":"portal","application":"shop"}"#).await.is(201).json();
    let token = world.with_token(made["token"].as_str().unwrap());
    world.call("DELETE", "/app/shop/endpoint/e", "").await.is(204);
    is_readable(&world, "shop", &endpoint, &message).await;
    for gone in ["/app/shop/endpoint/e/msg", "/app/shop/attempt/endpoint/e"] {
        world.get(gone).await.is(404);
    }
    world.get(&format!("/app/shop/endpoint/{endpoint}")).await.is(404);
    token.get(&format!("/app/shop/endpoint/{endpoint}/msg")).await.is(404);
    world.post(&format!("/app/shop/msg/{message}/endpoint/{endpoint}/resend"), "").await.is(404);
    let other = world.app("other").await;
    world.get(&format!("/app/{other}/endpoint/{endpoint}/msg")).await.is(404);
}

#[tokio::test]
async fn the_journal_of_a_deleted_application_stays_readable_by_id_for_administrators() {
    let world = World::new().await;
    let (app, endpoint, message) = failed(&world).await;
    let made = world.post("/key", r#"{"name":"portal","application":"shop"}"#).await.is(201).json();
    let token = world.with_token(made["token"].as_str().unwrap());
    let staging = world.post("/environment", r#"{"name":"staging"}"#).await.is(201).json();
    let staging = world.with_token(staging["key"]["token"].as_str().unwrap());
    world.call("DELETE", "/app/shop", "").await.is(204);
    is_readable(&world, &app, &endpoint, &message).await;
    world.get("/app/shop/msg").await.is(404);
    token.get(&format!("/app/{app}/msg")).await.is(401);
    staging.get(&format!("/app/{app}/msg")).await.is(404);
    let again = world.app("shop").await;
    assert_eq!(world.get("/app/shop/msg").await.is(200).json()["data"], json!([]), "{again} is another");
    is_readable(&world, &app, &endpoint, &message).await;
}

#[tokio::test]
async fn nothing_is_written_to_a_deleted_application() {
    let world = World::new().await;
    let (app, endpoint, message) = failed(&world).await;
    world.call("DELETE", "/app/shop", "").await.is(204);
    let url = json!({"url": "http://127.0.0.1:9/"}).to_string();
    for (method, path, body) in [
        ("POST", "/msg".to_owned(), r#"{"eventType":"a","payload":1}"#),
        ("POST", "/endpoint".into(), url.as_str()),
        ("PUT", format!("/endpoint/{endpoint}"), url.as_str()),
        ("PATCH", format!("/endpoint/{endpoint}"), "{}"),
        ("DELETE", format!("/endpoint/{endpoint}"), ""),
        ("POST", format!("/msg/{message}/endpoint/{endpoint}/resend"), ""),
        ("PUT", String::new(), r#"{"name":"x"}"#),
        ("PATCH", String::new(), "{}"),
        ("DELETE", String::new(), ""),
        ("GET", String::new(), ""),
        ("GET", "/endpoint".into(), ""),
    ] {
        let answer = world.call(method, &format!("/app/{app}{path}"), body).await;
        assert_eq!(answer.status, 404, "{method} {path}: {}", answer.text);
    }
}
