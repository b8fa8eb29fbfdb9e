//! The committed description is the one of the code. To write it anew:
//! `GONETS_WRITE_OPENAPI=1 cargo test -p gonets-api description`.

use std::path::Path;

#[test]
fn the_committed_description_is_that_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let mut text = gonets_api::openapi().to_pretty_json().unwrap();
    text.push('\n');
    if std::env::var_os("GONETS_WRITE_OPENAPI").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "openapi.json is not up to date; set GONETS_WRITE_OPENAPI=1 and look at its diff"
    );
}

#[test]
fn every_operation_has_an_id_of_its_own() {
    let description = serde_json::to_value(gonets_api::openapi()).unwrap();
    let mut ids = std::collections::BTreeSet::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{method} {path} has no id"));
            assert!(ids.insert(id.to_owned()), "{id} is there twice");
        }
    }
    assert!(ids.contains("v1.message.create"));
}
