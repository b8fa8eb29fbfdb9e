//! Applications: one consumer of events each.

mod create;
mod delete;
mod list;
mod patch;
mod put;

use std::collections::BTreeMap;

use gonets_core::{
    ids::{AppNo, IdCodec},
    limits,
    names::NameKind,
};
use gonets_store::entity::{ApplicationDoc, EntityRow};

pub use self::{create::Created, list::AppFilter, patch::ApplicationPatch};
use crate::{
    access::AppAccess,
    error::Error,
    field::{Fields, form_of_id},
    service::Service,
    write::{self},
};

/// An application as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Application {
    pub id: String,
    pub uid: Option<String>,
    pub doc: ApplicationDoc,
}

/// What an application is made or replaced with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApplicationDraft {
    pub name: String,
    pub uid: Option<String>,
    pub throttle_rate: Option<u32>,
    pub metadata: BTreeMap<String, String>,
    /// The name of a profile; `None`: the default one.
    pub profile: Option<String>,
    /// E-mail addresses that are told of trouble.
    pub contacts: Vec<String>,
}

impl ApplicationDraft {
    fn check(&self, service: &Service) -> Result<(), Error> {
        let mut fields = Fields::default();
        fields.full_text("name", &self.name, limits::NAME_CHARS);
        fields.uid(self.uid.as_deref());
        fields.not_yet("throttleRate", self.throttle_rate.is_some());
        fields.metadata(&self.metadata);
        if let Some(profile) = &self.profile
            && service.directory().context().profiles.get(profile).is_none()
        {
            let all: Vec<_> =
                service.directory().context().profiles.iter().map(|known| known.name.clone()).collect();
            fields.wrong(
                "profile",
                format!("there is no profile \"{profile}\". There are {}.", all.join(", ")),
            );
        }
        if self.contacts.len() > limits::CONTACTS {
            fields.wrong("contacts", format!("contacts has over {} entries.", limits::CONTACTS));
        }
        for contact in &self.contacts {
            // Only what could end a mail header or go nowhere; the mail server knows the rest.
            let plausible = contact.len() <= 254
                && contact.split_once('@').is_some_and(|(user, host)| !user.is_empty() && !host.is_empty())
                && !contact.chars().any(|c| c.is_control() || c.is_whitespace());
            if !plausible {
                fields.wrong("contacts", "contacts has an entry that is not an e-mail address.");
            }
        }
        fields.done()
    }

    fn into_doc(self, created_at: gonets_core::time::Timestamp, service: &Service) -> ApplicationDoc {
        ApplicationDoc {
            name: self.name,
            created_at,
            updated_at: service.now(),
            throttle_rate: self.throttle_rate,
            metadata: self.metadata,
            profile: self.profile,
            contacts: self.contacts,
            operational: false,
        }
    }
}

impl Application {
    fn of_row(ids: &IdCodec, row: &EntityRow) -> Result<Self, Error> {
        Ok(Self { id: ids.application(AppNo(row.no.0)), uid: row.uid.clone(), doc: write::read(row)? })
    }
}

/// The uid of a path, for a PUT that makes the application: the name itself must be one. An id is
/// that of one which is not there.
fn uid_of_path(name: &str) -> Result<(), Error> {
    if form_of_id(name).is_some() {
        return Err(Error::not_found("application", name));
    }
    let mut fields = Fields::default();
    fields.name("uid", NameKind::Uid, name);
    fields.done()
}

impl Service {
    /// An application, for whoever may reach it.
    pub fn get_application(&self, who: &AppAccess) -> Application {
        Application {
            id: self.engine().ids().application(who.app.no),
            uid: who.app.row.uid.clone(),
            doc: who.app.doc.clone(),
        }
    }
}
