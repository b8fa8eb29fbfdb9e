//! Attempts: each try of a delivery, with what came of it; and trying one more time by hand.

mod get;
mod list;
mod resend;

use gonets_core::{
    ids::{EndpointNo, IdCodec},
    outcome::Outcome,
    time::Timestamp,
};
pub use gonets_store::query::{AttemptFilter, OutcomeFilter};
pub use gonets_store::record::AttemptDetail;
use gonets_store::record::AttemptRecord;

/// All that a partner is told of an address that the guard refused.
const BLOCKED_FOR_PARTNERS: &str = "this address is not allowed";

/// An attempt as it is shown.
#[derive(Debug, Clone)]
pub struct Attempt {
    pub id: String,
    pub message_id: String,
    pub endpoint_id: String,
    pub number: u32,
    pub by_hand: bool,
    pub outcome: Outcome,
    pub status_code: Option<u16>,
    pub started: Timestamp,
    pub duration_ms: u64,
    pub detail: AttemptDetail,
    /// The answer's body as text, or why there was none.
    pub response: String,
}

impl Attempt {
    /// As the operator sees it, or a partner: what of the inside an address leads to, and which
    /// setting would open it, is the operator's to know.
    pub(crate) fn of(ids: &IdCodec, record: AttemptRecord, for_operator: bool) -> Self {
        // It was written by the engine; should it be damaged, the attempt is still shown.
        let mut detail: AttemptDetail = serde_json::from_slice(&record.detail).unwrap_or_default();
        if record.outcome == Outcome::Blocked && !for_operator {
            detail.sentence = Some(BLOCKED_FOR_PARTNERS.into());
        }
        let response = match (&detail.sentence, record.answer.is_empty()) {
            (Some(sentence), true) => sentence.clone(),
            _ => String::from_utf8_lossy(&record.answer).into_owned(),
        };
        Self {
            id: ids.attempt(record.id),
            message_id: ids.message(record.message),
            endpoint_id: ids.endpoint(record.endpoint),
            number: record.number,
            by_hand: record.by_hand,
            outcome: record.outcome,
            status_code: record.status,
            started: record.started,
            duration_ms: record.duration_us / 1000,
            detail,
            response,
        }
    }

    pub fn is_success(&self) -> bool {
        self.outcome == Outcome::Delivered
    }
}

/// Which attempts are listed, endpoints by the name that the caller gave.
#[derive(Debug, Clone, Default)]
pub struct AttemptsOf {
    pub filter: AttemptFilter,
    /// Nothing fits: attempts are never pending, sending or cancelled.
    pub none: bool,
    /// An endpoint's id or uid, within the attempts of a message.
    pub endpoint: Option<String>,
}

impl AttemptsOf {
    fn at(self, endpoint: Option<EndpointNo>) -> AttemptFilter {
        AttemptFilter { endpoint, ..self.filter }
    }
}
