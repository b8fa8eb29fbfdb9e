//! The messages of an application.

use gonets_core::ids::IdKind;

use super::{Message, MessageFilter};
use crate::{
    access::Reader,
    error::Error,
    page::{Listed, PageRequest},
    service::Service,
};

impl Service {
    /// # Errors
    /// [`Error::TooLong`] when the filter leaves too much to look through.
    pub async fn list_messages(
        &self,
        who: &Reader,
        request: &PageRequest,
        filter: MessageFilter,
    ) -> Result<Listed<Message>, Error> {
        let ids = self.engine().ids();
        let (page, app) = (request.of_ids(ids, IdKind::Message)?, who.app.no);
        let paged = self.engine().ask(move |store| store.messages_of(app, &page, &filter)).await?;
        Ok(request.listed(paged, |record| ids.message(record.id), |record| Message::of(ids, record)))
    }
}
