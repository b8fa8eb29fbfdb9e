//! The name of a delivery: `<message id>.<endpoint id>`. Neither id has a full stop in it; uids and event
//! ids may, and so are not taken here.

use std::sync::Arc;

use gonets_core::ids::{EndpointNo, IdCodec, IdKind, MessageId};
use gonets_engine::directory::Endpoint;
use gonets_store::record::MessageRecord;

use crate::{access::Reader, error::Error, service::Service};

/// The public id of a delivery.
pub(super) fn id(ids: &IdCodec, message: MessageId, endpoint: EndpointNo) -> String {
    format!("{}.{}", ids.message(message), ids.endpoint(endpoint))
}

impl Service {
    /// The message and the endpoint of a delivery's id, without the payload. Whether there is a delivery
    /// between them is not looked at.
    pub(super) async fn ends_of(
        &self,
        who: &Reader,
        delivery: &str,
    ) -> Result<(MessageRecord, Arc<Endpoint>), Error> {
        let not_found = || Error::not_found("delivery", delivery);
        let (message, endpoint) = delivery.split_once('.').ok_or_else(not_found)?;
        let ids = self.engine().ids();
        let id = ids.decode(IdKind::Message, message).map(MessageId).ok_or_else(not_found)?;
        ids.decode(IdKind::Endpoint, endpoint).ok_or_else(not_found)?;
        let endpoint = self.endpoint_read(who, endpoint).map_err(|_| not_found())?;
        let found = self.engine().ask(move |store| store.messages_shown(&[id], false)).await?;
        let message = found.into_iter().next().filter(|record| record.app == who.app.no);
        Ok((message.ok_or_else(not_found)?, endpoint))
    }
}
