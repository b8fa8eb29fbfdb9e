//! Memory and processor time are bounded whatever the backlog.

use std::time::Duration;

use crate::{client::Client, crash::post_many, healthy::Pair, server::Server, world};

const PENDING: usize = 200_000;
const DEAD_ENDPOINTS: usize = 50;
/// Events in one round of the healthy endpoint, and the rounds of which one has to do.
const EVENTS: usize = 300;
const ROUNDS: usize = 6;
/// Windows in which a server has nothing to do, of which the best counts: its start may still be
/// felt in the first, and on a busy machine the same work takes longer.
const WINDOWS: usize = 3;
const WINDOW: Duration = Duration::from_secs(3);

/// Processor time used in the best of some windows.
async fn used_at_rest(server: &Server) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..WINDOWS {
        let before = server.cpu();
        tokio::time::sleep(WINDOW).await;
        best = best.min(server.cpu() - before);
        if best.is_zero() {
            break;
        }
    }
    best
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_rest_it_takes_less_than_40_mb_and_no_measurable_processor_time() {
    let server = Server::start();
    let used = used_at_rest(&server).await;
    assert!(used <= Duration::from_millis(20), "{used:?} in {WINDOW:?}");
    assert!(server.memory_mb() < 40.0, "{} MB", server.memory_mb());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_200_000_pending_for_50_dead_endpoints_memory_stays_and_a_healthy_one_does_not_notice() {
    let (server, quiet) = (Server::start(), Server::start());
    let mut client = Client::of(server.address());
    let mut pair = Pair::at(&server, &quiet).await;
    let (dead, _ports) = world::dead_subscribers(&mut client, DEAD_ENDPOINTS).await;
    post_many(server.address(), &dead, PENDING).await;
    for _ in 0..ROUNDS {
        pair.round(|many| many == EVENTS).await;
        if pair.is_unnoticed() {
            break;
        }
    }
    let (memory, used) = (server.memory_mb(), used_at_rest(&server).await);
    println!("{memory:.0} MB and {used:?} in {WINDOW:?} with {PENDING} pending; {}", pair.told());
    assert!(memory < 120.0, "{memory:.0} MB");
    // A server that is busy with what it cannot deliver would slow down both.
    assert!(used < WINDOW / 4, "{used:?} in {WINDOW:?}");
    assert!(pair.is_unnoticed(), "{}", pair.told());
}
