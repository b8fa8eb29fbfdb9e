//! The application behind the operational endpoints of an environment.

use std::collections::BTreeMap;

use gonets_store::entity::{ApplicationDoc, EntityKind};

use crate::{
    access::{Admin, AppAccess},
    error::Error,
    service::Service,
    write::{Change, Written},
};

/// The uid that keeps it the only one: no name of anyone's can have parentheses.
const UID: &str = "(operational)";
/// Its events bring an envelope of their own (`type`, `timestamp`, `data`), as those of Svix do, so they
/// are delivered as they are.
const PROFILE: &str = "svix";

impl Service {
    /// Where the operational endpoint of this id or uid is worked on.
    ///
    /// # Errors
    /// [`Error::NotFound`] while the environment has none.
    pub fn operational(&self, who: &Admin, endpoint: &str) -> Result<AppAccess, Error> {
        self.operational_app(who).ok_or_else(|| Error::not_found("endpoint", endpoint))
    }

    pub(super) fn operational_app(&self, who: &Admin) -> Option<AppAccess> {
        let app = self.directory().operational_app(who.environment)?;
        Some(AppAccess { app, is_admin: true })
    }

    /// The same, made if there is none.
    pub(super) async fn ensure_operational_app(&self, who: &Admin) -> Result<AppAccess, Error> {
        if let Some(found) = self.operational_app(who) {
            return Ok(found);
        }
        let now = self.now();
        let doc = ApplicationDoc {
            name: "Operational events".to_owned(),
            created_at: now,
            updated_at: now,
            throttle_rate: None,
            metadata: BTreeMap::new(),
            profile: Some(PROFILE.to_owned()),
            contacts: Vec::new(),
            operational: true,
        };
        let uid = Some(UID.to_owned());
        let change = Change::create(EntityKind::Application, self.next_no()?, who.environment, uid, &doc)?;
        match self.write(change).await? {
            // Whoever was faster made the one that there is now.
            Written::Done(_) | Written::Replayed(_) | Written::UidTaken => {}
            Written::Outrun => return Err(Error::Contended),
        }
        self.operational_app(who).ok_or(Error::Contended)
    }
}
