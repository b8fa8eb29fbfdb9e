//! One connection, plain or TLS, with the buffers that stay with it.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::client::TlsStream;

use crate::exchange::TlsVersion;
use crate::http1::Buffer;
use crate::target::Target;

/// What the bytes travel over.
pub(crate) enum Stream {
    Plain(TcpStream),
    /// Boxed: it is a kilobyte, and most moves are of plain connections and empty places.
    Tls(Box<TlsStream<TcpStream>>),
}

/// A connection to a vetted address.
pub(crate) struct Conn {
    stream: Stream,
    /// Whose connection it is.
    pub(crate) target: Target,
    pub(crate) remote: SocketAddr,
    pub(crate) born: Instant,
    pub(crate) idle_since: Instant,
    /// The request as it is written: head and joined body.
    pub(crate) wire: Vec<u8>,
    /// What came and was not read yet.
    pub(crate) buffer: Buffer,
}

/// The largest request buffer an idle connection keeps, in bytes.
const KEEP_WIRE: usize = 16 * 1024;

impl Conn {
    pub(crate) fn new(stream: Stream, target: Target, remote: SocketAddr, now: Instant) -> Self {
        Self {
            stream,
            target,
            remote,
            born: now,
            idle_since: now,
            wire: Vec::new(),
            buffer: Buffer::default(),
        }
    }

    /// The TLS version agreed on; none over plain TCP.
    pub(crate) fn tls_version(&self) -> Option<TlsVersion> {
        match &self.stream {
            Stream::Plain(_) => None,
            Stream::Tls(tls) => match tls.get_ref().1.protocol_version() {
                Some(rustls::ProtocolVersion::TLSv1_3) => Some(TlsVersion::V1_3),
                _ => Some(TlsVersion::V1_2),
            },
        }
    }

    /// Writes what follows the first `at` bytes of `wire` and `rest` taken as one. `None` when
    /// all of it is out.
    pub(crate) fn poll_send(
        &mut self,
        at: usize,
        rest: &[u8],
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Option<usize>>> {
        let head_len = self.wire.len();
        let head = &self.wire[at.min(head_len)..];
        let body = &rest[at.saturating_sub(head_len)..];
        let io = pinned(&mut self.stream);
        if head.is_empty() && body.is_empty() {
            return io.poll_flush(cx).map_ok(|()| None);
        }
        let count = if body.is_empty() {
            ready!(io.poll_write(cx, head))?
        } else {
            let parts = [io::IoSlice::new(head), io::IoSlice::new(body)];
            ready!(io.poll_write_vectored(cx, &parts))?
        };
        Poll::Ready(if count == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(Some(count)) })
    }

    /// Reads what came into the buffer; 0 is the end.
    pub(crate) fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut space = ReadBuf::new(self.buffer.space());
        ready!(pinned(&mut self.stream).poll_read(cx, &mut space))?;
        let count = space.filled().len();
        self.buffer.filled(count);
        Poll::Ready(Ok(count))
    }

    /// Whether the peer has neither closed it nor sent something nobody asked for. Reads through
    /// TLS, so session tickets that came meanwhile are taken and do not count.
    pub(crate) fn is_quiet(&mut self) -> bool {
        self.buffer.is_empty() && self.poll_fill(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    /// Gives memory back before lying idle.
    pub(crate) fn settle(&mut self) {
        self.buffer.settle();
        if self.wire.capacity() > KEEP_WIRE {
            self.wire = Vec::new();
        }
    }
}

/// What both kinds of stream can do.
trait Io: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Io for T {}

fn pinned(stream: &mut Stream) -> Pin<&mut dyn Io> {
    match stream {
        Stream::Plain(tcp) => Pin::new(tcp as &mut dyn Io),
        Stream::Tls(tls) => Pin::new(tls.as_mut() as &mut dyn Io),
    }
}
