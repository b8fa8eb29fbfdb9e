//! The tempers: what each peer does, and what an attempt at it must come to.

use std::{process::Command, sync::Arc, time::Duration};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
    date_time_ymd,
};
use rustls::{ServerConfig, pki_types::PrivateKeyDer};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};
use tokio_rustls::TlsAcceptor;

use crate::peer::{Peer, read_request};

/// One kind of peer, and what an attempt at it must come to.
pub struct Temper {
    pub name: &'static str,
    pub url: String,
    pub outcome: &'static str,
    /// 0: none.
    pub status: u16,
    pub cause: Option<&'static str>,
    /// Only the deadline ends it.
    pub lasts: bool,
    /// The answer's body as the journal shows it, where that is the point.
    pub shown: Option<&'static str>,
}

impl Temper {
    fn new(name: &'static str, url: String) -> Self {
        Self { name, url, outcome: "unavailable", status: 0, cause: None, lasts: false, shown: None }
    }

    fn fails(self, cause: &'static str) -> Self {
        Self { cause: Some(cause), lasts: cause == "timeout", ..self }
    }

    fn delivered(self) -> Self {
        Self { outcome: "delivered", status: 200, ..self }
    }

    fn lasting(self) -> Self {
        Self { lasts: true, ..self }
    }

    fn shown(self, text: &'static str) -> Self {
        Self { shown: Some(text), ..self }
    }
}

/// Between two bytes of a peer that drips.
const DRIP: Duration = Duration::from_millis(50);

/// A certificate authority that lives for one test.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new() -> Self {
        Self::named("Test authority")
    }

    fn named(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("a certificate"))
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A server for `name` with a certificate from here, edited before it is signed.
    fn server(&self, name: &str, edit: impl FnOnce(&mut CertificateParams)) -> ServerConfig {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        edit(&mut params);
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("they fit")
    }
}

/// Every temper there is.
pub async fn all(authority: &Authority) -> Vec<Temper> {
    let mut all = silent().await;
    all.extend(endless().await);
    all.extend(broken().await);
    all.extend(odd().await);
    all.extend(tls(authority).await);
    all
}

/// Answers each request with `answer`, then closes or is kept.
async fn answering(name: &'static str, answer: impl Into<Vec<u8>>) -> Temper {
    let answer: Arc<[u8]> = answer.into().into();
    let script = move |mut stream: TcpStream| {
        let answer = Arc::clone(&answer);
        async move {
            while read_request(&mut stream).await.is_some() {
                if stream.write_all(&answer).await.is_err() {
                    return;
                }
            }
        }
    };
    served(name, script).await
}

/// Answers one request with `answer` and closes.
async fn closing(name: &'static str, answer: &'static [u8]) -> Temper {
    let script = move |mut stream: TcpStream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(answer).await;
    };
    served(name, script).await
}

/// Answers with `head`, then with `piece` again and again until the other side has enough.
async fn repeating(name: &'static str, head: &'static [u8], piece: &'static [u8], pause: Duration) -> Temper {
    let script = move |mut stream: TcpStream| async move {
        read_request(&mut stream).await;
        let mut next = head;
        while stream.write_all(next).await.is_ok() {
            next = piece;
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
        }
    };
    served(name, script).await
}

async fn served<F, T>(name: &'static str, script: F) -> Temper
where
    F: Fn(TcpStream) -> T + Send + Sync + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    Temper::new(name, Peer::start(script).await.url("/"))
}

async fn silent() -> Vec<Temper> {
    let silence = |mut stream: TcpStream| async move {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
    };
    vec![
        never_accepts().await.fails("timeout"),
        served("never answers", silence).await.fails("timeout"),
        repeating("drips headers", b"HTTP/1.1 200 OK\r\nX-A: ", b"b", DRIP).await.fails("timeout"),
        repeating("drips the body", b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"x", DRIP)
            .await
            .delivered()
            .lasting(),
    ]
}

/// A port whose queue of connections is full, and stays so.
async fn never_accepts() -> Temper {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
    let listener = socket.listen(1).expect("it listens");
    let address = listener.local_addr().expect("an address");
    let filler = || async move { (TcpStream::connect(address).await, std::future::pending::<()>().await) };
    let fillers: Vec<_> = (0..8).map(|_| tokio::spawn(filler())).collect();
    tokio::spawn(async move {
        std::future::pending::<()>().await;
        drop((listener, fillers));
    });
    // Two fit. When a connection of ours has to wait, the queue is full.
    while tokio::time::timeout(Duration::from_millis(100), TcpStream::connect(address)).await.is_ok() {}
    Temper::new("never accepts", format!("http://{address}/"))
}

async fn endless() -> Vec<Temper> {
    const ZEROS: &[u8] = &[b'0'; 64 * 1024];
    const CHUNKS: &[u8] = b"4\r\nabcd\r\n4\r\nefgh\r\n4\r\nijkl\r\n4\r\nmnop\r\n";
    let now = Duration::ZERO;
    vec![
        repeating(
            "endless interim answers, slowly",
            b"HTTP/1.1 100 Continue\r\n\r\n",
            b"HTTP/1.1 103 Hints\r\n\r\n",
            Duration::from_millis(5),
        )
        .await
        .fails("timeout"),
        repeating(
            "endless interim answers",
            b"HTTP/1.1 100 Continue\r\n\r\n",
            b"HTTP/1.1 103 Hints\r\n\r\n",
            now,
        )
        .await
        .fails("malformed_answer"),
        repeating("a body of 10 GiB", b"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n", ZEROS, now)
            .await
            .delivered(),
        repeating("endless chunks", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", CHUNKS, now)
            .await
            .delivered(),
        answering("10,000 headers", {
            let mut head = b"HTTP/1.1 200 OK\r\n".to_vec();
            (0..10_000).for_each(|n| head.extend_from_slice(format!("X-{n}: v\r\n").as_bytes()));
            head.extend_from_slice(b"Content-Length: 2\r\n\r\nok");
            head
        })
        .await
        .fails("malformed_answer"),
        answering(
            "a header of 1 MB",
            [b"HTTP/1.1 200 OK\r\nX-A: ", &vec![b'a'; 1 << 20][..], b"\r\nContent-Length: 0\r\n\r\n"]
                .concat(),
        )
        .await
        .fails("malformed_answer"),
    ]
}

async fn broken() -> Vec<Temper> {
    let reset = |mut stream: TcpStream| async move {
        read_request(&mut stream).await;
        // Closing with no time to linger is a reset.
        let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
    };
    vec![
        answering("garbage", b"SSH-2.0-OpenSSH_9.2\r\n").await.fails("malformed_answer"),
        answering("binary garbage", vec![0xff, 0x00, 0x13, 0x80]).await.fails("malformed_answer"),
        served("a reset after the request", reset).await.fails("connection_reset"),
        closing("closes before the status line", b"").await.fails("connection_closed"),
        closing("closes in the status line", b"HTTP/1.1 2").await.fails("connection_closed"),
        answering("a NUL in a header", b"HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 2\r\n\r\nok")
            .await
            .fails("malformed_answer"),
    ]
}

async fn odd() -> Vec<Temper> {
    let twice =
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno";
    let early = b"HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    vec![
        answering("a hint, then 200", early).await.delivered().shown("ok"),
        answering("two answers at once", twice).await.delivered().shown("ok"),
        answering("a gzip bomb", bomb()).await.delivered(),
        answering(
            "bytes that are no text",
            b"HTTP/1.1 200 OK\r\nX-A: \xff\xfe\r\nContent-Length: 4\r\n\r\na\0\xffb",
        )
        .await
        .delivered()
        .shown("a\0\u{fffd}b"),
    ]
}

/// 10 MB of zeros in 10 kB.
fn bomb() -> Vec<u8> {
    let packed = Command::new("sh")
        .args(["-c", "head -c 10000000 /dev/zero | gzip -9"])
        .output()
        .expect("gzip is there")
        .stdout;
    assert!((5_000..50_000).contains(&packed.len()), "{} bytes", packed.len());
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", packed.len());
    [head.as_bytes(), &packed].concat()
}

async fn tls(authority: &Authority) -> Vec<Temper> {
    let expired = authority.server("localhost", |params| {
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2001, 1, 1);
    });
    let early = authority.server("localhost", |params| params.not_before = date_time_ymd(3000, 1, 1));
    let other = authority.server("other.example", |_| ());
    let stranger = Authority::named("Stranger").server("localhost", |_| ());
    let good = authority.server("localhost", |_| ());
    let stalled = Peer::start(|mut stream: TcpStream| async move {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
    })
    .await;
    vec![
        handshaking("TLS, expired", expired).await.fails("tls_expired"),
        handshaking("TLS, not yet valid", early).await.fails("tls_not_yet_valid"),
        handshaking("TLS, another name", other).await.fails("tls_name_mismatch"),
        handshaking("TLS, unknown issuer", stranger).await.fails("tls_unknown_issuer"),
        // Shows that the others fail for what is wrong with them.
        handshaking("TLS, as it should be", good).await.delivered().shown("ok"),
        Temper::new("TLS, stalled", format!("https://localhost:{}/", stalled.port())).fails("timeout"),
    ]
}

async fn handshaking(name: &'static str, config: ServerConfig) -> Temper {
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let peer = Peer::start(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut tls) = acceptor.accept(stream).await else { return };
            while read_request(&mut tls).await.is_some() {
                if tls.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.is_err() {
                    return;
                }
                let _ = tls.flush().await;
            }
        }
    })
    .await;
    Temper::new(name, format!("https://localhost:{}/", peer.port()))
}
