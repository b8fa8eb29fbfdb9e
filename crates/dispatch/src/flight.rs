//! Attempts under way.

use std::{sync::Arc, time::Duration};

use gonets_core::{
    breaker::Probe,
    gate::Scope,
    ids::{AppNo, EndpointNo, MessageId},
    profile::Profile,
    progress::Progress,
    time::Timestamp,
};

use crate::{
    config::HostNo,
    effect::{SendId, Source},
    numbers::ByNo,
    slots::Grant,
};

/// What must be known of an attempt when it ends, even if its endpoint is gone by then.
#[derive(Debug, Clone)]
pub(crate) struct Flight {
    pub(crate) endpoint: EndpointNo,
    pub(crate) app: AppNo,
    pub(crate) host: HostNo,
    pub(crate) message: MessageId,
    pub(crate) source: Source,
    pub(crate) critical: bool,
    pub(crate) kind: u32,
    pub(crate) started: Timestamp,
    pub(crate) purpose: Purpose,
    pub(crate) progress: Progress,
    pub(crate) profile: Arc<Profile>,
    pub(crate) grant: Grant,
    /// Slot-time charged in advance; settled when the attempt ends.
    pub(crate) charged: Duration,
}

/// What an attempt is made for, besides its delivery.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Ordinary,
    /// The probe of the breaker of this scope (R12).
    Probe(Scope, Probe),
    /// To see whether our own network is back (R27).
    Canary,
}

#[derive(Debug, Default)]
pub(crate) struct Flights {
    last: u64,
    under_way: ByNo<SendId, Flight>,
}

impl Flights {
    pub(crate) fn start(&mut self, flight: Flight) -> SendId {
        self.last += 1;
        let id = SendId(self.last);
        self.under_way.insert(id, flight);
        id
    }

    pub(crate) fn end(&mut self, id: SendId) -> Option<Flight> {
        self.under_way.remove(&id)
    }

    pub(crate) fn len(&self) -> usize {
        self.under_way.len()
    }
}
