//! Messages that waited for an application's first endpoint (R18) are routed when it comes.

use std::{sync::Arc, time::Duration};

use gonets_core::ids::AppNo;
use gonets_store::{
    committer::{Committer, Job},
    record::MessageMeta,
    tx::{Made, Rejected, RouteStep, Tx},
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
