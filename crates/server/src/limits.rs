//! What a client may take of the server.

use std::time::Duration;

/// The limits of one listener.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once; more wait in the kernel's queue until one ends.
    pub connections: usize,
    /// A request's head must be complete this long after the connection became free for it; an
    /// idle connection is closed after the same time.
    pub header_timeout: Duration,
    /// A request's head, in bytes.
    pub head_bytes: usize,
    /// How long requests in progress may take once a drain began; then they are cut off.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 8192,
            header_timeout: Duration::from_secs(75),
            head_bytes: 64 * 1024,
            drain: Duration::from_secs(10),
        }
    }
}
