//! Applications in memory.

use std::sync::Arc;

use gonets_core::{ids::AppNo, profile::Profile};
use gonets_store::entity::{ApplicationDoc, EntityRow, UnreadableDocument};

use super::{Context, Endpoint, State};

#[derive(Debug, Clone)]
pub struct App {
    pub no: AppNo,
    /// Its `version` is what a message is routed with.
    pub row: EntityRow,
    pub doc: ApplicationDoc,
    pub profile: Arc<Profile>,
    /// The living ones, by number.
    pub endpoints: Vec<Arc<Endpoint>>,
}

impl Context {
    /// The named profile; one that the configuration no longer has gives way to the default.
    pub(super) fn profile(&self, name: Option<&str>) -> Arc<Profile> {
        name.and_then(|name| self.profiles.get(name)).unwrap_or(&self.default_profile).clone()
    }
}

impl State {
    pub(super) fn put_app(&mut self, context: &Context, row: &EntityRow) -> Result<(), UnreadableDocument> {
        let no = AppNo(row.no.0);
        let doc: ApplicationDoc = row.read()?;
        let before = self.apps.get(&no);
        let endpoints = before.map(|app| app.endpoints.clone()).unwrap_or_default();
        if let Some(uid) = before.and_then(|app| app.row.uid.clone()) {
            self.app_uids.remove(&(row.environment, uid));
        }
        if let (Some(uid), false) = (&row.uid, row.deleted) {
            self.app_uids.insert((row.environment, uid.clone()), no);
        }
        let profile = context.profile(doc.profile.as_deref());
        if doc.operational && !row.deleted {
            self.operational.insert(row.environment, no);
        }
        self.apps.insert(no, Arc::new(App { no, row: row.clone(), doc, profile, endpoints }));
        Ok(())
    }
}
