//! The configuration in memory: what the last commit left, for routing, sending and the API.
//!
//! It is filled from the store at start and then changed in one place only, by what landed
//! ([`Directory::apply`]), before the change is answered: whoever got a 201 finds it here.
//! Entries are immutable and shared; a change replaces the entry.

mod application;
mod endpoint;
mod hosts;

use std::{collections::HashMap, sync::Arc};

use gonets_core::{
    gate::{Gate, GateWrite, Scope},
    ids::{AppNo, EndpointNo, EnvironmentNo},
    profile::{Profile, Profiles},
    time::Timestamp,
};
use gonets_egress::Egress;
use gonets_store::entity::{EntityKind, EntityRow, EnvironmentDoc, EventTypeDoc, KeyDoc, UnreadableDocument};
use gonets_wire::Keyring;
use parking_lot::RwLock;

use self::hosts::Hosts;
pub use self::{
    application::App,
    endpoint::{Courier, Endpoint, SecretTrouble},
};

/// What entries are built with.
pub struct Context {
    pub profiles: Profiles,
    /// The name of the profile of applications that name none; must exist in `profiles`.
    pub default_profile: Arc<Profile>,
    pub egress: Arc<Egress>,
    pub keyring: Keyring,
}

/// All configuration, by number and by name.
pub struct Directory {
    context: Context,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    environments: HashMap<EnvironmentNo, Arc<Environment>>,
    apps: HashMap<AppNo, Arc<App>>,
    app_uids: HashMap<(EnvironmentNo, String), AppNo>,
    endpoints: HashMap<EndpointNo, Arc<Endpoint>>,
    event_types: HashMap<EnvironmentNo, std::collections::BTreeMap<String, Arc<EventType>>>,
    keys: HashMap<String, Arc<Key>>,
    gates: HashMap<Scope, Gate>,
    /// The application behind an environment's operational endpoints.
    operational: HashMap<EnvironmentNo, AppNo>,
    /// Since when sending pauses as a whole (R27).
    sending_paused: Option<Timestamp>,
    hosts: Hosts,
}

#[derive(Debug)]
pub struct Environment {
    pub no: EnvironmentNo,
    pub row: EntityRow,
    pub doc: EnvironmentDoc,
}

#[derive(Debug)]
pub struct EventType {
    pub name: String,
    pub row: EntityRow,
    pub doc: EventTypeDoc,
}

#[derive(Debug)]
pub struct Key {
    pub row: EntityRow,
    pub doc: KeyDoc,
}

impl Directory {
    pub fn new(context: Context) -> Self {
        Self { context, state: RwLock::default() }
    }

    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Takes a document as it now is in the store.
    ///
    /// # Errors
    /// When a stored document cannot be read; the entry stays as it was.
    pub fn apply(&self, row: &EntityRow) -> Result<(), UnreadableDocument> {
        let mut state = self.state.write();
        match row.kind {
            EntityKind::Environment => {
                let no = EnvironmentNo(row.no.0);
                let doc = row.read()?;
                if row.deleted {
                    state.environments.remove(&no);
                } else {
                    state.environments.insert(no, Arc::new(Environment { no, row: row.clone(), doc }));
                }
            }
            EntityKind::Application => state.put_app(&self.context, row)?,
            EntityKind::Endpoint => state.put_endpoint(&self.context, row)?,
            EntityKind::EventType => {
                let name = row.uid.clone().unwrap_or_default();
                let types = state.event_types.entry(row.environment).or_default();
                if row.deleted {
                    types.retain(|_, kept| kept.row.no != row.no);
                } else {
                    types.insert(
                        name.clone(),
                        Arc::new(EventType { name, row: row.clone(), doc: row.read()? }),
                    );
                }
            }
            EntityKind::Key => {
                let doc: KeyDoc = row.read()?;
                if row.deleted {
                    state.keys.remove(&doc.token_hash);
                } else {
                    state.keys.insert(doc.token_hash.clone(), Arc::new(Key { row: row.clone(), doc }));
                }
            }
        }
        Ok(())
    }

    /// An operation bumped an application's version without changing its document.
    pub fn touch(&self, app: AppNo) {
        let mut state = self.state.write();
        if let Some(entry) = state.apps.get(&app) {
            let mut changed = App::clone(entry);
            changed.row.version += 1;
            state.apps.insert(app, Arc::new(changed));
        }
    }

    /// Takes the gate of a scope as the store has it.
    pub fn put_gate(&self, scope: Scope, gate: Gate) {
        self.state.write().put_gate(scope, gate);
    }

    /// Takes a change of a gate as it now is in the store.
    pub fn apply_gate(&self, write: GateWrite) {
        let mut state = self.state.write();
        let mut gate = state.gates.get(&write.scope).copied().unwrap_or_default();
        gate.apply(write.change);
        state.put_gate(write.scope, gate);
    }

    pub fn gate(&self, scope: Scope) -> Gate {
        self.state.read().gates.get(&scope).copied().unwrap_or_default()
    }

    /// All gates that hold or remember something.
    pub fn gates(&self) -> Vec<(Scope, Gate)> {
        let mut all: Vec<_> = self.state.read().gates.iter().map(|(scope, gate)| (*scope, *gate)).collect();
        all.sort_by_key(|(scope, _)| *scope);
        all
    }

    /// Which freeze stops an application's sending, and since when (R28): the widest one.
    pub fn frozen(&self, environment: EnvironmentNo, app: AppNo) -> Option<(Scope, Timestamp)> {
        let state = self.state.read();
        [Scope::Everything, Scope::Environment(environment), Scope::Application(app)]
            .into_iter()
            .find_map(|scope| state.gates.get(&scope)?.frozen.map(|since| (scope, since)))
    }

    /// Since when sending pauses as a whole, because we suspect ourselves (R27).
    pub fn sending_paused(&self) -> Option<Timestamp> {
        self.state.read().sending_paused
    }

    pub(crate) fn set_sending_paused(&self, since: Option<Timestamp>) {
        if self.sending_paused() != since {
            self.state.write().sending_paused = since;
        }
    }

    /// The application behind an environment's operational endpoints, if it has any.
    pub fn operational_app(&self, environment: EnvironmentNo) -> Option<Arc<App>> {
        let state = self.state.read();
        state.apps.get(state.operational.get(&environment)?).cloned()
    }

    pub fn environment(&self, no: EnvironmentNo) -> Option<Arc<Environment>> {
        self.state.read().environments.get(&no).cloned()
    }

    /// All environments, by number.
    pub fn environments(&self) -> Vec<Arc<Environment>> {
        let mut all: Vec<_> = self.state.read().environments.values().cloned().collect();
        all.sort_by_key(|environment| environment.no);
        all
    }

    /// An application by number, deleted ones too.
    pub fn app(&self, no: AppNo) -> Option<Arc<App>> {
        self.state.read().apps.get(&no).cloned()
    }

    /// A living application by uid.
    pub fn app_by_uid(&self, environment: EnvironmentNo, uid: &str) -> Option<Arc<App>> {
        let state = self.state.read();
        let no = state.app_uids.get(&(environment, uid.to_owned()))?;
        state.apps.get(no).cloned()
    }

    /// The living applications of an environment, by number; not the operational one.
    pub fn apps(&self, environment: EnvironmentNo) -> Vec<Arc<App>> {
        let state = self.state.read();
        let mut all: Vec<_> = state
            .apps
            .values()
            .filter(|app| app.row.environment == environment && !app.row.deleted && !app.doc.operational)
            .cloned()
            .collect();
        all.sort_by_key(|app| app.no);
        all
    }

    /// An endpoint by number, deleted ones too.
    pub fn endpoint(&self, no: EndpointNo) -> Option<Arc<Endpoint>> {
        self.state.read().endpoints.get(&no).cloned()
    }

    /// All endpoints, deleted ones too, in no order.
    pub fn endpoints(&self) -> Vec<Arc<Endpoint>> {
        self.state.read().endpoints.values().cloned().collect()
    }

    /// The endpoints of an application, by number: the living, or all that ever were.
    pub fn endpoints_of(&self, app: AppNo, deleted_too: bool) -> Vec<Arc<Endpoint>> {
        let state = self.state.read();
        if deleted_too {
            let mut all: Vec<_> = state.endpoints.values().filter(|e| e.app == app).cloned().collect();
            all.sort_by_key(|endpoint| endpoint.no);
            return all;
        }
        state.apps.get(&app).map(|app| app.endpoints.clone()).unwrap_or_default()
    }

    pub fn event_type(&self, environment: EnvironmentNo, name: &str) -> Option<Arc<EventType>> {
        self.state.read().event_types.get(&environment)?.get(name).cloned()
    }

    /// The event types of an environment, by name.
    pub fn event_types(&self, environment: EnvironmentNo) -> Vec<Arc<EventType>> {
        self.state
            .read()
            .event_types
            .get(&environment)
            .map(|all| all.values().cloned().collect())
            .unwrap_or_default()
    }

    /// A key by the hex SHA-256 of its token.
    pub fn key_by_hash(&self, token_hash: &str) -> Option<Arc<Key>> {
        self.state.read().keys.get(token_hash).cloned()
    }

    /// The keys of an environment, by number.
    pub fn keys(&self, environment: EnvironmentNo) -> Vec<Arc<Key>> {
        let mut all: Vec<_> = self
            .state
            .read()
            .keys
            .values()
            .filter(|key| key.row.environment == environment)
            .cloned()
            .collect();
        all.sort_by_key(|key| key.row.no);
        all
    }
}
