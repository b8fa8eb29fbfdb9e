//! Carries notices on: each becomes an operational event, and some are written to people.
//!
//! A notice is a row that was committed with the change that it tells of. It goes when it has been
//! carried on: the event has the notice's number as its event id, so after a crash the same notice makes
//! no second event; and a notice that waits for its mail stays until the mail has gone, since mails are
//! gathered for a while so that they do not become a flood.

mod event;
mod post;

use std::sync::Arc;

use gonets_core::notice::Notice;
use gonets_mail::Mailer;
use gonets_store::{
    committer::Committer,
    tx::{Told, Tx},
};
use tokio::sync::Notify;

use self::post::Post;
use crate::{courier::Road, driver::Ack, unrouted::commit_step};

/// Notices that are read at once.
const BATCH: u32 = 64;

/// Carries on what there is and what comes, until the store closes.
pub(crate) async fn carry_on(
    road: Arc<Road>,
    committer: Arc<Committer<Ack>>,
    noticed: Arc<Notify>,
    mailer: Option<Mailer>,
) {
    let mut desk = Desk { post: mailer.map(Post::new), road, committer, read: 0, told: 0 };
    loop {
        while desk.carry_on_some().await {}
        if desk.forget().await.is_none() {
            return;
        }
        desk.wait(&noticed).await;
    }
}

struct Desk {
    road: Arc<Road>,
    committer: Arc<Committer<Ack>>,
    post: Option<Post>,
    /// The last notice that was read.
    read: u64,
    /// The last notice that was forgotten.
    told: u64,
}

impl Desk {
    /// Whether there may be more.
    async fn carry_on_some(&mut self) -> bool {
        let (queries, after) = (Arc::clone(&self.road.queries), self.read);
        let notices = match tokio::task::spawn_blocking(move || queries.notices(after, BATCH)).await {
            Ok(Ok(notices)) => notices,
            Ok(Err(cause)) => {
                tracing::warn!(%cause, "notices could not be read; they are carried on later");
                return false;
            }
            Err(_) => return false,
        };
        let many = notices.len();
        for (number, notice) in notices {
            tracing::info!(kind = notice.kind.name(), about = ?notice.about, facts = ?notice.facts, "notice");
            self.carry_on_one(number, notice).await;
            self.read = number;
        }
        many == BATCH as usize
    }

    async fn carry_on_one(&mut self, number: u64, notice: Notice) {
        // What befalls operational endpoints is not told to them: it would go round for ever.
        let directory = &self.road.directory;
        let is_ours =
            notice.about.app.and_then(|app| directory.app(app)).is_some_and(|app| app.doc.operational);
        if !is_ours {
            event::make(&self.road, &self.committer, number, &notice).await;
        }
        if let Some(post) = self.post.as_mut().filter(|_| notice.kind.is_mailed()) {
            post.put(&self.road, number, notice);
        }
    }

    /// Waits for what comes next: a notice, the time of a mail, or the end of one.
    async fn wait(&mut self, noticed: &Notify) {
        let Some(post) = &mut self.post else { return noticed.notified().await };
        let clock = &self.road.clock;
        post.start_due(clock.now(), clock.wall());
        let wait = post.next_at(clock.now());
        tokio::select! {
            () = noticed.notified() => {}
            () = post.ended(&self.road) => {}
            () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {}
        }
    }

    /// Forgets what has been carried on; `None` when the store is closing.
    async fn forget(&mut self) -> Option<()> {
        let waits = self.post.as_ref().and_then(Post::first_waiting);
        let through = waits.map_or(self.read, |first| self.read.min(first - 1));
        if through > self.told {
            commit_step(&self.committer, Tx::Told(Told { through })).await?;
            self.told = through;
        }
        Some(())
    }
}
