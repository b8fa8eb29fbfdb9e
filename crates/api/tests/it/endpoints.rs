use serde_json::json;

use crate::world::World;

const URL: &str = r#""url":"http://127.0.0.1:9/hook""#;

#[tokio::test]
async fn an_endpoint_is_made_found_changed_and_deleted() {
    let world = World::new().await;
    world.app("shop").await;
    let body = format!(r#"{{{URL},"uid":"e","eventTypes":["a.b"]}}"#);
    let made = world.post("/app/shop/endpoint", &body).await.is(201);
    assert!(made.id().starts_with("ep_"));
    assert_eq!(made.json()["filterTypes"], json!(["a.b"]));
    let patch = r#"{"eventTypes":null,"disabled":true,"description":"d"}"#;
    let patched = world.call("PATCH", "/app/shop/endpoint/e", patch).await.is(200).json();
    assert_eq!((&patched["eventTypes"], &patched["disabled"]), (&json!(null), &json!(true)));
    let put =
        world.call("PUT", "/app/shop/endpoint/e", &format!(r#"{{{URL},"uid":"e"}}"#)).await.is(200).json();
    assert_eq!((&put["disabled"], &put["description"]), (&json!(false), &json!("")));
    world.post("/app/shop/endpoint", &body).await.is(409);
    world.call("DELETE", "/app/shop/endpoint/e", "").await.is(204);
    world.get("/app/shop/endpoint/e").await.is(404);
    world.post("/app/shop/endpoint", &body).await.is(201);
}

#[tokio::test]
async fn endpoints_are_listed_newest_first() {
    let world = World::new().await;
    world.app("shop").await;
    for uid in ["a", "b", "c"] {
        world.post("/app/shop/endpoint", &format!(r#"{{{URL},"uid":"{uid}"}}"#)).await.is(201);
    }
    let page = world.get("/app/shop/endpoint?limit=2").await.is(200).json();
    assert_eq!((&page["data"][0]["uid"], &page["data"][1]["uid"]), (&json!("c"), &json!("b")));
    assert_eq!(page["done"], false);
}

#[tokio::test]
async fn an_address_that_leads_inside_is_refused_with_the_field() {
    let world = World::new().await;
    world.app("shop").await;
    for url in
        ["http://10.0.0.1/", "http://169.254.169.254/", "ftp://example.com/", "http://a:b@127.0.0.1/", "x"]
    {
        let wrong = world.post("/app/shop/endpoint", &json!({"url": url}).to_string()).await.is(422).json();
        assert_eq!(wrong["detail"][0]["loc"], json!(["body", "url"]), "{url}");
    }
}

#[tokio::test]
async fn secrets_are_shown_rotated_and_kept_as_given() {
    let world = World::new().await;
    world.app("shop").await;
    let own = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    world.post("/app/shop/endpoint", &format!(r#"{{{URL},"uid":"e","secret":"{own}"}}"#)).await.is(201);
    let secret = "/app/shop/endpoint/e/secret";
    assert_eq!(world.get(secret).await.is(200).json()["key"], own);
    let rotate = format!("{secret}/rotate");
    let rotated = world.post_with_key(&rotate, "auto_1", "{}").await.is(200);
    assert_ne!(rotated.json()["key"], own);
    assert_eq!(world.get(secret).await.text, rotated.text);
    assert_eq!(world.post_with_key(&rotate, "auto_1", "{}").await.is(200).text, rotated.text);
    for bad in [r#"{"key":"whsec_xyz!"}"#, r#"{"gracePeriodSeconds":604801}"#, r#"{"key":""}"#] {
        world.post(&rotate, bad).await.is(422);
    }
    for bad in ["v1,whsec_X", " whsec_X ", "whsec_AAAA"] {
        let body = json!({"url": "http://127.0.0.1:9/", "secret": bad}).to_string();
        let wrong = world.post("/app/shop/endpoint", &body).await.is(422).json();
        assert_eq!(wrong["detail"][0]["loc"], json!(["body", "secret"]));
    }
}

#[tokio::test]
async fn sensitive_headers_are_never_shown() {
    let world = World::new().await;
    world.app("shop").await;
    world.post("/app/shop/endpoint", &format!(r#"{{{URL},"uid":"e"}}"#)).await.is(201);
    let path = "/app/shop/endpoint/e/headers";
    let put =
        r#"{"headers":{"X-A":"1","Authorization":"Bearer s3cret","X-Own":"t0p"},"sensitive":["x-own"]}"#;
    world.call("PUT", path, put).await.is(204);
    let shown = world.get(path).await.is(200);
    assert!(!shown.text.contains("s3cret") && !shown.text.contains("t0p"), "{}", shown.text);
    assert_eq!(shown.json(), json!({"headers": {"X-A": "1"}, "sensitive": ["Authorization", "X-Own"]}));
    let patch = r#"{"headers":{"X-B":"2"},"deleteHeaders":["x-own"]}"#;
    world.call("PATCH", path, patch).await.is(204);
    let shown = world.get(path).await.is(200).json();
    assert_eq!(shown, json!({"headers": {"X-A": "1", "X-B": "2"}, "sensitive": ["Authorization"]}));
    world.call("PUT", path, r#"{"headers":{"Webhook-Id":"x"}}"#).await.is(422);
    world.call("PUT", path, r#"{"headers":{"X-A":"a\r\nX: 1"}}"#).await.is(422);
}
