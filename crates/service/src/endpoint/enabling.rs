//! Enabling and disabling by hand (R19, R21).

use std::time::Duration;

use gonets_core::{
    gate::{GateChange, GateWrite, Scope},
    health::Health,
    ids::{EndpointNo, MessageId},
    notice::{Notice, NoticeKind},
    rule::Reason,
    time::Timestamp,
};
use gonets_engine::directory::{self, App};
use gonets_store::{
    entity::EndpointDoc,
    tx::{CancelStep, Made, Tx},
};

use super::told::told;
use crate::{error::Error, service::Service};

/// Deliveries that one step cancels: a few milliseconds of the store.
const CANCELLED_AT_ONCE: u32 = 500;

/// What becomes of what waits at a disabled endpoint when it is enabled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Held {
    /// It goes out, paced (R15).
    #[default]
    Deliver,
    /// It is cancelled.
    Skip,
}

/// What a new document of an endpoint does to it beside changing it.
pub(super) struct Turned {
    pub(super) gates: Vec<GateWrite>,
    pub(super) notices: Vec<Notice>,
    /// It is enabled by this.
    pub(super) is_enabled: bool,
}

impl Turned {
    /// `enables`: the caller said so, and thereby lifts what Gonets disabled, too.
    pub(super) fn of(
        app: &App,
        before: &directory::Endpoint,
        doc: &EndpointDoc,
        enables: bool,
        now: Timestamp,
    ) -> Self {
        let is_disabled = doc.disabled || (before.disabled.is_some() && !enables);
        let is_enabled = before.is_disabled() && !is_disabled;
        let mut notices = vec![told(app, before.no, NoticeKind::EndpointUpdated, now)];
        if is_enabled {
            notices.push(told(app, before.no, NoticeKind::EndpointEnabled, now));
        } else if is_disabled && !before.is_disabled() {
            notices.push(told(app, before.no, NoticeKind::EndpointDisabled, now));
        }
        let gates = if is_enabled { enabling_gates(before.no) } else { Vec::new() };
        Self { gates, notices, is_enabled }
    }
}

/// Enabling ends what Gonets disabled, and begins a new episode of health (R21).
fn enabling_gates(endpoint: EndpointNo) -> Vec<GateWrite> {
    let scope = Scope::Endpoint(endpoint);
    [GateChange::Disabled(None), GateChange::Health(Health::default())]
        .map(|change| GateWrite { scope, change })
        .into()
}

impl Service {
    /// Cancels what waits at an endpoint that is about to be enabled; what comes from now on is left.
    pub(super) async fn cancel_held(&self, endpoint: EndpointNo) -> Result<(), Error> {
        let next = MessageId::first_at(self.now() + Duration::from_millis(1));
        let step = CancelStep {
            endpoint,
            reason: Reason::EndpointDisabled,
            through: MessageId(next.0.saturating_sub(1)),
            limit: CANCELLED_AT_ONCE,
        };
        loop {
            match self.engine().commit(Tx::Cancel(step)).await? {
                Ok(Made::Step(CANCELLED_AT_ONCE)) => {}
                Ok(Made::Step(_)) => return Ok(()),
                Ok(other) => {
                    return Err(Error::internal(format!("the store answered a step with {other:?}")));
                }
                Err(rejected) => return Err(rejected.into()),
            }
        }
    }
}
