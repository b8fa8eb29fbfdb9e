//! Replacing an endpoint, or making it under the uid of its path.

use gonets_core::names::NameKind;
use gonets_engine::directory;
use gonets_store::entity::EndpointDoc;

use super::{Endpoint, EndpointDraft};
use crate::{
    access::AppAccess,
    application::Created,
    error::Error,
    field::Fields,
    service::Service,
    write::{Change, TRIES, outrun},
};

impl Service {
    /// Replaces the endpoint of this id or uid; its secret and headers stay (they have operations
    /// of their own). One that is not there is made with the name as its uid, unless the draft has
    /// another.
    ///
    /// # Errors
    /// As [`Service::create_endpoint`].
    pub async fn put_endpoint(
        &self,
        who: &AppAccess,
        name: &str,
        draft: EndpointDraft,
    ) -> Result<Created<Endpoint>, Error> {
        let Ok(endpoint) = self.endpoint(who, name) else {
            let mut fields = Fields::default();
            fields.name("uid", NameKind::Uid, name);
            fields.done()?;
            let uid = draft.uid.clone().or_else(|| Some(name.to_owned()));
            return self.create_endpoint(who, EndpointDraft { uid, ..draft }, None).await.map(Created::New);
        };
        self.replace_endpoint(who, &endpoint, |_| draft.clone()).await.map(Created::Existing)
    }

    /// Writes what `draft` makes of the endpoint as it stands, as often as someone else is faster.
    pub(super) async fn replace_endpoint(
        &self,
        who: &AppAccess,
        endpoint: &directory::Endpoint,
        draft: impl Fn(&directory::Endpoint) -> EndpointDraft,
    ) -> Result<Endpoint, Error> {
        let mut checked_url: Option<(String, String)> = None;
        for _ in 0..TRIES {
            let current = self
                .directory()
                .endpoint(endpoint.no)
                .filter(|endpoint| !endpoint.row.deleted)
                .ok_or(Error::Deleted)?;
            let draft = draft(&current);
            let mut fields = Fields::default();
            draft.check(&mut fields);
            fields.done()?;
            let url = match checked_url.take() {
                Some((asked, url)) if asked == draft.url => url,
                // As it stands: its rules may have been tightened since, but it is not what changes.
                _ if draft.url == current.doc.url => draft.url.clone(),
                _ => self.check_url(who, &draft.url).await?,
            };
            checked_url = Some((draft.url.clone(), url.clone()));
            let gate = if draft.disabled == Some(false) { self.enabling_gate(&current) } else { None };
            let disabled = if gate.is_some() { None } else { current.disabled.clone() };
            let (uid, doc) = (draft.uid.clone(), merged(&current.doc, url, draft, self.now()));
            let change = Change::replace(&current.row, uid, &doc)?.of(&who.app).with_gate(gate);
            if let Some(row) = self.rewrite(change).await? {
                return Endpoint::of_row(self.engine().ids(), &row, disabled);
            }
        }
        Err(outrun())
    }
}

/// The draft over what only operations of their own change: secrets, headers.
fn merged(
    before: &EndpointDoc,
    url: String,
    draft: EndpointDraft,
    now: gonets_core::time::Timestamp,
) -> EndpointDoc {
    EndpointDoc {
        url,
        description: draft.description,
        created_at: before.created_at,
        updated_at: now,
        throttle_rate: draft.throttle_rate,
        concurrency: draft.concurrency,
        ordered: draft.ordered,
        disabled: draft.disabled.unwrap_or(false),
        event_types: draft.event_types,
        channels: draft.channels,
        metadata: draft.metadata,
        headers: before.headers.clone(),
        secrets: before.secrets.clone(),
        signature_schemes: draft.signature_schemes,
        api_version: draft.version.unwrap_or(before.api_version),
    }
}
