//! Starting: configuration from the store, lanes with what they left, then the writer and the loop.
//! Nothing of the backlog is loaded here; each lane reads its own head.

use std::{collections::HashSet, sync::Arc, time::Duration};

use gonets_core::{
    breaker::BreakerState,
    gate::{GateChange, GateWrite, Throttle},
    ids::{EndpointNo, IdCodec},
    profile::{Profile, Profiles},
    time::{Clock, Timestamp},
};
use gonets_dispatch::{config::Bounds, input::Input, shard::Shard};
use gonets_egress::Egress;
use gonets_mail::Mailer;
use gonets_store::{
    committer::{self, Committer, Job},
    engine::{Engine as StoreEngine, Fatal},
    entity::UnreadableDocument,
    query::{Queries, QueryError},
    tx::{Keep, Tx},
};
use gonets_wire::Keyring;
use parking_lot::Mutex;
use tokio::{
    sync::{Notify, Semaphore, mpsc, watch},
    task::JoinHandle,
};

use crate::{
    audit,
    bodies::Bodies,
    courier::Road,
    directory::{Context, Directory},
    driver::{Ack, Driver, Happening, landing},
    expiry,
    handle::{self, Engine},
    notices,
    trial::Trials,
    unrouted,
};

/// Messages kept in memory between acceptance and their first attempts.
const BODIES_BYTES: usize = 32 << 20;

/// A clock so far ahead of the last record is suspected (R7).
const SUSPICIOUS: Duration = Duration::from_secs(24 * 3600);
/// How long nothing expires then.
const GRACE: Duration = Duration::from_secs(600);

/// What an engine is made of.
pub struct Parts {
    pub store: Box<dyn StoreEngine>,
    pub queries: Arc<dyn Queries>,
    pub clock: Arc<dyn Clock>,
    pub egress: Arc<Egress>,
    pub profiles: Profiles,
    pub default_profile: Arc<Profile>,
    pub keyring: Keyring,
    pub bounds: Bounds,
    /// The wall clock was set forward by so much while nothing ran on this store (R25).
    pub set_forward: Option<Duration>,
    /// Who writes to people; `None`: nobody is written to.
    pub mailer: Option<Mailer>,
    /// Feeds jitter.
    pub seed: u64,
    /// Called when the store cannot go on: the process must end.
    pub fatal: Box<dyn FnOnce(Fatal) + Send>,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the store could not be read at start: {0}")]
    Read(#[from] QueryError),
    #[error(transparent)]
    Document(#[from] UnreadableDocument),
    #[error(transparent)]
    Store(#[from] Fatal),
}

/// Starts the engine on the current tokio runtime.
///
/// # Errors
/// [`StartError`], when the store cannot be read or written.
pub async fn start(mut parts: Parts) -> Result<Arc<Engine>, StartError> {
    let expiry_from = expiry_from(&mut parts)?;
    let set = parts.set_forward.map(|by| Set::at(parts.clock.now(), by));
    if let Some(set) = &set {
        parts.store.shift_due(set.before, set.by)?;
    }
    let directory = Arc::new(Directory::new(Context {
        profiles: parts.profiles,
        default_profile: parts.default_profile,
        egress: Arc::clone(&parts.egress),
        keyring: parts.keyring,
    }));
    fill(&directory, parts.queries.as_ref())?;
    let shifted = set.map_or_else(Vec::new, |set| gates_shifted(&directory, &set));
    let (inputs, orphans) = lanes(&directory, parts.queries.as_ref())?;
    let ids = IdCodec::new(parts.queries.id_key()?);

    let fatal: Fate = Arc::new(Mutex::new(Some(parts.fatal)));

    let (reports, happenings) = mpsc::unbounded_channel();
    let landings = reports.clone();
    let committer = Arc::new(Committer::start(
        parts.store,
        Arc::clone(&parts.clock),
        committer::Bounds::default(),
        // Without a driver the process is ending; what landed is in the store.
        move |landing| drop(landings.send(Happening::Landed(landing))),
        {
            let fatal = Arc::clone(&fatal);
            move |cause| tell(&fatal, cause)
        },
    )?);
    let road = Arc::new(Road {
        directory: Arc::clone(&directory),
        egress: Arc::clone(&parts.egress),
        queries: Arc::clone(&parts.queries),
        clock: Arc::clone(&parts.clock),
        ids: ids.clone(),
        reports: reports.clone(),
        expiry_from,
    });
    let noticed = Arc::new(Notify::new());
    let (drain, draining) = watch::channel(false);
    let (drained_sender, drained) = watch::channel(false);
    let driver = Driver::new(
        Shard::new(parts.bounds, parts.seed),
        Arc::clone(&road),
        Arc::clone(&committer),
        happenings,
        Bodies::new(BODIES_BYTES),
        (Arc::clone(&noticed), parts.mailer.is_some()),
        (draining, drained_sender),
    );
    tokio::spawn(watch_over(tokio::spawn(driver.run(inputs)), fatal));
    tokio::spawn(Arc::clone(&parts.egress).run_sweeper());
    finish_what_was_left(&road, &committer, orphans)?;
    if !shifted.is_empty() {
        let tx = Tx::Keep(Box::new(Keep { gates: shifted, notices: Vec::new() }));
        committer.submit_outcomes(std::iter::once(Job { tx, ack: Ack::None }));
    }
    tokio::spawn(audit::watch(Arc::clone(&road)));
    tokio::spawn(expiry::watch(Arc::clone(&road), Arc::clone(&committer)));
    tokio::spawn(notices::carry_on(Arc::clone(&road), Arc::clone(&committer), noticed, parts.mailer));
    Ok(Arc::new(Engine {
        committer,
        directory,
        queries: parts.queries,
        clock: parts.clock,
        ids,
        road,
        trials: Trials::default(),
        questions: Arc::new(Semaphore::new(handle::QUESTIONS)),
        happenings: reports,
        drain,
        drained,
    }))
}

/// Whom to tell that the engine cannot go on; told once.
type Fate = Arc<Mutex<Option<Box<dyn FnOnce(Fatal) + Send>>>>;

fn tell(fate: &Fate, cause: Fatal) {
    if let Some(fatal) = fate.lock().take() {
        fatal(cause);
    }
}

/// A loop that panicked must not leave a process that looks alive and sends nothing.
async fn watch_over(driver: JoinHandle<()>, fate: Fate) {
    if driver.await.is_err_and(|ended| ended.is_panic()) {
        tell(&fate, Fatal { message: "the delivery loop panicked; the log says where".into() });
    }
}

/// From when on age ends deliveries. A wall clock that stands more than a day ahead of what was
/// last recorded may be wrong, so nothing expires for a while (R7).
fn expiry_from(parts: &mut Parts) -> Result<Timestamp, Fatal> {
    let (message, attempt) = parts.store.last_ids()?;
    let last = message.accepted_at().max(attempt.made_at());
    let now = parts.clock.now();
    if message.0 == 0 || now <= last + SUSPICIOUS {
        return Ok(Timestamp::from_millis(0));
    }
    tracing::warn!(
        %last, %now,
        "the clock is more than a day ahead of the last record; if it is wrong, set it now: nothing expires for ten minutes"
    );
    Ok(now + GRACE)
}

fn fill(directory: &Directory, queries: &dyn Queries) -> Result<(), StartError> {
    for (scope, gate) in queries.gates()? {
        directory.put_gate(scope, gate);
    }
    for row in queries.entities()? {
        directory.apply(&row)?;
    }
    Ok(())
}

/// A clock that was set forward.
struct Set {
    /// What it would show, had nobody set it.
    before: Timestamp,
    by: Duration,
}

impl Set {
    fn at(now: Timestamp, by: Duration) -> Self {
        let back = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        Self { before: Timestamp::from_millis(now.as_millis().saturating_sub(back)), by }
    }
}

/// Pauses in front of many deliveries keep their length as those of single ones do.
fn gates_shifted(directory: &Directory, set: &Set) -> Vec<GateWrite> {
    let mut shifted = Vec::new();
    for (scope, gate) in directory.gates() {
        if let Some(breaker) = gate.breaker.filter(|breaker| breaker.probe_at > set.before) {
            let breaker = BreakerState { probe_at: breaker.probe_at + set.by, ..breaker };
            shifted.push(GateWrite { scope, change: GateChange::Breaker(Some(breaker)) });
        }
        if let Some(until) = gate.throttle.until.filter(|until| *until > set.before) {
            let throttle = Throttle { until: Some(until + set.by), ..gate.throttle };
            shifted.push(GateWrite { scope, change: GateChange::Throttle(throttle) });
        }
    }
    shifted.iter().for_each(|write| directory.apply_gate(*write));
    shifted
}

/// The lanes as the machine is to start with them, and deleted endpoints that still have rows.
fn lanes(directory: &Directory, queries: &dyn Queries) -> Result<(Vec<Input>, Vec<EndpointNo>), StartError> {
    let mut inputs: Vec<_> =
        directory.gates().into_iter().map(|(scope, gate)| Input::Gate { scope, gate }).collect();
    let mut living = HashSet::new();
    let mut endpoints = directory.endpoints();
    endpoints.sort_by_key(|endpoint| endpoint.no);
    for endpoint in endpoints {
        let Some(config) = landing::lane_config(directory, endpoint.no) else { continue };
        living.insert(endpoint.no);
        inputs.push(Input::Lane(config));
    }
    let mut orphans = Vec::new();
    for lane in queries.backlog()? {
        if living.contains(&lane.endpoint) {
            inputs.push(Input::Backlog {
                endpoint: lane.endpoint,
                fresh: lane.fresh,
                by_hand: lane.by_hand,
                next_due: lane.next_due,
            });
        } else {
            orphans.push(lane.endpoint);
        }
    }
    Ok((inputs, orphans))
}

/// Cancellations and routings that the last run did not get to.
fn finish_what_was_left(
    road: &Arc<Road>,
    committer: &Arc<Committer<Ack>>,
    orphans: Vec<EndpointNo>,
) -> Result<(), StartError> {
    for endpoint in orphans {
        if committer.submit(Job { tx: landing::ending(&road.directory, endpoint), ack: Ack::None }).is_err() {
            tracing::error!(%endpoint, "the deliveries of a deleted endpoint are ended at the next start");
        }
    }
    for (app, _) in road.queries.unrouted_apps()? {
        unrouted::resume(road, committer, app);
    }
    Ok(())
}
