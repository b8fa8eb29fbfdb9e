//! Deliveries and their timelines (R26), and trying once more by hand (R9).

use serde_json::{Value, json};

use crate::{partner::Partner, world::World};

/// An application `shop` with an endpoint `e` at this partner; the endpoint's id.
async fn shop(world: &World, partner: &Partner) -> String {
    world.app("shop").await;
    let body = json!({"url": partner.url, "uid": "e"}).to_string();
    world.post("/app/shop/endpoint", &body).await.is(201).id()
}

async fn message(world: &World, more: Value) -> String {
    let mut body = json!({"eventType": "order.paid", "payload": {"n": 1}});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.post("/app/shop/msg", &body.to_string()).await.is(202).id()
}

fn kinds(delivery: &Value) -> Vec<&str> {
    delivery["timeline"].as_array().unwrap().iter().map(|event| event["kind"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn r26_a_delivery_that_waits_says_what_was_tried_what_comes_next_and_why() {
    let (world, partner) = (World::new().await, Partner::answering(&[503]).await);
    let endpoint = shop(&world, &partner).await;
    let message = message(&world, json!({})).await;
    world.outcomes(1).await;
    let id = format!("{message}.{endpoint}");
    let shown = world.get(&format!("/app/shop/delivery/{id}")).await.is(200).json();
    assert_eq!(
        (&shown["id"], &shown["messageId"], &shown["endpointId"]),
        (&json!(id), &json!(message), &json!(endpoint))
    );
    assert_eq!(
        (&shown["state"], &shown["reason"], &shown["hold"]),
        (&json!("waiting"), &json!(null), &json!(null))
    );
    assert_eq!((&shown["used"], &shown["attempts"]), (&json!({"outage": 1, "refusal": 0}), &json!(1)));
    assert_eq!(shown["nextAttemptRule"], "outage_ladder");
    assert_eq!((&shown["eventType"], &shown["critical"]), (&json!("order.paid"), &json!(false)));
    assert_eq!(kinds(&shown), ["accepted", "attempt", "scheduled"]);
    let [accepted, attempt, scheduled] = [0, 1, 2].map(|at| &shown["timeline"][at]);
    assert_eq!(accepted["text"], "accepted as order.paid");
    let text = format!("attempt 1: 503 in {} ms", attempt["durationMs"]);
    assert_eq!((&attempt["text"], &attempt["status"]), (&json!(text), &json!(503)));
    assert_eq!(
        (&attempt["outcome"], &attempt["byHand"], &attempt["probe"]),
        (&json!("unavailable"), &json!(false), &json!(false))
    );
    let text =
        format!("next attempt at {} (outage ladder, step 1 of 6)", shown["nextAttempt"].as_str().unwrap());
    assert_eq!((&scheduled["text"], &scheduled["due"]), (&json!(text), &shown["nextAttempt"]));
    let id = attempt["attemptId"].as_str().unwrap();
    world.get(&format!("/app/shop/msg/{message}/attempt/{id}")).await.is(200);
}

#[tokio::test]
async fn r26_a_critical_refusal_is_on_its_own_ladder() {
    let (world, partner) = (World::with_profile("payments").await, Partner::answering(&[403]).await);
    let endpoint = shop(&world, &partner).await;
    let critical = message(&world, json!({"critical": true})).await;
    let other = message(&world, json!({})).await;
    world.outcomes(2).await;
    let shown = world.get(&format!("/app/shop/delivery/{critical}.{endpoint}")).await.is(200).json();
    assert_eq!(shown["used"], json!({"outage": 0, "refusal": 1}));
    assert_eq!(shown["timeline"][0]["text"], "accepted as order.paid, critical");
    assert!(
        shown["timeline"][2]["text"].as_str().unwrap().ends_with("(refusal ladder, step 1 of 5)"),
        "{shown}"
    );
    let failed = world.get(&format!("/app/shop/delivery/{other}.{endpoint}")).await.is(200).json();
    assert_eq!((&failed["state"], &failed["reason"]), (&json!("failed"), &json!("refused")));
    assert_eq!(
        (kinds(&failed), &failed["nextAttempt"]),
        (vec!["accepted", "attempt", "failed"], &json!(null))
    );
}

#[tokio::test]
async fn r09_a_retry_by_hand_is_one_attempt_that_may_succeed() {
    let (world, partner) = (World::new().await, Partner::answering(&[404, 200]).await);
    let endpoint = shop(&world, &partner).await;
    let message = message(&world, json!({})).await;
    world.outcomes(1).await;
    let path = format!("/app/shop/delivery/{message}.{endpoint}");
    assert_eq!(world.get(&path).await.is(200).json()["state"], "failed");
    let retry = format!("{path}/retry");
    assert_eq!(world.post_with_key(&retry, "k", "").await.is(202).text, "{}");
    world.outcomes(2).await;
    assert_eq!(world.post_with_key(&retry, "k", "").await.is(202).text, "{}", "the same request");
    let shown = world.get(&path).await.is(200).json();
    assert_eq!((&shown["state"], &shown["reason"]), (&json!("delivered"), &json!(null)));
    assert_eq!(kinds(&shown), ["accepted", "attempt", "attempt", "delivered"]);
    let last = &shown["timeline"][2];
    assert_eq!((&last["number"], &last["byHand"]), (&json!(2), &json!(true)));
    assert!(last["text"].as_str().unwrap().ends_with(", by hand"), "{last}");
    assert_eq!(shown["timeline"][3]["text"], "delivered by attempt 2");
}

#[tokio::test]
async fn r09_a_retry_is_refused_with_a_sentence_where_nothing_can_be_sent() {
    let (world, partner) = (World::new().await, Partner::answering(&[404]).await);
    let endpoint = shop(&world, &partner).await;
    let message = message(&world, json!({})).await;
    world.outcomes(1).await;
    let retry = format!("/app/shop/delivery/{message}.{endpoint}/retry");
    world.post("/app/shop/freeze", "").await.is(204);
    let frozen = world.post(&retry, "").await.is(409).json();
    assert_eq!(frozen["code"], "frozen");
    assert!(
        frozen["detail"].as_str().unwrap().starts_with("the sending of the application has been frozen"),
        "{frozen}"
    );
    world.post(&format!("/app/shop/msg/{message}/endpoint/e/resend"), "").await.is(409);
    world.call("DELETE", "/app/shop/freeze", "").await.is(204);
    world.call("PATCH", "/app/shop/endpoint/e", r#"{"disabled":true}"#).await.is(200);
    assert_eq!(world.post(&retry, "").await.is(409).json()["code"], "endpoint_disabled");
    world.call("DELETE", "/app/shop/endpoint/e", "").await.is(204);
    world.post(&retry, "").await.is(404);
    let path = retry.trim_end_matches("/retry");
    assert_eq!(world.get(path).await.is(200).json()["state"], "failed", "its journal stays");
}

#[tokio::test]
async fn deliveries_of_others_and_names_that_are_none_are_not_there() {
    let (world, partner) = (World::new().await, Partner::answering(&[200]).await);
    let endpoint = shop(&world, &partner).await;
    let message = message(&world, json!({"eventId": "own"})).await;
    world.outcomes(1).await;
    let id = format!("{message}.{endpoint}");
    let made = world.post("/key", r#"{"name":"portal","application":"shop"}"#).await.is(201).json();
    let token = world.with_token(made["token"].as_str().unwrap());
    token.get(&format!("/app/shop/delivery/{id}")).await.is(200);
    token.post(&format!("/app/shop/delivery/{id}/retry"), "").await.is(202);
    world.outcomes(2).await;
    let other = world.app("other").await;
    let there = world.post("/app/other/endpoint", r#"{"url":"http://127.0.0.1:9/"}"#).await.is(201).id();
    let made = world.post("/environment", r#"{"name":"staging"}"#).await.is(201).json();
    let staging = world.with_token(made["key"]["token"].as_str().unwrap());
    staging.app("shop").await;
    for (who, app) in [(&world, "other"), (&staging, "shop"), (&token, other.as_str())] {
        who.get(&format!("/app/{app}/delivery/{id}")).await.is(404);
        who.post(&format!("/app/{app}/delivery/{id}/retry"), "").await.is(404);
        who.get(&format!("/app/{app}/msg/{message}/explain")).await.is(404);
    }
    let strange = [
        "x",
        "own.e",
        "",
        ".",
        &message,
        &endpoint,
        &format!("{endpoint}.{message}"),
        &format!("{message}.{there}"),
        &format!("{message}.e"),
        &format!("{id}.{endpoint}"),
        &format!("{id}%00"),
    ];
    for name in strange {
        world.get(&format!("/app/shop/delivery/{name}")).await.is(404);
        world.post(&format!("/app/shop/delivery/{name}/retry"), "").await.is(404);
    }
    for nothing in ["nothing", "msg_00000000000000000000000000"] {
        world.get(&format!("/app/shop/msg/{nothing}/explain")).await.is(404);
    }
}

#[tokio::test]
async fn r18_a_message_without_an_endpoint_says_what_it_waits_for() {
    let (world, partner) = (World::with_profile("payments").await, Partner::answering(&[200]).await);
    world.app("shop").await;
    let message = message(&world, json!({"eventId": "own"})).await;
    let path = format!("/app/shop/msg/{message}/explain");
    let waiting = world.get(&path).await.is(200).json();
    assert_eq!((&waiting["messageId"], &waiting["state"]), (&json!(message), &json!("waiting")));
    assert_eq!((&waiting["hold"]["name"], &waiting["hold"]["until"]), (&json!("no_endpoint"), &json!(null)));
    assert_eq!((&waiting["deliveries"], waiting.get("reason")), (&json!([]), None));
    assert!(waiting["expiresAt"].is_string() && waiting["hold"]["sentence"].is_string());
    let body = json!({"url": partner.url}).to_string();
    let endpoint = world.post("/app/shop/endpoint", &body).await.is(201).id();
    world.outcomes(1).await;
    let routed = world.get("/app/shop/msg/own/explain").await.is(200).json();
    assert_eq!((&routed["state"], routed.get("hold")), (&json!("routed"), None));
    assert_eq!(routed["deliveries"][0]["id"], format!("{message}.{endpoint}"));
    assert_eq!(kinds(&routed["deliveries"][0]), ["accepted", "attempt", "delivered"]);
}

#[tokio::test]
async fn a_message_that_nobody_took_says_so() {
    let world = World::new().await;
    world.app("shop").await;
    let body = json!({"url": "http://127.0.0.1:9/", "eventTypes": ["user.created"]}).to_string();
    world.post("/app/shop/endpoint", &body).await.is(201);
    let message = message(&world, json!({})).await;
    let shown = world.get(&format!("/app/shop/msg/{message}/explain")).await.is(200).json();
    assert_eq!((&shown["state"], &shown["deliveries"]), (&json!("routed_nowhere"), &json!([])));
    assert_eq!((shown.get("hold"), shown.get("reason")), (None, None));
}

#[tokio::test]
async fn r19_what_came_while_an_endpoint_was_disabled_is_skipped_and_says_so() {
    let (world, partner) = (World::new().await, Partner::answering(&[200]).await);
    let endpoint = shop(&world, &partner).await;
    world.call("PATCH", "/app/shop/endpoint/e", r#"{"disabled":true}"#).await.is(200);
    let message = message(&world, json!({})).await;
    let shown = world.get(&format!("/app/shop/delivery/{message}.{endpoint}")).await.is(200).json();
    assert_eq!((&shown["state"], &shown["reason"]), (&json!("skipped"), &json!("endpoint_disabled")));
    assert_eq!(kinds(&shown), ["accepted", "skipped"]);
    let explained = world.get(&format!("/app/shop/msg/{message}/explain")).await.is(200).json();
    assert_eq!(explained["state"], "routed");
}
