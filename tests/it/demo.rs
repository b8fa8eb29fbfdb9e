//! The demo as a script runs it.

use std::process::Command;

use crate::server::binary;

#[test]
fn the_demo_ends_by_itself_when_all_its_events_have_come_to_their_ends() {
    let output =
        Command::new(binary()).args(["demo", "--once", "--listen", "127.0.0.1:0"]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let summary = text.lines().rfind(|line| line.contains("deliveries")).expect("a summary");
    assert!(summary.contains("0 failed, 0 waiting"), "{summary}");
    for seen in ["outage ladder 1 of", "refusal ladder 1 of", "connection refused", "delivered"] {
        assert!(text.contains(seen), "the account does not show {seen:?}:\n{text}");
    }
}
