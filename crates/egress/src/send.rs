//! One request from the first look into the pool to the last byte we care for, under one
//! deadline.
//!
//! The state of the work lies outside the future that the deadline cuts off, so whatever was
//! known at that moment is still known: a status that came in time counts even if its body did
//! not (R2).

use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use crate::conn::{Conn, Stream};
use crate::dial::dial;
use crate::egress::Egress;
use crate::exchange::{Cause, CauseKind, Exchange, OurFault, Phases, Seen, Stage};
use crate::http1::{Answer, Broken, talk};
use crate::request::Request;
use crate::target::Target;
use crate::tls;

/// A deadline further off than this is this far off.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

type Sign<'a> = &'a mut (dyn FnMut(&mut Vec<u8>) + Send);

/// What is known of a request while it is under way.
struct Work {
    conn: Option<Conn>,
    answer: Answer,
    sends: u8,
    trace: Trace,
}

/// The stage a request is in, and how long each took.
pub(crate) struct Trace {
    stage: Stage,
    phases: Phases,
    since: Instant,
    pub(crate) byte_may_have_left: bool,
}

impl Egress {
    /// Sends a request and reads its answer; never takes longer than `request.timeout` (and the
    /// scheduler's delay) against any peer.
    ///
    /// `headers` is called for each request that is really written, the second one included, and
    /// appends the signature's header lines, each `name: value\r\n`.
    pub async fn send(
        &self,
        request: Request<'_>,
        headers: &mut (dyn FnMut(&mut Vec<u8>) + Send),
    ) -> Exchange {
        let started = Instant::now();
        let deadline = started + request.timeout.min(LONGEST);
        let mut work = Work { conn: None, answer: Answer::new(), sends: 0, trace: Trace::new(started) };
        let seen = match timeout_at(deadline, self.run(&request, headers, &mut work)).await {
            Ok(seen) => seen,
            Err(_) => work.timed_out(&request),
        };
        self.conclude(&request, work, seen, started)
    }

    async fn run(&self, request: &Request<'_>, sign: Sign<'_>, work: &mut Work) -> Seen {
        let reused = self.pool.take(request.pool_key, request.target, work.trace.since);
        if let Some(conn) = reused {
            match self.exchange(conn, request, sign, work).await {
                // It most likely died while it lay idle. Should the peer have seen the request
                // after all, the same id marks the second one.
                Err(Broken::Closed(_) | Broken::Io(_)) if !work.answer.began => {}
                result => return work.seen(result, request.target),
            }
        }
        // Boxed: resolving, dialling and TLS are large, and a reused connection needs none.
        match Box::pin(self.connect(request.target, work)).await {
            Ok(conn) => {
                let result = self.exchange(conn, request, sign, work).await;
                work.seen(result, request.target)
            }
            Err(seen) => seen,
        }
    }

    async fn connect(&self, target: &Target, work: &mut Work) -> Result<Conn, Seen> {
        work.conn = None;
        let trace = &mut work.trace;
        trace.enter(Stage::Dns);
        let addresses = self.names.resolve(&self.guard, target).await?;
        trace.enter(Stage::Connect);
        let (tcp, remote) = match &self.proxy {
            None => dial(&addresses).await?,
            Some(proxy) => proxy.tunnel(&self.names, &addresses).await?,
        };
        let stream = if target.is_tls() {
            trace.enter(Stage::Tls);
            let name = target.server_name().clone();
            let tls = TlsConnector::from(self.tls.clone())
                .connect(name, tcp)
                .await
                .map_err(|cause| tls::handshake_failure(&cause, target.host()))?;
            Stream::Tls(Box::new(tls))
        } else {
            Stream::Plain(tcp)
        };
        Ok(Conn::new(stream, target.clone(), remote, Instant::now()))
    }

    async fn exchange(
        &self,
        conn: Conn,
        request: &Request<'_>,
        sign: Sign<'_>,
        work: &mut Work,
    ) -> Result<(), Broken> {
        let conn = work.conn.insert(conn);
        work.answer = Answer::new();
        work.sends += 1;
        work.trace.enter(Stage::Send);
        let joined = request.write(&self.user_agent, sign, &mut conn.wire);
        let rest = &request.body[joined..];
        talk(conn, rest, &mut work.answer, &mut work.trace).await
    }

    /// Puts the connection back or drops it, and hands over what is known.
    fn conclude(&self, request: &Request<'_>, work: Work, seen: Seen, started: Instant) -> Exchange {
        let Work { conn, answer, sends, mut trace } = work;
        let is_whole = answer.is_done() && matches!(seen, Seen::Status(_));
        let stage = if is_whole { Stage::Done } else { trace.stage };
        trace.enter(stage);
        let now = trace.since;
        let remote = conn.as_ref().map(|conn| conn.remote);
        let tls_version = conn.as_ref().and_then(Conn::tls_version);
        if let Some(conn) = conn.filter(|_| is_whole && answer.keep_alive) {
            self.pool.put(request.pool_key, conn, now);
        }
        Exchange {
            seen,
            sends,
            remote,
            tls_version,
            stage,
            phases: trace.phases,
            duration_us: micros(now - started).into(),
            headers: answer.head,
            body: Bytes::from(answer.body),
            truncated: answer.truncated,
            byte_may_have_left: trace.byte_may_have_left,
        }
    }
}

impl Work {
    /// What the deadline leaves: the status, if it was known.
    fn timed_out(&mut self, request: &Request<'_>) -> Seen {
        if let Some(status) = self.answer.status {
            self.answer.truncated |= !self.answer.is_done();
            self.answer.keep_alive = false;
            return Seen::Status(status);
        }
        let what = match self.trace.stage {
            Stage::Dns => "DNS did not answer",
            Stage::Connect => "no connection stood",
            Stage::Tls => "the TLS handshake was not done",
            Stage::Send => "the request was not taken",
            Stage::Wait => "no answer came",
            Stage::Body | Stage::Done => "the answer's head was not whole",
        };
        let host = request.target.host_port();
        let within = request.timeout;
        Seen::Failed(Cause::new(CauseKind::Timeout, format!("{what} within {within:?} ({host}).")))
    }

    fn seen(&self, result: Result<(), Broken>, target: &Target) -> Seen {
        let broken = match (result, self.answer.status) {
            (Ok(()), Some(status)) => return Seen::Status(status),
            (Ok(()), None) => Broken::Closed("the connection was closed without an answer"),
            (Err(broken), _) => broken,
        };
        let host = target.host_port();
        Seen::Failed(match broken {
            Broken::Closed(why) => Cause::new(CauseKind::Closed, format!("{why} ({host}).")),
            Broken::Malformed(why) => Cause::new(CauseKind::Malformed, format!("{why} ({host}).")),
            Broken::Io(cause) => match (tls::tls_error(&cause), OurFault::of(&cause)) {
                (Some(error), _) => tls::in_words(error, target.host()),
                (None, Some(fault)) => return Seen::OurFault(fault),
                (None, None) => Cause::new(
                    CauseKind::Reset,
                    format!("the connection broke before an answer: {cause} ({host})."),
                ),
            },
        })
    }
}

impl Trace {
    fn new(now: Instant) -> Self {
        Self { stage: Stage::Dns, phases: Phases::default(), since: now, byte_may_have_left: false }
    }

    /// Charges the time since the last change to the stage that ends, and begins `next`.
    fn enter(&mut self, next: Stage) {
        let now = Instant::now();
        let took = micros(now - self.since);
        let phase = match self.stage {
            Stage::Dns => &mut self.phases.dns_us,
            Stage::Connect => &mut self.phases.connect_us,
            Stage::Tls => &mut self.phases.tls_us,
            Stage::Send => &mut self.phases.send_us,
            Stage::Wait => &mut self.phases.wait_us,
            Stage::Body | Stage::Done => &mut self.phases.body_us,
        };
        *phase = phase.saturating_add(took);
        self.since = now;
        self.stage = next;
    }

    /// Goes from one stage to the next, unless it has gone further already.
    pub(crate) fn enter_from(&mut self, here: Stage, next: Stage) {
        if self.stage == here {
            self.enter(next);
        }
    }

    /// A byte of an answer came.
    pub(crate) fn first_byte(&mut self) {
        if self.stage < Stage::Body {
            self.enter(Stage::Body);
        }
    }
}

fn micros(span: Duration) -> u32 {
    u32::try_from(span.as_micros()).unwrap_or(u32::MAX)
}
