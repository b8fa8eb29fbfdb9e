//! R7 for what waits: a delivery that is held expires when its age comes, although nobody tries it.
//!
//! What is tried is looked at by the attempt itself. Here lanes with something left are looked at from
//! time to time: only the oldest row of each, so a backlog of any size costs the same. The same look
//! tells when critical messages are about to expire (R21).

use std::{sync::Arc, time::Duration};

use gonets_core::{
    gate::{Expiring, GateChange, GateWrite, Scope},
    ids::{AppNo, EndpointNo, MessageId},
    notice::{About, Facts, Notice, NoticeKind},
    profile::Profile,
    rule::Reason,
    time::Timestamp,
};
use gonets_store::{
    committer::{Committer, Job},
    query::{Answer, Oldest, Queries},
    tx::{EndUnroutedStep, ExpireStep, Keep, Tx},
};

use crate::{
    courier::Road,
    directory::{App, Endpoint},
    driver::Ack,
    unrouted::commit_step,
};

/// How often lanes are looked at, at most and at least; in between by the shortest age there is.
const OFTEN: Duration = Duration::from_millis(250);
const SELDOM: Duration = Duration::from_secs(60);
/// Of the shortest age, one look in so many parts.
const PARTS: u32 = 30;
/// Rows that one step ends.
const STEP: u32 = 200;

/// Looks at the lanes until the store closes.
pub(crate) async fn watch(road: Arc<Road>, committer: Arc<Committer<Ack>>) {
    loop {
        tokio::time::sleep(pause(&road)).await;
        let now = road.clock.now();
        if now < road.expiry_from {
            continue;
        }
        let queries = Arc::clone(&road.queries);
        let read = tokio::task::spawn_blocking(move || Waiting::read(queries.as_ref())).await;
        let waiting = match read {
            Ok(Ok(waiting)) => waiting,
            Ok(Err(cause)) => {
                tracing::warn!(%cause, "what waits could not be read; it is looked at again");
                continue;
            }
            Err(_) => return,
        };
        for (endpoint, oldest) in waiting.lanes {
            if look_at_lane(&road, &committer, endpoint, oldest, now).await.is_none() {
                return;
            }
        }
        for (app, oldest) in waiting.unrouted {
            if look_at_unrouted(&road, &committer, app, oldest, now).await.is_none() {
                return;
            }
        }
    }
}

/// A profile of short ages is looked after more often.
fn pause(road: &Road) -> Duration {
    let context = road.directory.context();
    let shortest = context.profiles.iter().map(|profile| profile.max_age).min();
    (shortest.unwrap_or(SELDOM) / PARTS).clamp(OFTEN, SELDOM)
}

/// The oldest of everything that waits.
struct Waiting {
    lanes: Vec<(EndpointNo, Oldest)>,
    unrouted: Vec<(AppNo, MessageId)>,
}

impl Waiting {
    fn read(queries: &dyn Queries) -> Answer<Self> {
        let lanes = queries
            .backlog()?
            .into_iter()
            .map(|lane| Ok((lane.endpoint, queries.oldest(lane.endpoint)?)))
            .collect::<Answer<_>>()?;
        Ok(Self { lanes, unrouted: queries.unrouted_apps()? })
    }
}

/// `None` when the store is closing.
async fn look_at_lane(
    road: &Road,
    committer: &Committer<Ack>,
    no: EndpointNo,
    oldest: Oldest,
    now: Timestamp,
) -> Option<()> {
    let Some(endpoint) = road.directory.endpoint(no).filter(|endpoint| !endpoint.row.deleted) else {
        return Some(());
    };
    let Some(app) = road.directory.app(endpoint.app) else { return Some(()) };
    let about = about(&app, Some(&endpoint));
    if oldest.any.is_some_and(|oldest| is_over(oldest, &app.profile, now)) {
        let step = ExpireStep {
            endpoint: no,
            aged_from: over_since(&app.profile, now),
            limit: STEP,
            notice: expired(about, now),
        };
        while commit_step(committer, Tx::Expire(Box::new(step.clone()))).await? == STEP {}
    }
    tell_expiring(road, committer, Scope::Endpoint(no), about, oldest.critical, &app.profile, now);
    Some(())
}

async fn look_at_unrouted(
    road: &Road,
    committer: &Committer<Ack>,
    no: AppNo,
    oldest: MessageId,
    now: Timestamp,
) -> Option<()> {
    let Some(app) = road.directory.app(no).filter(|app| !app.row.deleted) else { return Some(()) };
    let about = about(&app, None);
    if is_over(oldest, &app.profile, now) {
        let step = EndUnroutedStep {
            app: no,
            reason: Reason::Expired,
            aged_from: over_since(&app.profile, now),
            limit: STEP,
            notice: Some(expired(about, now)),
        };
        while commit_step(committer, Tx::EndUnrouted(Box::new(step.clone()))).await? == STEP {}
    }
    tell_expiring(road, committer, Scope::Application(no), about, Some(oldest), &app.profile, now);
    Some(())
}

/// Tells that something critical expires soon, once for each stage.
fn tell_expiring(
    road: &Road,
    committer: &Committer<Ack>,
    scope: Scope,
    about: About,
    oldest: Option<MessageId>,
    profile: &Profile,
    now: Timestamp,
) {
    let expires_at = oldest.map(|oldest| oldest.accepted_at().saturating_add(profile.max_age));
    let (before, after) = (road.directory.gate(scope).expiring, Expiring::at(expires_at, now));
    // Profiles of short ages have no days to speak of.
    if before == after || profile.max_age <= Expiring::BEFORE[0] {
        return;
    }
    let mut keep =
        Keep { gates: vec![GateWrite { scope, change: GateChange::Expiring(after) }], notices: Vec::new() };
    if after.stage > before.stage {
        let facts = Facts { until: expires_at, ..Facts::default() };
        keep.notices.push(Notice::new(NoticeKind::MessageExpiring, about, now).with(facts));
    }
    if committer.submit(Job { tx: Tx::Keep(Box::new(keep)), ack: Ack::None }).is_err() {
        tracing::debug!("the store is busy; what expires soon is told at the next look");
    }
}

fn about(app: &App, endpoint: Option<&Endpoint>) -> About {
    About {
        environment: Some(app.row.environment),
        app: Some(app.no),
        endpoint: endpoint.map(|endpoint| endpoint.no),
        message: None,
    }
}

fn expired(about: About, now: Timestamp) -> Notice {
    let facts = Facts { reason: Some(Reason::Expired.name().into()), ..Facts::default() };
    Notice::new(NoticeKind::MessageExpired, about, now).with(facts)
}

/// What has counted its age from here or before is too old now.
fn over_since(profile: &Profile, now: Timestamp) -> Timestamp {
    let age = i64::try_from(profile.max_age.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(age).saturating_sub(1))
}

fn is_over(oldest: MessageId, profile: &Profile, now: Timestamp) -> bool {
    oldest.accepted_at() <= over_since(profile, now)
}
