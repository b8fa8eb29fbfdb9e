//! What is told of a change of an endpoint: written with the change, so that none is told that did not
//! happen and none happens untold.

use gonets_core::{
    ids::EndpointNo,
    notice::{About, Facts, Notice, NoticeKind},
    time::Timestamp,
};
use gonets_engine::directory::App;

use super::status::BY_ITS_OWNER;

/// That this happened to an endpoint of the application.
pub(crate) fn told(app: &App, endpoint: EndpointNo, kind: NoticeKind, at: Timestamp) -> Notice {
    let about = About {
        environment: Some(app.row.environment),
        app: Some(app.no),
        endpoint: Some(endpoint),
        message: None,
    };
    let notice = Notice::new(kind, about, at);
    match kind {
        NoticeKind::EndpointDisabled => {
            notice.with(Facts { reason: Some(BY_ITS_OWNER.to_owned()), ..Facts::default() })
        }
        _ => notice,
    }
}
