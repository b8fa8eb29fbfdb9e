use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn an_application_is_made_found_changed_and_deleted() {
    let world = World::new().await;
    let made =
        world.post("/app", r#"{"name":"Shop","uid":"shop","metadata":{"a":"1"},"unknown":1}"#).await.is(201);
    let id = made.id();
    assert!(id.starts_with("app_"));
    assert_eq!(made.json()["metadata"], json!({"a": "1"}));
    assert_eq!(world.get("/app/shop").await.is(200).id(), id);
    let patched =
        world.call("PATCH", "/app/shop", r#"{"uid":null,"contacts":["a@b.example"]}"#).await.is(200).json();
    assert_eq!(
        (&patched["uid"], &patched["contacts"], &patched["name"]),
        (&json!(null), &json!(["a@b.example"]), &json!("Shop"))
    );
    world.get("/app/shop").await.is(404);
    let put = world.call("PUT", &format!("/app/{id}"), r#"{"name":"New"}"#).await.is(200).json();
    assert_eq!((&put["name"], &put["metadata"]), (&json!("New"), &json!({})));
    assert_eq!(world.call("PUT", "/app/other", r#"{"name":"Other"}"#).await.is(201).json()["uid"], "other");
    assert_eq!(world.call("DELETE", &format!("/app/{id}"), "").await.is(204).text, "");
    world.get(&format!("/app/{id}")).await.is(404);
}

#[tokio::test]
async fn a_taken_uid_is_a_conflict_unless_it_is_asked_for() {
    let world = World::new().await;
    let id = world.app("shop").await;
    let clash = world.post("/app", r#"{"name":"x","uid":"shop"}"#).await.is(409);
    assert_eq!(clash.json()["code"], "conflict");
    assert_eq!(world.post("/app?get_if_exists=true", r#"{"name":"x","uid":"shop"}"#).await.is(200).id(), id);
    world.call("DELETE", "/app/shop", "").await.is(204);
    assert_ne!(world.app("shop").await, id, "a deleted application frees its uid");
}

#[tokio::test]
async fn a_repeated_post_gets_the_first_answer() {
    let world = World::new().await;
    let first = world.post_with_key("/app", "k1", r#"{"name":"A"}"#).await.is(201);
    world.call("PATCH", &format!("/app/{}", first.id()), r#"{"name":"B"}"#).await.is(200);
    assert_eq!(world.post_with_key("/app", "k1", r#"{"name":"A"}"#).await.is(201).text, first.text);
    let other = world.post_with_key("/app", "k1", r#"{"name":"C"}"#).await.is(409);
    assert_eq!(other.json()["code"], "idempotency_conflict");
    world.post_with_key("/app", &"x".repeat(257), r#"{"name":"A"}"#).await.is(422);
}

#[tokio::test]
async fn lists_are_paged_forth_and_back() {
    let world = World::new().await;
    for i in 0..5 {
        world.app(&format!("a{i}")).await;
    }
    let uids = |page: &serde_json::Value| -> Vec<String> {
        page["data"].as_array().unwrap().iter().map(|a| a["uid"].as_str().unwrap().to_owned()).collect()
    };
    let first = world.get("/app?limit=2").await.is(200).json();
    assert_eq!(uids(&first), ["a0", "a1"]);
    assert_eq!((&first["done"], &first["prevIterator"]), (&json!(false), &json!(null)));
    let next = format!("/app?limit=2&iterator={}", first["iterator"].as_str().unwrap());
    let second = world.get(&next).await.is(200).json();
    assert_eq!(uids(&second), ["a2", "a3"]);
    let back = format!("/app?limit=2&iterator={}", second["prevIterator"].as_str().unwrap());
    assert_eq!(uids(&world.get(&back).await.is(200).json()), ["a0", "a1"]);
    let down = world.get("/app?order=descending").await.is(200).json();
    assert_eq!(uids(&down), ["a4", "a3", "a2", "a1", "a0"]);
    assert_eq!(down["done"], true);
    let wrong = world.get("/app?limit=251").await.is(422).json();
    assert_eq!(wrong["detail"][0]["loc"], json!(["query", "limit"]));
}

#[tokio::test]
async fn wrong_bodies_are_told_with_their_place() {
    let world = World::new().await;
    let missing = world.post("/app", "{}").await.is(422).json();
    assert_eq!(missing["detail"][0]["loc"], json!(["body", "name"]));
    assert_eq!(missing["detail"][0]["type"], "missing");
    let wrong = world.post("/app", r#"{"name":"x","throttleRate":"5"}"#).await.is(422).json();
    assert_eq!(wrong["detail"][0]["loc"], json!(["body", "throttleRate"]));
    assert_eq!(world.post("/app", "{").await.is(400).json()["code"], "invalid_json");
    world.post("/app", r#"{"name":"x","uid":"a b"}"#).await.is(422);
    world.post("/app", r#"{"name":"x","profile":"none"}"#).await.is(422);
}

#[tokio::test]
async fn settings_that_would_do_nothing_are_refused_by_name() {
    let world = World::new().await;
    world.app("shop").await;
    let endpoint = |more: &str| format!(r#"{{"url":"http://127.0.0.1:9/","uid":"e"{more}}}"#);
    let message = |more: &str| format!(r#"{{"eventType":"a","payload":1{more}}}"#);
    for (method, path, body, field) in [
        ("POST", "/app", r#"{"name":"x","throttleRate":5}"#.to_owned(), "throttleRate"),
        ("POST", "/app", r#"{"name":"x","rateLimit":5}"#.to_owned(), "throttleRate"),
        ("PUT", "/app/shop", r#"{"name":"x","throttleRate":5}"#.to_owned(), "throttleRate"),
        ("PATCH", "/app/shop", r#"{"throttleRate":5}"#.to_owned(), "throttleRate"),
        ("POST", "/app/shop/msg", message(r#","payloadRetentionPeriod":90"#), "payloadRetentionHours"),
        ("POST", "/app/shop/msg", message(r#","payloadRetentionHours":24"#), "payloadRetentionHours"),
    ] {
        let refused = world.call(method, path, &body).await.is(422);
        assert_eq!(refused.json()["detail"][0]["loc"], json!(["body", field]), "{body}");
        assert!(refused.text.contains("is not supported yet"), "{}", refused.text);
    }
    world.call("PATCH", "/app/shop", r#"{"throttleRate":null,"rateLimit":null}"#).await.is(200);
    world.post("/app/shop/endpoint", &endpoint(r#","ordered":false,"throttleRate":5"#)).await.is(201);
    world.call("PATCH", "/app/shop/endpoint/e", r#"{"ordered":true}"#).await.is(200);
    let nothing = message(r#","payloadRetentionPeriod":null,"payloadRetentionHours":null"#);
    world.post("/app/shop/msg", &nothing).await.is(202);
}

#[tokio::test]
async fn a_repeated_post_gets_the_first_answer_although_what_it_made_is_gone() {
    let world = World::new().await;
    let body = r#"{"name":"A","uid":"a"}"#;
    let first = world.post_with_key("/app", "k", body).await.is(201);
    world.call("DELETE", "/app/a", "").await.is(204);
    assert_eq!(world.post_with_key("/app", "k", body).await.is(201).text, first.text);
    world.get(&format!("/app/{}", first.id())).await.is(404);
    world.get("/app/a").await.is(404);
    assert_ne!(world.post_with_key("/app", "k2", body).await.is(201).id(), first.id());
    assert_eq!(
        world.post_with_key("/app", "k", body).await.is(201).text,
        first.text,
        "the key means the first"
    );
}

#[tokio::test]
async fn too_much_metadata_is_refused_with_the_key_and_the_limit() {
    let world = World::new().await;
    world.app("shop").await;
    let metadata = json!({"small": "x", "notes": "x".repeat(20_000)});
    for (path, more) in
        [("/app", json!({"name": "x"})), ("/app/shop/endpoint", json!({"url": "http://127.0.0.1:9/"}))]
    {
        let mut body = more;
        body["metadata"] = metadata.clone();
        let wrong = world.post(path, &body.to_string()).await.is(422).json();
        let told = wrong["detail"][0]["msg"].as_str().unwrap();
        assert!(told.contains("\"notes\"") && told.contains("16384"), "{told}");
    }
    let headers = json!({"url": "http://127.0.0.1:9/", "headers": {"X-Long": "x".repeat(5000)}}).to_string();
    let wrong = world.post("/app/shop/endpoint", &headers).await.is(422).json();
    let told = wrong["detail"][0]["msg"].as_str().unwrap();
    assert!(told.contains("\"X-Long\"") && told.contains("4096"), "{told}");
}
