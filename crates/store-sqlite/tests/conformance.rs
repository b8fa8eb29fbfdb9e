//! The suite that every engine passes, on SQLite.

use std::sync::Arc;

use gonets_core::time::{Clock, Timestamp};
use gonets_store::{conformance::Opened, engine::Engine, query::Queries};
use gonets_store_sqlite::{Options, Sqlite};

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(0)
    }

    fn wall(&self) -> Timestamp {
        Timestamp::from_millis(0)
    }
}

fn sqlite() -> impl Fn() -> Opened {
    let dir = tempfile::tempdir().expect("a directory for the test");
    move || {
        let (engine, readers) =
            Sqlite::open(dir.path(), Options::new(Arc::new(Still))).expect("the store opens");
        (Box::new(engine) as Box<dyn Engine>, readers as Arc<dyn Queries>)
    }
}

gonets_store::conformance!(sqlite);
