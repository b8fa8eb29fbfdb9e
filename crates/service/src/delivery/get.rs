//! One delivery with its timeline (R26).

use gonets_core::ids::EndpointNo;
use gonets_engine::Standing;
use gonets_store::{
    query::{Answer, AttemptFilter, Order, Page, Queries},
    record::{AttemptRecord, DeliveryRecord, DeliveryState, MessageRecord, SettledState},
};

use super::{Delivery, Event, State, name, standing, timeline};
use crate::{access::Reader, attempt::Attempt, error::Error, page::PAGE_BYTES, service::Service};

/// Attempts of a timeline, the newest; a delivery that has had more says so.
const ATTEMPTS: u32 = 250;

/// Transitions of a timeline, the newest.
const TRANSITIONS: u32 = 100;

/// Attempts by age, the newest ones.
pub(super) struct Attempts {
    pub(super) rows: Vec<AttemptRecord>,
    /// There are earlier ones.
    pub(super) are_cut: bool,
}

/// The newest attempts of a message, at one endpoint or at all.
pub(super) fn attempts(
    store: &dyn Queries,
    message: &MessageRecord,
    endpoint: Option<EndpointNo>,
) -> Answer<Attempts> {
    let page =
        Page { limit: ATTEMPTS, order: Order::Descending, after: None, backwards: false, bytes: PAGE_BYTES };
    let filter = AttemptFilter { endpoint, ..AttemptFilter::default() };
    let paged = store.attempts_of_message(message.id, &page, &filter)?;
    Ok(Attempts { rows: paged.rows.into_iter().rev().collect(), are_cut: paged.more })
}

impl Service {
    /// # Errors
    /// [`Error::NotFound`], also for a delivery of another application.
    pub async fn get_delivery(&self, who: &Reader, delivery: &str) -> Result<Delivery, Error> {
        let (message, endpoint) = self.ends_of(who, delivery).await?;
        let no = endpoint.no;
        let asked = message.clone();
        let (found, attempts) = self
            .engine()
            .ask(move |store| Ok((store.deliveries_of(asked.id, &[no])?, attempts(store, &asked, Some(no))?)))
            .await?;
        let record = found.into_iter().next().ok_or_else(|| Error::not_found("delivery", delivery))?;
        self.delivery(who, &message, record, attempts).await
    }

    /// What is to be said of a delivery, with its attempts as they are in the journal.
    pub(super) async fn delivery(
        &self,
        who: &Reader,
        message: &MessageRecord,
        record: DeliveryRecord,
        attempts: Attempts,
    ) -> Result<Delivery, Error> {
        let (ids, now) = (self.engine().ids(), self.now());
        let profile = &who.app.profile;
        let in_memory = match record.state {
            DeliveryState::Settled { .. } => Standing::default(),
            _ => self.engine().standing(record.endpoint, record.message).await,
        };
        let hold = standing::hold(&record, &in_memory);
        let next = standing::next(&record, hold, now);
        let expires_at = message.ages_from() + profile.max_age;
        let are_cut = attempts.are_cut;
        let attempts: Vec<Attempt> =
            attempts.rows.into_iter().map(|row| Attempt::of(ids, row, who.is_admin)).collect();
        let mut events: Vec<Event> = vec![timeline::accepted(message)];
        events.extend(are_cut.then(|| timeline::shortened(&attempts, message)));
        events.extend(attempts.iter().map(timeline::attempt));
        let last = events.last().map_or(now, |event| event.at);
        events.extend(timeline::scheduled(&record, &attempts, profile, last));
        if let Some(held) = hold {
            let since = self.held_since(&who.app, record.endpoint, held.hold);
            events.push(timeline::held(held, since, message.id.accepted_at(), now));
        }
        events.extend(self.transitions(who, message, &record).await?);
        events.extend(timeline::ended(&record, &attempts));
        events.sort_by_key(|event| event.at);
        let (state, reason) = standing::state(&record);
        Ok(Delivery {
            id: name::id(ids, record.message, record.endpoint),
            message_id: ids.message(record.message),
            endpoint_id: ids.endpoint(record.endpoint),
            event_type: message.event_type.clone(),
            critical: message.critical,
            state,
            reason: reason.filter(|_| state != State::Delivered),
            hold,
            used_outage: record.progress.outage,
            used_refusal: record.progress.refusals,
            attempts: record.progress.attempts,
            next,
            expires_at,
            timeline: events,
        })
    }

    /// What befell its endpoint and its breaker while it was on its way.
    async fn transitions(
        &self,
        who: &Reader,
        message: &MessageRecord,
        record: &DeliveryRecord,
    ) -> Result<Vec<Event>, Error> {
        let (app, endpoint) = (who.app.no, record.endpoint);
        let from = message.id.accepted_at();
        let to = match record.state {
            // It was over when it was accepted: nothing befell it.
            DeliveryState::Settled { state: SettledState::Skipped, .. } => return Ok(Vec::new()),
            DeliveryState::Settled { at, .. } => at,
            DeliveryState::Fresh | DeliveryState::Waiting { .. } => self.now(),
        };
        let all = self.engine().ask(move |store| store.transitions(app, from, to, TRANSITIONS)).await?;
        let of_it = all.iter().filter(|notice| notice.about.endpoint.is_none_or(|one| one == endpoint));
        Ok(of_it.map(timeline::transition).collect())
    }
}
