//! Enabling and disabling by hand (R19), and how an endpoint stands (R21).

use serde_json::json;

use crate::{partner::Partner, world::World};

const MESSAGE: &str = r#"{"eventType":"order.paid","payload":{}}"#;

async fn shop(world: &World, partner: &Partner) -> String {
    world.app("shop").await;
    let body = json!({"url": partner.url, "uid": "e", "disabled": true}).to_string();
    world.post("/app/shop/endpoint", &body).await.is(201).id()
}

#[tokio::test]
async fn r19_what_waited_goes_out_when_the_endpoint_is_enabled() {
    let (world, mut partner) = (World::with_profile("payments").await, Partner::answering(&[200]).await);
    let endpoint = shop(&world, &partner).await;
    let message = world.post("/app/shop/msg", MESSAGE).await.is(202).id();
    let path = format!("/app/shop/delivery/{message}.{endpoint}");
    let held = world.get(&path).await.is(200).json();
    assert_eq!((&held["state"], &held["hold"]["name"]), (&json!("waiting"), &json!("endpoint_disabled")));
    assert_eq!(held["nextAttempt"], json!(null));
    world.call("PATCH", "/app/shop/endpoint/e", r#"{"disabled":false}"#).await.is(200);
    partner.next().await;
    world.outcomes(1).await;
    assert_eq!(world.get(&path).await.is(200).json()["state"], "delivered");
}

#[tokio::test]
async fn r19_what_waited_is_cancelled_when_the_caller_says_skip() {
    for method in ["PATCH", "PUT"] {
        let (world, mut partner) = (World::with_profile("payments").await, Partner::answering(&[200]).await);
        let endpoint = shop(&world, &partner).await;
        let mut messages = Vec::new();
        for _ in 0..3 {
            messages.push(world.post("/app/shop/msg", MESSAGE).await.is(202).id());
        }
        let body = json!({"url": partner.url, "uid": "e", "disabled": false, "held": "skip"}).to_string();
        let enabled = world.call(method, "/app/shop/endpoint/e", &body).await.is(200).json();
        assert_eq!((&enabled["disabled"], &enabled["status"]), (&json!(false), &json!("active")));
        for message in &messages {
            let path = format!("/app/shop/delivery/{message}.{endpoint}");
            let cancelled = world.get(&path).await.is(200).json();
            assert_eq!(
                (&cancelled["state"], &cancelled["reason"]),
                (&json!("cancelled"), &json!("endpoint_disabled"))
            );
        }
        let after = world
            .post("/app/shop/msg", r#"{"eventType":"order.paid","payload":{"after":1}}"#)
            .await
            .is(202)
            .id();
        assert_eq!(partner.next().await["after"], 1, "nothing of before was sent");
        world.outcomes(1).await;
        let path = format!("/app/shop/delivery/{after}.{endpoint}");
        assert_eq!(world.get(&path).await.is(200).json()["state"], "delivered");
    }
}

#[tokio::test]
async fn r19_skip_leaves_alone_what_waits_at_an_endpoint_that_is_enabled_already() {
    let (world, partner) = (World::with_profile("payments").await, Partner::answering(&[403]).await);
    let endpoint = shop(&world, &partner).await;
    world.call("PATCH", "/app/shop/endpoint/e", r#"{"disabled":false}"#).await.is(200);
    let body = r#"{"eventType":"order.paid","payload":{},"critical":true}"#;
    let message = world.post("/app/shop/msg", body).await.is(202).id();
    world.outcomes(1).await;
    world.call("PATCH", "/app/shop/endpoint/e", r#"{"disabled":false,"held":"skip"}"#).await.is(200);
    let path = format!("/app/shop/delivery/{message}.{endpoint}");
    assert_eq!(world.get(&path).await.is(200).json()["state"], "waiting");
}

#[tokio::test]
async fn held_is_said_with_enabling_and_in_its_own_words() {
    let (world, partner) = (World::new().await, Partner::answering(&[200]).await);
    shop(&world, &partner).await;
    for bad in [
        r#"{"disabled":false,"held":"drop"}"#,
        r#"{"held":"skip"}"#,
        r#"{"disabled":true,"held":"skip"}"#,
        r#"{"disabled":false,"held":1}"#,
    ] {
        let wrong = world.call("PATCH", "/app/shop/endpoint/e", bad).await.is(422).json();
        assert_eq!(wrong["detail"][0]["loc"], json!(["body", "held"]), "{bad}");
    }
    assert_eq!(world.get("/app/shop/endpoint/e").await.json()["disabled"], true);
}

#[tokio::test]
async fn r21_an_endpoint_says_how_it_stands_since_when_and_why() {
    let (world, partner) = (World::new().await, Partner::answering(&[410]).await);
    shop(&world, &partner).await;
    let disabled = world.get("/app/shop/endpoint/e").await.is(200).json();
    assert_eq!((&disabled["status"], &disabled["disabledReason"]), (&json!("disabled"), &json!("owner")));
    assert_eq!(disabled["disabledSince"], disabled["createdAt"]);
    world.pass(std::time::Duration::from_secs(1));
    let patch = r#"{"description":"still disabled"}"#;
    let patched = world.call("PATCH", "/app/shop/endpoint/e", patch).await.is(200).json();
    assert_eq!(patched["disabledSince"], disabled["createdAt"], "since it was, not since it was changed");
    let enabled = world.call("PATCH", "/app/shop/endpoint/e", r#"{"disabled":false}"#).await.is(200).json();
    assert_eq!((&enabled["status"], &enabled["disabledReason"]), (&json!("active"), &json!(null)));
    world.post("/app/shop/msg", MESSAGE).await.is(202);
    world.outcomes(1).await;
    let gone = world.get("/app/shop/endpoint").await.is(200).json()["data"][0].clone();
    assert_eq!((&gone["status"], &gone["disabled"]), (&json!("disabled"), &json!(true)));
    assert_eq!(gone["disabledReason"], "gone");
    assert!(gone["disabledSince"].is_string());
    let again = world.call("PATCH", "/app/shop/endpoint/e", r#"{"disabled":false}"#).await.is(200).json();
    assert_eq!((&again["status"], &again["disabledSince"]), (&json!("active"), &json!(null)));
}

#[tokio::test]
async fn r21_an_endpoint_is_failing_while_its_breaker_is_open() {
    let (world, partner) = (World::with_profile("payments").await, Partner::answering(&[503]).await);
    shop(&world, &partner).await;
    world.call("PATCH", "/app/shop/endpoint/e", r#"{"disabled":false}"#).await.is(200);
    for _ in 0..5 {
        world.post("/app/shop/msg", MESSAGE).await.is(202);
    }
    world.outcomes(5).await;
    let failing = world.get("/app/shop/endpoint/e").await.is(200).json();
    assert_eq!((&failing["status"], &failing["disabled"]), (&json!("failing"), &json!(false)));
    assert!(failing["failingSince"].is_string());
}
