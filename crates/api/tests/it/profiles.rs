//! Profiles as they are in use.

use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn profiles_are_shown_in_the_words_of_the_configuration() {
    let world = World::new().await;
    let list = world.get("/profile").await.is(200).json();
    let names: Vec<_> = list["data"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["payments", "standard", "svix"]);
    let payments = world.get("/profile/payments").await.is(200).json();
    assert_eq!(list["data"][0], payments);
    assert_eq!((&payments["timeout"], &payments["max_age"]), (&json!("10s"), &json!("30d")));
    assert_eq!((&payments["gone"], &payments["while_disabled"]), (&json!("refuse"), &json!("hold")));
    assert_eq!(payments["refusal"]["delays"], json!(["15m", "1h", "4h", "12h", "1d"]));
    assert_eq!(
        (&payments["breaker"]["enabled"], &payments["breaker"]["scope"]),
        (&json!(true), &json!("application"))
    );
    assert_eq!(payments["health"]["disable_after"], "never");
    let svix = world.get("/profile/svix").await.is(200).json();
    assert_eq!((&svix["breaker"], svix.get("refusal")), (&json!({"enabled": false}), None));
}

#[tokio::test]
async fn profiles_are_for_administrators() {
    let world = World::new().await;
    world.app("shop").await;
    let made = world.post("/key", r#"{"name":"portal","application":"shop"}"#).await.is(201).json();
    let token = world.with_token(made["token"].as_str().unwrap());
    for path in ["/profile", "/profile/payments"] {
        token.get(path).await.is(403);
    }
    let missing = world.get("/profile/nothing").await.is(404).json();
    assert_eq!(missing["detail"], r#"there is no profile "nothing"."#);
}
