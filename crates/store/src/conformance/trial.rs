//! An open store with a clock and ids.

use std::{sync::Arc, time::Duration};

use gonets_core::{
    ids::{AppNo, AttemptId, EndpointNo, IdSequence, MessageId},
    time::Timestamp,
};

use super::{
    Open,
    operations::{accept, application, made_message, write},
};
use crate::{
    engine::{Engine, Load, Tended},
    query::{DueRows, Queries},
    record::DeliveryState,
    tx::{Made, Tx, Verdict},
};

/// A store under test.
pub struct Trial<'a> {
    open: Open<'a>,
    engine: Option<Box<dyn Engine>>,
    queries: Arc<dyn Queries>,
    /// The time of the next commit.
    pub now: Timestamp,
    messages: IdSequence,
    attempts: IdSequence,
}

impl<'a> Trial<'a> {
    pub fn start(open: Open<'a>) -> Self {
        let (engine, queries) = open();
        Self {
            open,
            engine: Some(engine),
            queries,
            now: Timestamp::from_millis(1_800_000_000_000),
            messages: IdSequence::after(0),
            attempts: IdSequence::after(0),
        }
    }

    pub fn engine(&mut self) -> &mut dyn Engine {
        self.engine.as_deref_mut().expect("a trial has an engine but while it restarts")
    }

    pub fn ask(&self) -> &dyn Queries {
        &*self.queries
    }

    pub fn pass(&mut self, time: Duration) {
        self.now = self.now + time;
    }

    /// Closes the store and opens it again.
    pub fn restart(&mut self) {
        if let Some(engine) = self.engine.take() {
            engine.close().expect("the store closes");
        }
        let (engine, queries) = (self.open)();
        self.engine = Some(engine);
        self.queries = queries;
        let (message, attempt) = self.engine().last_ids().expect("the store tells its last ids");
        self.messages = IdSequence::after(message.0);
        self.attempts = IdSequence::after(attempt.0);
    }

    /// Gives accepts and attempts their ids, as the committer does; those that have one keep it.
    pub fn name(&mut self, batch: &mut [Tx]) {
        for operation in batch {
            match operation {
                Tx::Accept(accept) if accept.id.0 == 0 => accept.id = MessageId(self.messages.next(self.now)),
                Tx::Outcome(outcome) => {
                    if let Some(attempt) = outcome.attempt.as_mut().filter(|attempt| attempt.id.0 == 0) {
                        attempt.id = AttemptId(self.attempts.next(self.now));
                    }
                }
                _ => {}
            }
        }
    }

    pub fn commit(&mut self, mut batch: Vec<Tx>) -> Vec<Verdict> {
        self.name(&mut batch);
        let now = self.now;
        let verdicts = self.engine().commit(now, &batch).expect("the store commits");
        assert_eq!(verdicts.len(), batch.len());
        verdicts
    }

    pub fn one(&mut self, operation: Tx) -> Verdict {
        self.commit(vec![operation]).remove(0)
    }

    /// Upkeep until nothing is left.
    pub fn tend(&mut self) {
        for _ in 0..10_000 {
            let now = self.now;
            if self.engine().tend(now, Load::Idle).expect("the store tends to itself") == Tended::Done {
                return;
            }
        }
        panic!("upkeep does not come to an end");
    }

    /// A new application at version 1.
    pub fn app(&mut self) -> AppNo {
        let no = self.ask().next_no().expect("a number");
        let made = self.one(Tx::Entity(Box::new(write(application(no), None))));
        assert_eq!(made, Ok(Made::Entity { no, version: 1 }));
        AppNo(no.0)
    }

    /// Accepts a message for `endpoints` of an application at version 1.
    pub fn accepted(&mut self, app: AppNo, endpoints: &[u32]) -> MessageId {
        made_message(&self.one(accept(app, endpoints).tx()))
    }

    /// Messages in a lane that were never tried.
    pub fn fresh(&self, endpoint: u32) -> Vec<MessageId> {
        let rows = self.ask().fresh(EndpointNo(endpoint), 1_000).expect("an answer");
        rows.into_iter().map(|row| row.message).collect()
    }

    pub fn due(&self, endpoint: u32, now: Timestamp, limit: u32) -> DueRows {
        self.ask().due(EndpointNo(endpoint), now, limit).expect("an answer")
    }

    /// A delivery's state; `None` if there is no such delivery.
    pub fn state(&self, message: MessageId, endpoint: u32) -> Option<DeliveryState> {
        let found = self.ask().deliveries_of(message, &[EndpointNo(endpoint)]).expect("an answer");
        found.first().map(|delivery| delivery.state)
    }
}
