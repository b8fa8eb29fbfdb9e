//! What a commit changes in memory, in the order in which it was committed; then the answers.

use std::sync::Arc;

use gonets_core::{
    gate::{GateChange, GateWrite, Scope},
    ids::{AppNo, EndpointNo, MessageId},
    limits, names,
    rule::Reason,
    time::Timestamp,
};
use gonets_dispatch::{
    config::LaneConfig,
    input::{Arrival, Input},
};
use gonets_store::{
    committer::{Full, Job, Landed, Landing},
    entity::{EntityKind, EntityRow},
    tx::{
        Accept, CancelStep, EntityWrite, Keep, Made, Outcome, Rejected, Source, Then, Tx, UnrouteStep,
        Verdict,
    },
};

use super::{Ack, Driver};
use crate::{bodies::Message, directory::Directory, unrouted};

/// Rows that one step of ending a lane handles.
const STEP_ROWS: u32 = 300;

impl Driver {
    pub(super) fn landed(&mut self, landing: Landing<Ack>) {
        for tx in std::mem::take(&mut self.deferred) {
            self.submit(tx);
        }
        let mut probes = Vec::new();
        for Landed { tx, verdict, ack } in landing.landed {
            match (tx, &verdict) {
                (Tx::Accept(accept), Ok(Made::Message(_))) => self.accepted(*accept),
                (Tx::Outcome(outcome), _) => self.recorded(*outcome, &verdict, &ack),
                (Tx::Entity(write), Ok(Made::Entity { version, .. })) => self.configured(*write, *version),
                (Tx::Hand(hand), Ok(_)) => self.has_more(hand.endpoint, false, true, None),
                (Tx::Keep(keep), Ok(_)) => self.kept(&keep),
                (Tx::Keep(_), Err(why)) => {
                    tracing::error!(%why, "a change of gates could not be kept; a restart will not know of it");
                }
                (Tx::Cancel(step), Ok(Made::Step(rows))) => self.cancelled(step, *rows, &ack),
                (Tx::Expire(step), Ok(Made::Step(rows))) if *rows > 0 => {
                    self.inputs.push(Input::Ended { endpoint: step.endpoint });
                    self.noticed.notify_one();
                }
                (Tx::EndUnrouted(step), Ok(Made::Step(rows))) if *rows > 0 && step.notice.is_some() => {
                    self.noticed.notify_one();
                }
                (Tx::Unroute(step), Ok(Made::Step(rows))) => self.unrouted(step, *rows),
                (Tx::Route(step), Ok(_)) => {
                    // Some may be for later; a look now finds out when.
                    let now = Some(self.road.clock.now());
                    for endpoint in step.routes.iter().flat_map(|(_, endpoints)| endpoints) {
                        self.has_more(*endpoint, true, false, now);
                    }
                }
                (
                    Tx::Cancel(CancelStep { endpoint, .. }) | Tx::Unroute(UnrouteStep { endpoint, .. }),
                    Err(why),
                ) => {
                    tracing::error!(%endpoint, %why, "waiting deliveries could not be ended");
                }
                _ => {}
            }
            match ack {
                // A caller that hung up loses the answer, not the operation.
                Ack::Caller(reply) => drop(reply.send(verdict)),
                Ack::Lease(probe) => probes.push(probe),
                Ack::Outcome { .. } | Ack::None => {}
            }
        }
        self.send_off(probes);
    }

    fn accepted(&mut self, mut accept: Accept) {
        let wanted = u32::try_from(accept.routes.len()).unwrap_or(u32::MAX);
        let (message, critical, kind) = (accept.id, accept.critical, names::kind_of(&accept.event_type));
        for endpoint in std::mem::take(&mut accept.routes) {
            self.inputs.push(Input::Arrived(Arrival {
                endpoint,
                message,
                critical,
                kind,
                due: accept.deliver_at,
            }));
        }
        if accept.deliver_at.is_none() {
            self.bodies.put(Message::accepted(&mut accept), wanted);
        }
    }

    fn recorded(&mut self, outcome: Outcome, verdict: &Verdict, ack: &Ack) {
        if matches!(verdict, Ok(_) | Err(Rejected::Gone)) {
            self.gates(&outcome.gates);
        }
        if verdict.is_ok() && !outcome.notices.is_empty() {
            self.noticed.notify_one();
        }
        let by_hand = outcome.from == Source::Hand;
        let (endpoint, message) = (outcome.endpoint, outcome.message);
        let next_due = match verdict {
            Ok(_) => match outcome.then {
                Then::Waiting { due, .. } => Some(due),
                Then::Settled { .. } | Then::Untouched => None,
            },
            Err(Rejected::Gone) => None,
            Err(why) => return self.choked(outcome, why, ack),
        };
        self.inputs.push(Input::Durable { endpoint, message, by_hand, next_due });
    }

    /// The store could not write an outcome: once more without the details of the attempt. If that
    /// fails too, the delivery stays as the store has it, and is not tried again before a restart:
    /// better late than twice without an end.
    fn choked(&mut self, mut outcome: Outcome, why: &Rejected, ack: &Ack) {
        let (endpoint, message) = (outcome.endpoint, outcome.message);
        let bare = matches!(ack, Ack::Outcome { bare: true });
        tracing::error!(%endpoint, message = message.0, %why, bare, "an outcome could not be recorded");
        if bare {
            return;
        }
        if let Some(attempt) = &mut outcome.attempt {
            attempt.detail = b"{}".to_vec();
            attempt.answer = bytes::Bytes::new();
        }
        let job = Job { tx: Tx::Outcome(Box::new(outcome)), ack: Ack::Outcome { bare: true } };
        self.committer.submit_outcomes(std::iter::once(job));
    }

    fn configured(&mut self, write: EntityWrite, version: u32) {
        let row = EntityRow { version, ..write.row };
        if let Err(cause) = self.road.directory.apply(&row) {
            tracing::error!(%cause, "a document that was just written cannot be read back");
        }
        self.gates(&write.gates);
        if !write.notices.is_empty() {
            self.noticed.notify_one();
        }
        if let Some(app) = write.touches {
            self.road.directory.touch(app);
        }
        match row.kind {
            EntityKind::Endpoint if row.deleted => self.forget(EndpointNo(row.no.0)),
            EntityKind::Endpoint => {
                self.send_lane(EndpointNo(row.no.0));
                let app = AppNo(row.owner.0);
                unrouted::sweep(Arc::clone(&self.road), Arc::clone(&self.committer), app);
            }
            EntityKind::Application if row.deleted => {
                unrouted::end(Arc::clone(&self.committer), AppNo(row.no.0));
            }
            EntityKind::Application => self.send_lanes(AppNo(row.no.0)),
            EntityKind::Environment | EntityKind::EventType | EntityKind::Key => {}
        }
    }

    fn kept(&mut self, keep: &Keep) {
        self.gates(&keep.gates);
        if !keep.notices.is_empty() {
            self.noticed.notify_one();
        }
    }

    /// Gates as they now are in the store; lanes learn what concerns them.
    fn gates(&mut self, gates: &[GateWrite]) {
        for write in gates {
            self.road.directory.apply_gate(*write);
            match (write.change, write.scope) {
                (GateChange::Disabled(_), Scope::Endpoint(endpoint)) => self.send_lane(endpoint),
                (GateChange::Frozen(_), scope) => self.send_lanes_of(scope),
                _ => {}
            }
        }
    }

    fn send_lanes_of(&mut self, scope: Scope) {
        match scope {
            Scope::Endpoint(endpoint) => self.send_lane(endpoint),
            Scope::Application(app) => self.send_lanes(app),
            Scope::Environment(_) | Scope::Everything => {
                for endpoint in self.road.directory.endpoints() {
                    if !endpoint.row.deleted {
                        self.send_lane(endpoint.no);
                    }
                }
            }
        }
    }

    fn send_lanes(&mut self, app: AppNo) {
        for endpoint in self.road.directory.endpoints_of(app, false) {
            self.send_lane(endpoint.no);
        }
    }

    /// A step of a cancellation landed. Steps of the engine's own go on by themselves; who asked for
    /// one by hand asks for the next.
    fn cancelled(&mut self, step: CancelStep, rows: u32, ack: &Ack) {
        if rows > 0 {
            self.inputs.push(Input::Ended { endpoint: step.endpoint });
        }
        if rows >= step.limit && matches!(ack, Ack::None) {
            self.submit(Tx::Cancel(step));
        }
    }

    fn unrouted(&mut self, step: UnrouteStep, rows: u32) {
        if rows >= step.limit {
            self.submit(Tx::Unroute(step));
        } else {
            // An endpoint may have come meanwhile.
            unrouted::sweep(Arc::clone(&self.road), Arc::clone(&self.committer), step.app);
        }
    }

    fn forget(&mut self, endpoint: EndpointNo) {
        self.road.egress.forget(u64::from(endpoint.0));
        self.inputs.push(Input::LaneGone(endpoint));
        self.submit(ending(&self.road.directory, endpoint));
    }

    pub(super) fn send_lane(&mut self, endpoint: EndpointNo) {
        if let Some(config) = lane_config(&self.road.directory, endpoint) {
            self.inputs.push(Input::Lane(config));
        }
    }

    fn has_more(&mut self, endpoint: EndpointNo, fresh: bool, by_hand: bool, next_due: Option<Timestamp>) {
        self.inputs.push(Input::Backlog { endpoint, fresh, by_hand, next_due });
    }

    /// Queues upkeep of the engine's own; when the queue is full, after the next commit.
    fn submit(&mut self, tx: Tx) {
        if let Err(Full(job)) = self.committer.submit(Job { tx, ack: Ack::None }) {
            self.deferred.push(job.tx);
        }
    }
}

/// What becomes of what waits for an endpoint that is gone: it is cancelled (R20), or waits for the
/// application's next endpoint if this was the last (R18).
pub(crate) fn ending(directory: &Directory, endpoint: EndpointNo) -> Tx {
    let app = directory.endpoint(endpoint).and_then(|endpoint| directory.app(endpoint.app));
    match app {
        Some(app) if app.profile.hold_unrouted && !app.row.deleted && app.endpoints.is_empty() => {
            Tx::Unroute(UnrouteStep { app: app.no, endpoint, limit: STEP_ROWS })
        }
        app => Tx::Cancel(CancelStep {
            endpoint,
            reason: if app.is_some_and(|app| app.row.deleted) {
                Reason::ApplicationDeleted
            } else {
                Reason::EndpointDeleted
            },
            through: MessageId(u64::MAX >> 1),
            limit: STEP_ROWS,
        }),
    }
}

/// A living endpoint as the shard machine sees it.
pub(crate) fn lane_config(directory: &Directory, endpoint: EndpointNo) -> Option<LaneConfig> {
    let endpoint = directory.endpoint(endpoint).filter(|endpoint| !endpoint.row.deleted)?;
    let app = directory.app(endpoint.app)?;
    Some(LaneConfig {
        endpoint: endpoint.no,
        app: endpoint.app,
        environment: endpoint.row.environment,
        host: endpoint.host,
        profile: Arc::clone(&app.profile),
        concurrency: endpoint.doc.concurrency.unwrap_or(limits::ENDPOINT_CONCURRENCY),
        throttle_rate: endpoint.doc.throttle_rate,
        disabled: endpoint.is_disabled(),
        frozen: directory.frozen(endpoint.row.environment, endpoint.app).is_some(),
        ordered: endpoint.doc.ordered,
    })
}
