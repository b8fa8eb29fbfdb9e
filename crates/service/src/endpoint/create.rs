//! Making an endpoint.

use gonets_core::{
    ids::{EndpointNo, EntityNo},
    limits,
    notice::NoticeKind,
};
use gonets_store::entity::{EndpointDoc, EntityKind};
use gonets_wire::Secret;

use super::{Endpoint, EndpointDraft, check, told::told};
use crate::{
    access::AppAccess,
    error::Error,
    field::Fields,
    idempotency::RequestKey,
    service::Service,
    write::{Change, Written},
};

impl Service {
    /// Makes an endpoint. Its address is vetted, and vetted again at every connection.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the uid is taken or the application has as many endpoints as it may.
    pub async fn create_endpoint(
        &self,
        who: &AppAccess,
        draft: EndpointDraft,
        key: Option<RequestKey>,
    ) -> Result<Endpoint, Error> {
        let secret = self.check_new(&draft)?;
        let url = self.check_url(who, &draft.url).await?;
        let mut tries = self.tries_about(who.app.no);
        tries.next().await?;
        let uid = draft.uid.clone();
        match self.make_endpoint(who, url, secret, draft, key).await? {
            Written::Done(row) | Written::Replayed(row) => self.written_endpoint(&row),
            Written::UidTaken => Err(uid_taken(&uid.unwrap_or_default())),
            Written::Outrun => Err(Error::Contended),
        }
    }

    /// Writes a new endpoint; all of the draft was checked.
    pub(super) async fn make_endpoint(
        &self,
        who: &AppAccess,
        url: String,
        secret: Secret,
        draft: EndpointDraft,
        key: Option<RequestKey>,
    ) -> Result<Written, Error> {
        let endpoints = self.directory().endpoints_of(who.app.no, false).len();
        if endpoints >= limits::ENDPOINTS_PER_APPLICATION {
            return Err(Error::conflict(format!(
                "the application has {} endpoints, which is the most. Delete one first.",
                limits::ENDPOINTS_PER_APPLICATION
            )));
        }
        let no = self.next_no()?;
        let uid = draft.uid.clone();
        let doc = self.new_doc(who, no, url, secret, draft)?;
        let created = told(&who.app, EndpointNo(no.0), NoticeKind::EndpointCreated, doc.created_at);
        let change = Change::create(EntityKind::Endpoint, no, who.environment(), uid, &doc)?.of(&who.app);
        self.write(change.telling(vec![created]).with_key(key)).await
    }

    pub(super) fn check_new(&self, draft: &EndpointDraft) -> Result<Secret, Error> {
        let mut fields = Fields::default();
        draft.check(&mut fields);
        check::check_headers(&mut fields, draft.headers.iter());
        let secret = match &draft.secret {
            Some(text) => fields.check("secret", Secret::parse(text)),
            None => Some(Secret::generate().map_err(Error::internal)?),
        };
        fields.done()?;
        secret.ok_or_else(|| Error::internal("a secret that was neither taken nor refused"))
    }

    fn new_doc(
        &self,
        who: &AppAccess,
        no: EntityNo,
        url: String,
        secret: Secret,
        draft: EndpointDraft,
    ) -> Result<EndpointDoc, Error> {
        let (environment, now) = (who.environment(), self.now());
        let headers = draft
            .headers
            .iter()
            .map(|(name, value)| self.header_doc(environment, no.0, name, value, check::is_sensitive(name)))
            .collect::<Result<_, _>>()?;
        Ok(EndpointDoc {
            url,
            description: draft.description,
            created_at: now,
            updated_at: now,
            throttle_rate: draft.throttle_rate,
            concurrency: draft.concurrency,
            ordered: draft.ordered,
            disabled: draft.disabled.unwrap_or(false),
            disabled_since: draft.disabled.filter(|disabled| *disabled).map(|_| now),
            event_types: draft.event_types.unwrap_or_default(),
            channels: draft.channels.unwrap_or_default(),
            metadata: draft.metadata,
            headers,
            secrets: vec![self.seal_secret(environment, no.0, &secret)?],
            signature_schemes: draft.signature_schemes,
            api_version: draft.version.unwrap_or(1),
        })
    }
}

pub(super) fn uid_taken(uid: &str) -> Error {
    Error::conflict(format!("an endpoint with uid \"{uid}\" exists already in this application."))
}
