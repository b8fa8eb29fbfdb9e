//! The other half of the proof: what is allowed is reached, over real sockets, under the default
//! table of addresses. Public addresses are put on the loopback device of a network namespace, so
//! the test needs root (or the right to make one) and `ip`, and disturbs nobody.

use std::{
    net::IpAddr,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::json;
use tokio::time::Instant;

use super::{OPEN_PORTS, SOON, canary, client, create, server};
use crate::{
    dns::{Dns, Says},
    peer::{Peer, keep},
    world,
};

const PUBLIC_V4: &str = "93.184.216.34";
const PUBLIC_V6: &str = "2606:4700:4700::1111";
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// Deliveries to a name that leads outside and here in turn.
const FLIPS: usize = 200;

#[test]
fn in_a_namespace_with_public_addresses_the_allowed_ones_are_reached_and_no_others() {
    let set_up = format!(
        "ip link set lo up && ip addr add {PUBLIC_V4}/32 dev lo && ip -6 addr add {PUBLIC_V6}/128 dev lo nodad && exec \"$0\" \"$@\""
    );
    let output = Command::new("unshare")
        .args(["--net", "sh", "-c", &set_up])
        .arg(std::env::current_exe().expect("this program"))
        .args(["--ignored", "--exact", "--nocapture", "--test-threads=1", "guard::namespace::inside"])
        .output()
        .expect("unshare is there");
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{text}");
    assert!(
        output.status.success() && text.contains("1 passed"),
        "it failed, or no namespace could be made: run as root, with iproute2 and util-linux installed"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs in the namespace that the test above makes"]
async fn inside() {
    let (v4, v6): (IpAddr, IpAddr) = (PUBLIC_V4.parse().expect("one"), PUBLIC_V6.parse().expect("one"));
    let dns = Dns::start(move |name, nth| match name {
        "v4.example" => Says::Addresses(vec![v4]),
        "v6.example" => Says::Addresses(vec![v6]),
        "both.example" => Says::Addresses(vec![v4, v6]),
        "alias.example" => Says::Alias("v4.example".into(), vec![v4]),
        // One question is asked at creation and one at delivery: both outside, one, and neither.
        "flips.example" if nth % 5 < 3 => Says::Addresses(vec![v4]),
        "flips.example" => Says::Addresses(vec!["127.0.0.1".parse().expect("one")]),
        _ => Says::NoSuchName,
    })
    .await;
    let server = server(&dns, OPEN_PORTS);
    let mut client = client(&server);
    let reached = Arc::new(AtomicUsize::new(0));
    let script = |reached: &Arc<AtomicUsize>| {
        let reached = Arc::clone(reached);
        move |stream| {
            let reached = Arc::clone(&reached);
            async move { keep(stream, OK, |_| _ = reached.fetch_add(1, Ordering::SeqCst)).await }
        }
    };
    let peer_v4 = Peer::at(&format!("{PUBLIC_V4}:0"), script(&reached)).await;
    let port = peer_v4.port();
    let _peer_v6 = Peer::at(&format!("[{PUBLIC_V6}]:{port}"), script(&reached)).await;
    let canaries = [canary(&format!("127.0.0.1:{port}")).await, canary(&format!("[::1]:{port}")).await];

    let hosts =
        [PUBLIC_V4, "[2606:4700:4700::1111]", "v4.example", "v6.example", "both.example", "alias.example"];
    for host in hosts {
        let app = world::application(&mut client, &json!({"name": host})).await;
        let (status, answer) = create(&mut client, &app, &format!("http://{host}:{port}/")).await;
        assert_eq!(status, 201, "{host}: {answer}");
        let message = world::post(&mut client, &app, &json!({"n": 1})).await;
        let attempts = world::attempts_by(&mut client, &app, &message, 1, Instant::now() + SOON).await;
        assert_eq!(attempts[0]["outcome"], "delivered", "{host}: {attempts:?}");
    }
    assert_eq!(reached.load(Ordering::SeqCst), hosts.len());

    // Delivered, blocked, refused at creation.
    let mut outcomes = [0, 0, 0];
    for n in 0..FLIPS {
        // An endpoint of its own each: a kept connection would not ask again.
        let app = world::application(&mut client, &json!({"name": format!("flips {n}")})).await;
        let (status, _) = create(&mut client, &app, &format!("http://flips.example:{port}/")).await;
        if status != 201 {
            outcomes[2] += 1;
            continue;
        }
        let message = world::post(&mut client, &app, &json!({"n": n})).await;
        let attempts = world::attempts_by(&mut client, &app, &message, 1, Instant::now() + SOON).await;
        match attempts[0]["outcome"].as_str() {
            Some("delivered") => outcomes[0] += 1,
            Some("blocked") => outcomes[1] += 1,
            other => panic!("{other:?}: {attempts:?}"),
        }
    }
    println!("{FLIPS} endpoints of a name that flips: {outcomes:?} delivered, blocked, refused");
    assert!(outcomes.iter().all(|count| *count > 0), "the name did flip at every moment: {outcomes:?}");
    assert_eq!(reached.load(Ordering::SeqCst), hosts.len() + outcomes[0]);
    assert_eq!(canaries.map(|canary| canary.connections()), [0, 0]);
}
