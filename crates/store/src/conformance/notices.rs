//! Notices: written with what they tell of, kept until they were carried on.

use std::time::Duration;

use gonets_core::{
    gate::Scope,
    ids::{AppNo, EntityNo},
    notice::{About, Facts, Notice, NoticeKind, TRANSITIONS_KEPT},
};

use super::{
    Open, Trial,
    operations::{application, freeze, notice, write},
};
use crate::tx::{EntityWrite, Keep, Made, Rejected, Told, Tx};

fn numbered(count: u64) -> Notice {
    notice().with(Facts { count: Some(count), reason: Some(String::from("owner")), ..Facts::default() })
}

fn keep(notices: Vec<Notice>) -> Tx {
    Tx::Keep(Box::new(Keep { gates: vec![], notices }))
}

pub fn notices_come_in_order_until_they_are_told(open: Open<'_>) {
    let mut trial = Trial::start(open);
    assert_eq!(trial.one(keep(vec![numbered(1), numbered(2)])), Ok(Made::Kept));
    assert_eq!(trial.one(keep(vec![numbered(3)])), Ok(Made::Kept));
    let notices = |trial: &Trial<'_>, limit| trial.ask().notices(0, limit).expect("an answer");
    assert_eq!(notices(&trial, 2), [(1, numbered(1)), (2, numbered(2))]);
    let further = trial.ask().notices(1, 1).expect("an answer");
    assert_eq!(further, [(2, numbered(2))], "on from a number");
    assert_eq!(trial.one(Tx::Told(Told { through: 2 })), Ok(Made::Step(2)));
    assert_eq!(notices(&trial, 9), [(3, numbered(3))]);
    assert_eq!(trial.one(Tx::Told(Told { through: u64::MAX })), Ok(Made::Step(1)));
    trial.restart();
    assert_eq!(trial.one(keep(vec![numbered(4)])), Ok(Made::Kept));
    assert_eq!(notices(&trial, 9), [(4, numbered(4))], "no number is given twice");
    assert_eq!(trial.one(Tx::Told(Told { through: 3 })), Ok(Made::Step(0)));
}

pub fn gates_and_notices_are_written_with_their_document_or_not_at_all(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let change = |expected| {
        let gates = vec![freeze(Scope::Application(app))];
        let row = application(EntityNo(app.0));
        Tx::Entity(Box::new(EntityWrite { gates, notices: vec![notice()], ..write(row, Some(expected)) }))
    };
    assert_eq!(trial.one(change(7)), Err(Rejected::Conflict));
    assert_eq!(trial.ask().notices(0, 9).expect("an answer"), []);
    assert_eq!(trial.ask().gates().expect("an answer"), []);
    assert!(trial.one(change(1)).is_ok());
    assert_eq!(trial.ask().notices(0, 9).expect("an answer"), [(1, notice())]);
    assert_eq!(trial.ask().gates().expect("an answer").len(), 1);
}

pub fn r17_transitions_are_kept_by_application_when_their_notices_are_told(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let start = trial.now;
    let at = |seconds| start + Duration::from_secs(seconds);
    let of = |app: Option<u32>, kind, seconds| {
        Notice::new(kind, About { app: app.map(AppNo), ..About::default() }, at(seconds))
    };
    let opened = of(Some(3), NoticeKind::BreakerOpened, 1);
    let paused = of(None, NoticeKind::SendingPaused, 2);
    let closed = of(Some(3), NoticeKind::BreakerClosed, 3);
    let others = of(Some(4), NoticeKind::BreakerOpened, 2);
    let probed = of(Some(3), NoticeKind::BreakerProbed, 2);
    let all = vec![closed.clone(), others, probed, paused.clone(), opened.clone()];
    assert_eq!(trial.one(keep(all)), Ok(Made::Kept));
    assert_eq!(trial.one(Tx::Told(Told { through: u64::MAX })), Ok(Made::Step(5)));
    trial.restart();
    let ask = |trial: &Trial<'_>, from, to, limit| {
        trial.ask().transitions(AppNo(3), from, to, limit).expect("an answer")
    };
    assert_eq!(ask(&trial, at(0), at(9), 9), [opened, paused.clone(), closed.clone()]);
    assert_eq!(ask(&trial, at(2), at(3), 9), [paused.clone(), closed.clone()], "both ends are in");
    assert_eq!(ask(&trial, at(9), at(0), 9), []);
    assert_eq!(ask(&trial, at(0), at(9), 2), [paused.clone(), closed.clone()], "the newest");
    let late = Notice { at: at(3) + TRANSITIONS_KEPT, ..closed.clone() };
    assert_eq!(trial.one(keep(vec![late.clone()])), Ok(Made::Kept));
    let ever = at(9) + TRANSITIONS_KEPT;
    assert_eq!(ask(&trial, at(0), ever, 9), [paused, closed, late], "its own old ones go");
}
