//! How configuration is written: versioned documents, committed under the guard of their version.

use gonets_core::{
    gate::GateWrite,
    ids::{AppNo, EntityNo, EnvironmentNo},
    notice::Notice,
};
use gonets_engine::directory::App;
use gonets_store::{
    entity::{EntityKind, EntityRow},
    tx::{EntityWrite, Made, Rejected, Tx},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{error::Error, idempotency::RequestKey, service::Service};

/// A document to be written.
pub(crate) struct Change {
    row: EntityRow,
    expected: Option<u32>,
    touches: Option<AppNo>,
    gates: Vec<GateWrite>,
    notices: Vec<Notice>,
    key: Option<RequestKey>,
}

/// What became of a change.
pub(crate) enum Written {
    /// It is durable, and the directory has it.
    Done(EntityRow),
    /// The same request was done before; this is what it made.
    Replayed(EntityRow),
    /// Someone else was faster: read again.
    Outrun,
    /// Another one has the uid.
    UidTaken,
}

impl Change {
    /// A new document under a number from [`Service::next_no`].
    pub(crate) fn create<D: Serialize>(
        kind: EntityKind,
        no: EntityNo,
        environment: EnvironmentNo,
        uid: Option<String>,
        doc: &D,
    ) -> Result<Self, Error> {
        let row = EntityRow {
            kind,
            no,
            environment,
            owner: EntityNo(0),
            uid,
            version: 1,
            deleted: false,
            doc: bytes_of(doc)?,
        };
        Ok(Self::of_row(row, None))
    }

    /// A new version of a document.
    pub(crate) fn replace<D: Serialize>(
        row: &EntityRow,
        uid: Option<String>,
        doc: &D,
    ) -> Result<Self, Error> {
        let changed = EntityRow { uid, version: row.version + 1, doc: bytes_of(doc)?, ..row.clone() };
        Ok(Self::of_row(changed, Some(row.version)))
    }

    /// The end of a document; it stays readable.
    pub(crate) fn delete(row: &EntityRow) -> Self {
        let changed = EntityRow { version: row.version + 1, deleted: true, ..row.clone() };
        Self::of_row(changed, Some(row.version))
    }

    fn of_row(row: EntityRow, expected: Option<u32>) -> Self {
        Self { row, expected, touches: None, gates: Vec::new(), notices: Vec::new(), key: None }
    }

    /// It belongs to the application and changes how its messages are routed.
    pub(crate) fn of(mut self, app: &App) -> Self {
        self.row.owner = EntityNo(app.no.0);
        self.touches = Some(app.no);
        self
    }

    pub(crate) fn with_gates(mut self, gates: Vec<GateWrite>) -> Self {
        self.gates = gates;
        self
    }

    /// What is to be told of it, in the same transaction.
    pub(crate) fn telling(mut self, notices: Vec<Notice>) -> Self {
        self.notices = notices;
        self
    }

    pub(crate) fn with_key(mut self, key: Option<RequestKey>) -> Self {
        self.key = key;
        self
    }
}

/// What is recorded with an idempotency key: the document as the first request left it, so that
/// the same answer can be given again.
#[derive(Serialize, Deserialize)]
struct Recorded {
    no: EntityNo,
    uid: Option<String>,
    doc: Box<serde_json::value::RawValue>,
}

impl Service {
    /// A number for a new document.
    pub(crate) fn next_no(&self) -> Result<EntityNo, Error> {
        Ok(self.engine().queries().next_no()?)
    }

    pub(crate) async fn write(&self, change: Change) -> Result<Written, Error> {
        let row = change.row;
        let idempotency = match change.key {
            Some(key) => Some((key.0, recorded(&row)?)),
            None => None,
        };
        let write = EntityWrite {
            row: row.clone(),
            expected: change.expected,
            touches: change.touches,
            gates: change.gates,
            notices: change.notices,
            idempotency,
        };
        match self.engine().commit(Tx::Entity(Box::new(write))).await? {
            Ok(Made::ReplayedAnswer(answer)) => Ok(Written::Replayed(replayed(&row, &answer)?)),
            Ok(Made::Entity { version, .. }) => Ok(Written::Done(EntityRow { version, ..row })),
            Ok(other) => Err(Error::internal(format!("the store answered a document with {other:?}"))),
            Err(Rejected::Conflict | Rejected::Stale) => Ok(Written::Outrun),
            Err(Rejected::UidTaken(_)) => Ok(Written::UidTaken),
            Err(rejected) => Err(rejected.into()),
        }
    }

    /// The change of a document that exists: only its version can be in the way.
    pub(crate) async fn rewrite(&self, change: Change) -> Result<Option<EntityRow>, Error> {
        match self.write(change).await? {
            Written::Done(row) | Written::Replayed(row) => Ok(Some(row)),
            Written::Outrun => Ok(None),
            Written::UidTaken => Err(Rejected::UidTaken(EntityNo(0)).into()),
        }
    }
}

pub(crate) fn read<D: DeserializeOwned>(row: &EntityRow) -> Result<D, Error> {
    row.read().map_err(Error::internal)
}

fn bytes_of<D: Serialize>(doc: &D) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(doc).map_err(Error::internal)
}

fn recorded(row: &EntityRow) -> Result<Vec<u8>, Error> {
    let doc = serde_json::from_slice(&row.doc).map_err(Error::internal)?;
    bytes_of(&Recorded { no: row.no, uid: row.uid.clone(), doc })
}

fn replayed(like: &EntityRow, answer: &[u8]) -> Result<EntityRow, Error> {
    let recorded: Recorded = serde_json::from_slice(answer).map_err(Error::internal)?;
    Ok(EntityRow {
        no: recorded.no,
        uid: recorded.uid,
        doc: recorded.doc.get().as_bytes().to_vec(),
        ..like.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replayed_request_gets_what_the_first_one_made() {
        let first = Change::create(
            EntityKind::Application,
            EntityNo(7),
            EnvironmentNo(1),
            Some("shop".into()),
            &serde_json::json!({"name": "Shop"}),
        )
        .unwrap();
        let second = Change::create(
            EntityKind::Application,
            EntityNo(8),
            EnvironmentNo(1),
            None,
            &serde_json::json!({}),
        )
        .unwrap();
        let row = replayed(&second.row, &recorded(&first.row).unwrap()).unwrap();
        assert_eq!(row, first.row);
    }
}
