//! The same random batches on an engine and on the model: the same verdicts, the same answers.
//!
//! Few endpoints, applications, keys and messages, so that operations meet; seeds are fixed, so a
//! failure can be repeated.

use std::{collections::BTreeMap, fmt::Write, time::Duration};

use gonets_core::{
    gate::{GateChange, GateWrite, Scope, Throttle},
    ids::{AppNo, EndpointNo, EntityNo, MessageId},
    outcome::Outcome as Came,
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};

use super::{
    Open, Trial,
    operations::{accept, application, attempt, keep, key, meta, write},
};
use crate::{
    engine::{Engine, Load},
    entity::{EntityKind, EntityRow},
    model::Model,
    query::{AttemptFilter, Entities, MessageFilter, Order, OutcomeFilter, Page, Queries},
    record::{MessageMeta, SettledState},
    tx::{
        Accept, CancelStep, EntityWrite, HandRetry, KeyOrigin, Made, Outcome, Rejected, RouteStep, Source,
        Then, Tx, Verdict,
    },
};

const SEEDS: u64 = 12;
const BATCHES: u32 = 40;
/// Applications are 1 and 2, endpoints 1 to 4 (lanes) and 11 to 14 (documents).
const APPS: u64 = 2;
const ENDPOINTS: u64 = 4;

pub fn random_batches_give_the_answers_of_the_model(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let mut model = Model::new();
    let mut luck = Luck { state: 0, versions: BTreeMap::new() };
    let mut known = Vec::new();
    for seed in 0..SEEDS {
        luck.state = seed;
        for at in 0..BATCHES {
            trial.pass(Duration::from_millis(luck.below(400_000)));
            let entities = model.entities().expect("the model answers");
            luck.versions = entities.iter().map(|row| (row.no.0, row.version)).collect();
            let mut batch: Vec<Tx> =
                (0..luck.below(12)).map(|_| operation(&mut luck, trial.now, &known)).collect();
            trial.name(&mut batch);
            let theirs = trial.commit(batch.clone());
            let ours = model.commit(trial.now, &batch).expect("the model commits");
            for (operation, (theirs, ours)) in batch.iter().zip(theirs.iter().zip(&ours)) {
                assert_eq!(plain(theirs), plain(ours), "seed {seed}, batch {at}: {operation:?}");
            }
            known.extend(ours.iter().filter_map(|verdict| match verdict {
                Ok(Made::Message(id)) => Some(*id),
                _ => None,
            }));
            if luck.below(3) == 0 {
                let now = trial.now;
                trial.engine().tend(now, Load::Idle).expect("the store tends to itself");
            }
            if luck.below(20) == 0 {
                trial.restart();
            }
        }
        assert_eq!(picture(trial.ask()), picture(&model), "seed {seed}");
    }
    assert!(known.len() > 300, "the batches did something");
}

/// What cannot be written fails with the engine's own words.
fn plain(verdict: &Verdict) -> Verdict {
    match verdict {
        Err(Rejected::Poisoned(_)) => Err(Rejected::Poisoned(String::new())),
        other => other.clone(),
    }
}

/// Numbers that depend on the seed alone (splitmix64).
struct Luck {
    state: u64,
    /// The versions of the documents before this batch, so that guards often hold.
    versions: BTreeMap<u32, u32>,
}

impl Luck {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// The current version of a document, or now and then another one.
    fn version(&mut self, no: u32) -> u32 {
        let current = self.versions.get(&no).copied().unwrap_or(1);
        if self.below(8) == 0 { current + 1 } else { current }
    }

    fn endpoint(&mut self) -> EndpointNo {
        EndpointNo(1 + self.below(ENDPOINTS) as u32)
    }

    /// A recent message more often than an old one.
    fn message(&mut self, known: &[MessageId]) -> MessageId {
        if known.is_empty() {
            return MessageId(77);
        }
        let recent = known.len().saturating_sub(12);
        let from = if self.below(4) == 0 { 0 } else { recent };
        self.one(&known[from..])
    }
}

fn operation(luck: &mut Luck, now: Timestamp, known: &[MessageId]) -> Tx {
    match luck.below(20) {
        0..7 => random_accept(luck, now).tx(),
        7..15 => random_outcome(luck, now, known).tx(),
        15 => keep(vec![random_gate(luck, now)]),
        16 => Tx::Hand(random_retry(luck, known)),
        17 => Tx::Entity(Box::new(random_entity(luck))),
        18 => Tx::Cancel(CancelStep {
            endpoint: luck.endpoint(),
            reason: Reason::Cancelled,
            through: luck.message(known),
            limit: luck.below(4) as u32,
        }),
        _ => {
            let app = AppNo(1 + luck.below(APPS) as u32);
            let routes = (0..luck.below(4)).map(|_| (luck.message(known), routes(luck))).collect();
            Tx::Route(RouteStep { app, app_version: luck.version(app.0), routes })
        }
    }
}

fn routes(luck: &mut Luck) -> Vec<EndpointNo> {
    (1..=ENDPOINTS as u32).filter(|_| luck.below(3) == 0).map(EndpointNo).collect()
}

fn random_accept(luck: &mut Luck, now: Timestamp) -> Accept {
    let origin = luck.one(&[KeyOrigin::Auto, KeyOrigin::Caller]);
    let app = 1 + luck.below(APPS * 4 + 1) as u32 / 4;
    let tags = vec![luck.one(&["vip", "new"]).to_owned()];
    Accept {
        app_version: luck.version(app),
        event_type: luck.one(&["order.paid", "order.sent", "bill.due"]).to_owned(),
        critical: luck.below(2) == 0,
        deliver_at: (luck.below(5) == 0).then(|| now + Duration::from_secs(luck.below(900))),
        event_id: (luck.below(3) == 0).then(|| format!("event-{}", luck.below(40))),
        idempotency: (luck.below(3) == 0).then(|| key(luck.below(8) as u8, luck.below(2) as u8, origin)),
        meta: meta(&MessageMeta { tags, ..MessageMeta::default() }),
        hold_unrouted: luck.below(2) == 0,
        routes: routes(luck),
        ..accept(AppNo(app), &[])
    }
}

fn random_outcome(luck: &mut Luck, now: Timestamp, known: &[MessageId]) -> Outcome {
    let (message, endpoint) = (luck.message(known), luck.endpoint());
    let came = luck.one(&Came::ALL);
    let status = luck.one(&[None, Some(200), Some(404), Some(503)]);
    let state = luck.one(&[SettledState::Delivered, SettledState::Failed, SettledState::Skipped]);
    let due = now + Duration::from_secs(luck.below(900));
    let from = luck.one(&[Source::Fresh, Source::Fresh, Source::Waiting, Source::Hand]);
    let then = match luck.below(4) {
        0 | 1 => Then::Settled { state, reason: luck.one(&[None, Some(Reason::Refused)]) },
        2 => Then::Waiting { due, rule: luck.one(Rule::ALL) },
        _ => Then::Untouched,
    };
    let number = luck.below(9) as u32;
    Outcome {
        endpoint,
        message,
        from,
        attempt: (luck.below(4) > 0).then(|| attempt(message, endpoint.0, number, came, status)),
        progress: Progress {
            outage: luck.below(5) as u16,
            refusals: luck.below(5) as u16,
            first_refusal: luck.one(&[None, Some(now)]),
            attempts: number,
            interrupted: luck.below(3) as u8,
            blocked: luck.below(3) as u8,
        },
        then,
        gates: (0..luck.below(6) / 5).map(|_| random_gate(luck, now)).collect(),
        notices: vec![],
    }
}

fn random_retry(luck: &mut Luck, known: &[MessageId]) -> HandRetry {
    let (endpoint, message) = (luck.endpoint(), luck.message(known));
    let origin = luck.one(&[KeyOrigin::Auto, KeyOrigin::Caller]);
    let idempotency = (luck.below(3) == 0).then(|| {
        Box::new((key(200 + luck.below(4) as u8, luck.below(2) as u8, origin), b"retried".to_vec()))
    });
    HandRetry { endpoint, message, under_way: luck.below(5) == 0, idempotency }
}

fn random_gate(luck: &mut Luck, now: Timestamp) -> GateWrite {
    let scope = match luck.below(3) {
        0 => Scope::Everything,
        1 => Scope::Application(AppNo(1)),
        _ => Scope::Endpoint(luck.endpoint()),
    };
    let throttle = Throttle { in_a_row: luck.below(3) as u32, ..Throttle::default() };
    let change = match luck.below(2) {
        0 => GateChange::Throttle(throttle),
        _ => GateChange::Frozen(luck.one(&[None, Some(now)])),
    };
    GateWrite { scope, change }
}

fn random_entity(luck: &mut Luck) -> EntityWrite {
    let origin = luck.one(&[KeyOrigin::Auto, KeyOrigin::Caller]);
    let app = 1 + luck.below(APPS) as u32;
    let row = if luck.below(2) == 0 {
        EntityRow { deleted: luck.below(20) == 0, ..application(EntityNo(app)) }
    } else {
        EntityRow {
            kind: EntityKind::Endpoint,
            owner: EntityNo(app),
            uid: luck.one(&[None, Some("one"), Some("two")]).map(String::from),
            deleted: luck.below(4) == 0,
            ..application(EntityNo(11 + luck.below(4) as u32))
        }
    };
    let expected = (luck.below(4) > 0).then(|| luck.version(row.no.0));
    EntityWrite {
        touches: (luck.below(3) == 0).then_some(AppNo(app)),
        idempotency: (luck.below(4) == 0)
            .then(|| (key(100 + luck.below(4) as u8, luck.below(2) as u8, origin), b"made".to_vec())),
        ..write(row, expected)
    }
}

/// Every answer that a store of these tests can give, as text.
pub(super) fn picture(ask: &dyn Queries) -> String {
    let mut text = String::new();
    let mut note = |what: &str, answer: &dyn std::fmt::Debug| {
        writeln!(text, "{what}: {answer:?}").expect("a string takes everything");
    };
    note("backlog", &ask.backlog());
    note("gates", &ask.gates());
    note("entities", &ask.entities());
    for app in (1..=APPS as u32 + 1).map(AppNo) {
        note("unrouted", &ask.unrouted(app, 1_000));
        for filter in message_filters() {
            for page in pages() {
                note("messages", &ask.messages_of(app, &page, &filter));
            }
        }
        for event in 0..40 {
            note("event", &ask.message_by_event_id(app, &format!("event-{event}")));
        }
    }
    for endpoint in (1..=ENDPOINTS as u32).map(EndpointNo) {
        note("fresh", &ask.fresh(endpoint, 1_000));
        note("due", &ask.due(endpoint, Timestamp::MAX, 1_000));
        note("due soon", &ask.due(endpoint, Timestamp::MAX, 2));
        note("by hand", &ask.by_hand(endpoint, 1_000));
        for page in pages() {
            note("deliveries", &ask.deliveries_at(endpoint, &page));
            for filter in attempt_filters() {
                note("attempts", &ask.attempts_of_endpoint(endpoint, &page, &filter));
            }
        }
    }
    text
}

fn pages() -> Vec<Page> {
    let mut all = Vec::new();
    for order in [Order::Ascending, Order::Descending] {
        for (limit, after, backwards) in [(5_000, None, false), (3, None, false), (3, None, true)] {
            all.push(Page { limit, order, after, backwards, bytes: usize::MAX });
        }
    }
    all
}

fn message_filters() -> [MessageFilter; 2] {
    let some =
        MessageFilter { event_types: vec!["bill.due".into()], tag: Some("vip".into()), ..Default::default() };
    [MessageFilter { with_payload: true, ..Default::default() }, some]
}

fn attempt_filters() -> [AttemptFilter; 2] {
    let some = AttemptFilter {
        outcome: Some(OutcomeFilter::Failure),
        status_class: Some(4),
        tag: Some("vip".into()),
        ..Default::default()
    };
    [AttemptFilter::default(), some]
}
