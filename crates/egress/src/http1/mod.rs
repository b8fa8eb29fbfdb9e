//! HTTP/1.1 as a client of strangers speaks it: reading an answer (no I/O), and the exchange of
//! one request for one answer over a connection.

mod answer;
mod buffer;
mod chunked;
mod head;
mod talk;

pub(crate) use answer::Answer;
pub(crate) use buffer::Buffer;
pub(crate) use head::{header_values, status_of_head};
pub(crate) use talk::{Broken, talk};

/// The longest head of an answer, status line included, in bytes.
pub(crate) const MAX_HEAD: usize = 32 * 1024;
/// The most header lines of an answer.
pub(crate) const MAX_HEADERS: usize = 64;
/// How much of an answer's body is kept, in bytes.
pub(crate) const MAX_BODY: usize = 16 * 1024;
