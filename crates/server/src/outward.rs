//! The socket of a connection, with an eye on what the client takes.
//!
//! hyper has no time-out for writing: a client that asks and does not read would hold its answer
//! in memory for as long as it likes. Here a write that does not move for
//! [`Limits::write_timeout`], or an answer that is not taken whole within
//! [`Limits::answer_timeout`], is an error, and the connection is cut.
//!
//! It also ends connections so that the client sees the answer. A socket that is closed with
//! unread bytes of the client resets the connection, which can destroy an answer on its way (a 413
//! in the middle of a large body). So the end of the answer is sent first, then what the client
//! still sends is read and thrown away, up to [`Limits::linger_bytes`] and [`Limits::linger`].

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::watch,
    time::{Instant, Sleep, sleep_until},
};

use crate::{limits::Limits, refusal};

/// What is read at once of what nobody wants.
const DISCARDED_AT_ONCE: usize = 16 * 1024;

pub(crate) struct Outward {
    stream: TcpStream,
    limits: Limits,
    draining: watch::Receiver<bool>,
    /// Since the client stopped taking what is written.
    stalled: Option<Stalled>,
    /// An answer of our own in place of a bare one of hyper's, not yet written.
    refusal: Vec<u8>,
    linger: Option<Linger>,
}

/// A write that waits for the client.
struct Stalled {
    timer: Pin<Box<Sleep>>,
    /// When this answer first had to wait.
    since: Instant,
    /// When the client last took a byte.
    moved: Instant,
}

/// The end of a connection: what the client still sends is thrown away.
struct Linger {
    timer: Pin<Box<Sleep>>,
    left_bytes: usize,
}

impl Outward {
    pub(crate) fn new(stream: TcpStream, limits: Limits, draining: watch::Receiver<bool>) -> Self {
        Self { stream, limits, draining, stalled: None, refusal: Vec::new(), linger: None }
    }

    /// Some bytes were taken, or must be waited for.
    fn judge(
        &mut self,
        context: &mut Context<'_>,
        taken: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match taken {
            Poll::Ready(result) => {
                if let Some(stalled) = &mut self.stalled {
                    stalled.moved = Instant::now();
                }
                Poll::Ready(result)
            }
            Poll::Pending => {
                let now = Instant::now();
                let (pause, whole) = (self.limits.write_timeout, self.limits.answer_timeout);
                let stalled = self.stalled.get_or_insert_with(|| Stalled {
                    timer: Box::pin(sleep_until(now + pause)),
                    since: now,
                    moved: now,
                });
                ready!(stalled.poll_end(context, pause, whole));
                // What the kernel still holds for the client is to go, too.
                let _ = self.stream.set_zero_linger();
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes no answer")))
            }
        }
    }

    fn poll_refusal(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.refusal.is_empty() {
            let taken = Pin::new(&mut self.stream).poll_write(context, &self.refusal);
            let count = ready!(self.judge(context, taken))?;
            self.refusal.drain(..count);
        }
        Poll::Ready(Ok(()))
    }
}

impl Stalled {
    /// Ready when the client has had its time.
    fn poll_end(&mut self, context: &mut Context<'_>, pause: Duration, whole: Duration) -> Poll<()> {
        loop {
            let end = (self.moved + pause).min(self.since + whole);
            if self.timer.deadline() != end {
                self.timer.as_mut().reset(end);
            }
            ready!(self.timer.as_mut().poll(context));
            if Instant::now() >= end {
                return Poll::Ready(());
            }
        }
    }
}

impl AsyncRead for Outward {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Outward {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(refusal) = refusal::in_place_of(bytes, &self.limits) {
            self.refusal = refusal;
            return Poll::Ready(Ok(bytes.len()));
        }
        let taken = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, taken)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(head) = slices.first()
            && let Some(refusal) = refusal::in_place_of(head, &self.limits)
        {
            self.refusal = refusal;
            return Poll::Ready(Ok(head.len()));
        }
        let taken = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.judge(context, taken)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// hyper asks for this when it has nothing left to write: the client has taken all.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_refusal(context))?;
        self.stalled = None;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_refusal(context))?;
        let this = &mut *self;
        if this.linger.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
            let end = Instant::now() + this.limits.linger;
            let left_bytes = this.limits.linger_bytes;
            this.linger = Some(Linger { timer: Box::pin(sleep_until(end)), left_bytes });
        }
        let Some(linger) = &mut this.linger else { return Poll::Ready(Ok(())) };
        let mut discarded = [0; DISCARDED_AT_ONCE];
        while linger.left_bytes > 0 && linger.timer.as_mut().poll(context).is_pending() {
            let mut buffer = ReadBuf::new(&mut discarded);
            match Pin::new(&mut this.stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    linger.left_bytes = linger.left_bytes.saturating_sub(buffer.filled().len());
                }
                // The client has ended, too.
                Poll::Ready(_) => break,
                // A drain does not wait for those who have nothing under way.
                Poll::Pending if *this.draining.borrow() => break,
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(Ok(()))
    }
}
