//! Twenty endpoints with twenty secrets under load: no key, body or header ever gets mixed up.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::{sync::watch, time::Duration};

use super::{key, verified};
use crate::{
    client::Client,
    receiver::{Received, Receiver, Reply},
    server::Server,
    world,
};

const ENDPOINTS: usize = 20;
const MESSAGES: usize = 20_000;
const CONCURRENCY: usize = 100;
const USUAL_BYTES: usize = 8 * 1024;
const LARGE_BYTES: usize = 256 * 1024;
/// One message in so many is large.
const LARGE_ONE_IN: usize = 100;

/// A receiver that keeps what came, and counts it together with others.
async fn keeping(total: &Arc<watch::Sender<usize>>) -> (Receiver, Arc<Mutex<Vec<Received>>>) {
    let kept: Arc<Mutex<Vec<Received>>> = Arc::default();
    let (keep, total) = (Arc::clone(&kept), Arc::clone(total));
    let receiver = Receiver::start(move |request| {
        keep.lock().unwrap().push(request);
        total.send_modify(|n| *n += 1);
        Reply::status(200)
    })
    .await;
    (receiver, kept)
}

/// Posts every [`CONCURRENCY`]th message from `first` on.
async fn produce(address: String, apps: Vec<String>, first: usize) {
    let mut client = Client::of(&address);
    let mut random = fastrand::Rng::with_seed(first as u64);
    for n in (first..MESSAGES).step_by(CONCURRENCY) {
        let most = if random.usize(0..LARGE_ONE_IN) == 0 { LARGE_BYTES } else { USUAL_BYTES };
        let length = random.usize(0..most);
        let pad: String = std::iter::repeat_with(|| random.alphanumeric()).take(length).collect();
        // The application is named in the payload, to be found at the receiver.
        let app = n % apps.len();
        world::post(&mut client, &apps[app], &json!({"app": app, "n": n, "pad": pad})).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_signature_verifies_with_its_own_secret_and_with_no_other() {
    let server = Server::start();
    let mut client = Client::of(server.address());
    let total = Arc::new(watch::Sender::new(0));
    let (mut apps, mut keys, mut kept, mut rotated) = (Vec::new(), Vec::new(), Vec::new(), String::new());
    for n in 0..ENDPOINTS {
        let (receiver, at) = keeping(&total).await;
        let (app, endpoint) =
            world::subscriber(&mut client, &format!("shop {n}"), &receiver.url(&format!("/{n}"))).await;
        keys.push(vec![key(&world::secret(&mut client, &app, &endpoint).await)]);
        rotated = format!("/api/v1/app/{app}/endpoint/{endpoint}/secret/rotate");
        apps.push(app);
        kept.push(at);
    }
    let producers: Vec<_> = (0..CONCURRENCY)
        .map(|first| tokio::spawn(produce(server.address().to_owned(), apps.clone(), first)))
        .collect();
    let mut came = total.subscribe();
    let half = came.wait_for(|n| *n >= MESSAGES / 2);
    tokio::time::timeout(Duration::from_secs(120), half).await.expect("in time").expect("it lives");
    // At once: no old signature beside the new one.
    let answer = client.post(&rotated, &json!({"gracePeriodSeconds": 0})).await;
    let last = keys.last_mut().expect("twenty");
    last.push(key(answer["key"].as_str().unwrap_or_else(|| panic!("no key: {answer}"))));
    for producer in producers {
        producer.await.expect("a producer ends");
    }
    let all = came.wait_for(|n| *n >= MESSAGES);
    tokio::time::timeout(Duration::from_secs(60), all).await.expect("in time").expect("it lives");
    assert_eq!(kept.iter().map(|kept| kept.lock().unwrap().len()).sum::<usize>(), MESSAGES);

    let mut new = 0;
    for (n, kept) in kept.iter().enumerate() {
        let others: Vec<_> =
            keys.iter().enumerate().filter(|(m, _)| *m != n).flat_map(|(_, keys)| keys.clone()).collect();
        for received in kept.lock().unwrap().iter() {
            assert_eq!(verified(received, &keys[n]), Ok(()), "endpoint {n}");
            assert!(verified(received, &others).is_err(), "endpoint {n}: another's secret fits");
            assert_eq!(received.path, format!("/{n}"));
            let marked = format!("\"data\":{{\"app\":{n},");
            let body = String::from_utf8_lossy(&received.body);
            assert!(body.contains(&marked), "endpoint {n} got another's: {}", &body[..body.len().min(300)]);
            new += usize::from(keys[n].len() == 2 && verified(received, &keys[n][1..]).is_ok());
        }
    }
    let rotating = kept.last().expect("twenty").lock().unwrap().len();
    println!(
        "{MESSAGES} deliveries verified; {new} of {rotating} of the rotated endpoint with the new secret"
    );
    assert!(new > 0 && new < rotating, "it was rotated under way: {new} of {rotating}");
}
