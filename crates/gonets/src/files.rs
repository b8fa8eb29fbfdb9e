//! The limit on open files, and how it is shared out. Each request to an endpoint, each idle
//! connection to one and each caller is an open file; running out would turn our own shortage into
//! failed attempts of others.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What each side may have open at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    /// Requests in flight.
    pub requests: usize,
    /// Idle connections to endpoints.
    pub idle: usize,
    /// Callers' connections.
    pub callers: usize,
}

/// What is taken where files are plenty.
const MOST_IDLE: usize = 1024;
const MOST_CALLERS: usize = 8192;

/// Raises the limit as far as the system lets us; gives its shares, with `requests` as the most
/// that are wanted, and a sentence if that is more than fits.
pub fn raise_limit(requests: usize) -> (Shares, Option<String>) {
    let before = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: before.maximum, maximum: before.maximum };
    let now = match setrlimit(Resource::Nofile, wanted) {
        Ok(()) => wanted.current,
        Err(_) => before.current,
    };
    share_out(now, requests)
}

/// `limit`: `None` for none. Half is for requests, a quarter for callers, an eighth for idle
/// connections, and the rest for the store and the unforeseen.
fn share_out(limit: Option<u64>, requests: usize) -> (Shares, Option<String>) {
    let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let fitting = (limit / 2).max(1);
    let shares = Shares {
        requests: requests.min(fitting),
        idle: MOST_IDLE.min(limit / 8),
        callers: MOST_CALLERS.min((limit / 4).max(1)),
    };
    let told = (requests > fitting).then(|| {
        format!(
            "only {limit} files may be open at once, so {fitting} requests are made at once instead of {requests}. Raise the limit (ulimit -n, LimitNOFILE=) to {} for more.",
            requests.saturating_mul(2)
        )
    });
    (shares, told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_low_limit_is_shared_out_and_told() {
        let (shares, told) = share_out(Some(1024), 4096);
        assert_eq!(shares, Shares { requests: 512, idle: 128, callers: 256 });
        let told = told.unwrap();
        assert!(told.contains("only 1024 files") && told.contains("512 requests"), "{told}");
        assert!(shares.requests + shares.idle + shares.callers < 1024);
    }

    #[test]
    fn a_high_limit_or_none_gives_what_is_wanted() {
        for limit in [Some(1 << 20), None] {
            let (shares, told) = share_out(limit, 4096);
            assert_eq!(shares, Shares { requests: 4096, idle: MOST_IDLE, callers: MOST_CALLERS });
            assert_eq!(told, None);
        }
    }
}
