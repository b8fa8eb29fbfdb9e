//! What is refused is refused with its place, in sentences that need no knowledge of our insides.

use std::time::Duration;

use serde_json::{Value, json};

use crate::world::World;

/// Words of the language and the libraries that this is written in.
const THEIRS: [&str; 8] =
    ["invalid type", "expected", "u16", "u32", "struct", "sequence", "missing field", "serde"];

/// The place and the sentence of the first problem.
fn first(answer: &Value) -> (String, String) {
    let problem = &answer["detail"][0];
    let place: Vec<_> = problem["loc"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    (place.join("/"), problem["msg"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_body_that_is_an_array_or_no_object_is_refused_everywhere() {
    let world = World::new().await;
    world.app("shop").await;
    world
        .post("/app/shop/endpoint", &json!({"url": "http://127.0.0.1:9/", "uid": "e"}).to_string())
        .await
        .is(201);
    for (method, path) in [
        ("POST", "/app"),
        ("PUT", "/app/shop"),
        ("PATCH", "/app/shop"),
        ("POST", "/app/shop/endpoint"),
        ("PUT", "/app/shop/endpoint/e"),
        ("PATCH", "/app/shop/endpoint/e"),
        ("PUT", "/app/shop/endpoint/e/headers"),
        ("PATCH", "/app/shop/endpoint/e/headers"),
        ("POST", "/app/shop/endpoint/e/secret/rotate"),
        ("POST", "/app/shop/msg"),
        ("POST", "/event-type"),
        ("PUT", "/event-type/a"),
        ("POST", "/key"),
        ("POST", "/environment"),
    ] {
        for body in [r#"["a","b"]"#, "[]", "null", "5", "\"x\"", "true"] {
            let answer = world.call(method, path, body).await.is(422).json();
            let told = ("body".to_owned(), "The body must be a JSON object.".to_owned());
            assert_eq!(first(&answer), told, "{method} {path} {body}");
        }
    }
    for (field, body) in [
        ("body/application", r#"{"eventType":"a","payload":1,"application":["New"]}"#),
        ("body/transformationsParams", r#"{"eventType":"a","transformationsParams":["{}"]}"#),
    ] {
        let answer = world.post("/app/shop/msg", body).await.is(422).json();
        assert_eq!(first(&answer).0, field);
    }
}

#[tokio::test]
async fn refusals_name_the_field_and_what_is_wanted() {
    let world = World::new().await;
    world.app("shop").await;
    for (method, path, body, place) in [
        ("POST", "/app", r#"{"name":{}}"#, "body/name"),
        ("POST", "/app", r#"{}"#, "body/name"),
        ("POST", "/app", r#"{"name":"x","metadata":{"k":1}}"#, "body/metadata/k"),
        ("POST", "/app", r#"{"name":"x","contacts":["a@b.example",1]}"#, "body/contacts/1"),
        ("POST", "/app/shop/endpoint", r#"{"url":1}"#, "body/url"),
        (
            "POST",
            "/app/shop/endpoint",
            r#"{"url":"http://127.0.0.1/","throttleRate":70000000000}"#,
            "body/throttleRate",
        ),
        ("POST", "/app/shop/endpoint", r#"{"url":"http://127.0.0.1/","disabled":1}"#, "body/disabled"),
        ("POST", "/app/shop/msg", r#"{"eventType":1,"payload":1}"#, "body/eventType"),
        (
            "POST",
            "/app/shop/msg",
            r#"{"eventType":"a","payload":1,"application":{"name":1}}"#,
            "body/application/name",
        ),
        (
            "POST",
            "/app/shop/msg",
            r#"{"eventType":"a","transformationsParams":{"rawPayload":"<x/>"}}"#,
            "body/transformationsParams",
        ),
        ("POST", "/event-type", r#"{"name":"a","description":[]}"#, "body/description"),
        ("GET", "/app?limit=-1", "", "query/limit"),
        ("GET", "/app?limit=99999999999", "", "query/limit"),
        ("GET", "/app?iterator=x", "", "query/iterator"),
        ("GET", "/app?order=up", "", "query/order"),
        ("GET", "/app/shop/msg?with_content=maybe", "", "query/with_content"),
        ("GET", "/app/shop/attempt/msg/m?status=x", "", "query/status"),
    ] {
        let answer = world.call(method, path, body).await.is(422);
        assert!(THEIRS.iter().all(|word| !answer.text.contains(word)), "{}", answer.text);
        let (told, sentence) = first(&answer.json());
        assert_eq!(told, place, "{path} {body}");
        assert!(sentence.ends_with('.') && sentence.len() > 15, "{sentence}");
    }
    for body in ["", "{", "{\"name\":tru}", "<xml/>", "{\"name\":\"x\"}}", "\u{feff}{}"] {
        let answer = world.post("/app", body).await.is(400);
        assert!(THEIRS.iter().all(|word| !answer.text.contains(word)), "{}", answer.text);
    }
    let bent = world.get("/app/%ff%fe").await.is(404);
    assert!(THEIRS.iter().all(|word| !bent.text.contains(word)), "{}", bent.text);
}

#[tokio::test]
async fn an_empty_list_of_types_or_channels_is_refused() {
    let world = World::new().await;
    world.app("shop").await;
    let url = "http://127.0.0.1:9/";
    world
        .post("/app/shop/endpoint", &json!({"url": url, "uid": "e", "eventTypes": ["a"]}).to_string())
        .await
        .is(201);
    for (field, told) in
        [("eventTypes", "eventTypes"), ("filterTypes", "eventTypes"), ("channels", "channels")]
    {
        for (method, path) in [
            ("POST", "/app/shop/endpoint"),
            ("PUT", "/app/shop/endpoint/e"),
            ("PATCH", "/app/shop/endpoint/e"),
        ] {
            let answer =
                world.call(method, path, &json!({"url": url, field: []}).to_string()).await.is(422).json();
            let sentence = format!("{told} must not be empty; leave it out or null for all.");
            assert_eq!(first(&answer), (format!("body/{told}"), sentence), "{method}");
        }
    }
    let all = world.call("PATCH", "/app/shop/endpoint/e", r#"{"eventTypes":null}"#).await.is(200).json();
    assert_eq!((&all["eventTypes"], &all["channels"]), (&json!(null), &json!(null)));
    world.call("PATCH", "/app/shop/endpoint/e", r#"{"description":"d"}"#).await.is(200);
}

#[tokio::test]
async fn a_name_in_the_form_of_an_id_is_refused() {
    let world = World::new().await;
    let app = world.app("shop").await;
    let message = world.post("/app/shop/msg", r#"{"eventType":"a","payload":1}"#).await.is(202).id();
    let strange = "ep_00000000000000000000000000";
    for uid in [app.as_str(), message.as_str(), strange] {
        for (method, path, body, field) in [
            ("POST", "/app", json!({"name": "x", "uid": uid}), "uid"),
            ("PATCH", "/app/shop", json!({"uid": uid}), "uid"),
            ("POST", "/app/shop/endpoint", json!({"url": "http://127.0.0.1:9/", "uid": uid}), "uid"),
            ("POST", "/app/shop/msg", json!({"eventType": "a", "payload": 1, "eventId": uid}), "eventId"),
        ] {
            let answer = world.call(method, path, &body.to_string()).await.is(422).json();
            let (place, sentence) = first(&answer);
            assert_eq!(place, format!("body/{field}"));
            assert!(sentence.contains("the form of an id of ours"), "{sentence}");
        }
    }
    world.call("PUT", &format!("/app/{strange}"), r#"{"name":"x"}"#).await.is(404);
    world
        .call("PUT", &format!("/app/shop/endpoint/{strange}"), r#"{"url":"http://127.0.0.1:9/"}"#)
        .await
        .is(404);
    world.app("app_1").await;
}

#[tokio::test]
async fn a_key_expires_when_it_was_said_to() {
    let world = World::new().await;
    let now = world.service.engine().clock().now();
    let at = |seconds: i64| {
        gonets_core::time::Timestamp::from_millis(now.as_millis() + seconds * 1000).to_rfc3339()
    };
    let made =
        world.post("/key", &json!({"name": "k", "expiresAt": at(3600)}).to_string()).await.is(201).json();
    assert_eq!(made["expiresAt"], at(3600));
    let listed = world.get("/key").await.is(200).json();
    assert_eq!(listed["data"][1]["expiresAt"], at(3600));
    world.with_token(made["token"].as_str().unwrap()).get("/app").await.is(200);
    for (body, words) in [
        (json!({"name": "k", "expiresAt": at(-1)}), "is over"),
        (json!({"name": "k", "expiresAt": at(11 * 365 * 24 * 3600)}), "ten years"),
        (json!({"name": "k", "expiresAt": at(60), "expiresIn": 60}), "one of them"),
        (json!({"name": "k", "expiresAt": "tomorrow"}), "is not an instant"),
        (json!({"name": "k", "expiresAt": 5}), "must be a string"),
    ] {
        let (place, sentence) = first(&world.post("/key", &body.to_string()).await.is(422).json());
        assert_eq!(place, "body/expiresAt");
        assert!(sentence.contains(words), "{sentence}");
    }
    world.pass(Duration::from_secs(3599));
    let token = world.with_token(made["token"].as_str().unwrap());
    token.get("/app").await.is(200);
    world.pass(Duration::from_secs(2));
    assert!(token.get("/app").await.is(401).text.contains("the key has expired"));
}
