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
        if let Some(existing) =
            draft.uid.as_deref().and_then(|uid| self.directory().app_by_uid(who.environment, uid))
            && get_if_exists
        {
            return Ok(Created::Existing(Application::of_row(self.engine().ids(), &existing.row)?));
        }
        let uid = draft.uid.clone();
        let doc = draft.into_doc(self.now(), self);
        let change =
            Change::create(EntityKind::Application, self.next_no()?, who.environment, uid.clone(), &doc)?;
        match self.write(change.with_key(key)).await? {
            Written::Done(row) | Written::Replayed(row) => {
                Ok(Created::New(Application::of_row(self.engine().ids(), &row)?))
            }
            Written::UidTaken(holder) if get_if_exists => self
                .directory()
                .app(gonets_core::ids::AppNo(holder.0))
                .map(|app| Application::of_row(self.engine().ids(), &app.row).map(Created::Existing))
                .unwrap_or_else(|| Err(crate::write::outrun())),
            Written::UidTaken(_) | Written::Outrun => Err(Error::conflict(format!(
                "an application with uid \"{}\" exists already. Use another uid, or get_if_exists=true.",
                uid.unwrap_or_default()
            ))),
        }
    }
}
