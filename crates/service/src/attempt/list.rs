//! The attempts of a message, and those at an endpoint.

use gonets_core::ids::IdKind;
use gonets_store::{query::Paged, record::AttemptRecord};

use super::{Attempt, AttemptsOf};
use crate::{
    access::Reader,
    error::Error,
    page::{Listed, PageRequest},
    service::Service,
};

impl Service {
    /// # Errors
    /// [`Error::NotFound`] when there is no such message, or no such endpoint to filter by.
    pub async fn list_attempts_of_message(
        &self,
        who: &Reader,
        message: &str,
        request: &PageRequest,
        wanted: AttemptsOf,
    ) -> Result<Listed<Attempt>, Error> {
        let page = request.of_ids(self.engine().ids(), IdKind::Attempt)?;
        let message = self.message(who, message).await?.id;
        let endpoint = match &wanted.endpoint {
            Some(name) => Some(self.endpoint_read(who, name)?.no),
            None => None,
        };
        let paged = if wanted.none {
            Paged { rows: Vec::new(), more: false }
        } else {
            let filter = wanted.at(endpoint);
            self.engine().ask(move |store| store.attempts_of_message(message, &page, &filter)).await?
        };
        Ok(self.listed_attempts(who, request, paged))
    }

    /// # Errors
    /// [`Error::NotFound`] when there is no such endpoint.
    pub async fn list_attempts_of_endpoint(
        &self,
        who: &Reader,
        endpoint: &str,
        request: &PageRequest,
        wanted: AttemptsOf,
    ) -> Result<Listed<Attempt>, Error> {
        let page = request.of_ids(self.engine().ids(), IdKind::Attempt)?;
        let endpoint = self.endpoint_read(who, endpoint)?.no;
        let paged = if wanted.none {
            Paged { rows: Vec::new(), more: false }
        } else {
            let filter = wanted.at(None);
            self.engine().ask(move |store| store.attempts_of_endpoint(endpoint, &page, &filter)).await?
        };
        Ok(self.listed_attempts(who, request, paged))
    }

    fn listed_attempts(
        &self,
        who: &Reader,
        request: &PageRequest,
        paged: Paged<AttemptRecord>,
    ) -> Listed<Attempt> {
        let ids = self.engine().ids();
        request.listed(
            paged,
            |record| ids.attempt(record.id),
            |record| Attempt::of(ids, record, who.is_admin),
        )
    }
}
