//! Replacing an application, or making it under the uid of its path.

use super::{Application, ApplicationDraft, Created, create, uid_of_path};
use crate::{
    access::{Admin, AppAccess, Caller},
    error::Error,
    field::form_of_id,
    service::Service,
    write::{Change, Written},
};

impl Service {
    /// Replaces the application of this id or uid; one that is not there is made. Under a uid, that stays
    /// or becomes its uid unless the draft has another, so that the same request repeated means the same
    /// application.
    ///
    /// # Errors
    /// [`Error::Forbidden`] for a token of the application itself.
    pub async fn put_application(
        &self,
        caller: &Caller,
        name: &str,
        draft: ApplicationDraft,
    ) -> Result<Created<Application>, Error> {
        let admin: Admin = caller.admin()?;
        let uid_of_path = form_of_id(name).is_none().then(|| name.to_owned());
        let draft = ApplicationDraft { uid: draft.uid.clone().or(uid_of_path), ..draft };
        draft.check(self)?;
        let mut tries = match self.app(caller, name) {
            Ok(who) => self.tries_about(who.app.no),
            Err(_) => self.tries_named(name),
        };
        loop {
            tries.next().await?;
            let written = match self.app(caller, name) {
                Ok(who) => self.replace_application(&who, draft.clone()).await?.map(Created::Existing),
                Err(_) => self.make_named(&admin, name, draft.clone()).await?.map(Created::New),
            };
            if let Some(written) = written {
                return Ok(written);
            }
        }
    }

    /// `None`: someone else was faster.
    async fn replace_application(
        &self,
        who: &AppAccess,
        draft: ApplicationDraft,
    ) -> Result<Option<Application>, Error> {
        let uid = draft.uid.clone();
        let doc = draft.into_doc(who.app.doc.created_at, self);
        match self.rewrite(Change::replace(&who.app.row, uid, &doc)?).await? {
            Some(row) => Application::of_row(self.engine().ids(), &row).map(Some),
            None => Ok(None),
        }
    }

    /// `None`: someone else made it meanwhile.
    async fn make_named(
        &self,
        who: &Admin,
        name: &str,
        draft: ApplicationDraft,
    ) -> Result<Option<Application>, Error> {
        uid_of_path(name)?;
        let uid = draft.uid.clone().unwrap_or_else(|| name.to_owned());
        match self.make_application(who, draft, None).await? {
            Written::Done(row) | Written::Replayed(row) => {
                Application::of_row(self.engine().ids(), &row).map(Some)
            }
            Written::UidTaken if uid != name => Err(create::uid_taken(&uid)),
            Written::UidTaken | Written::Outrun => Ok(None),
        }
    }
}
