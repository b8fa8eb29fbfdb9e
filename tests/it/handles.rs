//! File handles: a thousand partners and a small limit, and nothing runs out.
//!
//! That none ran out is told by the kernel: strace keeps the system calls that failed for want of a
//! handle, since the server may well recover from one and say nothing.

use std::{path::Path, process::Command, sync::Arc, time::Duration};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::{sync::watch, time::Instant};

use crate::{
    client::Client,
    receiver::{Receiver, Reply},
    server::{Data, Server, binary},
    world,
};

const APPS: usize = 2;
/// The most that an application may have.
const ENDPOINTS: usize = 500;
const PORTS: usize = APPS * ENDPOINTS;
const MESSAGES: usize = 50;
const DELIVERIES: usize = PORTS * MESSAGES;
/// For this process: a listener for each port, a connection for each handle of the server.
const OURS: u64 = 4096;
const MARGIN: usize = 50;
/// Without a single delivery for so long, the rest waits for a ladder's next step.
const STALLED: Duration = Duration::from_secs(15);
/// How long idle connections may keep their handles.
const BACK: Duration = Duration::from_secs(120);

/// The server with 1,024 handles, watched.
fn server(log: &Path) -> Server {
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -n 1024; exec strace -D --seccomp-bpf -f -qq -Z \"$@\"", "sh"])
        .args(["-e", "trace=socket,accept4,openat,epoll_create1,eventfd2", "-o"])
        .arg(log)
        .arg(binary());
    Server::run(Data::new(), command)
}

/// Room for this process's own ends of the connections.
fn raise_our_limit() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|now| now < OURS) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(OURS), maximum: limit.maximum })
            .unwrap_or_else(|cause| panic!("this test needs {OURS} file handles (ulimit -Hn): {cause}"));
    }
}

/// [`APPS`] applications with a port for each endpoint, counted together.
async fn subscribe(client: &mut Client, total: &Arc<watch::Sender<usize>>) -> Vec<String> {
    let mut apps = Vec::new();
    for n in 0..APPS {
        let app = world::application(client, &json!({"name": format!("shop {n}")})).await;
        for _ in 0..ENDPOINTS {
            let total = Arc::clone(total);
            let receiver = Receiver::start(move |_| {
                total.send_modify(|n| *n += 1);
                Reply::status(200)
            })
            .await;
            world::endpoint(client, &app, &receiver.url("/")).await;
        }
        apps.push(app);
    }
    apps
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_1024_handles_50_000_deliveries_to_1_000_ports_run_out_of_nothing() {
    raise_our_limit();
    let logs = tempfile::tempdir().expect("a temporary directory");
    let log = logs.path().join("strace");
    let server = server(&log);
    let mut client = Client::of(server.address());
    let total = Arc::new(watch::Sender::new(0usize));
    let apps = subscribe(&mut client, &total).await;
    let (before, begun) = (server.handles(), Instant::now());
    for n in 0..MESSAGES {
        for app in &apps {
            world::post(&mut client, app, &json!({"n": n})).await;
        }
    }
    let mut came = total.subscribe();
    while *came.borrow_and_update() < DELIVERIES {
        if tokio::time::timeout(STALLED, came.changed()).await.is_err() {
            break;
        }
    }
    let (took, back) = (begun.elapsed(), Instant::now());
    while server.handles() > before + MARGIN {
        assert!(back.elapsed() < BACK, "{} handles, {before} before", server.handles());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let (delivered, after) = (*total.borrow(), server.handles());
    let ran_out = std::fs::read_to_string(&log)
        .expect("strace wrote a log")
        .lines()
        .filter(|line| line.contains("EMFILE") || line.contains("ENFILE"))
        .count();
    println!(
        "{delivered} deliveries to {PORTS} ports in {took:?}; {before} handles before, {after} after another {:?}; ran out {ran_out} times",
        back.elapsed()
    );
    assert_eq!(ran_out, 0, "calls that found no handle; {delivered} of {DELIVERIES} delivered");
    assert_eq!(delivered, DELIVERIES, "each once");
}
