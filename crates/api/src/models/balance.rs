//! The books of an application.

use gonets_core::time::Timestamp;
use gonets_service::balance::{Balance, EndpointBalance};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::{
    error::Result,
    request::{FromParams, Params},
};

/// The span of time, by acceptance: `from <= accepted < to`.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SpanQuery {
    /// A day before `to` if not said.
    #[param(value_type = Option<String>, format = DateTime)]
    pub(crate) from: Option<Timestamp>,
    /// Now if not said.
    #[param(value_type = Option<String>, format = DateTime)]
    pub(crate) to: Option<Timestamp>,
}

impl FromParams for SpanQuery {
    fn from_params(params: &Params<'_>) -> Result<Self> {
        Ok(Self { from: params.instant("from")?, to: params.instant("to")? })
    }
}

/// What was accepted in a span of time, and what became of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BalanceOut {
    pub from: String,
    pub to: String,
    /// Messages accepted.
    pub messages: u64,
    /// Messages that no endpoint took.
    pub routed_nowhere: u64,
    /// Messages that wait for a first endpoint.
    pub unrouted: u64,
    /// Messages that waited for an endpoint in vain.
    pub unrouted_ended: u64,
    /// Deliveries that were made of the messages; those of the endpoints add up to it.
    pub deliveries: u64,
    pub endpoints: Vec<EndpointBalanceOut>,
    /// Every message and every delivery is accounted for; if not, that is a fault of Gonets.
    #[schema(example = true)]
    pub balanced: bool,
}

/// The deliveries of one endpoint, each counted once as it stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointBalanceOut {
    pub endpoint_id: String,
    pub delivered: u64,
    pub failed: u64,
    pub cancelled: u64,
    pub skipped: u64,
    pub waiting: u64,
    /// All of them.
    pub accepted: u64,
}

impl From<EndpointBalance> for EndpointBalanceOut {
    fn from(books: EndpointBalance) -> Self {
        Self {
            accepted: books.accepted,
            endpoint_id: books.endpoint_id,
            delivered: books.delivered,
            failed: books.failed,
            cancelled: books.cancelled,
            skipped: books.skipped,
            waiting: books.waiting,
        }
    }
}

impl From<Balance> for BalanceOut {
    fn from(balance: Balance) -> Self {
        Self {
            from: balance.from.to_rfc3339(),
            to: balance.to.to_rfc3339(),
            messages: balance.messages,
            routed_nowhere: balance.routed_nowhere,
            unrouted: balance.unrouted,
            unrouted_ended: balance.unrouted_ended,
            deliveries: balance.deliveries,
            endpoints: balance.endpoints.into_iter().map(EndpointBalanceOut::from).collect(),
            balanced: balance.is_balanced,
        }
    }
}
