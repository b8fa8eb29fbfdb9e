//! What people do to lanes and breakers while all else goes on.

use gonets_core::{
    gate::{GateChange, GateWrite, Scope},
    health::Health,
    ids::EndpointNo,
    time::{Clock, Timestamp},
};
use gonets_dispatch::input::Input;
use gonets_store::{
    committer::Job,
    tx::{Keep, Tx},
};

use super::{Ack, World};
use crate::simulation::Broken;

impl World<'_> {
    pub(super) fn meddle(&mut self) -> Result<(), Broken> {
        let endpoint = self.endpoints[self.luck.usize(0..self.endpoints.len())];
        let input = match self.luck.u8(0..8) {
            0 => Input::Reset { scope: Scope::Application(self.app) },
            1 => Input::Reset { scope: Scope::Endpoint(endpoint) },
            2 => Input::Lifted { endpoint },
            3 | 4 => {
                if !self.frozen.remove(&endpoint) {
                    self.frozen.insert(endpoint);
                }
                Input::Lane(self.lane(endpoint))
            }
            5 => {
                self.disabled.insert(endpoint);
                Input::Lane(self.lane(endpoint))
            }
            _ => return self.enable(endpoint),
        };
        self.step(vec![input])
    }

    /// Enables a lane, whoever disabled it: its gate is written first, as the service does.
    fn enable(&mut self, endpoint: EndpointNo) -> Result<(), Broken> {
        self.disabled.remove(&endpoint);
        let scope = Scope::Endpoint(endpoint);
        let changes = [GateChange::Disabled(None), GateChange::Health(Health::default())];
        let gates = changes.map(|change| GateWrite { scope, change }).to_vec();
        let tx = Tx::Keep(Box::new(Keep { gates, notices: Vec::new() }));
        let behind = self.outcomes_queued();
        self.queue.insert(behind, Job { tx, ack: Ack::Keep });
        while !self.queue.is_empty() {
            self.commit()?;
        }
        self.step(vec![Input::Lane(self.lane(endpoint))])
    }

    /// At the end nothing moves any more: whatever people hold is let go. False if nothing was held.
    pub(super) fn let_go_of_all(&mut self) -> Result<bool, Broken> {
        let frozen = std::mem::take(&mut self.frozen);
        let held: Vec<_> = self
            .endpoints
            .iter()
            .copied()
            .filter(|endpoint| frozen.contains(endpoint) || self.lane(*endpoint).disabled)
            .collect();
        for endpoint in &held {
            self.enable(*endpoint)?;
        }
        Ok(!held.is_empty())
    }

    pub(super) fn the_books_balance(&self) -> Result<(), Broken> {
        let later = self.clock.now() + std::time::Duration::from_secs(1);
        let books = self
            .queries
            .books(self.app, &self.endpoints, Timestamp::from_millis(0), later)
            .expect("the books can be read");
        self.laws.balance(&books)
    }
}
