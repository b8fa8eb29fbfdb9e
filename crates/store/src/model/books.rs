//! The books of an application (R29), counted anew each time.

use gonets_core::{
    ids::{AppNo, EndpointNo, MessageId},
    time::Timestamp,
};

use super::ModelState;
use crate::record::{Books, DeliveryState, EndpointBooks};

impl ModelState {
    pub(super) fn books(
        &self,
        app: AppNo,
        endpoints: &[EndpointNo],
        from: Timestamp,
        to: Timestamp,
    ) -> Books {
        let mut books = Books::default();
        let span = |message: &MessageId| (from..to).contains(&message.accepted_at());
        let of_app = self.messages_of.range((app.0, MessageId(0))..=(app.0, MessageId(u64::MAX)));
        let messages: Vec<MessageId> = of_app.map(|(_, message)| *message).filter(span).collect();
        for message in &messages {
            books.messages += 1;
            books.routed += self.messages.get(message).map_or(0, |record| u64::from(record.routes));
            if self.unrouted.contains(&(app.0, *message)) {
                books.unrouted += 1;
            } else if self.unrouted_ends.contains_key(message) {
                books.unrouted_ended += 1;
            } else if self.messages.get(message).is_some_and(|record| record.routes == 0) {
                books.routed_nowhere += 1;
            }
        }
        books.endpoints =
            endpoints.iter().map(|endpoint| self.endpoint_books(*endpoint, &messages)).collect();
        books
    }

    fn endpoint_books(&self, endpoint: EndpointNo, messages: &[MessageId]) -> EndpointBooks {
        let mut books = EndpointBooks { endpoint, ..EndpointBooks::default() };
        for delivery in messages.iter().filter_map(|message| self.delivery((endpoint.0, *message))) {
            match delivery.state {
                DeliveryState::Fresh | DeliveryState::Waiting { .. } => books.waiting += 1,
                DeliveryState::Settled { state, .. } => *books.ended(state) += 1,
            }
        }
        books
    }
}
