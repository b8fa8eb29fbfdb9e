//! Carrying out what the machine wants.

mod launch;

use std::sync::Arc;

use gonets_core::{
    gate::{GateChange, GateWrite},
    notice::{Notice, NoticeKind},
};
use gonets_dispatch::{
    effect::{self, Effect},
    input::Window,
};
use gonets_store::{
    committer::Job,
    query::{Answer, Queries},
    tx::Tx,
};

use super::{Ack, Driver, Happening, Read};
use crate::{bodies::Message, courier::Errand, operations};

/// Of a window's messages, so many bytes are read along with it.
const HEAD_BYTES: usize = 1 << 20;
/// They are read in groups of this many.
const HEAD_GROUP: usize = 32;

impl Driver {
    pub(super) fn carry_out(&mut self, effects: &mut Vec<Effect>) {
        let mut jobs = Vec::new();
        let mut sends = Vec::new();
        for effect in effects.drain(..) {
            match effect {
                Effect::Record(record) => jobs.push(self.outcome(record)),
                Effect::Keep(keep) => jobs.push(self.keep(keep)),
                // Its lease is in the queue already: it goes out when this, behind it, is durable.
                Effect::Send(send) if send.probe => {
                    jobs.push(Job { tx: Tx::Keep(Box::default()), ack: Ack::Lease(send) });
                }
                Effect::Send(send) => sends.push(send),
                Effect::Load(load) => self.load(load),
            }
        }
        // Whoever ordered something is answered when all that came of it is durable.
        jobs.extend(
            self.orders.drain(..).map(|reply| Job { tx: Tx::Keep(Box::default()), ack: Ack::Caller(reply) }),
        );
        if !jobs.is_empty() {
            self.committer.submit_outcomes(jobs.into_iter());
        }
        // What else is left of them was interrupted and is not recorded.
        let shard = &self.shard;
        self.attempts.retain(|send, _| shard.is_put_off(*send));
        self.send_off(sends);
    }

    pub(super) fn send_off(&mut self, sends: Vec<effect::Send>) {
        let errands = sends.into_iter().filter_map(|send| self.errand(send)).collect();
        launch::launch(&self.road, errands);
    }

    fn outcome(&mut self, mut record: effect::Record) -> Job<Ack> {
        let attempt = self.attempts.remove(&record.send);
        if record.source != effect::Source::Hand {
            self.bodies.done(record.message);
        }
        self.show_disabled(&record.gates);
        record.notices.retain(|notice| self.is_told(notice));
        let outcome = operations::outcome(record, attempt);
        Job { tx: Tx::Outcome(Box::new(outcome)), ack: Ack::Outcome { bare: false } }
    }

    fn keep(&mut self, keep: effect::Keep) -> Job<Ack> {
        self.show_disabled(&keep.gates);
        Job { tx: Tx::Keep(Box::new(operations::keep(keep))), ack: Ack::None }
    }

    /// Single deliveries are told of only where someone listens: an endpoint that refuses everything must
    /// not write a second row for each.
    fn is_told(&self, notice: &Notice) -> bool {
        let listens = || {
            let app = notice.about.environment.and_then(|no| self.road.directory.operational_app(no));
            app.is_some_and(|app| !app.endpoints.is_empty())
        };
        match notice.kind {
            NoticeKind::AttemptFailing | NoticeKind::AttemptRecovered => listens(),
            NoticeKind::AttemptExhausted => self.mails || listens(),
            _ => true,
        }
    }

    /// What the machine disabled is disabled in the directory at once, not only when it lands: a
    /// configuration that lands before is made from it, and must not enable the lane again.
    fn show_disabled(&self, gates: &[GateWrite]) {
        for gate in gates.iter().filter(|gate| matches!(gate.change, GateChange::Disabled(Some(_)))) {
            self.road.directory.apply_gate(*gate);
        }
    }

    fn errand(&mut self, send: effect::Send) -> Option<Errand> {
        let directory = &self.road.directory;
        let endpoint = directory.endpoint(send.endpoint);
        let profile =
            endpoint.as_ref().and_then(|e| directory.app(e.app)).map(|app| Arc::clone(&app.profile));
        let (Some(endpoint), Some(profile)) = (endpoint, profile) else {
            // The machine only knows lanes that came from the directory, and those stay readable.
            tracing::error!(endpoint = %send.endpoint, "an attempt of an unknown endpoint was asked for");
            return None;
        };
        Some(Errand { send, endpoint, profile, message: self.bodies.get(send.message) })
    }

    fn load(&self, load: effect::Load) {
        let road = Arc::clone(&self.road);
        tokio::task::spawn_blocking(move || {
            let read = match read(road.queries.as_ref(), load) {
                Ok((window, messages)) => Read { endpoint: load.endpoint, window: Some(window), messages },
                Err(cause) => {
                    tracing::warn!(endpoint = %load.endpoint, %cause, "a lane could not be read; it is tried again");
                    Read { endpoint: load.endpoint, window: None, messages: Vec::new() }
                }
            };
            // Without a driver the process is ending.
            let _ = road.reports.send(Happening::Read(Box::new(read)));
        });
    }
}

fn read(queries: &dyn Queries, load: effect::Load) -> Answer<(Window, Vec<Message>)> {
    let window = operations::window(queries, load)?;
    let ids: Vec<_> =
        window.due.iter().map(|row| row.message).chain(window.fresh.iter().map(|row| row.message)).collect();
    let messages = head(queries, &ids)?;
    Ok((window, messages))
}

/// The messages at the head of a window, as far as they are small enough to keep.
fn head(queries: &dyn Queries, ids: &[gonets_core::ids::MessageId]) -> Answer<Vec<Message>> {
    let mut messages = Vec::new();
    let mut bytes = 0;
    for group in ids.chunks(HEAD_GROUP) {
        if bytes > HEAD_BYTES {
            break;
        }
        for record in queries.messages(group)? {
            bytes += record.payload.as_ref().map_or(0, bytes::Bytes::len);
            messages.push(Message::stored(record));
        }
    }
    Ok(messages)
}
