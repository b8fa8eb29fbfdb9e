//! Changing parts of an application.

use std::collections::BTreeMap;

use super::{Application, ApplicationDraft};
use crate::{
    access::{AppAccess, Caller},
    error::Error,
    service::Service,
    write::Change,
};

/// What is to change: `None` keeps, `Some(None)` takes away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApplicationPatch {
    pub name: Option<String>,
    pub uid: Option<Option<String>>,
    pub throttle_rate: Option<Option<u32>>,
    pub metadata: Option<BTreeMap<String, String>>,
    pub profile: Option<Option<String>>,
    pub contacts: Option<Vec<String>>,
}

impl ApplicationPatch {
    fn over(&self, who: &AppAccess) -> ApplicationDraft {
        let (doc, patch) = (who.app.doc.clone(), self.clone());
        ApplicationDraft {
            name: patch.name.unwrap_or(doc.name),
            uid: patch.uid.unwrap_or_else(|| who.app.row.uid.clone()),
            throttle_rate: patch.throttle_rate.unwrap_or(doc.throttle_rate),
            metadata: patch.metadata.unwrap_or(doc.metadata),
            profile: patch.profile.unwrap_or(doc.profile),
            contacts: patch.contacts.unwrap_or(doc.contacts),
        }
    }
}

impl Service {
    /// # Errors
    /// [`Error::Forbidden`] for a token of the application itself.
    pub async fn patch_application(
        &self,
        caller: &Caller,
        name: &str,
        patch: ApplicationPatch,
    ) -> Result<Application, Error> {
        caller.admin()?;
        let app = self.app(caller, name)?.app.no;
        let mut tries = self.tries_about(app);
        loop {
            tries.next().await?;
            let who = self.app(caller, name)?;
            let draft = patch.over(&who);
            draft.check(self)?;
            let uid = draft.uid.clone();
            let doc = draft.into_doc(who.app.doc.created_at, self);
            if let Some(row) = self.rewrite(Change::replace(&who.app.row, uid, &doc)?).await? {
                return Application::of_row(self.engine().ids(), &row);
            }
        }
    }
}
