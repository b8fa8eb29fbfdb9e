//! Operational endpoints: where an environment's own people are told what happens in it.

use serde_json::json;

use crate::{partner::Partner, world::World};

const ENDPOINTS: &str = "/operational-webhook/endpoint";

#[tokio::test]
async fn an_operational_endpoint_is_made_found_changed_and_deleted() {
    let world = World::new().await;
    assert_eq!(world.get(ENDPOINTS).await.is(200).json()["data"], json!([]));
    world.get(&format!("{ENDPOINTS}/e")).await.is(404);
    let body =
        json!({"url": "http://127.0.0.1:9/", "uid": "e", "filterTypes": ["breaker.opened"]}).to_string();
    let made = world.post_with_key(ENDPOINTS, "auto_1", &body).await.is(201);
    assert_eq!(made.json()["eventTypes"], json!(["breaker.opened"]));
    assert_eq!(world.post_with_key(ENDPOINTS, "auto_1", &body).await.is(201).id(), made.id());
    world.post(ENDPOINTS, &body).await.is(409);
    for name in ["e", &made.id()] {
        assert_eq!(world.get(&format!("{ENDPOINTS}/{name}")).await.is(200).id(), made.id());
    }
    let one = format!("{ENDPOINTS}/e");
    let put = json!({"url": "http://127.0.0.1:9/", "uid": "e", "description": "d"}).to_string();
    assert_eq!(world.call("PUT", &one, &put).await.is(200).json()["description"], "d");
    let patched = world.call("PATCH", &one, r#"{"eventTypes":["endpoint.failing"]}"#).await.is(200).json();
    assert_eq!(
        (&patched["description"], &patched["filterTypes"]),
        (&json!("d"), &json!(["endpoint.failing"]))
    );
    assert_eq!(world.get(ENDPOINTS).await.is(200).json()["data"][0]["id"], made.id());
    world.call("DELETE", &one, "").await.is(204);
    world.get(&one).await.is(404);
    assert_eq!(world.call("PUT", &one, &put).await.is(201).json()["uid"], "e");
}

#[tokio::test]
async fn its_secret_and_headers_are_as_those_of_any_endpoint() {
    let world = World::new().await;
    world.post(ENDPOINTS, r#"{"url":"http://127.0.0.1:9/","uid":"e"}"#).await.is(201);
    let secret = format!("{ENDPOINTS}/e/secret");
    let before = world.get(&secret).await.is(200).json();
    let rotated = world.post_with_key(&format!("{secret}/rotate"), "k", "{}").await.is(200).json();
    assert_ne!(rotated, before);
    assert_eq!(world.post_with_key(&format!("{secret}/rotate"), "k", "{}").await.is(200).json(), rotated);
    assert_eq!(world.get(&secret).await.is(200).json(), rotated);
    let headers = format!("{ENDPOINTS}/e/headers");
    world.call("PUT", &headers, r#"{"headers":{"X-A":"1","Authorization":"s3cret"}}"#).await.is(204);
    world.call("PATCH", &headers, r#"{"headers":{"X-B":"2"}}"#).await.is(204);
    let shown = world.get(&headers).await.is(200).json();
    assert_eq!(shown, json!({"headers": {"X-A": "1", "X-B": "2"}, "sensitive": ["Authorization"]}));
    for path in ["/secret", "/headers"] {
        world.get(&format!("{ENDPOINTS}/nobody{path}")).await.is(404);
    }
}

#[tokio::test]
async fn events_that_there_are_not_are_refused_by_name() {
    let world = World::new().await;
    let body = |field: &str| {
        json!({"url": "http://127.0.0.1:9/", "uid": "e", field: ["breaker.opened", "order.paid"]}).to_string()
    };
    for field in ["filterTypes", "eventTypes"] {
        let wrong = world.post(ENDPOINTS, &body(field)).await.is(422).json();
        let message = wrong["detail"][0]["msg"].as_str().unwrap();
        assert!(message.contains("\"order.paid\"") && message.contains("breaker.opened"), "{message}");
        world.call("PUT", &format!("{ENDPOINTS}/e"), &body(field)).await.is(422);
    }
    world.post(ENDPOINTS, r#"{"url":"http://127.0.0.1:9/","uid":"e"}"#).await.is(201);
    world.call("PATCH", &format!("{ENDPOINTS}/e"), r#"{"eventTypes":["order.paid"]}"#).await.is(422);
    world.post(ENDPOINTS, r#"{"url":"http://10.0.0.1/"}"#).await.is(422);
}

#[tokio::test]
async fn they_are_for_administrators_of_their_environment_only() {
    let world = World::new().await;
    world.app("shop").await;
    let made = world.post(ENDPOINTS, r#"{"url":"http://127.0.0.1:9/","uid":"e"}"#).await.is(201).id();
    let token = world.post("/key", r#"{"name":"portal","application":"shop"}"#).await.is(201).json();
    let token = world.with_token(token["token"].as_str().unwrap());
    let staging = world.post("/environment", r#"{"name":"staging"}"#).await.is(201).json();
    let staging = world.with_token(staging["key"]["token"].as_str().unwrap());
    staging.post(ENDPOINTS, r#"{"url":"http://127.0.0.1:9/"}"#).await.is(201);
    let body = r#"{"url":"http://127.0.0.1:9/","headers":{}}"#;
    for (method, path) in [
        ("GET", ""),
        ("PUT", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("GET", "/secret"),
        ("POST", "/secret/rotate"),
        ("GET", "/headers"),
        ("PUT", "/headers"),
        ("PATCH", "/headers"),
    ] {
        token.call(method, &format!("{ENDPOINTS}/e{path}"), body).await.is(403);
        let body = if path.starts_with("/secret") { "{}" } else { body };
        staging.call(method, &format!("{ENDPOINTS}/{made}{path}"), body).await.is(404);
    }
    token.get(ENDPOINTS).await.is(403);
    token.post(ENDPOINTS, body).await.is(403);
    world.get(&format!("{ENDPOINTS}/e")).await.is(200);
}

#[tokio::test]
async fn the_application_behind_them_is_in_no_list_and_under_no_name() {
    let world = World::new().await;
    let made = world.post(ENDPOINTS, r#"{"url":"http://127.0.0.1:9/","uid":"e"}"#).await.is(201).id();
    assert_eq!(world.get("/app").await.is(200).json()["data"], json!([]));
    for name in ["(operational)", "%28operational%29", "operational"] {
        world.get(&format!("/app/{name}")).await.is(404);
        world.get(&format!("/app/{name}/endpoint/{made}")).await.is(404);
        world.get(&format!("/app/{name}/msg")).await.is(404);
        world.post("/key", &json!({"name": "x", "application": name}).to_string()).await.is(404);
    }
    world.call("PUT", "/app/(operational)", r#"{"name":"mine"}"#).await.is(422);
}

#[tokio::test]
async fn what_happens_to_endpoints_is_told_there() {
    let (world, mut partner) = (World::new().await, Partner::answering(&[200]).await);
    let app = world.app("shop").await;
    world.post(ENDPOINTS, &json!({"url": partner.url}).to_string()).await.is(201);
    let body = r#"{"url":"http://127.0.0.1:9/","uid":"e"}"#;
    let endpoint = world.post("/app/shop/endpoint", body).await.is(201).id();
    let created = partner.next().await;
    assert_eq!(created["type"], "endpoint.created");
    let about = json!({"appId": app, "appUid": "shop", "endpointId": endpoint, "endpointUid": "e", "endpointUrl": "http://127.0.0.1:9/"});
    assert_eq!(created["data"], about);
    let path = "/app/shop/endpoint/e";
    let mut changes: Vec<(&str, String, &str, &[&str])> = vec![
        ("PATCH", path.into(), r#"{"description":"d"}"#, &["endpoint.updated"]),
        ("PATCH", path.into(), r#"{"disabled":true}"#, &["endpoint.updated", "endpoint.disabled"]),
        ("PATCH", path.into(), r#"{"disabled":true}"#, &["endpoint.updated"]),
        ("PATCH", path.into(), r#"{"disabled":false}"#, &["endpoint.updated", "endpoint.enabled"]),
        ("PATCH", path.into(), r#"{"disabled":false}"#, &["endpoint.updated"]),
        ("POST", format!("{path}/secret/rotate"), "{}", &["endpoint.updated"]),
        ("PUT", format!("{path}/headers"), r#"{"headers":{"X-A":"1"}}"#, &["endpoint.updated"]),
    ];
    changes.push(("DELETE", path.into(), "", &["endpoint.deleted"]));
    for (method, path, body, kinds) in changes {
        assert!(world.call(method, &path, body).await.status < 300);
        let mut told = Vec::new();
        for _ in kinds {
            let event = partner.next().await;
            assert_eq!(event["data"]["endpointId"], endpoint);
            if event["type"] == "endpoint.disabled" {
                assert_eq!(event["data"]["reason"], "owner");
            }
            told.push(event["type"].as_str().unwrap().to_owned());
        }
        told.sort_by_key(|kind| kind != "endpoint.updated");
        assert_eq!(told, kinds, "{method} {body}");
    }
    world.call("DELETE", "/app/shop", "").await.is(204);
}
