//! Replacing an application, or making it under the uid of its path.

use super::{Application, ApplicationDraft, Created, uid_of_path};
use crate::{
    access::{Admin, Caller},
    error::Error,
    service::Service,
    write::{Change, TRIES, outrun},
};

impl Service {
    /// Replaces the application of this id or uid; one that is not there is made with the name as
    /// its uid, unless the draft has another.
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
        draft.check(self)?;
        for _ in 0..TRIES {
            let Ok(who) = self.app(caller, name) else {
                uid_of_path(name)?;
                let uid = draft.uid.clone().or_else(|| Some(name.to_owned()));
                return self.create_application(&admin, ApplicationDraft { uid, ..draft }, false, None).await;
            };
            let uid = draft.uid.clone();
            let doc = draft.clone().into_doc(who.app.doc.created_at, self);
            if let Some(row) = self.rewrite(Change::replace(&who.app.row, uid, &doc)?).await? {
                return Ok(Created::Existing(Application::of_row(self.engine().ids(), &row)?));
            }
        }
        Err(outrun())
    }
}
