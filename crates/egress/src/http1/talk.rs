//! One request for one answer over one connection.
//!
//! Writing and reading go on side by side in one future: a peer may answer before it has taken
//! the body, and may close at once behind that answer. So a failed write is no verdict: reading
//! goes on, and what was answered counts. In the usual case the write is done in one call, and
//! the first read finds nothing and waits: no task, no timer, no channel.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};

use super::Answer;
use crate::conn::Conn;
use crate::exchange::Stage;
use crate::send::Trace;

/// How an exchange ended without a status.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The peer closed, with or without half a head before; the sentence says which.
    Closed(&'static str),
    /// The peer answered something that is no HTTP/1.
    Malformed(&'static str),
    /// The connection broke.
    Io(io::Error),
}

/// Sends `conn.wire` and then `rest`, and reads the answer. Ends when the answer is whole, which
/// may be before all is sent.
pub(crate) async fn talk(
    conn: &mut Conn,
    rest: &[u8],
    answer: &mut Answer,
    trace: &mut Trace,
) -> Result<(), Broken> {
    let mut sending = Sending::new();
    let result = poll_fn(|cx| {
        sending.poll(conn, rest, trace, cx);
        poll_answer(conn, answer, trace, &mut sending, cx)
    })
    .await;
    if !sending.all_left || !conn.buffer.is_empty() {
        answer.keep_alive = false;
    }
    result
}

fn poll_answer(
    conn: &mut Conn,
    answer: &mut Answer,
    trace: &mut Trace,
    sending: &mut Sending,
    cx: &mut Context<'_>,
) -> Poll<Result<(), Broken>> {
    while !answer.is_done() {
        let closed = match conn.poll_fill(cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(count)) => count == 0,
            Poll::Ready(Err(cause)) if cause.kind() == io::ErrorKind::UnexpectedEof => true,
            Poll::Ready(Err(cause)) => return Poll::Ready(broke(answer, sending, cause)),
        };
        if closed {
            return Poll::Ready(answer.closed(&conn.buffer).map_err(|why| match sending.failure.take() {
                Some(cause) if !answer.began => Broken::Io(cause),
                _ => Broken::Closed(why),
            }));
        }
        trace.first_byte();
        answer.take(&mut conn.buffer).map_err(Broken::Malformed)?;
    }
    Poll::Ready(Ok(()))
}

/// The connection broke while we read: behind a head that is a body cut short.
fn broke(answer: &mut Answer, sending: &mut Sending, cause: io::Error) -> Result<(), Broken> {
    if answer.status.is_some() {
        answer.cut();
        return Ok(());
    }
    Err(Broken::Io(sending.failure.take().unwrap_or(cause)))
}

/// How far the request is out.
struct Sending {
    at: usize,
    is_over: bool,
    all_left: bool,
    failure: Option<io::Error>,
}

impl Sending {
    fn new() -> Self {
        Self { at: 0, is_over: false, all_left: false, failure: None }
    }

    /// Writes as much as the connection takes.
    fn poll(&mut self, conn: &mut Conn, rest: &[u8], trace: &mut Trace, cx: &mut Context<'_>) {
        while !self.is_over {
            match conn.poll_send(self.at, rest, cx) {
                Poll::Pending => return,
                Poll::Ready(Ok(Some(count))) => {
                    trace.byte_may_have_left = true;
                    self.at += count;
                }
                Poll::Ready(Ok(None)) => {
                    self.all_left = true;
                    self.is_over = true;
                    trace.enter_from(Stage::Send, Stage::Wait);
                }
                Poll::Ready(Err(cause)) => {
                    self.failure = Some(cause);
                    self.is_over = true;
                }
            }
        }
    }
}
