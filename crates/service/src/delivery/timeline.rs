//! The events of a delivery as sentences (R26).

use gonets_core::{
    notice::{Notice, NoticeKind},
    profile::Profile,
    rule::{Reason, Rule},
    time::Timestamp,
};
use gonets_store::record::{DeliveryRecord, DeliveryState, MessageRecord};

use super::{Event, Held, State, Tried, What, standing};
use crate::attempt::Attempt;

pub(super) fn accepted(message: &MessageRecord) -> Event {
    let critical = if message.critical { ", critical" } else { "" };
    Event {
        at: message.id.accepted_at(),
        text: format!("accepted as {}{critical}", message.event_type),
        what: What::Accepted,
    }
}

/// That there were attempts before those that are shown.
pub(super) fn shortened(attempts: &[Attempt], message: &MessageRecord) -> Event {
    let which = match attempts.first() {
        Some(first) => format!("attempts before attempt {}", first.number),
        None => "its attempts".to_owned(),
    };
    Event {
        at: message.id.accepted_at(),
        text: format!("{which} are not shown here; the list of attempts has them"),
        what: What::Shortened,
    }
}

pub(super) fn attempt(attempt: &Attempt) -> Event {
    let mut text = format!("attempt {}: {} in {} ms", attempt.number, seen(attempt), attempt.duration_ms);
    if attempt.detail.probe {
        text.push_str(", the breaker's probe");
    }
    if attempt.by_hand {
        text.push_str(", by hand");
    }
    Event {
        at: attempt.started,
        text,
        what: What::Attempt(Tried {
            attempt_id: attempt.id.clone(),
            number: attempt.number,
            outcome: attempt.outcome,
            status: attempt.status_code,
            duration_ms: attempt.duration_ms,
            by_hand: attempt.by_hand,
            probe: attempt.detail.probe,
        }),
    }
}

/// What was seen: the status, or why there was none.
fn seen(attempt: &Attempt) -> String {
    match (attempt.status_code, &attempt.detail.sentence) {
        (Some(status), _) => status.to_string(),
        (None, Some(sentence)) => sentence.trim_end_matches('.').to_owned(),
        (None, None) => attempt.outcome.name().to_owned(),
    }
}

/// The next attempt of one that waits, set when the last one ended.
pub(super) fn scheduled(
    record: &DeliveryRecord,
    attempts: &[Attempt],
    profile: &Profile,
    last: Timestamp,
) -> Option<Event> {
    let DeliveryState::Waiting { due, rule } = record.state else { return None };
    let at = attempts.iter().rev().find(|attempt| !attempt.by_hand).map_or(last, ended_at);
    let by = match rule {
        Rule::OutageLadder => {
            format!("outage ladder, step {} of {}", record.progress.outage, profile.outage.delays.len())
        }
        Rule::RefusalLadder => {
            let steps = profile.refusal.as_ref().map_or(0, |ladder| ladder.delays.len());
            format!("refusal ladder, step {} of {steps}", record.progress.refusals)
        }
        Rule::RetryAfter
        | Rule::AddressRecheck
        | Rule::Interrupted
        | Rule::DeliverAt
        | Rule::Breaker
        | Rule::SendingPaused => rule.sentence().to_owned(),
    };
    Some(Event { at, text: format!("next attempt at {due} ({by})"), what: What::Scheduled { due, rule } })
}

fn ended_at(attempt: &Attempt) -> Timestamp {
    attempt.started + std::time::Duration::from_millis(attempt.duration_ms)
}

/// What holds it: since it was accepted, or since the hold began after that.
pub(super) fn held(held: Held, since: Option<Timestamp>, accepted: Timestamp, now: Timestamp) -> Event {
    let until = held.until.map_or_else(String::new, |until| format!(" (until {until})"));
    let at = since.unwrap_or(now).max(accepted);
    let text = format!("held: {}{until}", held.hold.sentence());
    Event { at, text, what: What::Held(held) }
}

/// What befell the delivery's endpoint, its breaker or all of sending.
pub(super) fn transition(notice: &Notice) -> Event {
    let text = match (notice.kind, notice.facts.until) {
        (NoticeKind::BreakerOpened, Some(until)) => format!("the breaker opened; a probe at {until}"),
        (NoticeKind::BreakerOpened, None) => "the breaker opened".to_owned(),
        (NoticeKind::BreakerClosed, _) => "the breaker closed; what it held goes out".to_owned(),
        (kind, _) => kind.sentence().to_owned(),
    };
    Event { at: notice.at, text, what: What::Transition(notice.kind) }
}

pub(super) fn ended(record: &DeliveryRecord, attempts: &[Attempt]) -> Option<Event> {
    let DeliveryState::Settled { state, reason, at, .. } = record.state else { return None };
    let state = standing::ended(state);
    let by = attempts.iter().rev().find(|attempt| match state {
        State::Delivered => attempt.is_success(),
        _ => !attempt.by_hand,
    });
    let text = match (state, by) {
        (State::Delivered, Some(attempt)) => format!("delivered by attempt {}", attempt.number),
        _ => ending(state, reason),
    };
    // Attempts show the wall clock, ends the one that pauses are measured with: they may differ a little.
    let at = by.map_or(at, |attempt| at.max(ended_at(attempt)));
    Some(Event { at, text, what: What::Ended(state) })
}

/// `failed: the outage ladder is spent`
pub(super) fn ending(state: State, reason: Option<Reason>) -> String {
    let why = reason.map_or_else(String::new, |reason| format!(": {}", sentence(state, reason)));
    format!("{}{why}", state.name())
}

/// What waited at a disabled endpoint is cancelled for the same reason as what comes meanwhile is skipped,
/// but not by the profile.
fn sentence(state: State, reason: Reason) -> &'static str {
    match (state, reason) {
        (State::Cancelled, Reason::EndpointDisabled) => {
            "it waited at a disabled endpoint, and was to be skipped when that was enabled"
        }
        _ => reason.sentence(),
    }
}

#[cfg(test)]
mod tests {
    use gonets_core::{
        hold::Hold,
        ids::{EndpointNo, MessageId},
        notice::About,
        profile::builtin,
        progress::Progress,
    };
    use gonets_store::record::SettledState;

    use super::*;

    fn record(progress: Progress, state: DeliveryState) -> DeliveryRecord {
        DeliveryRecord { message: MessageId(1), endpoint: EndpointNo(2), progress, state }
    }

    #[test]
    fn r26_the_schedule_names_its_ladder_and_the_step_on_it() {
        let due = Timestamp::from_millis(2_000);
        let payments = builtin::get("payments").unwrap();
        let text = |progress, rule| {
            let record = record(progress, DeliveryState::Waiting { due, rule });
            scheduled(&record, &[], &payments, due).unwrap().text
        };
        let outage = Progress { outage: 2, ..Progress::default() };
        assert_eq!(
            text(outage, Rule::OutageLadder),
            "next attempt at 1970-01-01T00:00:02.000Z (outage ladder, step 2 of 9)"
        );
        let refused = Progress { refusals: 1, ..Progress::default() };
        assert!(text(refused, Rule::RefusalLadder).ends_with("(refusal ladder, step 1 of 5)"));
        assert!(text(refused, Rule::DeliverAt).ends_with("(the message is not to be delivered earlier)"));
    }

    #[test]
    fn r26_a_hold_begins_when_it_began_but_not_before_the_delivery() {
        let at = Timestamp::from_millis;
        let open = Held { hold: Hold::BreakerOpen, until: Some(at(2_000)) };
        let began = |since, accepted| held(open, since, accepted, at(99)).at;
        assert_eq!(began(Some(at(7)), at(5)), at(7));
        assert_eq!(began(Some(at(7)), at(9)), at(9));
        assert_eq!(began(None, at(9)), at(99));
    }

    #[test]
    fn r26_every_transition_has_a_word_and_a_sentence() {
        for kind in NoticeKind::ALL.iter().filter(|kind| kind.is_transition()) {
            let event = transition(&Notice::new(*kind, About::default(), Timestamp::from_millis(1)));
            assert_ne!(event.what.kind(), "other", "{kind}");
            assert!(!event.text.is_empty());
        }
    }

    #[test]
    fn r26_an_end_says_why() {
        let ended_as = |state, reason| {
            let at = Timestamp::from_millis(1);
            let state = DeliveryState::Settled { state, reason, at, last_status: None };
            ended(&record(Progress::default(), state), &[]).unwrap().text
        };
        assert_eq!(
            ended_as(SettledState::Failed, Some(Reason::OutageExhausted)),
            "failed: the outage ladder is spent"
        );
        assert_eq!(ended_as(SettledState::Delivered, None), "delivered");
        assert!(
            ended_as(SettledState::Cancelled, Some(Reason::EndpointDisabled)).contains("was to be skipped")
        );
        assert!(
            ended_as(SettledState::Skipped, Some(Reason::EndpointDisabled)).contains("the profile skips")
        );
    }
}
