//! Races of our own are not the callers' conflicts: whoever can be served in the end, is.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use serde_json::json;
use tokio::task::JoinSet;

use crate::world::World;

const URL: &str = "http://127.0.0.1:9/";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn messages_are_taken_while_endpoints_of_their_application_are_edited() {
    let world = Arc::new(World::new().await);
    world.app("shop").await;
    let is_over = Arc::new(AtomicBool::new(false));
    let mut editors = JoinSet::new();
    for number in 0..12 {
        let endpoint = json!({"url": URL, "uid": format!("e{number}"), "eventTypes": ["none"]});
        world.post("/app/shop/endpoint", &endpoint.to_string()).await.is(201);
        let (world, is_over) = (Arc::clone(&world), Arc::clone(&is_over));
        editors.spawn(async move {
            let path = format!("/app/shop/endpoint/e{number}");
            let mut edits = 0;
            while !is_over.load(Ordering::Relaxed) {
                let body = format!(r#"{{"description":"{edits}"}}"#);
                world.call("PATCH", &path, &body).await.is(200);
                edits += 1;
            }
            edits
        });
    }
    let mut producers = JoinSet::new();
    for _ in 0..8 {
        let world = Arc::clone(&world);
        producers.spawn(async move {
            for _ in 0..50 {
                world.post("/app/shop/msg", r#"{"eventType":"a","payload":1}"#).await.is(202);
            }
        });
    }
    while let Some(done) = producers.join_next().await {
        done.unwrap();
    }
    is_over.store(true, Ordering::Relaxed);
    while let Some(edits) = editors.join_next().await {
        assert!(edits.unwrap() > 0, "edits go on as well");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_who_put_the_same_thing_at_once_all_succeed() {
    let world = Arc::new(World::new().await);
    world.app("shop").await;
    let endpoint = json!({"url": URL}).to_string();
    for (path, body) in [
        ("/app/one", r#"{"name":"One","uid":"one"}"#),
        ("/app/shop/endpoint/one", endpoint.as_str()),
        ("/event-type/one", r#"{"description":"one"}"#),
    ] {
        let mut putting = JoinSet::new();
        for _ in 0..60 {
            let (world, path, body) = (Arc::clone(&world), path.to_owned(), body.to_owned());
            // An endpoint keeps its uid only if it is said again.
            let body =
                if path.contains("endpoint") { json!({"url": URL, "uid": "one"}).to_string() } else { body };
            putting.spawn(async move { world.call("PUT", &path, &body).await });
        }
        let mut made = 0;
        while let Some(answer) = putting.join_next().await {
            let answer = answer.unwrap();
            assert!(matches!(answer.status, 200 | 201), "{path}: {}", answer.text);
            made += usize::from(answer.status == 201);
        }
        assert_eq!(made, 1, "{path} is made once");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_who_change_the_same_endpoint_at_once_all_succeed() {
    let world = Arc::new(World::new().await);
    world.app("shop").await;
    world.post("/app/shop/endpoint", &json!({"url": URL, "uid": "e"}).to_string()).await.is(201);
    let mut changing = JoinSet::new();
    for number in 0..40 {
        let world = Arc::clone(&world);
        changing.spawn(async move {
            let header = format!(r#"{{"headers":{{"X-{}":"1"}}}}"#, number % 10);
            world.call("PATCH", "/app/shop/endpoint/e/headers", &header).await.is(204);
            world.call("PATCH", "/app/shop", &format!(r#"{{"name":"{number}"}}"#)).await.is(200);
        });
    }
    while let Some(done) = changing.join_next().await {
        done.unwrap();
    }
    let headers = world.get("/app/shop/endpoint/e/headers").await.is(200).json();
    assert_eq!(headers["headers"].as_object().unwrap().len(), 10, "no change was lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_application_can_be_deleted_while_endpoints_are_made() {
    let world = Arc::new(World::new().await);
    world.app("shop").await;
    let mut making = JoinSet::new();
    for _ in 0..4 {
        let world = Arc::clone(&world);
        making.spawn(async move {
            let body = json!({"url": URL}).to_string();
            loop {
                match world.post("/app/shop/endpoint", &body).await.status {
                    201 => {}
                    status => return status,
                }
            }
        });
    }
    world.call("DELETE", "/app/shop", "").await.is(204);
    while let Some(status) = making.join_next().await {
        assert_eq!(status.unwrap(), 404);
    }
}
