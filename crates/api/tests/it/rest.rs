use http::Request;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_key_is_needed_and_must_be_known() {
    let world = World::new().await;
    let bare = Request::get("/api/v1/app").body(axum::body::Body::empty()).unwrap();
    assert_eq!(world.send(bare).await.is(401).json()["code"], "authentication_failed");
    world.with_token("other").get("/app").await.is(401);
}

#[tokio::test]
async fn a_token_reaches_its_application_only() {
    let world = World::new().await;
    let (a, b) = (world.app("a").await, world.app("b").await);
    let made = world.post("/key", r#"{"name":"portal","application":"a"}"#).await.is(201).json();
    let token = world.with_token(made["token"].as_str().unwrap());
    assert_eq!(token.get("/app/a").await.is(200).id(), a);
    let url = json!({"url": "http://127.0.0.1:9/"}).to_string();
    token.post("/app/a/endpoint", &url).await.is(201);
    // Whoever holds a portal's token is a partner, and events are the producer's to post.
    token.post("/app/a/msg", r#"{"eventType":"order.paid","payload":{}}"#).await.is(403);
    for path in [format!("/app/{b}"), "/app/b".into(), "/app/b/endpoint".into(), "/app/b/msg".into()] {
        token.get(&path).await.is(404);
    }
    assert_eq!(token.get("/app").await.is(403).json()["code"], "insufficient_permissions");
    token.post("/app", r#"{"name":"x"}"#).await.is(403);
    token.get("/key").await.is(403);
    token.call("DELETE", "/app/a", "").await.is(403);
    let listed = world.get("/key").await.is(200);
    assert!(!listed.text.contains(made["token"].as_str().unwrap()));
    world.call("DELETE", &format!("/key/{}", made["id"].as_str().unwrap()), "").await.is(204);
    token.get("/app/a").await.is(401);
}

#[tokio::test]
async fn environments_are_separate_worlds() {
    let world = World::new().await;
    let app = world.app("shop").await;
    let made = world.post("/environment", r#"{"name":"staging"}"#).await.is(201).json();
    let staging = world.with_token(made["key"]["token"].as_str().unwrap());
    staging.get(&format!("/app/{app}")).await.is(404);
    staging.get("/app/shop").await.is(404);
    staging.app("shop").await;
    staging.get("/environment").await.is(403);
    world.post("/environment", r#"{"name":"staging"}"#).await.is(409);
    assert_eq!(world.get("/environment").await.is(200).json()["data"][1]["name"], "staging");
}

#[tokio::test]
async fn event_types_are_archived_brought_back_and_expunged() {
    let world = World::new().await;
    let body = r#"{"name":"a.b","description":"d","schemas":{"1":{}}}"#;
    assert_eq!(world.post("/event-type", body).await.is(201).json()["schemas"], json!({"1": {}}));
    world.post("/event-type", body).await.is(409);
    world.call("PATCH", "/event-type/a.b", r#"{"deprecated":true,"schemas":null}"#).await.is(200);
    world.call("DELETE", "/event-type/a.b", "").await.is(204);
    assert_eq!(world.get("/event-type").await.is(200).json()["data"], json!([]));
    let archived = world.get("/event-type?include_archived=true").await.is(200).json();
    assert_eq!(archived["data"][0]["archived"], true);
    world.post("/event-type", body).await.is(201);
    world.call("DELETE", "/event-type/a.b?expunge=true", "").await.is(204);
    world.get("/event-type/a.b").await.is(404);
    world.call("PUT", "/event-type/c", r#"{"description":""}"#).await.is(201);
    world.call("PUT", "/event-type/c", r#"{"description":"x"}"#).await.is(200);
}

#[tokio::test]
async fn what_is_not_there_is_told_apart() {
    let world = World::new().await;
    assert_eq!(world.get("/nothing").await.is(404).json()["code"], "not_found");
    assert_eq!(world.get("/stream").await.is(404).json()["code"], "not_supported");
    assert_eq!(world.call("PUT", "/app", "{}").await.is(405).json()["code"], "method_not_allowed");
}

#[tokio::test]
async fn health_needs_no_key() {
    let world = World::new().await;
    for path in ["/health/live", "/health/ready", "/api/v1/health", "/api/v1/health/ping"] {
        let request = Request::get(path).body(axum::body::Body::empty()).unwrap();
        let answer = world.send(request).await.is(204);
        assert!(answer.text.is_empty() && answer.retry_after.is_none());
    }
    let request = Request::get("/openapi.json").body(axum::body::Body::empty()).unwrap();
    assert!(world.send(request).await.is(200).json()["paths"]["/api/v1/app/{app_id}/msg"].is_object());
}

#[tokio::test]
async fn a_put_repeated_under_a_uid_means_the_same_thing() {
    let world = World::new().await;
    let url = json!({"url": "http://127.0.0.1:9/"}).to_string();
    let name = json!({"name": "Shop"}).to_string();
    let endpoints = ("/app/shop/endpoint/e", &url);
    for (path, body) in [("/app/shop", &name), endpoints, ("/operational-webhook/endpoint/e", &url)] {
        let made = world.call("PUT", path, body).await.is(201);
        for _ in 0..2 {
            let again = world.call("PUT", path, body).await.is(200);
            assert_eq!((again.id(), &again.json()["uid"]), (made.id(), &made.json()["uid"]), "{path}");
        }
    }
    let id = world.get("/app/shop/endpoint/e").await.id();
    let by_id = world.call("PUT", &format!("/app/shop/endpoint/{id}"), &url).await.is(200).json();
    assert_eq!(by_id["uid"], json!(null), "under its id it is replaced as a whole");
}
