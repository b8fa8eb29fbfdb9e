//! Room in memory for large answers.
//!
//! A page may carry megabytes, and stays in memory until the client has taken it. So there is a
//! bound on how many are put together at once, which takes milliseconds each and is worth waiting
//! for, and another on what was put together and is not yet taken, which may take as long as
//! clients please. Small answers need only the first: whoever fills the second by not reading
//! keeps nobody from them.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::{error::Error, page::PAGE_BYTES, service::Service};

/// What a page takes while it is put together: its content as read, and as written in JSON, where
/// text may grow.
const PAGE_ROOM_BYTES: usize = 3 * PAGE_BYTES;
/// Room for all answers that are being put together: eight pages.
const MAKING_BYTES: usize = 8 * PAGE_ROOM_BYTES;
/// Room for all large answers that are not yet taken.
const SENDING_BYTES: usize = 96 * 1024 * 1024;
/// Answers up to this size are not counted when they are ready: a connection has buffers as large.
const SMALL_BYTES: usize = 32 * 1024;
/// Room is counted in pieces of this size.
const PIECE_BYTES: usize = 1024;
/// How long to wait for room to put an answer together.
const PATIENCE: Duration = Duration::from_secs(3);

/// All the room there is.
pub(crate) struct AllRoom {
    making: Arc<Semaphore>,
    sending: Arc<Semaphore>,
}

impl Default for AllRoom {
    fn default() -> Self {
        Self {
            making: Arc::new(Semaphore::new(MAKING_BYTES / PIECE_BYTES)),
            sending: Arc::new(Semaphore::new(SENDING_BYTES / PIECE_BYTES)),
        }
    }
}

fn pieces(bytes: usize, most: usize) -> u32 {
    u32::try_from(bytes.min(most).div_ceil(PIECE_BYTES)).unwrap_or(u32::MAX)
}

impl AllRoom {
    async fn to_make(&self, bytes: usize, patience: Duration) -> Result<RoomToMake, Error> {
        let taking = Arc::clone(&self.making).acquire_many_owned(pieces(bytes, MAKING_BYTES));
        match timeout(patience, taking).await {
            Ok(Ok(making)) => Ok(RoomToMake { _making: Some(making), sending: Arc::clone(&self.sending) }),
            // It is never closed.
            Ok(Err(_)) | Err(_) => Err(Error::Crowded),
        }
    }
}

/// Room to put one answer together, until it is dropped.
#[derive(Debug)]
pub struct RoomToMake {
    _making: Option<OwnedSemaphorePermit>,
    sending: Arc<Semaphore>,
}

/// Room of one answer that is ready, until it is dropped; none is counted for a small one.
#[derive(Debug)]
pub struct RoomToSend {
    _sending: Option<OwnedSemaphorePermit>,
}

impl RoomToMake {
    /// The answer is ready and has this many bytes.
    ///
    /// # Errors
    /// [`Error::Crowded`] when too many large answers are not yet taken. This is not waited for: it
    /// would keep others from making theirs.
    pub fn to_send(self, bytes: usize) -> Result<RoomToSend, Error> {
        if bytes <= SMALL_BYTES {
            return Ok(RoomToSend { _sending: None });
        }
        let taken = self.sending.try_acquire_many_owned(pieces(bytes, SENDING_BYTES));
        taken.map(|sending| RoomToSend { _sending: Some(sending) }).map_err(|_| Error::Crowded)
    }
}

impl Service {
    /// Room to put a page of a list together.
    ///
    /// # Errors
    /// [`Error::Crowded`] when too many are at it.
    pub async fn room_for_page(&self) -> Result<RoomToMake, Error> {
        self.room().to_make(PAGE_ROOM_BYTES, PATIENCE).await
    }

    /// For a page of what is in memory: it is made in one go and waits for nobody, so only the answer
    /// is counted. Questions to the store that take long do not keep it from being made.
    pub fn room_for_listing(&self) -> RoomToMake {
        RoomToMake { _making: None, sending: Arc::clone(&self.room().sending) }
    }

    /// Room for a message with its payload.
    ///
    /// # Errors
    /// As [`Self::room_for_page`].
    pub async fn room_for_message(&self) -> Result<RoomToMake, Error> {
        self.room().to_make(2 * self.settings().payload_bytes, PATIENCE).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_ONCE: Duration = Duration::ZERO;

    #[tokio::test]
    async fn who_finds_no_room_to_make_an_answer_is_sent_away() {
        let all = AllRoom::default();
        let mut rooms = Vec::new();
        for _ in 0..8 {
            rooms.push(all.to_make(PAGE_ROOM_BYTES, AT_ONCE).await.unwrap());
        }
        let error = all.to_make(PAGE_ROOM_BYTES, AT_ONCE).await.unwrap_err();
        assert_eq!(error.code(), "busy");
        assert!(error.to_string().contains("large answers"), "{error}");
        rooms.pop();
        all.to_make(PAGE_ROOM_BYTES, AT_ONCE).await.expect("room that was given back");
        drop(rooms);
        assert!(all.to_make(usize::MAX, AT_ONCE).await.is_ok(), "more than there is takes all");
    }

    #[tokio::test]
    async fn large_answers_that_are_not_taken_leave_room_for_small_ones() {
        let all = AllRoom::default();
        let mut untaken = Vec::new();
        let ready = async |bytes| all.to_make(PAGE_ROOM_BYTES, AT_ONCE).await.unwrap().to_send(bytes);
        for _ in 0..SENDING_BYTES / PAGE_BYTES {
            untaken.push(ready(PAGE_BYTES).await.unwrap());
        }
        assert_eq!(ready(SMALL_BYTES + 1).await.unwrap_err().code(), "busy");
        for _ in 0..100 {
            untaken.push(ready(SMALL_BYTES).await.expect("a small one is always sent"));
        }
        untaken.clear();
        assert!(ready(usize::MAX).await.is_ok(), "all was given back");
    }
}
