//! What survives a crash.

use std::sync::Arc;

use gonets_store::{
    engine::Engine,
    model::{Model, ModelState},
    query::Queries,
};

/// A place that a store lives in.
pub trait Disk {
    /// Opens the store as it was last committed.
    fn open(&mut self) -> (Box<dyn Engine>, Arc<dyn Queries>);

    /// The process dies: `engine` is gone without a goodbye. What was committed stays.
    fn crash(&mut self, engine: Box<dyn Engine>);
}

/// The model store: a commit is durable the moment it returns, all else is lost.
#[derive(Default)]
pub struct ModelDisk {
    state: Option<ModelState>,
    open: Option<Model>,
}

impl Disk for ModelDisk {
    fn open(&mut self) -> (Box<dyn Engine>, Arc<dyn Queries>) {
        let model = self.state.take().map_or_else(Model::new, Model::restore);
        self.open = Some(model.clone());
        (Box::new(model.clone()), Arc::new(model))
    }

    fn crash(&mut self, engine: Box<dyn Engine>) {
        drop(engine);
        self.state = self.open.take().map(|model| model.snapshot());
    }
}
