//! Notices on their way to people: gathered by application, sent beside all else.

use std::{collections::HashMap, sync::Arc, time::Duration};

use gonets_core::{ids::AppNo, notice::Notice, time::Timestamp};
use gonets_mail::{Item, MailError, Mailer, Outbox};
use tokio::task::JoinSet;

use crate::courier::Road;

/// Applications whose mails are sent at once; a slow mail server takes its time.
const AT_ONCE: usize = 4;

pub(super) struct Post {
    mailer: Arc<Mailer>,
    outbox: Outbox<AppNo>,
    under_way: JoinSet<(AppNo, Result<(), MailError>)>,
    /// What could not go yet because enough is under way.
    ready: HashMap<AppNo, gonets_mail::Digest>,
}

impl Post {
    pub(super) fn new(mailer: Mailer) -> Self {
        Self {
            mailer: Arc::new(mailer),
            outbox: Outbox::default(),
            under_way: JoinSet::new(),
            ready: HashMap::new(),
        }
    }

    /// Gathers a notice, if it concerns an application that someone is to be told of.
    pub(super) fn put(&mut self, road: &Road, number: u64, notice: Notice) {
        let Some(app) = notice.about.app.and_then(|app| road.directory.app(app)) else { return };
        let to = self.mailer.recipients(&app.doc.contacts);
        if to.is_empty() {
            return;
        }
        let endpoint = notice
            .about
            .endpoint
            .and_then(|endpoint| road.directory.endpoint(endpoint))
            .map(|endpoint| endpoint.doc.url.clone());
        let application =
            if app.doc.operational { "operational endpoints".to_owned() } else { app.doc.name.clone() };
        let item = Item { kind: notice.kind, at: notice.at, endpoint, facts: notice.facts };
        self.outbox.put(app.no, to, application, number, item, road.clock.now());
    }

    /// How long until something is to be done; `None`: nothing waits for time.
    pub(super) fn next_at(&self, now: Timestamp) -> Option<Duration> {
        self.outbox.next_at().map(|at| at.since(now))
    }

    /// The number of the first notice that has not gone yet.
    pub(super) fn first_waiting(&self) -> Option<u64> {
        self.outbox.first_waiting()
    }

    /// Starts what is to go now.
    pub(super) fn start_due(&mut self, now: Timestamp, wall: Timestamp) {
        self.ready.extend(self.outbox.due(now));
        while self.under_way.len() < AT_ONCE {
            let Some(app) = self.ready.keys().next().copied() else { return };
            let Some(digest) = self.ready.remove(&app) else { return };
            let mailer = Arc::clone(&self.mailer);
            self.under_way.spawn(async move { (app, mailer.send(&digest, wall).await) });
        }
    }

    /// Waits until a mail has gone or failed; for ever, if none is under way.
    pub(super) async fn ended(&mut self, road: &Road) {
        match self.under_way.join_next().await {
            None => std::future::pending().await,
            Some(Ok((app, Ok(())))) => self.outbox.sent(&app, road.clock.now()),
            Some(Ok((app, Err(cause)))) => {
                let again = self.outbox.failed(&app, cause.is_temporary(), road.clock.now());
                let then = if again { "it is tried again" } else { "it is given up" };
                tracing::warn!(%app, %cause, "a mail could not be sent; {then}");
            }
            // The process is ending.
            Some(Err(_)) => {}
        }
    }
}
