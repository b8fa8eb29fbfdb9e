//! The service: a running engine and what the operator set.

use std::sync::Arc;

use gonets_core::{limits, time::Timestamp};
use gonets_engine::{Engine, directory::Directory};

use crate::{breaker::Resets, error::Error, room::AllRoom, turns::Turns};

/// What the operator set about requests.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// `limits.payload_bytes`.
    pub payload_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { payload_bytes: limits::PAYLOAD_BYTES }
    }
}

/// All operations. Made once, shared by all fronts.
pub struct Service {
    engine: Arc<Engine>,
    settings: Settings,
    turns: Turns,
    room: AllRoom,
    resets: Resets,
}

impl Service {
    pub fn new(engine: Arc<Engine>, settings: Settings) -> Self {
        Self {
            engine,
            settings,
            turns: Turns::default(),
            room: AllRoom::default(),
            resets: Resets::default(),
        }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The engine underneath.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub(crate) fn turns(&self) -> &Turns {
        &self.turns
    }

    pub(crate) fn room(&self) -> &AllRoom {
        &self.room
    }

    pub(crate) fn resets(&self) -> &Resets {
        &self.resets
    }

    pub(crate) fn directory(&self) -> &Directory {
        self.engine.directory()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.engine.clock().now()
    }

    /// Whether requests can be answered: the store can be read.
    ///
    /// # Errors
    /// [`Error::Busy`] or [`Error::Internal`], as the store says.
    pub async fn health(&self) -> Result<(), Error> {
        self.engine.ask(|store| store.fact("health").map(drop)).await.map_err(Error::from)
    }
}
