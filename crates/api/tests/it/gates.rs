//! Breakers, throttles and freezes, and what people may do to them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{partner::Partner, world::World};

const MESSAGE: &str = r#"{"eventType":"order.paid","payload":{}}"#;

/// An application with an endpoint `e` at this partner that got so many messages.
async fn shop(world: &World, partner: &Partner, messages: usize) -> String {
    world.app("shop").await;
    let body = json!({"url": partner.url, "uid": "e"}).to_string();
    let endpoint = world.post("/app/shop/endpoint", &body).await.is(201).id();
    for _ in 0..messages {
        world.post("/app/shop/msg", MESSAGE).await.is(202);
    }
    world.outcomes(messages).await;
    endpoint
}

/// The delivery of a message that is posted now.
async fn posted(world: &World, endpoint: &str) -> Value {
    let message = world.post("/app/shop/msg", MESSAGE).await.is(202).id();
    world.get(&format!("/app/shop/delivery/{message}.{endpoint}")).await.is(200).json()
}

/// The event of this kind in a delivery's timeline.
fn event<'a>(delivery: &'a Value, kind: &str) -> &'a Value {
    let events = delivery["timeline"].as_array().unwrap();
    events.iter().find(|event| event["kind"] == kind).unwrap_or_else(|| panic!("no {kind}: {delivery}"))
}

async fn token(world: &World) -> World {
    let made = world.post("/key", r#"{"name":"portal","application":"shop"}"#).await.is(201).json();
    world.with_token(made["token"].as_str().unwrap())
}

#[tokio::test]
async fn r11_an_open_breaker_is_shown_and_what_waits_behind_it_says_so() {
    let (world, partner) = (World::with_profile("payments").await, Partner::answering(&[503]).await);
    let endpoint = shop(&world, &partner, 5).await;
    let first = world.get("/app/shop/msg?order=ascending").await.is(200).json()["data"][0]["id"].clone();
    let gates = token(&world).await.get("/app/shop/breaker").await.is(200).json();
    assert_eq!((&gates["scope"], &gates["frozen"]), (&json!("application"), &json!(null)));
    let breaker = &gates["breakers"][0];
    assert_eq!((&breaker["scope"], &breaker["state"]), (&json!("application"), &json!("open")));
    assert_eq!((&breaker["pauseMs"], breaker.get("endpointId")), (&json!(300_000), None));
    let held = posted(&world, &endpoint).await;
    assert_eq!((&held["state"], &held["hold"]["name"]), (&json!("waiting"), &json!("breaker_open")));
    assert_eq!((&held["hold"]["until"], &held["nextAttempt"]), (&breaker["probeAt"], &breaker["probeAt"]));
    assert_eq!(held["nextAttemptRule"], "breaker");
    let holding = event(&held, "held");
    assert_eq!(holding["hold"]["name"], "breaker_open");
    assert!(holding["text"].as_str().unwrap().starts_with("held: the server is down"), "{holding}");
    let tried = format!("/app/shop/delivery/{}.{endpoint}", first.as_str().unwrap());
    let tried = world.get(&tried).await.is(200).json();
    let listed =
        world.get("/app/shop/endpoint/e/msg?order=ascending").await.is(200).json()["data"][0].clone();
    assert_eq!((&listed["statusText"], &listed["nextAttempt"]), (&json!("pending"), &breaker["probeAt"]));
    assert_eq!(event(&tried, "breaker_opened")["at"], breaker["openedAt"], "it was accepted before");
}

#[tokio::test]
async fn r17_a_breaker_is_reset_and_probed_at_once() {
    let (world, partner) =
        (World::with_profile("payments").await, Partner::answering(&[503, 503, 503, 503, 503, 200]).await);
    shop(&world, &partner, 5).await;
    world.post("/app/shop/breaker/reset", "").await.is(204);
    world.outcomes(6).await;
    let gates = world.get("/app/shop/breaker").await.is(200).json();
    assert_eq!(gates["breakers"], json!([]), "the probe closed it");
}

#[tokio::test]
async fn r17_a_partner_resets_once_a_minute_and_an_administrator_as_often_as_they_like() {
    let world = World::with_profile("payments").await;
    world.app("shop").await;
    let token = token(&world).await;
    for _ in 0..3 {
        world.post("/app/shop/breaker/reset", "{}").await.is(204);
    }
    token.post("/app/shop/breaker/reset", r#"{"endpointId":"nobody"}"#).await.is(404);
    token.post("/app/shop/breaker/reset", "").await.is(204);
    let often = token.post("/app/shop/breaker/reset", "").await.is(429);
    let wait: u64 = often.retry_after.as_deref().unwrap().parse().unwrap();
    assert!((50..=60).contains(&wait), "{wait}");
    assert_eq!(often.json()["code"], "too_often");
    assert!(often.json()["detail"].as_str().unwrap().contains("once a minute"));
    world.pass(Duration::from_secs(60));
    token.post("/app/shop/breaker/reset", "").await.is(204);
    for bad in [r#"{"endpointId":5}"#, "[]"] {
        world.post("/app/shop/breaker/reset", bad).await.is(422);
    }
    world.app("other").await;
    token.post("/app/other/breaker/reset", "").await.is(404);
    token.get("/app/other/breaker").await.is(404);
}

#[tokio::test]
async fn r10_endpoints_may_have_breakers_of_their_own_or_none() {
    let (world, partner) = (World::new().await, Partner::answering(&[503]).await);
    let endpoint = shop(&world, &partner, 5).await;
    let gates = world.get("/app/shop/breaker").await.is(200).json();
    assert_eq!(
        (&gates["scope"], &gates["breakers"][0]["endpointId"]),
        (&json!("endpoint"), &json!(endpoint))
    );
    // What failed is not due yet; these are, but held.
    posted(&world, &endpoint).await;
    posted(&world, &endpoint).await;
    world.post("/app/shop/breaker/reset", r#"{"endpointId":"e"}"#).await.is(204);
    world.outcomes(6).await;
    world.post("/app/shop/breaker/reset", "").await.is(204);
    world.outcomes(7).await;
    world.post("/app", r#"{"name":"x","uid":"without","profile":"svix"}"#).await.is(201);
    assert_eq!(world.get("/app/without/breaker").await.is(200).json()["scope"], json!(null));
    world.post("/app/without/breaker/reset", "").await.is(204);
}

#[tokio::test]
async fn r08_a_throttle_is_shown_and_lifted_by_hand() {
    let (world, partner) = (World::new().await, Partner::answering(&[429, 200]).await);
    let endpoint = shop(&world, &partner, 1).await;
    let gates = world.get("/app/shop/breaker").await.is(200).json();
    let until = &gates["throttles"][0]["until"];
    assert_eq!(gates["throttles"][0]["endpointId"], endpoint);
    assert_eq!(&world.get("/app/shop/endpoint/e").await.is(200).json()["throttledUntil"], until);
    let held = posted(&world, &endpoint).await;
    assert_eq!((&held["hold"]["name"], &held["hold"]["until"]), (&json!("throttled"), until));
    assert_eq!((&held["nextAttempt"], &held["nextAttemptRule"]), (until, &json!("retry_after")));
    world.post("/app/shop/endpoint/nobody/lift", "").await.is(404);
    world.post("/app/shop/endpoint/e/lift", "").await.is(204);
    world.outcomes(2).await;
    assert_eq!(world.get("/app/shop/breaker").await.is(200).json()["throttles"], json!([]));
    assert_eq!(world.get("/app/shop/endpoint/e").await.is(200).json()["throttledUntil"], json!(null));
}

#[tokio::test]
async fn r28_sending_is_frozen_and_thawed_on_three_scopes_while_accepting_goes_on() {
    for (path, scope) in [
        ("/app/shop/freeze", "application"),
        ("/environment/freeze", "environment"),
        ("/freeze", "everything"),
    ] {
        let (world, mut partner) = (World::new().await, Partner::answering(&[200]).await);
        let endpoint = shop(&world, &partner, 0).await;
        world.post(path, "").await.is(204);
        let frozen = world.get("/app/shop/breaker").await.is(200).json();
        assert_eq!(frozen["frozen"]["scope"], scope);
        let held = posted(&world, &endpoint).await;
        assert_eq!((&held["state"], &held["hold"]["name"]), (&json!("waiting"), &json!("frozen")), "{scope}");
        assert_eq!(event(&held, "held")["at"], held["timeline"][0]["at"], "held since it was accepted");
        world.pass(Duration::from_secs(5));
        world.post(path, "").await.is(204);
        assert_eq!(
            world.get("/app/shop/breaker").await.json()["frozen"],
            frozen["frozen"],
            "since the first"
        );
        world.call("DELETE", path, "").await.is(204);
        partner.next().await;
        world.call("DELETE", path, "").await.is(204);
        assert_eq!(world.get("/app/shop/breaker").await.is(200).json()["frozen"], json!(null));
    }
}

#[tokio::test]
async fn r28_freezing_is_for_administrators_of_what_they_reach() {
    let world = World::new().await;
    world.app("shop").await;
    let token = token(&world).await;
    let made = world.post("/environment", r#"{"name":"staging"}"#).await.is(201).json();
    let staging = world.with_token(made["key"]["token"].as_str().unwrap());
    for method in ["POST", "DELETE"] {
        for path in ["/app/shop/freeze", "/environment/freeze", "/freeze"] {
            assert_eq!(token.call(method, path, "").await.is(403).json()["code"], "insufficient_permissions");
        }
        staging.call(method, "/app/shop/freeze", "").await.is(404);
        world.call(method, "/app/nobody/freeze", "").await.is(404);
    }
    staging.post("/environment/freeze", "").await.is(204);
    assert_eq!(world.get("/app/shop/breaker").await.json()["frozen"], json!(null), "another world");
}
