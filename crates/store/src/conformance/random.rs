//! The same random batches on an engine and on the model: the same verdicts, the same answers.
//!
//! Few endpoints, applications, keys and messages, so that operations meet; seeds are fixed, so a
//! failure can be repeated.

use std::{collections::BTreeMap, time::Duration};

use gonets_core::{
    gate::{GateChange, GateWrite, Scope, Throttle},
    ids::{AppNo, EndpointNo, EntityNo, MessageId},
    notice::Notice,
    outcome::Outcome as Came,
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};

use super::{
    Open, Trial,
    operations::{accept, application, attempt, key, meta, notice, write},
    picture::picture,
};
use crate::{
    engine::{Engine, Load},
    entity::{EntityKind, EntityRow},
    model::Model,
    query::Entities,
    record::{MessageMeta, SettledState},
    tx::{
        Accept, CancelStep, EndUnroutedStep, EntityWrite, ExpireStep, HandRetry, Keep, KeyOrigin, Made,
        Outcome, Rejected, RouteStep, Source, Then, Told, Tx, UnrouteStep, Verdict,
    },
};

const SEEDS: u64 = 16;
const BATCHES: u32 = 60;
/// Applications are 1 and 2, endpoints 1 to 4 (lanes), 5 and 6 (which mostly skip), and 11 to 14
/// (documents).
const APPS: u64 = 2;
const ENDPOINTS: u64 = 4;

pub fn random_batches_give_the_answers_of_the_model(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let mut model = Model::new();
    let mut luck = Luck { state: 0, versions: BTreeMap::new() };
    let mut known = Vec::new();
    let mut handled: BTreeMap<&str, u32> = BTreeMap::new();
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
                if let Ok(Made::Step(rows)) = ours {
                    *handled.entry(step_name(operation)).or_default() += rows;
                }
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
    assert_eq!(handled.len(), 6, "{handled:?}");
    assert!(handled.values().all(|rows| *rows > 20), "every kind of step did something: {handled:?}");
}

fn step_name(operation: &Tx) -> &'static str {
    match operation {
        Tx::Cancel(_) => "cancel",
        Tx::Expire(_) => "expire",
        Tx::Route(_) => "route",
        Tx::Unroute(_) => "unroute",
        Tx::EndUnrouted(_) => "end unrouted",
        Tx::Told(_) => "told",
        _ => "no step",
    }
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

    fn app(&mut self) -> AppNo {
        AppNo(1 + self.below(APPS) as u32)
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
    match luck.below(24) {
        0..7 => random_accept(luck, now).tx(),
        7..15 => random_outcome(luck, now, known).tx(),
        15 => random_keep(luck, now),
        16 => Tx::Hand(random_retry(luck, known)),
        17 => Tx::Entity(Box::new(random_entity(luck, now))),
        18 => Tx::Cancel(CancelStep {
            endpoint: luck.endpoint(),
            reason: Reason::Cancelled,
            through: luck.message(known),
            limit: luck.below(4) as u32,
        }),
        19 => {
            let app = luck.app();
            let routes = (0..luck.below(12)).map(|_| (luck.message(known), routes(luck))).collect();
            Tx::Route(RouteStep { app, app_version: luck.version(app.0), routes })
        }
        _ => random_step(luck, now),
    }
}

fn random_step(luck: &mut Luck, now: Timestamp) -> Tx {
    let (endpoint, limit) = (luck.endpoint(), luck.below(4) as u32);
    let aged_from = Timestamp::from_millis(now.as_millis() - luck.below(2_000_000) as i64);
    match luck.below(4) {
        0 => Tx::Expire(Box::new(ExpireStep { endpoint, aged_from, limit, notice: notice() })),
        1 => Tx::Unroute(UnrouteStep { app: luck.app(), endpoint, limit }),
        2 => Tx::EndUnrouted(Box::new(EndUnroutedStep {
            app: luck.app(),
            reason: luck.one(&[Reason::Expired, Reason::ApplicationDeleted]),
            aged_from,
            limit,
            notice: (luck.below(2) == 0).then(notice),
        })),
        _ => Tx::Told(Told { through: luck.below(900) }),
    }
}

/// None more often than some.
fn notices(luck: &mut Luck) -> Vec<Notice> {
    (0..luck.below(6) / 4).map(|_| notice()).collect()
}

fn routes(luck: &mut Luck) -> Vec<EndpointNo> {
    (1..=ENDPOINTS as u32).filter(|_| luck.below(3) == 0).map(EndpointNo).collect()
}

/// Few, and now and then one that cannot be written: twice the same, or one that is also a route.
fn skips(luck: &mut Luck) -> Vec<EndpointNo> {
    match luck.below(12) {
        0 => vec![EndpointNo(1); 2],
        1 => routes(luck),
        2..5 => vec![EndpointNo(5 + luck.below(2) as u32)],
        _ => vec![],
    }
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
        skips: skips(luck),
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
        notices: notices(luck),
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

fn random_keep(luck: &mut Luck, now: Timestamp) -> Tx {
    let gates = (0..luck.below(3)).map(|_| random_gate(luck, now)).collect();
    Tx::Keep(Box::new(Keep { gates, notices: notices(luck) }))
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

fn random_entity(luck: &mut Luck, now: Timestamp) -> EntityWrite {
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
        gates: (0..luck.below(2)).map(|_| random_gate(luck, now)).collect(),
        notices: notices(luck),
        idempotency: (luck.below(4) == 0)
            .then(|| (key(100 + luck.below(4) as u8, luck.below(2) as u8, origin), b"made".to_vec())),
        ..write(row, expected)
    }
}
