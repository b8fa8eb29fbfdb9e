//! The bytes that came and were not read yet. It stays with its connection, so a reused
//! connection reads without allocating.

use super::MAX_HEAD;

/// Enough for nearly every answer; grown only by a long head.
const FIRST_SIZE: usize = 4 * 1024;

/// A window over a byte vector that is always fully initialised.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Buffer {
    /// What came and was not consumed.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Takes `count` bytes off the front.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
        if self.is_empty() {
            self.start = 0;
            self.end = 0;
        }
    }

    /// Room to read into; never empty while less than [`MAX_HEAD`] bytes are unread.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.bytes.len() {
            let wanted = (self.bytes.len() * 2).clamp(FIRST_SIZE, MAX_HEAD + FIRST_SIZE);
            self.bytes.resize(wanted, 0);
        }
        &mut self.bytes[self.end..]
    }

    /// Says that `count` bytes of [`space`](Self::space) were filled.
    pub(crate) fn filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.bytes.len());
    }

    /// Gives memory back that only an unusual answer needed.
    pub(crate) fn settle(&mut self) {
        if self.bytes.len() > FIRST_SIZE {
            *self = Self::default();
        }
    }
}
