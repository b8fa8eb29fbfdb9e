//! R29 as an alarm: from time to time the books of every application are added up over a span that has
//! just passed. Books that do not balance are a fault of ours, and loud.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use gonets_core::{
    ids::{AppNo, EndpointNo},
    time::Timestamp,
};
use gonets_store::{
    query::{Answer, Queries},
    record::Books,
};

use crate::{courier::Road, directory::Directory};

/// How often, and so how long each span is.
const EVERY: Duration = Duration::from_secs(600);
/// Spans end so long ago: what is being accepted just now is not half counted.
const AGO: Duration = Duration::from_secs(10);

/// Adds up until the process ends.
pub(crate) async fn watch(road: Arc<Road>) {
    let mut from = road.clock.now();
    loop {
        tokio::time::sleep(EVERY).await;
        let now = road.clock.now();
        let to = Timestamp::from_millis(now.as_millis() - i64::try_from(AGO.as_millis()).unwrap_or(0));
        let (directory, queries) = (Arc::clone(&road.directory), Arc::clone(&road.queries));
        let span = (from, to);
        let audited =
            tokio::task::spawn_blocking(move || unbalanced(&directory, queries.as_ref(), span)).await;
        match audited {
            Ok(Ok(wrong)) => {
                for (app, books) in wrong {
                    tracing::error!(%app, from = %span.0, to = %span.1, ?books, "the books do not balance: please report this");
                }
                from = to;
            }
            // The span is added up with the next.
            Ok(Err(cause)) => tracing::warn!(%cause, "the books could not be added up"),
            Err(_) => return,
        }
    }
}

/// The applications whose books of a span do not balance.
fn unbalanced(
    directory: &Directory,
    queries: &dyn Queries,
    (from, to): (Timestamp, Timestamp),
) -> Answer<Vec<(AppNo, Books)>> {
    let mut endpoints_of: BTreeMap<AppNo, Vec<EndpointNo>> = BTreeMap::new();
    for endpoint in directory.endpoints() {
        endpoints_of.entry(endpoint.app).or_default().push(endpoint.no);
    }
    let mut wrong = Vec::new();
    for (app, endpoints) in endpoints_of {
        let books = queries.books(app, &endpoints, from, to)?;
        if !books.is_balanced() {
            wrong.push((app, books));
        }
    }
    Ok(wrong)
}
