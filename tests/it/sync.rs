//! `kill -9` does not show whether anything was synced: the page cache survives it. So the system
//! calls are watched: no 202 leaves before a sync that began after its request was read.

use std::process::Command;

use serde_json::json;

use crate::{
    client::Client,
    receiver::{Receiver, Reply},
    server::{Data, Server, binary},
    world,
};

/// One line of strace's log that matters here.
#[derive(Debug, PartialEq)]
enum Call {
    /// A request's bytes came in, with this mark in them.
    Read(String),
    /// The write-ahead log is on disk.
    Synced,
    /// An answer to a POST of a message left.
    Accepted,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_202_leaves_before_the_sync_that_covers_it() {
    let receiver = Receiver::start(|_| Reply::status(200)).await;
    let logs = tempfile::tempdir().expect("a temporary directory");
    let log = logs.path().join("strace");
    let mut command = Command::new("strace");
    command
        .args([
            "--seccomp-bpf",
            "-f",
            "-s",
            "400",
            "-e",
            "trace=fsync,fdatasync,recvfrom,read,sendto,write,writev,sendmsg",
            "-o",
        ])
        .arg(&log)
        .arg(binary());
    let server = Server::run(Data::new(), command);
    let mut client = Client::of(server.address());
    let (app, _) = world::subscriber(&mut client, "shop", &receiver.url("/")).await;
    for n in 0..50 {
        world::post(&mut client, &app, &json!({"mark": format!("mark-{n}-end")})).await;
    }
    drop(server);

    let text = std::fs::read_to_string(&log).expect("strace wrote a log");
    let calls: Vec<Call> = text.lines().filter_map(call).collect();
    let mut accepted = 0;
    for (at, _) in calls.iter().enumerate().filter(|(_, call)| **call == Call::Accepted) {
        let read = calls[..at]
            .iter()
            .rposition(|call| matches!(call, Call::Read(_)))
            .expect("a request came before");
        assert!(
            calls[read..at].contains(&Call::Synced),
            "an answer left without a sync after its request: {:?}",
            &calls[read..=at]
        );
        accepted += 1;
    }
    assert_eq!(accepted, 50, "every answer was seen");
}

fn call(line: &str) -> Option<Call> {
    let (_, call) = line.split_once(' ')?;
    let call = call.trim_start();
    if call.contains("fsync(")
        || call.contains("fdatasync(")
        || call.contains("fsync resumed>")
        || call.contains("fdatasync resumed>")
    {
        // Begun is not done.
        return call.contains(" = 0").then_some(Call::Synced);
    }
    if call.contains("HTTP/1.1 202") {
        return Some(Call::Accepted);
    }
    if call.contains("POST /api/v1/app/") && call.contains("/msg") {
        let mark = call.split("mark-").nth(1).and_then(|rest| rest.split("-end").next());
        return mark.map(|mark| Call::Read(mark.to_owned()));
    }
    None
}
