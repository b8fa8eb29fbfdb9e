//! Endpoints in memory, and what is needed to send to one.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use gonets_core::{
    gate::{Disabled, Gate, Scope},
    ids::{AppNo, EndpointNo},
    profile::{EnvelopeKind, Profile, SignatureScheme},
    routing::Filter,
    time::Timestamp,
};
use gonets_dispatch::config::HostNo;
use gonets_egress::Target;
use gonets_store::entity::{EndpointDoc, EntityRow, HeaderValueDoc, UnreadableDocument};
use gonets_wire::{Envelope, Keyring, Place, Purpose, Scheme, Secret, Signer};
use parking_lot::RwLock;

use super::{App, Context, State};

#[derive(Debug, Clone)]
pub struct Endpoint {
    pub no: EndpointNo,
    pub app: AppNo,
    pub row: EntityRow,
    pub doc: EndpointDoc,
    pub filter: Filter,
    /// `None`: the guard does not take the stored URL any more (its rules were tightened).
    pub target: Option<Target>,
    pub host: HostNo,
    /// Disabled by Gonets itself, since when and why.
    pub disabled: Option<Disabled>,
    courier: Arc<RwLock<Option<Built>>>,
}

/// What the journal shows of a sensitive value.
const MASK: &str = "(sensitive)";

/// What every request to an endpoint is made with; built at the first one, since prepared keys
/// take kilobytes and most endpoints of a large installation rest.
#[derive(Debug)]
pub struct Courier {
    pub signer: Signer,
    /// Custom headers, each `name: value\r\n`.
    pub header_lines: Vec<u8>,
    /// The same for the journal: sensitive values masked.
    pub shown_lines: String,
    pub envelope: Envelope,
    /// When the signer must be built anew because an old key ends.
    pub until: Option<Timestamp>,
}

/// A courier with the profile that it was built by.
type Built = (Arc<Profile>, Arc<Courier>);

/// Why no request can be signed.
#[derive(Debug, thiserror::Error)]
#[error("the endpoint's secret or headers cannot be opened with the configured master key: {0}")]
pub struct SecretTrouble(pub String);

impl Endpoint {
    /// Disabled by its owner or by Gonets.
    pub fn is_disabled(&self) -> bool {
        self.doc.disabled || self.disabled.is_some()
    }

    /// What to send with, as of `now`.
    ///
    /// # Errors
    /// When the stored secrets cannot be opened.
    pub fn courier(
        &self,
        keyring: &Keyring,
        profile: &Arc<Profile>,
        now: Timestamp,
    ) -> Result<Arc<Courier>, SecretTrouble> {
        if let Some((of, courier)) = self.courier.read().as_ref()
            && Arc::ptr_eq(of, profile)
            && courier.until.is_none_or(|until| now < until)
        {
            return Ok(Arc::clone(courier));
        }
        let courier = Arc::new(self.build_courier(keyring, profile, now)?);
        *self.courier.write() = Some((Arc::clone(profile), Arc::clone(&courier)));
        Ok(courier)
    }

    /// The secrets that sign as of `now`, current first, as shown.
    ///
    /// # Errors
    /// When they cannot be opened.
    pub fn secrets(&self, keyring: &Keyring, now: Timestamp) -> Result<Vec<Secret>, SecretTrouble> {
        let place = self.place(Purpose::EndpointSecret);
        self.doc
            .secrets
            .iter()
            .filter(|secret| secret.expires_at.is_none_or(|at| now < at))
            .map(|secret| {
                let text = open(keyring, place, &secret.sealed)?;
                Secret::parse(&text).map_err(|cause| SecretTrouble(cause.to_string()))
            })
            .collect()
    }

    /// Where its sealed values belong.
    pub fn place(&self, purpose: Purpose) -> Place {
        Place { purpose, environment: self.row.environment.0, owner: self.no.0 }
    }

    fn build_courier(
        &self,
        keyring: &Keyring,
        profile: &Profile,
        now: Timestamp,
    ) -> Result<Courier, SecretTrouble> {
        let schemes: Vec<Scheme> = match &self.doc.signature_schemes {
            Some(names) => names.iter().filter_map(|name| Scheme::from_name(name)).collect(),
            None => profile.signatures.iter().map(|scheme| scheme_of(*scheme)).collect(),
        };
        let signer = Signer::new(&schemes, self.secrets(keyring, now)?)
            .map_err(|cause| SecretTrouble(cause.to_string()))?;
        let mut header_lines = Vec::new();
        let mut shown_lines = String::new();
        for header in &self.doc.headers {
            let (value, shown) = match &header.value {
                HeaderValueDoc::Plain(value) => (value.clone(), value.as_str()),
                HeaderValueDoc::Sealed(sealed) => {
                    (open(keyring, self.place(Purpose::EndpointHeaders), sealed)?, MASK)
                }
            };
            header_lines.extend_from_slice(format!("{}: {value}\r\n", header.name).as_bytes());
            shown_lines.push_str(&format!("{}: {shown}\r\n", header.name));
        }
        let envelope = match profile.envelope {
            EnvelopeKind::Raw => Envelope::Raw,
            EnvelopeKind::Event => Envelope::Event,
        };
        let until =
            self.doc.secrets.iter().filter_map(|secret| secret.expires_at).filter(|at| *at > now).min();
        Ok(Courier { signer, header_lines, shown_lines, envelope, until })
    }
}

fn open(keyring: &Keyring, place: Place, sealed: &str) -> Result<String, SecretTrouble> {
    let bytes = STANDARD.decode(sealed).map_err(|cause| SecretTrouble(cause.to_string()))?;
    let opened = keyring.open(place, &bytes).map_err(|cause| SecretTrouble(cause.to_string()))?;
    String::from_utf8(opened.to_vec()).map_err(|cause| SecretTrouble(cause.to_string()))
}

fn scheme_of(scheme: SignatureScheme) -> Scheme {
    match scheme {
        SignatureScheme::Standard => Scheme::Standard,
        SignatureScheme::XWebhook => Scheme::XWebhook,
        SignatureScheme::TV1 => Scheme::TV1,
        SignatureScheme::Svix => Scheme::Svix,
    }
}

impl State {
    pub(super) fn put_endpoint(
        &mut self,
        context: &Context,
        row: &EntityRow,
    ) -> Result<(), UnreadableDocument> {
        let no = EndpointNo(row.no.0);
        let app = AppNo(row.owner.0);
        let doc: EndpointDoc = row.read()?;
        let target = context.egress.guard().parse_url(&doc.url).ok();
        let host = self.hosts.number(target.as_ref().map_or(doc.url.as_str(), |target| target.host_port()));
        let endpoint = Endpoint {
            no,
            app,
            row: row.clone(),
            filter: Filter { event_types: doc.event_types.clone(), channels: doc.channels.clone() },
            doc,
            target,
            host,
            disabled: self.gates.get(&Scope::Endpoint(no)).and_then(|gate| gate.disabled),
            courier: Arc::default(),
        };
        self.replace_endpoint(endpoint);
        Ok(())
    }

    pub(super) fn put_gate(&mut self, scope: Scope, gate: Gate) {
        if gate.is_default() {
            self.gates.remove(&scope);
        } else {
            self.gates.insert(scope, gate);
        }
        if let Scope::Endpoint(endpoint) = scope {
            self.show_disabled(endpoint, gate.disabled);
        }
    }

    fn show_disabled(&mut self, no: EndpointNo, disabled: Option<Disabled>) {
        let Some(endpoint) = self.endpoints.get(&no) else { return };
        if endpoint.disabled != disabled {
            let changed = Endpoint { disabled, ..Endpoint::clone(endpoint) };
            self.replace_endpoint(changed);
        }
    }

    fn replace_endpoint(&mut self, endpoint: Endpoint) {
        let (no, app, deleted) = (endpoint.no, endpoint.app, endpoint.row.deleted);
        let endpoint = Arc::new(endpoint);
        self.endpoints.insert(no, Arc::clone(&endpoint));
        if let Some(owner) = self.apps.get(&app) {
            let mut changed = App::clone(owner);
            let at = changed.endpoints.binary_search_by_key(&no, |e| e.no);
            match (at, deleted) {
                (Ok(at), true) => drop(changed.endpoints.remove(at)),
                (Ok(at), false) => changed.endpoints[at] = endpoint,
                (Err(at), false) => changed.endpoints.insert(at, endpoint),
                (Err(_), true) => {}
            }
            self.apps.insert(app, Arc::new(changed));
        }
    }
}
