//! Extra headers of an endpoint. Sensitive values are sealed and never shown.

use std::collections::BTreeMap;

use gonets_core::notice::NoticeKind;
use gonets_store::entity::{EndpointDoc, HeaderDoc, HeaderValueDoc};

use super::{check, told::told};
use crate::{access::AppAccess, error::Error, field::Fields, service::Service, write::Change};

/// Headers as they are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers {
    pub shown: BTreeMap<String, String>,
    /// Names of those whose values are not.
    pub sensitive: Vec<String>,
}

/// All headers, replacing those of before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeadersDraft {
    pub headers: BTreeMap<String, String>,
    /// Names to be taken as sensitive besides those that always are.
    pub sensitive: Vec<String>,
}

/// Headers to set and to delete; the others stay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeadersPatch {
    pub set: HeadersDraft,
    pub delete: Vec<String>,
}

impl Headers {
    fn of(doc: &EndpointDoc) -> Self {
        let mut headers = Self::default();
        for header in &doc.headers {
            match &header.value {
                HeaderValueDoc::Plain(value) => {
                    headers.shown.insert(header.name.clone(), value.clone());
                }
                HeaderValueDoc::Sealed(_) => headers.sensitive.push(header.name.clone()),
            }
        }
        headers
    }
}

impl HeadersDraft {
    fn is_sensitive(&self, name: &str) -> bool {
        check::is_sensitive(name) || self.sensitive.iter().any(|one| one.eq_ignore_ascii_case(name))
    }
}

impl Service {
    pub fn get_headers(&self, who: &AppAccess, endpoint: &str) -> Result<Headers, Error> {
        Ok(Headers::of(&self.endpoint(who, endpoint)?.doc))
    }

    /// # Errors
    /// [`Error::Invalid`] for headers that Gonets sets itself or HTTP does not allow.
    pub async fn put_headers(
        &self,
        who: &AppAccess,
        endpoint: &str,
        draft: HeadersDraft,
    ) -> Result<(), Error> {
        self.change_headers(who, endpoint, &draft, |_| false).await
    }

    /// # Errors
    /// As [`Service::put_headers`].
    pub async fn patch_headers(
        &self,
        who: &AppAccess,
        endpoint: &str,
        patch: HeadersPatch,
    ) -> Result<(), Error> {
        let keeps = |name: &str| !patch.delete.iter().any(|gone| gone.eq_ignore_ascii_case(name));
        self.change_headers(who, endpoint, &patch.set, keeps).await
    }

    /// Sets headers; of those of before, the others that `keeps` says stay.
    async fn change_headers(
        &self,
        who: &AppAccess,
        endpoint: &str,
        draft: &HeadersDraft,
        keeps: impl Fn(&str) -> bool,
    ) -> Result<(), Error> {
        let no = self.endpoint(who, endpoint)?.no;
        let mut fields = Fields::default();
        check::check_headers(&mut fields, draft.headers.iter());
        fields.done()?;
        let mut tries = self.tries_about(who.app.no);
        loop {
            tries.next().await?;
            let current =
                self.directory().endpoint(no).filter(|one| !one.row.deleted).ok_or(Error::Deleted)?;
            let is_set = |name: &str| draft.headers.keys().any(|one| one.eq_ignore_ascii_case(name));
            let mut headers: Vec<HeaderDoc> = current
                .doc
                .headers
                .iter()
                .filter(|header| keeps(&header.name) && !is_set(&header.name))
                .cloned()
                .collect();
            for (name, value) in &draft.headers {
                let sensitive = draft.is_sensitive(name);
                headers.push(self.header_doc(who.environment(), no.0, name, value, sensitive)?);
            }
            if headers.len() > gonets_core::limits::ENDPOINT_HEADERS {
                fields = Fields::default();
                fields.wrong("headers", "the endpoint would have over 32 headers. Delete some.");
                return fields.done();
            }
            let doc = EndpointDoc { headers, updated_at: self.now(), ..current.doc.clone() };
            let updated = told(&who.app, no, NoticeKind::EndpointUpdated, doc.updated_at);
            let change = Change::replace(&current.row, current.row.uid.clone(), &doc)?
                .of(&who.app)
                .telling(vec![updated]);
            if self.rewrite(change).await?.is_some() {
                return Ok(());
            }
        }
    }
}
