//! The order of a lane: critical first, what is due, strict order, the oldest.

use std::time::Duration;

use gonets_core::{
    ids::{AppNo, EndpointNo, MessageId},
    names::kind_of,
    progress::Progress,
    rule::Rule,
    time::Timestamp,
};

use super::{
    Open, Trial,
    operations::{DELIVERED, accept, made_message, outcome},
};
use crate::{
    query::{DueRows, FreshRow, LaneBacklog, Oldest, OrderedRow},
    tx::{Accept, Outcome, Source, Then},
};

const LANE: EndpointNo = EndpointNo(7);

/// A message for the lane, critical or not.
fn arrives(trial: &mut Trial<'_>, app: AppNo, critical: bool) -> MessageId {
    made_message(&trial.one(Accept { critical, ..accept(app, &[LANE.0]) }.tx()))
}

/// A message of the lane that is for later.
fn arrives_for(trial: &mut Trial<'_>, app: AppNo, critical: bool, seconds: u64) -> MessageId {
    let deliver_at = Some(trial.now + Duration::from_secs(seconds));
    made_message(&trial.one(Accept { critical, deliver_at, ..accept(app, &[LANE.0]) }.tx()))
}

/// An attempt from the lane's fresh row fails.
fn fails(trial: &mut Trial<'_>, message: MessageId, due: Timestamp) {
    let then = Then::Waiting { due, rule: Rule::OutageLadder };
    assert!(trial.one(outcome(message, LANE.0, Source::Fresh, then).tx()).is_ok());
}

fn messages(due: &DueRows) -> Vec<MessageId> {
    due.rows.iter().map(|row| row.message).collect()
}

pub fn r22_a_lane_gives_critical_messages_first(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let ids: Vec<_> = [false, true, false, true].map(|critical| arrives(&mut trial, app, critical)).to_vec();
    assert_eq!(trial.fresh(7), [ids[1], ids[3], ids[0], ids[2]]);
    let head = trial.ask().fresh(LANE, 3).expect("an answer");
    let row = |message, critical| FreshRow { message, critical, kind: kind_of("order.paid") };
    assert_eq!(head, [row(ids[1], true), row(ids[3], true), row(ids[0], false)]);
}

pub fn r22_what_is_due_comes_critical_first(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let at = |seconds| Timestamp::from_millis(1_800_000_000_000) + Duration::from_secs(seconds);
    let plain = arrives_for(&mut trial, app, false, 10);
    let late = arrives_for(&mut trial, app, true, 20);
    let early = arrives_for(&mut trial, app, true, 15);
    assert_eq!(messages(&trial.due(7, at(20), 10)), [early, late, plain]);
    assert_eq!(trial.due(7, at(20), 10).next_due, None);
    assert_eq!(messages(&trial.due(7, at(15), 10)), [early, plain]);
    assert_eq!(trial.due(7, at(15), 10).next_due, Some(at(20)));
    assert_eq!(trial.due(7, at(20), 1).next_due, Some(at(10)), "of those left out, critical or not");
    let lane = LaneBacklog { endpoint: LANE, fresh: false, by_hand: false, next_due: Some(at(10)) };
    assert_eq!(trial.ask().backlog().expect("an answer"), [lane]);
}

pub fn a_delivery_stays_critical_and_of_its_kind_until_it_ends(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    for critical in [true, false] {
        let id = arrives(&mut trial, app, critical);
        let due = trial.now;
        fails(&mut trial, id, due);
        let then = Then::Waiting { due, rule: Rule::RetryAfter };
        let progress = Progress { outage: 2, attempts: 2, ..Progress::default() };
        let again = Outcome { progress, ..outcome(id, 7, Source::Waiting, then) };
        assert!(trial.one(again.tx()).is_ok());
        let rows = trial.due(7, due, 10).rows;
        assert_eq!(rows.len(), 1, "it is there once");
        assert_eq!((rows[0].critical, rows[0].kind), (critical, kind_of("order.paid")));
        assert_eq!((rows[0].rule, rows[0].progress), (Rule::RetryAfter, progress));
        assert!(trial.one(outcome(id, 7, Source::Waiting, DELIVERED).tx()).is_ok());
        assert_eq!(trial.ask().backlog().expect("an answer"), []);
    }
}

pub fn r24_a_lane_in_strict_order_goes_by_age(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let line = |trial: &Trial<'_>, now, limit| {
        let found = trial.ask().in_order(LANE, now, limit).expect("an answer");
        let message = |row: &OrderedRow| match row {
            OrderedRow::Fresh(row) => (row.message, "fresh"),
            OrderedRow::Waiting(row) => (row.message, "waiting"),
        };
        (found.rows.iter().map(message).collect::<Vec<_>>(), found.next_due)
    };
    assert_eq!(line(&trial, trial.now, 10), (vec![], None));
    let start = trial.now;
    let scheduled = arrives_for(&mut trial, app, true, 60);
    let tried = arrives(&mut trial, app, true);
    let (plain, critical) = (arrives(&mut trial, app, false), arrives(&mut trial, app, true));
    let hopeless = arrives_for(&mut trial, app, false, 90);
    fails(&mut trial, tried, start + Duration::from_secs(1_000));
    let in_line = vec![(tried, "waiting"), (plain, "fresh"), (critical, "fresh")];
    let (first, second) = (start + Duration::from_secs(60), start + Duration::from_secs(90));
    assert_eq!(line(&trial, start, 10), (in_line.clone(), Some(first)), "a retry holds its place");
    assert_eq!(line(&trial, start, 1), (in_line[..1].to_vec(), Some(first)));
    let all: Vec<_> = std::iter::once((scheduled, "waiting")).chain(in_line).collect();
    assert_eq!(line(&trial, first, 10), (all.clone(), Some(second)));
    let (rows, next_due) = line(&trial, second, 10);
    assert_eq!((rows.len(), rows[4], next_due), (5, (hopeless, "waiting"), None));
}

pub fn r07_the_oldest_of_a_lane_is_looked_for_in_both_tables(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let oldest = |trial: &Trial<'_>| trial.ask().oldest(LANE).expect("an answer");
    assert_eq!(oldest(&trial), Oldest::default());
    let (first, second) = (arrives(&mut trial, app, false), arrives(&mut trial, app, false));
    assert_eq!(oldest(&trial), Oldest { any: Some(first), critical: None });
    let (third, fourth) = (arrives(&mut trial, app, true), arrives(&mut trial, app, true));
    let due = trial.now;
    fails(&mut trial, first, due);
    fails(&mut trial, third, due);
    assert_eq!(oldest(&trial), Oldest { any: Some(first), critical: Some(third) });
    assert!(trial.one(outcome(first, 7, Source::Waiting, DELIVERED).tx()).is_ok());
    assert!(trial.one(outcome(third, 7, Source::Waiting, DELIVERED).tx()).is_ok());
    assert_eq!(oldest(&trial), Oldest { any: Some(second), critical: Some(fourth) });
    assert!(trial.one(outcome(second, 7, Source::Fresh, DELIVERED).tx()).is_ok());
    assert_eq!(oldest(&trial), Oldest { any: Some(fourth), critical: Some(fourth) });
}
