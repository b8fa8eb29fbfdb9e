//! What each turn does.

use std::time::Duration;

use bytes::Bytes;
use gonets_core::{
    decide::Finished,
    gate::Scope,
    ids::{AttemptId, EndpointNo, EnvironmentNo, MessageId},
    outcome::Outcome as Came,
    profile::BreakerScope,
    time::Clock,
};
use gonets_dispatch::{
    effect::{self, Effect, SendId},
    input::{Arrival, Input, Reply},
};
use gonets_engine::operations;
use gonets_store::{
    committer::Job,
    engine::Load,
    record::AttemptRecord,
    tx::{Accept, HandRetry, Made, Outcome, Source, Then, Tx},
};

use super::{Ack, Flight, Turn, World};
use crate::simulation::{Broken, Sabotage};

impl World<'_> {
    pub(super) fn take(&mut self, turn: Turn) -> Result<(), Broken> {
        match turn {
            Turn::Post => {
                self.post();
                Ok(())
            }
            Turn::Hand => {
                self.press_again();
                Ok(())
            }
            Turn::Meddle => self.meddle(),
            Turn::Commit => self.commit(),
            Turn::Land => self.land(),
            Turn::Answer(id) => self.answer(id),
            Turn::Read(at) => {
                let (endpoint, window) = self.windows.swap_remove(at);
                let failed = self.luck.u8(0..50) == 0;
                self.step(vec![if failed {
                    Input::NotLoaded { endpoint }
                } else {
                    Input::Loaded { endpoint, window }
                }])
            }
            Turn::Tend => {
                let now = self.clock.now();
                let engine = self.engine.as_mut().expect("the store is open between steps");
                engine.tend(now, Load::Idle).expect("upkeep does not fail");
                Ok(())
            }
        }
    }

    fn post(&mut self) {
        let Some((_, post)) = self.posts.pop_front() else { return };
        let routes: Vec<EndpointNo> =
            self.endpoints.iter().copied().filter(|_| self.luck.u8(0..3) > 0).collect();
        let deliver_at =
            (self.luck.u8(0..20) == 0).then(|| self.clock.now() + Duration::from_secs(self.luck.u64(1..300)));
        let accept = Accept {
            id: MessageId(0),
            environment: EnvironmentNo(1),
            app: self.app,
            app_version: self.app_version(),
            event_type: "order.paid".into(),
            critical: self.luck.bool(),
            occurred: None,
            deliver_at,
            meta: b"{}".to_vec(),
            event_id: None,
            idempotency: None,
            payload: Bytes::from_static(b"{}"),
            routes: routes.clone(),
            skips: Vec::new(),
            hold_unrouted: false,
        };
        if self.plan.sabotage == Sabotage::AckBeforeCommit {
            self.laws.acknowledged(post);
        }
        self.queue.push_back(Job { tx: Tx::Accept(Box::new(accept)), ack: Ack::Post(post, routes) });
    }

    fn press_again(&mut self) {
        let Some(key) = self.laws.any_stored(self.luck.usize(..)) else { return };
        // The service refuses it while an attempt is under way (R9).
        if !self.shard.is_busy(key.0, key.1) {
            let hand = HandRetry { endpoint: key.0, message: key.1, under_way: false, idempotency: None };
            self.queue.push_back(Job { tx: Tx::Hand(hand), ack: Ack::Hand(key) });
        }
    }

    /// Every "send again" that was accepted has been carried out.
    pub(super) fn no_retry_is_left(&self) -> Result<(), Broken> {
        for endpoint in &self.endpoints {
            let left = self.queries.by_hand(*endpoint, 1).expect("retries by hand can be read");
            if let Some(row) = left.first() {
                return Err(self.laws.forgotten((*endpoint, row.message)));
            }
        }
        Ok(())
    }

    /// Commits some of the queue; what it means is settled here, when it is durable, and learned by
    /// the machine later, when it lands.
    pub(super) fn commit(&mut self) -> Result<(), Broken> {
        let many = self.luck.usize(1..=self.queue.len());
        let jobs = self.queue.drain(..many).collect();
        let now = self.clock.now();
        let engine = self.engine.as_mut().expect("the store is open between steps");
        let landing = self.group.commit(engine.as_mut(), now, jobs).expect("the store commits");
        for landed in &landing.landed {
            match (&landed.ack, &landed.verdict) {
                (Ack::Post(post, routes), Ok(Made::Message(id))) => {
                    self.laws.stored(*post, routes.iter().map(|endpoint| (*endpoint, *id)).collect());
                }
                (Ack::Outcome(key), Ok(_)) => {
                    if let Tx::Outcome(outcome) = &landed.tx {
                        self.laws.committed(*key, outcome);
                    }
                }
                (Ack::Hand(key), Ok(_)) => self.laws.pressed_again(*key),
                // It is pending already.
                (Ack::Hand(_), Err(_)) | (Ack::Keep, Ok(_)) => {}
                (Ack::Outcome(key), Err(why)) => return Err(self.laws.refused(*key, &why.to_string())),
                (Ack::Post(..) | Ack::Keep, other) => panic!("{:?} came to {other:?}", landed.ack),
            }
        }
        self.landings.push_back(landing);
        Ok(())
    }

    fn land(&mut self) -> Result<(), Broken> {
        let Some(landing) = self.landings.pop_front() else { return Ok(()) };
        let mut inputs = Vec::new();
        for landed in landing.landed {
            match (landed.tx, landed.ack) {
                (Tx::Accept(accept), Ack::Post(post, _)) => {
                    self.laws.acknowledged(post);
                    inputs.extend(accept.routes.iter().map(|endpoint| {
                        Input::Arrived(Arrival {
                            endpoint: *endpoint,
                            message: accept.id,
                            critical: accept.critical,
                            kind: 1,
                            due: accept.deliver_at,
                        })
                    }));
                }
                (Tx::Hand(hand), Ack::Hand(_)) => inputs.push(Input::Backlog {
                    endpoint: hand.endpoint,
                    fresh: false,
                    by_hand: landed.verdict.is_ok(),
                    next_due: None,
                }),
                (Tx::Outcome(outcome), Ack::Outcome((endpoint, message))) => inputs.push(Input::Durable {
                    endpoint,
                    message,
                    by_hand: outcome.from == Source::Hand,
                    next_due: due(&outcome),
                }),
                (Tx::Keep(_), Ack::Keep) => {}
                (tx, ack) => panic!("{tx:?} landed with {ack:?}"),
            }
        }
        self.step(inputs)
    }

    fn answer(&mut self, id: SendId) -> Result<(), Broken> {
        let Some(flight) = self.flights.remove(&id) else { return Ok(()) };
        self.laws.answered(flight.key, flight.answer.outcome, flight.by_hand)?;
        let reply = Reply {
            send: id,
            finished: Finished {
                outcome: flight.answer.outcome,
                retry_after: flight.answer.retry_after,
                at: self.clock.now(),
            },
            took: flight.answer.took,
            timed_out: flight.answer.timed_out,
            reached: flight.answer.reached,
            ages_from: flight.key.1.accepted_at(),
            expired: false,
        };
        self.attempts += 1;
        self.step(vec![Input::Replied(reply)])
    }

    pub(super) fn carry_out(&mut self, effect: Effect) -> Result<(), Broken> {
        match effect {
            Effect::Send(send) => self.send(send),
            Effect::Record(record) => self.record(record),
            Effect::Keep(keep) => {
                self.laws.gates(&keep.gates);
                let tx = Tx::Keep(Box::new(operations::keep(keep)));
                let behind = self.outcomes_queued();
                self.queue.insert(behind, Job { tx, ack: Ack::Keep });
                Ok(())
            }
            Effect::Load(load) => {
                // The read is of now; it is handed over later.
                let window = operations::window(self.queries.as_ref(), load).expect("a window can be read");
                self.windows.push((load.endpoint, window));
                Ok(())
            }
        }
    }

    fn send(&mut self, send: effect::Send) -> Result<(), Broken> {
        let key = (send.endpoint, send.message);
        let now = self.clock.now();
        let by_hand = send.source == effect::Source::Hand;
        self.laws.sent(key, now, by_hand)?;
        if !by_hand && let Some(breaker) = &self.plan.profile.breaker {
            let scope = match breaker.scope {
                BreakerScope::Application => Scope::Application(self.app),
                BreakerScope::Endpoint => Scope::Endpoint(send.endpoint),
            };
            self.laws.passes(scope, key, send.probe, now)?;
        }
        let peer = self.peers.get_mut(&send.endpoint).expect("every endpoint has a peer");
        let answer = peer.answer(now, self.plan.profile.timeout);
        self.flights.insert(send.id, Flight { key, by_hand, answers_at: now + answer.took, answer });
        let kept: Vec<_> = std::mem::take(&mut self.kept_back);
        for job in kept {
            if matches!(job.ack, Ack::Outcome(other) if other == key) {
                self.queue.push_back(job);
            } else {
                self.kept_back.push(job);
            }
        }
        Ok(())
    }

    fn record(&mut self, record: effect::Record) -> Result<(), Broken> {
        let key = (record.endpoint, record.message);
        self.laws.gates(&record.gates);
        let attempt = AttemptRecord {
            id: AttemptId(0),
            message: record.message,
            endpoint: record.endpoint,
            number: record.progress.attempts,
            by_hand: record.source == effect::Source::Hand,
            outcome: Came::Unavailable,
            status: None,
            started: self.clock.now(),
            duration_us: 0,
            detail: b"{}".to_vec(),
            answer: Bytes::new(),
        };
        let outcome = operations::outcome(record, Some(attempt));
        let next_due = due(&outcome);
        let job = Job { tx: Tx::Outcome(Box::new(outcome)), ack: Ack::Outcome(key) };
        if self.plan.sabotage == Sabotage::RetryBeforeRecord && next_due.is_some() {
            self.kept_back.push(job);
            let early = Input::Durable { endpoint: key.0, message: key.1, by_hand: false, next_due };
            return self.step(vec![early]);
        }
        let behind = self.outcomes_queued();
        self.queue.insert(behind, job);
        Ok(())
    }

    /// Outcomes and what the machine keeps go first, as in the committer.
    pub(super) fn outcomes_queued(&self) -> usize {
        self.queue.iter().take_while(|job| matches!(job.ack, Ack::Outcome(_) | Ack::Keep)).count()
    }
}

fn due(outcome: &Outcome) -> Option<gonets_core::time::Timestamp> {
    match outcome.then {
        Then::Waiting { due, .. } => Some(due),
        Then::Settled { .. } | Then::Untouched => None,
    }
}
