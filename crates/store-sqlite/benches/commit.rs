//! Deliveries a second (a delivery = one accept and one outcome) by operations in a commit, as the
//! journal grows. `cargo bench -p gonets-store-sqlite -- [deliveries per line] [directory]`.

use std::{io::Write, sync::Arc};

use bytes::Bytes;
use gonets_core::{
    clock::SystemClock,
    ids::{AppNo, AttemptId, EndpointNo, EntityNo, EnvironmentNo, IdSequence, MessageId},
    outcome::Outcome as Came,
    progress::Progress,
    time::{Clock, Timestamp},
};
use gonets_store::{
    engine::{Engine, Load},
    entity::{EntityKind, EntityRow},
    record::{AttemptRecord, SettledState},
    tx::{Accept, EntityWrite, Outcome, Source, Then, Tx},
};
use gonets_store_sqlite::{Options, Sqlite};

const ENDPOINTS: u64 = 1_000;

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let deliveries = args.next().and_then(|text| text.parse().ok()).unwrap_or(200_000);
    let clock = Arc::new(SystemClock::start());
    let scratch = tempfile::tempdir().expect("a directory");
    let dir = args.next().map_or_else(|| scratch.path().to_owned(), Into::into);
    let (mut engine, _readers) = Sqlite::open(&dir, Options::new(clock.clone())).expect("the store opens");
    let mut out = std::io::stdout();
    let mut load = Workload::default();
    for no in 1..=100 {
        engine.commit(clock.now(), &[application(no)]).expect("it commits");
    }
    for round in 0..2 {
        for operations in [20, 100, 1_000] {
            let began = clock.now();
            let mut done = 0;
            while done < deliveries {
                let batch = load.batch(clock.now(), operations / 2);
                let verdicts = engine.commit(clock.now(), &batch).expect("it commits");
                assert!(verdicts.iter().all(Result::is_ok));
                engine.tend(clock.now(), Load::Busy).expect("it tends");
                done += operations / 2;
            }
            let took = clock.now().since(began).as_secs_f64();
            let rate = done as f64 / took;
            writeln!(out, "round {round}: {operations:>5} operations a commit: {rate:>8.0} deliveries/s")
                .expect("standard output takes it");
        }
    }
}

#[derive(Default)]
struct Workload {
    made: u64,
    last: u64,
    /// Accepted in the batch before: their outcomes are in this one.
    open: Vec<(MessageId, EndpointNo)>,
}

impl Workload {
    fn batch(&mut self, now: Timestamp, accepts: u64) -> Vec<Tx> {
        let mut ids = IdSequence::after(self.last);
        let mut batch: Vec<Tx> = Vec::with_capacity(accepts as usize * 2);
        for (message, endpoint) in self.open.drain(..) {
            batch.push(outcome(now, AttemptId(ids.next(now)), message, endpoint));
        }
        for _ in 0..accepts {
            // A stride that meets every endpoint, so that neighbours in time are not neighbours there.
            let endpoint = EndpointNo((self.made * 617 % ENDPOINTS) as u32 + 1_000);
            let id = MessageId(ids.next(now));
            batch.push(accept(id, endpoint));
            self.open.push((id, endpoint));
            self.made += 1;
        }
        self.last = ids.next(now);
        batch
    }
}

fn application(no: u32) -> Tx {
    let row = EntityRow {
        kind: EntityKind::Application,
        no: EntityNo(no),
        environment: EnvironmentNo(1),
        owner: EntityNo(0),
        uid: None,
        version: 0,
        deleted: false,
        doc: b"{}".to_vec(),
    };
    Tx::Entity(Box::new(EntityWrite {
        row,
        expected: None,
        touches: None,
        gates: vec![],
        notices: vec![],
        idempotency: None,
    }))
}

fn accept(id: MessageId, endpoint: EndpointNo) -> Tx {
    Tx::Accept(Box::new(Accept {
        id,
        environment: EnvironmentNo(1),
        app: AppNo(endpoint.0 % 100 + 1),
        app_version: 1,
        event_type: String::from("payment.captured"),
        critical: false,
        occurred: None,
        deliver_at: None,
        meta: b"{}".to_vec(),
        event_id: None,
        idempotency: None,
        payload: Bytes::from_static(&[b'x'; 400]),
        routes: vec![endpoint],
        skips: vec![],
        hold_unrouted: false,
    }))
}

fn outcome(now: Timestamp, id: AttemptId, message: MessageId, endpoint: EndpointNo) -> Tx {
    Tx::Outcome(Box::new(Outcome {
        endpoint,
        message,
        from: Source::Fresh,
        attempt: Some(AttemptRecord {
            id,
            message,
            endpoint,
            number: 1,
            by_hand: false,
            outcome: Came::Delivered,
            status: Some(200),
            started: now,
            duration_us: 900,
            detail: br#"{"u":"https://example.org/hook","p":[0,0,0,10,900,5],"n":1}"#.to_vec(),
            answer: Bytes::from_static(b"ok"),
        }),
        progress: Progress { attempts: 1, ..Progress::default() },
        then: Then::Settled { state: SettledState::Delivered, reason: None },
        gates: vec![],
        notices: vec![],
    }))
}
