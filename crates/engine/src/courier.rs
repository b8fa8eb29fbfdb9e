//! One attempt: the envelope, the signature, the request, and a report that always comes.
//!
//! An attempt that panics or is dropped still reports, as interrupted: otherwise its slot would
//! never come back and its delivery would wait for ever.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use gonets_core::{
    decide::{Facts, Finished},
    ids::IdCodec,
    outcome::Outcome,
    profile::Profile,
    retry_after,
    time::{Clock, Timestamp},
};
use gonets_dispatch::{effect, input::Reply};
use gonets_egress::{Egress, Request};
use gonets_store::{query::Queries, record::AttemptRecord};
use gonets_wire::Event;
use tokio::sync::mpsc;

use crate::{
    bodies::Message,
    directory::{Courier, Directory, Endpoint},
    driver::Happening,
    journal::{Report, Sent, Which},
};

/// What every attempt uses.
pub(crate) struct Road {
    pub(crate) directory: Arc<Directory>,
    pub(crate) egress: Arc<Egress>,
    pub(crate) queries: Arc<dyn Queries>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdCodec,
    pub(crate) reports: mpsc::UnboundedSender<Happening>,
    /// Nothing expires before this: the wall clock stood suspiciously far ahead at start (R7).
    pub(crate) expiry_from: Timestamp,
}

/// One attempt to make.
pub(crate) struct Errand {
    pub(crate) send: effect::Send,
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) profile: Arc<Profile>,
    /// `None`: read it from the store.
    pub(crate) message: Option<Arc<Message>>,
}

/// Makes the attempt and reports.
pub(crate) async fn run(road: Arc<Road>, errand: Errand) {
    let started = road.clock.now();
    let mut promise = Promise { road: &road, send: errand.send, started, kept: false };
    let message = match &errand.message {
        Some(message) => Some(Arc::clone(message)),
        None => match fetch(&road, &errand).await {
            Ok(message) => message,
            Err(()) => return promise.keep(Report::interrupted(), None, errand.send.message.accepted_at()),
        },
    };
    let ages_from = message.as_ref().map_or(errand.send.message.accepted_at(), |message| message.ages_from());
    let facts = Facts { accepted_at: ages_from, critical: false };
    if started >= road.expiry_from && facts.is_expired(&errand.profile, started) {
        return promise.keep(Report::expired(), None, ages_from);
    }
    let which = Which {
        message: errand.send.message,
        endpoint: errand.endpoint.no,
        number: errand.send.progress.attempts + 1,
        by_hand: errand.send.source == effect::Source::Hand,
        probe: errand.send.probe,
        interrupted: errand.send.progress.interrupted,
        started: road.clock.wall(),
    };
    let (report, retry_after) = attempt(&road, &errand, message.as_deref(), which).await;
    promise.keep(report, retry_after, ages_from);
}

async fn fetch(road: &Arc<Road>, errand: &Errand) -> Result<Option<Arc<Message>>, ()> {
    let (queries, id) = (Arc::clone(&road.queries), errand.send.message);
    let read = tokio::task::spawn_blocking(move || queries.messages(&[id])).await;
    match read {
        Ok(Ok(mut records)) => Ok(records.pop().map(|record| Arc::new(Message::stored(record)))),
        Ok(Err(cause)) => {
            tracing::warn!(%cause, "a message could not be read for its attempt; it is tried again");
            Err(())
        }
        Err(_) => Err(()),
    }
}

pub(crate) async fn attempt(
    road: &Road,
    errand: &Errand,
    message: Option<&Message>,
    which: Which,
) -> (Report, Option<Duration>) {
    let url = errand.endpoint.doc.url.as_str();
    let Some((message, payload)) = message.and_then(|m| m.payload.as_ref().map(|payload| (m, payload)))
    else {
        let sentence =
            "the payload is not kept any more (expunged or past its retention), so there is nothing to send";
        return (Report::unsent(which, url, Outcome::Refused, "payload_gone", sentence.into()), None);
    };
    let Some(target) = &errand.endpoint.target else {
        let refused = road.egress.guard().parse_url(url).err();
        let code = refused.as_ref().map_or("url", |refused| refused.code());
        let sentence = refused.map_or_else(String::new, |refused| refused.operator().to_owned());
        return (Report::unsent(which, url, Outcome::Blocked, code, sentence), None);
    };
    let keyring = &road.directory.context().keyring;
    let courier = match errand.endpoint.courier(keyring, &errand.profile, road.clock.now()) {
        Ok(courier) => courier,
        Err(trouble) => {
            tracing::error!(endpoint = %errand.endpoint.no, %trouble, "an attempt could not be signed");
            // Held and looked at again, like an address that is not allowed: no step is spent on it.
            let sentence = trouble.to_string();
            return (Report::unsent(which, url, Outcome::Blocked, "secret_unreadable", sentence), None);
        }
    };
    let id = road.ids.message(message.id);
    let request = Request {
        custom_headers: &courier.header_lines,
        ..Request::json(
            u64::from(errand.endpoint.no.0),
            target,
            body(&courier, &id, message, payload),
            errand.profile.timeout,
        )
    };
    let body = request.body.clone();
    let mut signed = Vec::with_capacity(512);
    let mut sign = |out: &mut Vec<u8>| {
        let start = out.len();
        courier.signer.write_headers(out, &id, road.clock.wall().as_seconds(), &body);
        signed.clear();
        signed.extend_from_slice(&out[start..]);
    };
    let exchange = road.egress.send(request, &mut sign).await;
    let sent = Sent {
        headers: courier.shown_lines.clone() + &String::from_utf8_lossy(&signed),
        bytes: body.len() as u64,
    };
    let retry_after = asked_pause(&exchange, errand.profile.retry_after_cap, road.clock.wall());
    (Report::of_exchange(which, url, sent, exchange), retry_after)
}

fn body(courier: &Courier, id: &str, message: &Message, payload: &Bytes) -> Bytes {
    let created_at = message.occurred.unwrap_or(message.id.accepted_at()).to_rfc3339();
    let api_version = message.api_version();
    gonets_wire::body(
        courier.envelope,
        &Event {
            id,
            event_type: &message.event_type,
            created_at: &created_at,
            api_version: api_version.as_deref(),
            payload,
        },
    )
}

fn asked_pause(exchange: &gonets_egress::Exchange, cap: Duration, now: Timestamp) -> Option<Duration> {
    match exchange.seen {
        gonets_egress::Seen::Status(status) if retry_after::applies_to(status) => {
            retry_after::parse(exchange.retry_after_values(), now, cap).pause
        }
        _ => None,
    }
}

/// The report that an attempt owes.
struct Promise<'a> {
    road: &'a Road,
    send: effect::Send,
    started: Timestamp,
    kept: bool,
}

impl Promise<'_> {
    fn keep(&mut self, report: Report, retry_after: Option<Duration>, ages_from: Timestamp) {
        self.kept = true;
        self.report(report, retry_after, ages_from);
    }

    fn report(&self, report: Report, retry_after: Option<Duration>, ages_from: Timestamp) {
        let at = self.road.clock.now();
        let reply = Reply {
            send: self.send.id,
            finished: Finished { outcome: report.outcome, retry_after, at },
            took: at.since(self.started),
            timed_out: report.timed_out,
            reached: report.reached,
            ages_from,
            expired: report.expired,
        };
        // The driver is gone only when the process ends; the store still has the delivery.
        let _ =
            self.road.reports.send(Happening::Replied(Box::new(Replied { reply, attempt: report.attempt })));
    }
}

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.report(Report::interrupted(), None, self.send.message.accepted_at());
        }
    }
}

/// An attempt's end on its way to the driver.
pub(crate) struct Replied {
    pub(crate) reply: Reply,
    pub(crate) attempt: Option<AttemptRecord>,
}
