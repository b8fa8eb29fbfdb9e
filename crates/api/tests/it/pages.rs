//! Pages that would carry too much end early.

use serde_json::{Value, json};

use crate::world::World;

const MEBIBYTE: usize = 1024 * 1024;

/// A page: its ids and its raw length, checked against what a page may carry.
async fn page(world: &World, path: &str) -> (Vec<String>, Value) {
    let answer = world.get(path).await.is(200);
    assert!(answer.text.len() < 4 * MEBIBYTE + 100_000, "{path} carries {} bytes", answer.text.len());
    let page = answer.json();
    let ids = page["data"].as_array().unwrap().iter();
    (ids.map(|one| one["id"].as_str().unwrap().to_owned()).collect(), page)
}

/// All ids of a list, page by page, in the order of paging; and how many pages there were.
async fn walk(world: &World, path: &str, from: Option<String>) -> (Vec<String>, usize) {
    let (mut seen, mut pages, mut iterator) = (Vec::new(), 0, from);
    loop {
        let asked = iterator.as_ref().map_or(String::new(), |iterator| format!("&iterator={iterator}"));
        let (mut ids, shown) = page(world, &format!("{path}{asked}")).await;
        let is_back = asked.contains("=-");
        let next = if is_back { &shown["prevIterator"] } else { &shown["iterator"] };
        if is_back {
            ids.reverse();
        }
        seen.extend(ids);
        pages += 1;
        if shown["done"] == json!(true) {
            return (seen, pages);
        }
        iterator = Some(next.as_str().unwrap_or_else(|| panic!("no way on: {path}")).to_owned());
    }
}

#[tokio::test]
async fn a_page_ends_before_it_carries_too_much_and_the_list_goes_on() {
    let world = World::with_limit("payments", MEBIBYTE).await;
    world.app("shop").await;
    let endpoint = json!({"url": "http://127.0.0.1:9/", "uid": "e", "disabled": true}).to_string();
    world.post("/app/shop/endpoint", &endpoint).await.is(201);
    let mut posted = Vec::new();
    for size in [900_000, 1, 900_000, 1_000_000, 900_000, 900_000, 500_000, 1, 2, 900_000, 900_000] {
        let body = format!(r#"{{"eventType":"a","payload":"{}"}}"#, "x".repeat(size));
        posted.push(world.post("/app/shop/msg?with_content=false", &body).await.is(202).id());
    }
    let newest_first: Vec<String> = posted.iter().rev().cloned().collect();
    for list in ["/app/shop/msg", "/app/shop/endpoint/e/msg"] {
        for (order, expected) in [("descending", &newest_first), ("ascending", &posted)] {
            let path = format!("{list}?limit=250&order={order}");
            let (seen, pages) = walk(&world, &path, None).await;
            assert_eq!(&seen, expected, "{path}");
            assert!(pages > 1);
            let last = format!("-{}", expected.last().unwrap());
            let (mut back, pages) = walk(&world, &path, Some(last)).await;
            back.reverse();
            assert_eq!(back, expected[..expected.len() - 1], "{path} back");
            assert!(pages > 1);
        }
        let (all, page) = page(&world, &format!("{list}?limit=250&with_content=false")).await;
        assert_eq!((all.len(), &page["done"]), (11, &json!(true)));
    }
}

#[tokio::test]
async fn pages_of_configuration_end_early_too() {
    let world = World::with_limit("payments", MEBIBYTE).await;
    for number in 0..20 {
        let schema = json!({"description": "", "schemas": {"1": "x".repeat(255_000)}}).to_string();
        world.call("PUT", &format!("/event-type/type.{number:02}"), &schema).await.is(201);
    }
    let first = world.get("/event-type?limit=250").await.is(200);
    assert!(first.text.len() < 4 * MEBIBYTE + 100_000);
    let first = first.json();
    assert_eq!((first["data"].as_array().unwrap().len(), &first["done"]), (16, &json!(false)));
    let next = format!("/event-type?limit=250&iterator={}", first["iterator"].as_str().unwrap());
    let rest = world.get(&next).await.is(200).json();
    assert_eq!((rest["data"].as_array().unwrap().len(), &rest["done"]), (4, &json!(true)));
    assert_eq!(rest["data"][0]["name"], "type.16");
}

#[tokio::test]
async fn large_answers_that_nobody_takes_are_bounded_and_small_ones_go_on() {
    let world = World::with_limit("payments", MEBIBYTE).await;
    world.app("shop").await;
    for _ in 0..4 {
        let body = format!(r#"{{"eventType":"a","payload":"{}"}}"#, "x".repeat(1_000_000));
        world.post("/app/shop/msg?with_content=false", &body).await.is(202);
    }
    let mut untaken = Vec::new();
    let crowded = loop {
        let answer = world.untaken("/app/shop/msg").await;
        if answer.status() != 200 {
            break answer;
        }
        untaken.push(answer);
        assert!(untaken.len() < 100, "there is no bound");
    };
    assert_eq!((crowded.status().as_u16(), &crowded.headers()["retry-after"]), (503, &"1".parse().unwrap()));
    assert!(untaken.len() > 10);
    world.get("/app/shop").await.is(200);
    world.get("/app").await.is(200);
    world.get("/app/shop/msg?with_content=false").await.is(200);
    untaken.clear();
    world.get("/app/shop/msg").await.is(200);
}

#[tokio::test]
async fn answers_that_are_put_together_at_once_are_bounded() {
    let world = World::new().await;
    world.app("shop").await;
    let mut made = Vec::new();
    for _ in 0..8 {
        made.push(world.service.room_for_page().await.unwrap());
    }
    let crowded = world.get("/app/shop/msg").await.is(503);
    assert_eq!((crowded.json()["code"].as_str(), crowded.retry_after.as_deref()), (Some("busy"), Some("1")));
    // What is in memory needs nobody's turn.
    world.get("/app").await.is(200);
    made.clear();
    world.get("/app/shop/msg").await.is(200);
}
