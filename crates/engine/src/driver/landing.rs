//! What a commit changes in memory, in the order in which it was committed; then the answers.

use std::sync::Arc;

use gonets_core::{
    ids::{AppNo, EndpointNo, MessageId},
    limits,
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
    record::Scope,
    tx::{Accept, CancelStep, EntityWrite, Made, Outcome, Rejected, Source, Then, Tx, Verdict},
};

use super::{Ack, Driver};
use crate::{bodies::Message, directory::Directory, unrouted};

/// Rows that one step of a cancellation handles.
const CANCEL_ROWS: u32 = 300;

impl Driver {
    pub(super) fn landed(&mut self, landing: Landing<Ack>) {
        for tx in std::mem::take(&mut self.deferred) {
            self.submit(tx);
        }
        for Landed { tx, verdict, ack } in landing.landed {
            match (tx, &verdict) {
                (Tx::Accept(accept), Ok(Made::Message(_))) => self.accepted(*accept),
                (Tx::Outcome(outcome), _) => self.recorded(*outcome, &verdict, &ack),
                (Tx::Entity(write), Ok(Made::Entity { version, .. })) => self.configured(*write, *version),
                (Tx::Hand(hand), Ok(_)) => self.has_more(hand.endpoint, false, true, None),
                (Tx::Gate(write), Ok(_)) => {
                    self.road.directory.apply_gate(write.scope, write.gate);
                    if let Scope::Endpoint(endpoint) = write.scope {
                        self.send_lane(endpoint);
                    }
                }
                (Tx::Cancel(step), Ok(Made::Step(rows))) if *rows >= step.limit => {
                    self.submit(Tx::Cancel(step))
                }
                (Tx::Route(step), Ok(_)) => {
                    // Some may be for later; a look now finds out when.
                    let now = Some(self.road.clock.now());
                    for endpoint in step.routes.iter().flat_map(|(_, endpoints)| endpoints) {
                        self.has_more(*endpoint, true, false, now);
                    }
                }
                (Tx::Cancel(step), Err(why)) => {
                    tracing::error!(endpoint = %step.endpoint, %why, "waiting deliveries could not be cancelled");
                }
                _ => {}
            }
            if let Ack::Caller(reply) = ack {
                // A caller that hung up loses the answer, not the operation.
                let _ = reply.send(verdict);
            }
        }
    }

    fn accepted(&mut self, mut accept: Accept) {
        let wanted = u32::try_from(accept.routes.len()).unwrap_or(u32::MAX);
        let (message, critical) = (accept.id, accept.critical);
        for endpoint in std::mem::take(&mut accept.routes) {
            self.inputs.push(Input::Arrived(Arrival { endpoint, message, critical, due: accept.deliver_at }));
        }
        if accept.deliver_at.is_none() {
            self.bodies.put(Message::accepted(&mut accept), wanted);
        }
    }

    fn recorded(&mut self, outcome: Outcome, verdict: &Verdict, ack: &Ack) {
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
        if let Some(gate) = write.gate {
            self.road.directory.apply_gate(gate.scope, gate.gate);
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
            EntityKind::Application => {
                for endpoint in self.road.directory.endpoints_of(AppNo(row.no.0), false) {
                    self.send_lane(endpoint.no);
                }
            }
            EntityKind::Environment | EntityKind::EventType | EntityKind::Key => {}
        }
    }

    fn forget(&mut self, endpoint: EndpointNo) {
        self.road.egress.forget(u64::from(endpoint.0));
        self.inputs.push(Input::LaneGone(endpoint));
        self.submit(cancellation(endpoint));
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

/// Cancels what waits for an endpoint that is gone (R20).
pub(crate) fn cancellation(endpoint: EndpointNo) -> Tx {
    Tx::Cancel(CancelStep {
        endpoint,
        reason: Reason::EndpointDeleted,
        through: MessageId(u64::MAX >> 1),
        limit: CANCEL_ROWS,
    })
}

/// A living endpoint as the shard machine sees it.
pub(crate) fn lane_config(directory: &Directory, endpoint: EndpointNo) -> Option<LaneConfig> {
    let endpoint = directory.endpoint(endpoint).filter(|endpoint| !endpoint.row.deleted)?;
    let app = directory.app(endpoint.app)?;
    Some(LaneConfig {
        endpoint: endpoint.no,
        app: endpoint.app,
        host: endpoint.host,
        profile: Arc::clone(&app.profile),
        concurrency: endpoint.doc.concurrency.unwrap_or(limits::ENDPOINT_CONCURRENCY),
        throttle_rate: endpoint.doc.throttle_rate,
        disabled: endpoint.is_disabled(),
    })
}
