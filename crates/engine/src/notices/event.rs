//! A notice as an operational event: a message of the application behind the environment's operational
//! endpoints.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use gonets_core::{
    ids::MessageId,
    notice::{About, Notice},
};
use gonets_store::{
    committer::{Committer, Job},
    tx::{Accept, Rejected, Tx},
};
use serde::Serialize;
use tokio::sync::oneshot;

use crate::{courier::Road, directory::App, driver::Ack};

/// How long to leave a busy store alone.
const BUSY: Duration = Duration::from_secs(1);

/// What the receiver of an operational event reads.
#[derive(Serialize)]
struct Payload<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    timestamp: String,
    data: Data<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    app_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_uid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint_uid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    msg_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'a str>,
}

/// Makes the events of a notice: one for each environment that it concerns and that listens.
pub(super) async fn make(road: &Road, committer: &Committer<Ack>, number: u64, notice: &Notice) {
    let environments = match notice.about.environment {
        Some(environment) => vec![environment],
        None => road.directory.environments().iter().map(|environment| environment.no).collect(),
    };
    for environment in environments {
        loop {
            let app = road.directory.operational_app(environment).filter(|app| !app.endpoints.is_empty());
            let Some(app) = app else { break };
            let (reply, verdict) = oneshot::channel();
            let tx = Tx::Accept(Box::new(accept(road, &app, number, notice)));
            if committer.submit(Job { tx, ack: Ack::Caller(reply) }).is_err() {
                tokio::time::sleep(BUSY).await;
                continue;
            }
            match verdict.await {
                // The configuration changed meanwhile.
                Ok(Err(Rejected::Stale)) => {}
                // It was made before a crash.
                Ok(Ok(_) | Err(Rejected::Duplicate(_) | Rejected::Gone)) | Err(_) => break,
                Ok(Err(why)) => {
                    tracing::error!(%why, kind = notice.kind.name(), "an operational event could not be made");
                    break;
                }
            }
        }
    }
}

fn accept(road: &Road, app: &Arc<App>, number: u64, notice: &Notice) -> Accept {
    let event_type = notice.kind.name();
    let routes = app
        .endpoints
        .iter()
        .filter(|endpoint| !endpoint.is_disabled() && endpoint.filter.takes(event_type, &[]))
        .map(|endpoint| endpoint.no)
        .collect();
    Accept {
        id: MessageId(0),
        environment: app.row.environment,
        app: app.no,
        app_version: app.row.version,
        event_type: event_type.to_owned(),
        critical: false,
        occurred: Some(notice.at),
        deliver_at: None,
        meta: b"{}".to_vec(),
        event_id: Some(format!("ntc_{number}")),
        idempotency: None,
        payload: payload(road, notice),
        routes,
        skips: Vec::new(),
        hold_unrouted: false,
    }
}

fn payload(road: &Road, notice: &Notice) -> Bytes {
    let About { app, endpoint, message, .. } = notice.about;
    let facts = &notice.facts;
    let entry = app.and_then(|app| road.directory.app(app));
    let target = endpoint.and_then(|endpoint| road.directory.endpoint(endpoint));
    let text = |at: gonets_core::time::Timestamp| at.to_rfc3339();
    let payload = Payload {
        kind: notice.kind.name(),
        timestamp: notice.at.to_rfc3339(),
        data: Data {
            app_id: app.map(|app| road.ids.application(app)),
            app_uid: entry.and_then(|app| app.row.uid.clone()),
            endpoint_id: endpoint.map(|endpoint| road.ids.endpoint(endpoint)),
            endpoint_uid: target.as_ref().and_then(|endpoint| endpoint.row.uid.clone()),
            endpoint_url: target.map(|endpoint| endpoint.doc.url.clone()),
            msg_id: message.map(|message| road.ids.message(message)),
            reason: facts.reason.as_deref(),
            since: facts.since.map(text),
            until: facts.until.map(text),
            count: facts.count,
            outcome: facts.outcome.as_deref(),
        },
    };
    // Plain data always has a form.
    Bytes::from(serde_json::to_vec(&payload).unwrap_or_else(|_| b"{}".to_vec()))
}
