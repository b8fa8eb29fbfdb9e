//! What a client may take of the server.

use std::time::Duration;

/// The least that [`Limits::head_bytes`] may be; hyper takes no less.
pub(crate) const HEAD_BYTES_MIN: usize = 8192;

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
    /// A client that takes no byte of an answer for this long is cut off.
    pub write_timeout: Duration,
    /// A client that has not taken an answer whole this long after it first had to be waited for
    /// is cut off, however it drips.
    pub answer_timeout: Duration,
    /// How long what a client still sends is read and thrown away after the last answer, so that
    /// closing does not destroy the answer on its way; and how many bytes of it.
    pub linger: Duration,
    pub linger_bytes: usize,
    /// How long requests in progress may take once a drain began; then they are cut off.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 8192,
            header_timeout: Duration::from_secs(75),
            head_bytes: 64 * 1024,
            write_timeout: Duration::from_secs(30),
            answer_timeout: Duration::from_secs(300),
            linger: Duration::from_secs(1),
            linger_bytes: 1024 * 1024,
            drain: Duration::from_secs(10),
        }
    }
}
