//! Making an application.

use gonets_store::entity::EntityKind;

use super::{Application, ApplicationDraft};
use crate::{
    access::Admin,
    error::Error,
    idempotency::RequestKey,
    service::Service,
    write::{Change, Written},
};

/// What a request to make something came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Created<T> {
    /// It was made, by this request or by the same one before.
    New(T),
    /// It was there already, and the request takes that.
    Existing(T),
}

impl Service {
    /// Makes an application. With `get_if_exists`, one with the same uid is answered instead.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the uid is taken.
    pub async fn create_application(
        &self,
        who: &Admin,
        draft: ApplicationDraft,
        get_if_exists: bool,
        key: Option<RequestKey>,
    ) -> Result<Created<Application>, Error> {
        draft.check(self)?;
        let uid = draft.uid.clone();
        let existing = || uid.as_deref().and_then(|uid| self.directory().app_by_uid(who.environment, uid));
        if get_if_exists && let Some(app) = existing() {
            return Ok(Created::Existing(Application::of_row(self.engine().ids(), &app.row)?));
        }
        let mut tries = self.tries_named(uid.as_deref().unwrap_or_default());
        loop {
            match self.make_application(who, draft.clone(), key).await? {
                Written::Done(row) | Written::Replayed(row) => {
                    return Ok(Created::New(Application::of_row(self.engine().ids(), &row)?));
                }
                Written::UidTaken if get_if_exists => {
                    if let Some(app) = existing() {
                        return Ok(Created::Existing(Application::of_row(self.engine().ids(), &app.row)?));
                    }
                }
                Written::UidTaken => return Err(uid_taken(uid.as_deref().unwrap_or_default())),
                Written::Outrun => {}
            }
            // Whoever had the uid is gone again.
            tries.next().await?;
        }
    }

    /// Writes a new application; the draft was checked.
    pub(super) async fn make_application(
        &self,
        who: &Admin,
        draft: ApplicationDraft,
        key: Option<RequestKey>,
    ) -> Result<Written, Error> {
        let uid = draft.uid.clone();
        let doc = draft.into_doc(self.now(), self);
        let change = Change::create(EntityKind::Application, self.next_no()?, who.environment, uid, &doc)?;
        self.write(change.with_key(key)).await
    }
}

pub(super) fn uid_taken(uid: &str) -> Error {
    Error::conflict(format!(
        "an application with uid \"{uid}\" exists already. Use another uid, or get_if_exists=true."
    ))
}
