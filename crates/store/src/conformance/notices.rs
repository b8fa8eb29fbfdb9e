//! Notices: written with what they tell of, kept until they were carried on.

use gonets_core::{
    gate::Scope,
    ids::EntityNo,
    notice::{Facts, Notice},
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
