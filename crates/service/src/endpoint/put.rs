//! Replacing an endpoint, or making it under the uid of its path.

use gonets_core::names::NameKind;
use gonets_engine::directory;
use gonets_store::entity::EndpointDoc;
use gonets_wire::Secret;

use super::{
    Endpoint, EndpointDraft, create,
    enabling::{Held, Turned},
};
use crate::{
    access::AppAccess,
    application::Created,
    error::Error,
    field::{Fields, form_of_id},
    service::Service,
    turns::Tries,
    write::{Change, Written},
};

impl Service {
    /// Replaces the endpoint of this id or uid; its secret and headers stay (they have operations
    /// of their own). One that is not there is made. Under a uid, that stays or becomes its uid unless
    /// the draft has another, so that the same request repeated means the same endpoint.
    ///
    /// # Errors
    /// As [`Service::create_endpoint`].
    pub async fn put_endpoint(
        &self,
        who: &AppAccess,
        name: &str,
        draft: EndpointDraft,
    ) -> Result<Created<Endpoint>, Error> {
        let uid_of_path = form_of_id(name).is_none().then(|| name.to_owned());
        let draft = EndpointDraft { uid: draft.uid.clone().or(uid_of_path), ..draft };
        let mut tries = self.tries_about(who.app.no);
        // Its name is looked up before the first turn: others need not wait for that.
        let mut known = KnownUrl::default();
        if self.endpoint(who, name).is_err() {
            self.check_new_named(name, &draft)?;
            known.check(self, who, &draft.url).await?;
        }
        loop {
            let found = self.current(who)?;
            if let Ok(endpoint) = self.endpoint(&found, name) {
                if let Some(put) =
                    self.replaced(who, &endpoint, |_| draft.clone(), &mut known, &mut tries).await?
                {
                    return Ok(Created::Existing(put));
                }
                continue;
            }
            tries.next().await?;
            let secret = self.check_new_named(name, &draft)?;
            let url = known.check(self, who, &draft.url).await?;
            let uid = draft.uid.as_deref().unwrap_or(name);
            match self.make_endpoint(who, url, secret, draft.clone(), None).await? {
                Written::Done(row) | Written::Replayed(row) => {
                    return self.written_endpoint(&row).map(Created::New);
                }
                Written::UidTaken if uid != name => return Err(create::uid_taken(uid)),
                // Someone else made it meanwhile.
                Written::UidTaken | Written::Outrun => {}
            }
        }
    }

    /// The application as it stands now.
    fn current(&self, who: &AppAccess) -> Result<AppAccess, Error> {
        let app = self.directory().app(who.app.no).filter(|app| !app.row.deleted).ok_or(Error::Deleted)?;
        Ok(AppAccess { app, is_admin: who.is_admin })
    }

    /// Checks a draft of an endpoint that is made under the name of its path.
    fn check_new_named(&self, name: &str, draft: &EndpointDraft) -> Result<Secret, Error> {
        if form_of_id(name).is_some() {
            return Err(Error::not_found("endpoint", name));
        }
        let mut fields = Fields::default();
        fields.name("uid", NameKind::Uid, name);
        fields.done()?;
        self.check_new(draft)
    }

    /// Writes what `draft` makes of the endpoint as it stands, as often as someone else is faster.
    pub(super) async fn replace_endpoint(
        &self,
        who: &AppAccess,
        endpoint: &directory::Endpoint,
        draft: impl Fn(&directory::Endpoint) -> EndpointDraft,
    ) -> Result<Endpoint, Error> {
        let (mut tries, mut known) = (self.tries_about(who.app.no), KnownUrl::default());
        let replaced = self.replaced(who, endpoint, draft, &mut known, &mut tries).await?;
        replaced.ok_or(Error::Deleted)
    }

    /// As [`Self::replace_endpoint`]; `None` when the endpoint was deleted meanwhile.
    async fn replaced(
        &self,
        who: &AppAccess,
        endpoint: &directory::Endpoint,
        draft: impl Fn(&directory::Endpoint) -> EndpointDraft,
        known: &mut KnownUrl,
        tries: &mut Tries<'_>,
    ) -> Result<Option<Endpoint>, Error> {
        let first = draft(endpoint);
        checked(&first)?;
        if first.url != endpoint.doc.url {
            known.check(self, who, &first.url).await?;
        }
        loop {
            tries.next().await?;
            let Some(current) = self.directory().endpoint(endpoint.no).filter(|one| !one.row.deleted) else {
                return Ok(None);
            };
            let draft = draft(&current);
            checked(&draft)?;
            let url = if draft.url == current.doc.url {
                // As it stands: its rules may have been tightened since, but it is not what changes.
                draft.url.clone()
            } else {
                known.check(self, who, &draft.url).await?
            };
            let (enables, held, uid) = (draft.disabled == Some(false), draft.held, draft.uid.clone());
            let doc = merged(&current.doc, url, draft, self.now());
            let turned = Turned::of(&who.app, &current, &doc, enables, doc.updated_at);
            if turned.is_enabled && held == Held::Skip {
                self.cancel_held(current.no).await?;
            }
            let change = Change::replace(&current.row, uid, &doc)?
                .of(&who.app)
                .with_gates(turned.gates)
                .telling(turned.notices);
            if let Some(row) = self.rewrite(change).await? {
                return self.written_endpoint(&row).map(Some);
            }
        }
    }
}

fn checked(draft: &EndpointDraft) -> Result<(), Error> {
    let mut fields = Fields::default();
    draft.check(&mut fields);
    fields.done()
}

/// A URL that was checked before, so that further tries need not look its name up again.
#[derive(Default)]
struct KnownUrl(Option<(String, String)>);

impl KnownUrl {
    async fn check(&mut self, service: &Service, who: &AppAccess, asked: &str) -> Result<String, Error> {
        if let Some((known, url)) = &self.0
            && known == asked
        {
            return Ok(url.clone());
        }
        let url = service.check_url(who, asked).await?;
        self.0 = Some((asked.to_owned(), url.clone()));
        Ok(url)
    }
}

/// The draft over what only operations of their own change: secrets, headers.
fn merged(
    before: &EndpointDoc,
    url: String,
    draft: EndpointDraft,
    now: gonets_core::time::Timestamp,
) -> EndpointDoc {
    let disabled = draft.disabled.unwrap_or(false);
    EndpointDoc {
        url,
        description: draft.description,
        created_at: before.created_at,
        updated_at: now,
        throttle_rate: draft.throttle_rate,
        concurrency: draft.concurrency,
        ordered: draft.ordered,
        disabled,
        disabled_since: disabled.then_some(before.disabled_since.unwrap_or(now)),
        event_types: draft.event_types.unwrap_or_default(),
        channels: draft.channels.unwrap_or_default(),
        metadata: draft.metadata,
        headers: before.headers.clone(),
        secrets: before.secrets.clone(),
        signature_schemes: draft.signature_schemes,
        api_version: draft.version.unwrap_or(before.api_version),
    }
}
