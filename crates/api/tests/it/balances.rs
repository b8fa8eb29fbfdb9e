//! The books (R29).

use serde_json::json;

use crate::{partner::Partner, world::World};

#[tokio::test]
async fn r29_each_message_is_found_in_the_books() {
    let (world, partner) = (World::new().await, Partner::answering(&[200, 404, 503]).await);
    world.app("shop").await;
    let body = json!({"url": partner.url, "eventTypes": ["order.paid"]}).to_string();
    let endpoint = world.post("/app/shop/endpoint", &body).await.is(201).id();
    for done in 1..=3 {
        world.post("/app/shop/msg", r#"{"eventType":"order.paid","payload":{}}"#).await.is(202);
        world.outcomes(done).await;
    }
    world.post("/app/shop/msg", r#"{"eventType":"user.created","payload":{}}"#).await.is(202);
    let made = world.post("/key", r#"{"name":"portal","application":"shop"}"#).await.is(201).json();
    let token = world.with_token(made["token"].as_str().unwrap());
    // The span ends before its end, and messages may be of this very millisecond.
    world.pass(std::time::Duration::from_millis(5));
    for who in [&world, &token] {
        let books = who.get("/app/shop/balance").await.is(200).json();
        assert_eq!(
            (&books["messages"], &books["routedNowhere"], &books["balanced"]),
            (&json!(4), &json!(1), &json!(true))
        );
        assert_eq!((&books["unrouted"], &books["unroutedEnded"]), (&json!(0), &json!(0)));
        let of_one = json!({
            "endpointId": endpoint, "delivered": 1, "failed": 1, "cancelled": 0, "skipped": 0, "waiting": 1, "accepted": 3,
        });
        assert_eq!(books["endpoints"], json!([of_one]));
        assert!(books["from"].is_string() && books["to"].is_string());
    }
    let before =
        world.get("/app/shop/balance?from=2020-01-01T00:00:00Z&to=2021-01-01T00:00:00Z").await.is(200).json();
    assert_eq!((&before["messages"], &before["balanced"]), (&json!(0), &json!(true)));
    assert_eq!(before["from"], "2020-01-01T00:00:00.000Z");
}

#[tokio::test]
async fn a_span_that_is_none_is_refused_and_books_of_others_are_not_there() {
    let world = World::new().await;
    world.app("shop").await;
    let wrong =
        world.get("/app/shop/balance?from=2021-01-01T00:00:00Z&to=2020-01-01T00:00:00Z").await.is(422);
    assert_eq!(wrong.json()["detail"][0]["loc"], json!(["query", "to"]));
    assert!(wrong.text.contains("before from"), "{}", wrong.text);
    world.get("/app/shop/balance?from=yesterday").await.is(422);
    world.get("/app/nobody/balance").await.is(404);
    world.app("other").await;
    let made = world.post("/key", r#"{"name":"portal","application":"shop"}"#).await.is(201).json();
    world.with_token(made["token"].as_str().unwrap()).get("/app/other/balance").await.is(404);
}
