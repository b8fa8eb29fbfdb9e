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
    token.post("/profile/simulate", r#"{"profile":"payments","outcomes":["200"]}"#).await.is(403);
    let missing = world.get("/profile/nothing").await.is(404).json();
    assert_eq!(missing["detail"], r#"there is no profile "nothing"."#);
}

#[tokio::test]
async fn a_script_of_answers_is_played_against_a_profile() {
    let world = World::new().await;
    let simulate = async |wish: serde_json::Value| {
        world.post("/profile/simulate", &wish.to_string()).await.is(200).json()
    };
    let wish = json!({"profile": "payments", "outcomes": ["500", "429:20", "200"]});
    let attempt = |at_s, meets, outcome, rule: Option<&str>| json!({"at_s": at_s, "meets": meets, "outcome": outcome, "probe": false, "rule": rule});
    let expected = json!({
        "attempts": [
            attempt(0, "500", "unavailable", None),
            attempt(1, "429:20", "throttled", Some("outage_ladder")),
            attempt(21, "200", "delivered", Some("retry_after")),
        ],
        "end": "delivered",
        "ended_at_s": 21,
    });
    assert_eq!(simulate(wish).await, expected);
    let wish = json!({"profile": "payments", "critical": true, "outcomes": [], "repeat": "401", "heldUntil": 518_400});
    let refused = simulate(wish).await;
    assert_eq!(
        (&refused["end"], refused["attempts"].as_array().unwrap().len()),
        (&json!("failed:refusals_exhausted"), 6)
    );
    assert_eq!(refused["attempts"][0]["at_s"], 518_400);
    assert_eq!(
        simulate(json!({"profile": "standard", "outcomes": ["410"]})).await["end"],
        "held:endpoint_disabled"
    );
}

#[tokio::test]
async fn what_cannot_be_simulated_is_refused_by_field() {
    let world = World::new().await;
    for (wish, field) in [
        (json!({"outcomes": ["200"]}), "profile"),
        (json!({"profile": "nothing", "outcomes": ["200"]}), "profile"),
        (json!({"profile": "payments"}), "outcomes"),
        (json!({"profile": "payments", "outcomes": ["200", "ok"]}), "outcomes"),
        (json!({"profile": "payments", "outcomes": ["200"], "repeat": "x"}), "repeat"),
        (json!({"profile": "payments", "outcomes": ["200"], "heldUntil": 4_000_000_000_u32}), "heldUntil"),
        (json!({"profile": "payments", "outcomes": ["200"], "heldUntil": -1}), "heldUntil"),
    ] {
        let wrong = world.post("/profile/simulate", &wish.to_string()).await.is(422).json();
        assert_eq!(wrong["detail"][0]["loc"], json!(["body", field]), "{wish}");
    }
}
