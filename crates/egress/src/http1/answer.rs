//! Reading an answer, as a state machine over whatever bytes came: no sockets, no clock.
//!
//! The head decides. Whatever goes wrong behind it (a broken length, a body cut short, too much of
//! it) ends the reading and the connection, never the verdict (R2).

use super::chunked::Chunked;
use super::head::{self, Framing};
use super::{Buffer, MAX_BODY, MAX_HEAD};

#[derive(Debug)]
enum At {
    Head,
    Length(u64),
    Chunked(Chunked),
    ToClose,
    Done,
}

/// One answer, as far as it was read.
#[derive(Debug)]
pub(crate) struct Answer {
    at: At,
    scanned: usize,
    /// The last 1xx seen.
    interim: Option<u16>,
    /// Bytes of all 1xx heads so far: a flood of them must not keep us reading until the deadline.
    interim_bytes: usize,
    /// Whether any byte came.
    pub(crate) began: bool,
    /// The final status, once its head is whole.
    pub(crate) status: Option<u16>,
    /// The final head, as it came.
    pub(crate) head: Vec<u8>,
    /// The body up to its cap.
    pub(crate) body: Vec<u8>,
    /// Whether the body had, or should have had, more.
    pub(crate) truncated: bool,
    /// Whether the connection may serve another request.
    pub(crate) keep_alive: bool,
}

impl Answer {
    pub(crate) fn new() -> Self {
        Self {
            at: At::Head,
            scanned: 0,
            interim: None,
            interim_bytes: 0,
            began: false,
            status: None,
            head: Vec::new(),
            body: Vec::new(),
            truncated: false,
            keep_alive: false,
        }
    }

    /// Whether nothing more is to be read.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.at, At::Done)
    }

    /// Reads what came.
    ///
    /// # Errors
    ///
    /// A sentence, if the head is not one of HTTP/1.
    pub(crate) fn take(&mut self, buffer: &mut Buffer) -> Result<(), &'static str> {
        self.began |= !buffer.is_empty();
        while !buffer.is_empty() {
            let used = match &mut self.at {
                At::Head => match self.take_head(buffer.unread())? {
                    Some(used) => used,
                    None => break,
                },
                At::Length(left) => {
                    let here = buffer.unread();
                    let run = usize::try_from(*left).map_or(here.len(), |l| l.min(here.len()));
                    *left -= run as u64;
                    if *left == 0 {
                        self.at = At::Done;
                    }
                    self.keep(&here[..run]);
                    run
                }
                At::Chunked(chunked) => match chunked.step(buffer.unread()) {
                    Ok((used, data)) => {
                        if chunked.is_done() {
                            self.at = At::Done;
                        }
                        self.keep(&buffer.unread()[data]);
                        used
                    }
                    Err(_) => {
                        self.cut();
                        break;
                    }
                },
                At::ToClose => {
                    self.keep(buffer.unread());
                    buffer.unread().len()
                }
                At::Done => break,
            };
            buffer.consume(used);
        }
        Ok(())
    }

    /// The peer closed the connection.
    ///
    /// # Errors
    ///
    /// A sentence, if no status came before.
    pub(crate) fn closed(&mut self, buffer: &Buffer) -> Result<(), &'static str> {
        self.keep_alive = false;
        match self.at {
            At::Head if !buffer.is_empty() => {
                Err("the connection was closed in the middle of the answer's head")
            }
            At::Head => {
                // A lone 1xx is all this peer had to say, and so it is what it said.
                self.status = self.interim;
                self.at = At::Done;
                match self.status {
                    Some(_) => Ok(()),
                    None => Err("the connection was closed without an answer"),
                }
            }
            At::Length(_) | At::Chunked(_) => {
                self.cut();
                Ok(())
            }
            At::ToClose | At::Done => {
                self.at = At::Done;
                Ok(())
            }
        }
    }

    /// Nothing more is read, though there was more.
    pub(crate) fn cut(&mut self) {
        self.truncated = true;
        self.keep_alive = false;
        self.at = At::Done;
    }

    /// Takes a head off `bytes` if a whole one is there; gives its length.
    fn take_head(&mut self, bytes: &[u8]) -> Result<Option<usize>, &'static str> {
        let Some(end) = head::find_end(bytes, &mut self.scanned)? else {
            return Ok(None);
        };
        self.scanned = 0;
        let head = head::read(&bytes[..end])?;
        if (100..200).contains(&head.status) && head.status != 101 {
            self.interim = Some(head.status);
            self.interim_bytes += end;
            if self.interim_bytes > MAX_HEAD {
                return Err("interim answers went on and on, more than 32 KiB of them");
            }
            return Ok(Some(end));
        }
        self.status = Some(head.status);
        self.head = bytes[..end].to_vec();
        self.keep_alive = head.keep_alive;
        self.at = match head.framing {
            Framing::Empty | Framing::Length(0) => At::Done,
            Framing::Length(length) => At::Length(length),
            Framing::Chunked => At::Chunked(Chunked::new()),
            Framing::ToClose => At::ToClose,
            Framing::Unreadable => {
                self.truncated = true;
                At::Done
            }
        };
        Ok(Some(end))
    }

    fn keep(&mut self, data: &[u8]) {
        let room = MAX_BODY - self.body.len();
        self.body.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            self.cut();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Feeds `wire` in pieces, then the end of the connection.
    fn read(wire: &[u8], piece: usize) -> Result<(Answer, usize), &'static str> {
        let (mut answer, mut buffer, mut at) = (Answer::new(), Buffer::default(), 0);
        while at < wire.len() && !answer.is_done() {
            let space = buffer.space();
            let count = piece.min(space.len()).min(wire.len() - at);
            space[..count].copy_from_slice(&wire[at..at + count]);
            buffer.filled(count);
            at += count;
            answer.take(&mut buffer)?;
        }
        let left = buffer.unread().len() + wire.len() - at;
        if !answer.is_done() {
            answer.closed(&buffer)?;
        }
        Ok((answer, left))
    }

    #[test]
    fn interim_answers_are_skipped() {
        let wire = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n\
                     HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        let (answer, left) = read(wire, 7).unwrap();
        assert_eq!((answer.status, answer.body.as_slice(), left), (Some(200), &b"ok"[..], 0));
        assert!(answer.keep_alive && !answer.truncated);
    }

    #[test]
    fn a_flood_of_interim_answers_is_malformed() {
        let wire = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(2_000);
        assert!(read(&wire, 4096).unwrap_err().contains("interim"));
    }

    #[test]
    fn a_lone_interim_answer_is_the_status() {
        let (answer, _) = read(b"HTTP/1.1 103 Hints\r\n\r\n", 64).unwrap();
        assert_eq!((answer.status, answer.keep_alive), (Some(103), false));
    }

    #[test]
    fn a_body_cut_short_is_marked_and_changes_no_status() {
        for wire in [
            &b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"[..],
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nabc",
        ] {
            let (answer, _) = read(wire, 64).unwrap();
            assert_eq!((answer.status, answer.body.as_slice()), (Some(200), &b"abc"[..]));
            assert!(answer.truncated && !answer.keep_alive);
        }
    }

    #[test]
    fn a_broken_chunk_ends_the_body_and_not_the_verdict() {
        let (answer, _) = read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 64).unwrap();
        assert_eq!((answer.status, answer.truncated, answer.keep_alive), (Some(200), true, false));
    }

    #[test]
    fn a_body_is_kept_up_to_its_cap_and_no_further() {
        let body = vec![b'x'; MAX_BODY + 1];
        for (extra, truncated) in [(0, false), (1, true)] {
            let length = MAX_BODY + extra;
            let mut wire = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").into_bytes();
            wire.extend_from_slice(&body[..length]);
            let (answer, _) = read(&wire, 1000).unwrap();
            assert_eq!((answer.body.len(), answer.truncated), (MAX_BODY, truncated));
            assert_eq!(answer.keep_alive, !truncated);
        }
    }

    #[test]
    fn nothing_or_half_a_head_is_no_answer() {
        for wire in [&b""[..], b"HTTP/1.1 2", b"HTTP/1.1 200 OK\r\nA: b\r\n"] {
            assert!(read(wire, 3).is_err());
        }
        let long = [b"HTTP/1.1 200 OK\r\nA: ".to_vec(), vec![b'a'; 33 * 1024]].concat();
        assert!(read(&long, 4096).is_err());
    }

    #[test]
    fn leftover_bytes_stay_in_the_buffer() {
        let (answer, left) = read(b"HTTP/1.1 204 No\r\n\r\nHTTP/1.1 200", 64).unwrap();
        assert_eq!((answer.status, left), (Some(204), 12));
    }

    proptest! {
        #[test]
        fn how_the_bytes_are_cut_changes_nothing(
            piece in 1usize..80,
            body in prop::collection::vec(any::<u8>(), 0..200),
            kind in 0..3,
        ) {
            let mut wire = b"HTTP/1.1 103 x\n\nHTTP/1.1 503 Busy\r\nRetry-After: 3\r\n".to_vec();
            match kind {
                0 => wire.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes()),
                1 => wire.extend_from_slice(b"\r\n"),
                _ => wire.extend_from_slice(
                    format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", body.len().max(1)).as_bytes(),
                ),
            }
            wire.extend_from_slice(&body);
            if kind == 2 {
                if body.is_empty() { wire.push(0); }
                wire.extend_from_slice(b"\r\n0\r\n\r\n");
            }
            let (answer, left) = read(&wire, piece).unwrap();
            prop_assert_eq!(answer.status, Some(503));
            prop_assert_eq!(left, 0);
            prop_assert!(!answer.truncated);
            prop_assert_eq!(answer.keep_alive, kind != 1);
            if kind != 2 { prop_assert_eq!(answer.body, body); }
        }

        #[test]
        fn no_bytes_make_it_panic(wire in prop::collection::vec(any::<u8>(), 0..300), piece in 1usize..40) {
            let mut with_opening = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
            with_opening.extend_from_slice(&wire);
            let (answer, _) = read(&with_opening, piece).unwrap();
            prop_assert_eq!(answer.status, Some(200));
            if let Ok((answer, _)) = read(&wire, piece) {
                prop_assert!(answer.status.is_some());
            }
        }
    }
}
