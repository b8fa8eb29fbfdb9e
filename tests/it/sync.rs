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

/// What of strace's log matters here, in its order.
#[derive(Debug, PartialEq)]
enum Call {
    /// A request to post a message came in.
    Read,
    /// Something was written into the write-ahead log.
    Logged,
    SyncBegun,
    SyncDone,
    /// The answer to a POST of a message left.
    Accepted,
}

const TRACED: &str = "trace=fsync,fdatasync,pwrite64,recvfrom,read,sendto,write,writev,sendmsg";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_202_leaves_before_the_sync_that_covers_it() {
    let receiver = Receiver::start(|_| Reply::status(200)).await;
    let logs = tempfile::tempdir().expect("a temporary directory");
    let log = logs.path().join("strace");
    let mut command = Command::new("strace");
    command.args(["--seccomp-bpf", "-f", "-s", "400", "-e", TRACED, "-o"]).arg(&log).arg(binary());
    let server = Server::run(Data::new(), command);
    let mut client = Client::of(server.address());
    let (app, _) = world::subscriber(&mut client, "shop", &receiver.url("/")).await;
    // One at a time, so that each stretch of the log is about one message.
    for n in 0..50 {
        world::post(&mut client, &app, &json!({"n": n})).await;
    }
    // strace writes a call down once it has returned, which may be after its answer was read. One
    // more answer on the same connection comes when that has been done.
    client.get("/api/v1/app").await;
    drop(server);

    let text = std::fs::read_to_string(&log).expect("strace wrote a log");
    let calls: Vec<Call> = text.lines().flat_map(calls).collect();
    let mut accepted = 0;
    for (at, _) in calls.iter().enumerate().filter(|(_, call)| **call == Call::Accepted) {
        let read = calls[..at].iter().rposition(|call| *call == Call::Read).expect("a request came before");
        let mut stretch = calls[read..at].iter();
        for step in [Call::Logged, Call::SyncBegun, Call::SyncDone] {
            assert!(
                stretch.any(|call| *call == step),
                "an answer left without {step:?} after its request: {:?}",
                &calls[read..=at]
            );
        }
        accepted += 1;
    }
    assert_eq!(accepted, 50, "every answer was seen");
}

fn calls(line: &str) -> Vec<Call> {
    let is_sync = line.contains("fsync") || line.contains("fdatasync");
    if is_sync {
        let begun = (!line.contains("resumed>")).then_some(Call::SyncBegun);
        let done = line.contains(" = 0").then_some(Call::SyncDone);
        return begun.into_iter().chain(done).collect();
    }
    let call = if line.contains("pwrite64(") {
        Some(Call::Logged)
    } else if line.contains("HTTP/1.1 202") {
        Some(Call::Accepted)
    } else if line.contains("POST /api/v1/app/") && line.contains("/msg ") {
        Some(Call::Read)
    } else {
        None
    };
    call.into_iter().collect()
}
