//! What one mail tells.

use gonets_core::{
    notice::{Facts, NoticeKind},
    time::Timestamp,
};

/// One notice, as people read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub kind: NoticeKind,
    pub at: Timestamp,
    /// The endpoint's URL, where it is about one.
    pub endpoint: Option<String>,
    pub facts: Facts,
}

/// One mail: what happened to an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// Stays the same however often it is sent.
    pub id: String,
    pub to: Vec<String>,
    pub application: String,
    /// Oldest first.
    pub items: Vec<Item>,
    /// How many more there were than `items` holds.
    pub more: u64,
}

/// Items of a kind at one endpoint, told in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group<'a> {
    pub(crate) last: &'a Item,
    /// How often it happened.
    pub(crate) times: u64,
}

impl Digest {
    /// In the order in which they began.
    pub(crate) fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for item in &self.items {
            let like =
                |group: &&mut Group<'_>| group.last.kind == item.kind && group.last.endpoint == item.endpoint;
            match groups.iter_mut().find(like) {
                Some(group) => {
                    group.last = item;
                    group.times += 1;
                }
                None => groups.push(Group { last: item, times: 1 }),
            }
        }
        groups
    }
}
