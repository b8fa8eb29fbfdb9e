//! Messages that wait for an application's first endpoint (R18): they are routed when it comes, and
//! end with the application.

use std::{sync::Arc, time::Duration};

use gonets_core::{ids::AppNo, rule::Reason, time::Timestamp};
use gonets_store::{
    committer::{Committer, Job},
    record::MessageMeta,
    tx::{EndUnroutedStep, Made, Rejected, RouteStep, Tx},
};
use tokio::sync::oneshot;

use crate::{courier::Road, driver::Ack};

/// How long to leave a busy store alone.
const BUSY: Duration = Duration::from_secs(1);

/// Messages that one step routes.
const STEP: u32 = 256;

/// Routes whatever waits for an endpoint of `app`, in steps, until nothing does.
pub(crate) fn sweep(road: Arc<Road>, committer: Arc<Committer<Ack>>, app: AppNo) {
    tokio::spawn(async move { while step(&road, &committer, app).await {} });
}

/// Goes on with what the last run left of an application's unrouted messages.
pub(crate) fn resume(road: &Arc<Road>, committer: &Arc<Committer<Ack>>, app: AppNo) {
    let entry = road.directory.app(app);
    if entry.as_ref().is_none_or(|app| app.row.deleted) {
        end(Arc::clone(committer), app);
    } else if entry.is_some_and(|app| !app.endpoints.is_empty()) {
        sweep(Arc::clone(road), Arc::clone(committer), app);
    }
}

/// Ends whatever waits for an endpoint of a deleted application (R20), in steps.
pub(crate) fn end(committer: Arc<Committer<Ack>>, app: AppNo) {
    tokio::spawn(async move {
        let step = EndUnroutedStep {
            app,
            reason: Reason::ApplicationDeleted,
            aged_from: Timestamp::MAX,
            limit: STEP,
            notice: None,
        };
        while let Some(STEP) = commit_step(&committer, Tx::EndUnrouted(Box::new(step.clone()))).await {}
    });
}

/// Commits one step, waiting out a busy store; how many rows it handled, `None` when it was refused or
/// the store is closing.
pub(crate) async fn commit_step(committer: &Committer<Ack>, tx: Tx) -> Option<u32> {
    loop {
        let (reply, verdict) = oneshot::channel();
        if committer.submit(Job { tx: tx.clone(), ack: Ack::Caller(reply) }).is_err() {
            tokio::time::sleep(BUSY).await;
            continue;
        }
        return match verdict.await {
            Ok(Ok(Made::Step(rows))) => Some(rows),
            Ok(Ok(_)) | Err(_) => None,
            Ok(Err(why)) => {
                tracing::error!(%why, "a step of the engine's upkeep was refused");
                None
            }
        };
    }
}

/// One step; whether another is needed.
async fn step(road: &Arc<Road>, committer: &Committer<Ack>, app: AppNo) -> bool {
    let queries = Arc::clone(&road.queries);
    let read = tokio::task::spawn_blocking(move || {
        let waiting = queries.unrouted(app, STEP)?;
        queries.messages(&waiting)
    })
    .await;
    let messages = match read {
        Ok(Ok(messages)) => messages,
        Ok(Err(cause)) => {
            tracing::warn!(%app, %cause, "messages without an endpoint could not be read; the next endpoint routes them");
            return false;
        }
        Err(_) => return false,
    };
    let Some(entry) = road.directory.app(app).filter(|app| !app.endpoints.is_empty()) else { return false };
    if messages.is_empty() {
        return false;
    }
    let routes = messages
        .iter()
        .map(|message| {
            let meta: MessageMeta = serde_json::from_slice(&message.meta).unwrap_or_default();
            let takers = entry
                .endpoints
                .iter()
                .filter(|endpoint| endpoint.filter.takes(&message.event_type, &meta.channels))
                .map(|endpoint| endpoint.no)
                .collect();
            (message.id, takers)
        })
        .collect();
    let (reply, verdict) = oneshot::channel();
    let tx = Tx::Route(RouteStep { app, app_version: entry.row.version, routes });
    if committer.submit(Job { tx, ack: Ack::Caller(reply) }).is_err() {
        tokio::time::sleep(BUSY).await;
        return true;
    }
    match verdict.await {
        Ok(Ok(Made::Step(_)) | Err(Rejected::Stale)) => true,
        Ok(Err(why)) => {
            tracing::error!(%app, %why, "messages without an endpoint could not be routed");
            false
        }
        // The store is closing.
        Ok(Ok(_)) | Err(_) => false,
    }
}
