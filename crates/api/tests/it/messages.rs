use std::sync::Arc;

use axum::{Router, routing::post};
use serde_json::json;
use tokio::net::TcpListener;

use crate::world::World;

/// A receiver that answers `status` to everything; its URL.
async fn receiver(status: u16) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let status = http::StatusCode::from_u16(status).unwrap();
    let router = Router::new().route("/hook", post(async move || (status, "seen")));
    tokio::spawn(gonets_server::serve(listener, router, Default::default(), std::future::pending()));
    url
}

#[tokio::test]
async fn a_message_is_accepted_and_shown_byte_for_byte() {
    let world = World::new().await;
    world.app("shop").await;
    let body = r#"{"eventType":"order.paid","payload":{ "n":7615917337495251231, "s":"a\u0000b" },"eventId":"e-1","tags":["t"]}"#;
    let posted = world.post("/app/shop/msg", body).await.is(202);
    assert!(
        posted.text.contains(r#""payload":{ "n":7615917337495251231, "s":"a\u0000b" }"#),
        "{}",
        posted.text
    );
    for name in [posted.id(), "e-1".to_owned()] {
        let shown = world.get(&format!("/app/shop/msg/{name}")).await.is(200);
        assert_eq!(shown.text, posted.text);
    }
    let bare = world.get("/app/shop/msg/e-1?with_content=false").await.is(200).json();
    assert_eq!(bare["payload"], json!({}));
    let list = world.get("/app/shop/msg?tag=t&event_types=order.paid,x").await.is(200).json();
    assert_eq!(list["data"][0]["id"], posted.id());
    assert_eq!(world.get("/app/shop/msg?tag=other").await.is(200).json()["data"], json!([]));
}

#[tokio::test]
async fn event_ids_and_idempotency_keys_are_taken_once() {
    let world = World::new().await;
    world.app("shop").await;
    let body = r#"{"eventType":"a","payload":1,"eventId":"e"}"#;
    let first = world.post_with_key("/app/shop/msg", "k", body).await.is(202);
    assert_eq!(world.post_with_key("/app/shop/msg", "k", body).await.is(202).text, first.text);
    assert_eq!(world.post("/app/shop/msg", body).await.is(409).json()["code"], "conflict");
    let other = world.post_with_key("/app/shop/msg", "k", r#"{"eventType":"a","payload":2}"#).await.is(409);
    assert_eq!(other.json()["code"], "idempotency_conflict");
    world.app("other").await;
    world.post("/app/other/msg", body).await.is(202);
}

#[tokio::test]
async fn a_key_is_of_one_application_by_whatever_name_and_ends_with_it() {
    let world = World::new().await;
    let app = world.app("shop").await;
    let body = r#"{"eventType":"a","payload":1}"#;
    for key in ["k", "auto_k"] {
        let first = world.post_with_key("/app/shop/msg", key, body).await.is(202);
        let by_id = world.post_with_key(&format!("/app/{app}/msg"), key, body).await.is(202);
        assert_eq!(by_id.text, first.text);
    }
    world.call("DELETE", "/app/shop", "").await.is(204);
    world.app("shop").await;
    for key in ["k", "auto_k"] {
        let posted = world.post_with_key("/app/shop/msg", key, body).await.is(202);
        world.get(&format!("/app/shop/msg/{}", posted.id())).await.is(200);
    }
}

#[tokio::test]
async fn an_sdk_key_is_replayed_too() {
    let world = World::new().await;
    world.app("shop").await;
    let body = r#"{"eventType":"a","payload":1}"#;
    let first = world.post_with_key("/app/shop/msg", "auto_x", body).await.is(202);
    assert_eq!(world.post_with_key("/app/shop/msg", "auto_x", body).await.is(202).text, first.text);
}

#[tokio::test]
async fn wrong_messages_are_refused() {
    let world = World::new().await;
    world.app("shop").await;
    let large = format!(r#"{{"eventType":"a","payload":"{}"}}"#, "é".repeat(500));
    let refused = world.post("/app/shop/msg", &large).await.is(413);
    assert!(refused.text.contains("at most 1000"), "{}", refused.text);
    let huge = format!(r#"{{"eventType":"a","payload":"{}"}}"#, "x".repeat(100_000));
    world.post("/app/shop/msg", &huge).await.is(413);
    for (bad, status) in [
        (r#"{"eventType":"a b","payload":{}}"#, 422),
        (r#"{"eventType":"a","payload":{},"channels":["1","2","3","4","5","6"]}"#, 422),
        (r#"{"eventType":"a\u0000","payload":{}}"#, 422),
        (r#"{"eventType":"a","payload":NaN}"#, 400),
        ("", 400),
        ("[]", 422),
    ] {
        world.post("/app/shop/msg", bad).await.is(status);
    }
    assert_eq!(world.get("/app/shop/msg").await.is(200).json()["data"], json!([]));
}

#[tokio::test]
async fn a_message_may_bring_its_application_along() {
    let world = World::new().await;
    let body = r#"{"eventType":"a","payload":1,"application":{"name":"New","uid":"new"}}"#;
    world.post("/app/new/msg", body).await.is(202);
    world.post("/app/new/msg", body).await.is(202);
    assert_eq!(world.get("/app/new").await.is(200).json()["name"], "New");
    world.post("/app/none/msg", r#"{"eventType":"a","payload":1}"#).await.is(404);
}

#[tokio::test]
async fn attempts_and_standings_are_listed_from_both_sides() {
    let world = World::new().await;
    world.app("shop").await;
    for (uid, status) in [("good", 200), ("bad", 400)] {
        let url = receiver(status).await;
        world.post("/app/shop/endpoint", &json!({"url": url, "uid": uid}).to_string()).await.is(201);
    }
    let message = world.post("/app/shop/msg", r#"{"eventType":"a","payload":1}"#).await.is(202).id();
    let of_message = format!("/app/shop/attempt/msg/{message}");
    world.outcomes(2).await;
    let both = world.get(&of_message).await.is(200).json();
    assert_eq!((both["data"].as_array().unwrap().len(), &both["done"]), (2, &json!(true)));
    let failed = world.get(&format!("{of_message}?status=2&status_code_class=400")).await.is(200).json();
    let attempt = &failed["data"][0];
    assert_eq!((failed["data"].as_array().unwrap().len(), &attempt["responseStatusCode"]), (1, &json!(400)));
    assert_eq!((&attempt["response"], &attempt["statusText"]), (&json!("seen"), &json!("fail")));
    let one = format!("/app/shop/msg/{message}/attempt/{}", attempt["id"].as_str().unwrap());
    assert_eq!(&world.get(&one).await.is(200).json(), attempt);
    let at_good = world.get("/app/shop/attempt/endpoint/good").await.is(200).json();
    assert_eq!(at_good["data"][0]["status"], 0);
    let endpoints = world.get(&format!("/app/shop/msg/{message}/endpoint")).await.is(200).json();
    let standings: Vec<_> = endpoints["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| (e["uid"].clone(), e["statusText"].clone()))
        .collect();
    assert_eq!(standings, [(json!("good"), json!("success")), (json!("bad"), json!("fail"))]);
    let messages = world.get("/app/shop/endpoint/bad/msg?status=2").await.is(200).json();
    assert_eq!((&messages["data"][0]["id"], &messages["data"][0]["payload"]), (&json!(message), &json!(1)));
    assert_eq!(world.get("/app/shop/endpoint/bad/msg?status=0").await.is(200).json()["data"], json!([]));
}

#[tokio::test]
async fn a_resend_is_one_more_attempt_and_refused_for_a_disabled_endpoint() {
    let world = World::new().await;
    world.app("shop").await;
    let url = receiver(200).await;
    world.post("/app/shop/endpoint", &json!({"url": url, "uid": "e"}).to_string()).await.is(201);
    let message = world.post("/app/shop/msg", r#"{"eventType":"a","payload":1}"#).await.is(202).id();
    let attempts = format!("/app/shop/attempt/msg/{message}");
    world.outcomes(1).await;
    let resend = format!("/app/shop/msg/{message}/endpoint/e/resend");
    world.post(&resend, "").await.is(202);
    world.outcomes(2).await;
    let both = world.get(&attempts).await.is(200).json();
    assert_eq!((both["data"].as_array().unwrap().len(), &both["data"][0]["triggerType"]), (2, &json!(1)));
    for (key, count) in [("k", 3), ("auto_k", 4)] {
        let first = world.post_with_key(&resend, key, "").await.is(202);
        world.outcomes(count).await;
        let again = world.post_with_key(&resend, key, "").await.is(202);
        assert_eq!(again.text, first.text);
        let other = world.post_with_key(&resend, key, "{}").await.is(409);
        assert_eq!(other.json()["code"], "idempotency_conflict");
    }
    world.post(&resend, "").await.is(202);
    world.outcomes(5).await;
    // Had a replay made an attempt of its own, it would have been made before this one.
    let all = world.get(&attempts).await.is(200).json();
    assert_eq!(all["data"].as_array().unwrap().len(), 5);
    world.call("PATCH", "/app/shop/endpoint/e", r#"{"disabled":true}"#).await.is(200);
    assert_eq!(world.post(&resend, "").await.is(409).json()["code"], "endpoint_disabled");
}

#[tokio::test]
async fn many_messages_and_a_changing_application_do_not_disturb_each_other() {
    let world = Arc::new(World::new().await);
    world.app("shop").await;
    let posting = {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            for _ in 0..50 {
                world.post("/app/shop/msg", r#"{"eventType":"a","payload":1}"#).await.is(202);
            }
        })
    };
    for i in 0..20 {
        let body = json!({"url": "http://127.0.0.1:9/", "uid": format!("e{i}"), "eventTypes": ["none"]});
        world.post("/app/shop/endpoint", &body.to_string()).await.is(201);
    }
    posting.await.unwrap();
    let page = world.get("/app/shop/msg?limit=250").await.is(200).json();
    assert_eq!(page["data"].as_array().unwrap().len(), 50);
}

#[tokio::test]
async fn any_json_value_is_a_payload_and_only_its_absence_is_an_error() {
    let world = World::new().await;
    world.app("shop").await;
    for payload in [
        "null",
        "0",
        "-1.50e3",
        "\"\"",
        "\"a\\u0041\"",
        "true",
        "[]",
        "[ 1, null ]",
        "{}",
        r#"{"b":1,"a":2,"a":3}"#,
    ] {
        let body = format!(r#"{{"eventType":"a","payload": {payload} }}"#);
        let posted = world.post("/app/shop/msg", &body).await.is(202);
        let byte_exact = format!(r#""payload":{payload},"#);
        assert!(posted.text.contains(&byte_exact), "{}", posted.text);
        let shown = world.get(&format!("/app/shop/msg/{}", posted.id())).await.is(200);
        assert_eq!(shown.text, posted.text);
    }
    let missing = world.post("/app/shop/msg", r#"{"eventType":"a"}"#).await.is(422).json();
    assert_eq!(missing["detail"][0]["loc"], json!(["body", "payload"]));
}

#[tokio::test]
async fn times_out_of_range_are_refused_with_a_sentence() {
    let world = World::new().await;
    world.app("shop").await;
    let with = |field: &str, at: &str| format!(r#"{{"eventType":"a","payload":1,"{field}":"{at}"}}"#);
    let days = |days: i64| {
        let now = world.service.engine().clock().now().as_millis();
        gonets_core::time::Timestamp::from_millis(now + days * 24 * 3600 * 1000).to_rfc3339()
    };
    for (field, at, words) in [
        ("occurredAt", "-009999-01-01T00:00:00Z".to_owned(), "of the years 1 to 9999"),
        ("occurredAt", "0000-01-01T00:00:00Z".into(), "of the years 1 to 9999"),
        ("deliverAt", "soon".into(), "of the years 1 to 9999"),
        ("deliverAt", "9999-01-01T00:00:00Z".into(), "at most 30 days ahead"),
        ("deliverAt", days(31), "at most 30 days ahead"),
    ] {
        let wrong = world.post("/app/shop/msg", &with(field, &at)).await.is(422).json();
        assert_eq!(wrong["detail"][0]["loc"], json!(["body", field]), "{at}");
        assert!(wrong["detail"][0]["msg"].as_str().unwrap().contains(words), "{wrong}");
    }
    world.post("/app/shop/msg", &with("occurredAt", "0001-01-01T00:00:00Z")).await.is(202);
    world.post("/app/shop/msg", &with("deliverAt", &days(29))).await.is(202);
    for path in ["/app/shop/msg?before=0000-01-01T00:00:00Z", "/app/shop/msg?after=-009999-01-01T00:00:00Z"] {
        assert!(world.get(path).await.is(422).text.contains("of the years 1 to 9999"), "{path}");
    }
}

#[tokio::test]
async fn what_is_held_at_a_disabled_endpoint_is_pending_without_a_next_attempt() {
    let world = World::with_profile("payments").await;
    world.app("shop").await;
    let url = receiver(503).await;
    world.post("/app/shop/endpoint", &json!({"url": url, "uid": "e"}).to_string()).await.is(201);
    let message = world.post("/app/shop/msg", r#"{"eventType":"a","payload":1}"#).await.is(202).id();
    world.outcomes(1).await;
    let before = world.get("/app/shop/endpoint/e/msg").await.is(200).json();
    assert_eq!(before["data"][0]["statusText"], "sending");
    world.call("PATCH", "/app/shop/endpoint/e", r#"{"disabled":true}"#).await.is(200);
    for path in ["/app/shop/endpoint/e/msg".to_owned(), format!("/app/shop/msg/{message}/endpoint")] {
        let held = &world.get(&path).await.is(200).json()["data"][0];
        assert_eq!((&held["statusText"], &held["nextAttempt"]), (&json!("pending"), &json!(null)), "{held}");
    }
    let of_status = async |code: u8| {
        let page = world.get(&format!("/app/shop/endpoint/e/msg?status={code}")).await.is(200).json();
        page["data"].as_array().unwrap().len()
    };
    assert_eq!((of_status(1).await, of_status(3).await), (1, 0));
}
