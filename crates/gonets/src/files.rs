//! The limit on open files. Each request to an endpoint and each caller is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What the store, the callers and the listener need beside the requests in flight.
const BESIDES: u64 = 512;

/// Raises the limit as far as the system lets us, and says if that is too few for `requests` at
/// once.
pub fn raise_limit(requests: usize) -> Option<String> {
    let before = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: before.maximum, maximum: before.maximum };
    let now = match setrlimit(Resource::Nofile, wanted) {
        Ok(()) => wanted.current,
        Err(_) => before.current,
    };
    too_few(now, requests)
}

/// `limit`: `None` for none.
fn too_few(limit: Option<u64>, requests: usize) -> Option<String> {
    let needed = requests as u64 + BESIDES;
    let limit = limit.filter(|limit| *limit < needed)?;
    Some(format!(
        "only {limit} files may be open at once, and {requests} requests in flight need {needed}. Raise the limit (ulimit -n, LimitNOFILE=), or lower delivery.global_concurrency to {}.",
        limit.saturating_sub(BESIDES).max(1)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_too_low_is_told_with_both_ways_out() {
        let sentence = too_few(Some(1024), 4096).unwrap();
        assert!(sentence.contains("only 1024 files") && sentence.contains("need 4608"), "{sentence}");
        assert!(sentence.ends_with("lower delivery.global_concurrency to 512."), "{sentence}");
        assert_eq!(too_few(Some(4608), 4096), None);
        assert_eq!(too_few(None, 4096), None);
    }
}
