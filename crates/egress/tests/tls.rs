//! TLS against peers with certificates of our own making.

mod support;

use std::sync::Arc;

use bytes::Bytes;
use gonets_egress::{CauseKind, Egress, Exchange, Request, Seen, Stage, TlsVersion};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
    date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, version};
use support::*;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_rustls::TlsAcceptor;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A certificate authority that lives for one test.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        Self::named("Test authority")
    }

    fn named(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn root(&self) -> CertificateDer<'static> {
        self.0.der().clone()
    }

    /// A server for `name` with a certificate from here, edited before it is signed.
    fn server(
        &self,
        name: &str,
        versions: &[&'static rustls::SupportedProtocolVersion],
        edit: impl FnOnce(&mut CertificateParams),
    ) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        edit(&mut params);
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap()
    }
}

const BOTH: [&rustls::SupportedProtocolVersion; 2] = [&version::TLS12, &version::TLS13];

/// A TLS peer that answers every request, and tells the server name each client asked for.
async fn tls_peer(config: ServerConfig) -> (Peer, UnboundedReceiver<Option<String>>) {
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let (tell, told) = unbounded_channel();
    let peer = Peer::start(move |stream, _| {
        let (acceptor, tell) = (acceptor.clone(), tell.clone());
        async move {
            let Ok(mut tls) = acceptor.accept(stream).await else {
                return;
            };
            tell.send(tls.get_ref().1.server_name().map(str::to_owned)).ok();
            while read_request(&mut tls).await.is_some() {
                tls.write_all(OK).await.unwrap();
                tls.flush().await.unwrap();
            }
        }
    })
    .await;
    (peer, told)
}

fn trusting(authority: &Authority) -> Arc<Egress> {
    let mut config = open_config();
    config.extra_roots = vec![authority.root()];
    Egress::new(config).unwrap()
}

fn cause(exchange: &Exchange) -> CauseKind {
    match &exchange.seen {
        Seen::Failed(cause) => {
            assert!(cause.sentence().ends_with('.'), "{cause}");
            cause.kind()
        }
        other => panic!("not failed: {other:?}"),
    }
}

fn https(peer: &Peer, host: &str) -> String {
    format!("https://{host}:{}/hook", peer.address.port())
}

#[tokio::test]
async fn an_added_authority_is_trusted_and_the_name_is_asked_for() {
    let authority = Authority::new();
    for (versions, spoken) in [(&BOTH[..], TlsVersion::V1_3), (&BOTH[..1], TlsVersion::V1_2)] {
        let server = authority.server("localhost", versions, |_| ());
        let (peer, mut told) = tls_peer(server).await;
        let egress = trusting(&authority);
        for _ in 0..3 {
            let exchange = send(&egress, &https(&peer, "localhost")).await;
            assert!(matches!(exchange.seen, Seen::Status(200)), "{:?}", exchange.seen);
            assert_eq!((exchange.tls_version, exchange.sends), (Some(spoken), 1));
            assert_eq!((&exchange.body[..], exchange.stage), (&b"ok"[..], Stage::Done));
        }
        assert_eq!(peer.connections(), 1, "session tickets must not cost the connection");
        assert_eq!(told.recv().await.unwrap().as_deref(), Some("localhost"));
    }
}

#[tokio::test]
async fn a_literal_address_is_verified_and_sends_no_name() {
    let authority = Authority::new();
    let (peer, mut told) = tls_peer(authority.server("127.0.0.1", &BOTH, |_| ())).await;
    let exchange = send(&trusting(&authority), &https(&peer, "127.0.0.1")).await;
    assert!(matches!(exchange.seen, Seen::Status(200)), "{:?}", exchange.seen);
    assert_eq!(told.recv().await.unwrap(), None);
}

#[tokio::test]
async fn a_large_body_goes_through_whole() {
    let authority = Authority::new();
    let (peer, _told) = tls_peer(authority.server("localhost", &BOTH, |_| ())).await;
    let body = Bytes::from(vec![b'7'; 3 << 20]);
    let exchange = send_within(&trusting(&authority), &https(&peer, "localhost"), body, LONG).await;
    assert!(matches!(exchange.seen, Seen::Status(200)), "{:?}", exchange.seen);
}

#[tokio::test]
async fn each_fault_of_a_certificate_has_its_own_cause() {
    let authority = Authority::new();
    let expired = authority.server("localhost", &BOTH, |p| {
        p.not_before = date_time_ymd(2000, 1, 1);
        p.not_after = date_time_ymd(2001, 1, 1);
    });
    let early = authority.server("localhost", &BOTH, |p| p.not_before = date_time_ymd(3000, 1, 1));
    let other_name = authority.server("other.example", &BOTH, |_| ());
    let stranger = Authority::named("Stranger").server("localhost", &BOTH, |_| ());
    // As `openssl req -x509` makes them.
    let self_signed = authority.server("localhost", &BOTH, |p| {
        p.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    });
    for (server, kind) in [
        (expired, CauseKind::TlsExpired),
        (early, CauseKind::TlsNotYetValid),
        (other_name, CauseKind::TlsNameMismatch),
        (stranger, CauseKind::TlsUnknownIssuer),
        (self_signed, CauseKind::TlsUnknownIssuer),
    ] {
        let (peer, _told) = tls_peer(server).await;
        let exchange = send(&trusting(&authority), &https(&peer, "localhost")).await;
        assert_eq!(cause(&exchange), kind);
        assert_eq!((exchange.stage, exchange.sends), (Stage::Tls, 0));
        assert!(!exchange.byte_may_have_left);
    }
}

#[tokio::test]
async fn an_authority_that_was_not_added_is_unknown() {
    let authority = Authority::new();
    let (peer, _told) = tls_peer(authority.server("localhost", &BOTH, |_| ())).await;
    let exchange = send(&open_egress(), &https(&peer, "localhost")).await;
    assert_eq!(cause(&exchange), CauseKind::TlsUnknownIssuer);
}

#[tokio::test]
async fn a_peer_that_speaks_only_old_versions_is_obsolete() {
    // The alert protocol_version (70), and a ServerHello of TLS 1.1.
    let alert = b"\x15\x03\x01\x00\x02\x02\x46".to_vec();
    let mut hello = b"\x16\x03\x02\x00\x2a\x02\x00\x00\x26\x03\x02".to_vec();
    hello.extend_from_slice(&[7; 32]);
    hello.extend_from_slice(b"\x00\x00\x2f\x00");
    for answer in [alert, hello] {
        let peer = Peer::start(move |mut stream, _| {
            let answer = answer.clone();
            async move {
                read_some(&mut stream).await;
                stream.write_all(&answer).await.unwrap();
                hold(&mut stream).await;
            }
        })
        .await;
        let exchange = send(&open_egress(), &https(&peer, "localhost")).await;
        assert_eq!(cause(&exchange), CauseKind::TlsObsolete, "{:?}", exchange.seen);
    }
}

#[tokio::test]
async fn a_peer_that_speaks_no_tls_or_leaves_is_told_apart() {
    let plain = Peer::start(|mut stream, _| async move {
        read_some(&mut stream).await;
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        hold(&mut stream).await;
    })
    .await;
    let exchange = send(&open_egress(), &https(&plain, "localhost")).await;
    assert_eq!(cause(&exchange), CauseKind::TlsFailed);
    let gone = Peer::start(|mut stream, _| async move {
        read_some(&mut stream).await;
    })
    .await;
    let exchange = send(&open_egress(), &https(&gone, "localhost")).await;
    assert_eq!(cause(&exchange), CauseKind::TlsFailed);
}

#[tokio::test]
async fn a_handshake_that_stalls_ends_at_the_deadline() {
    let peer = Peer::start(|mut stream, _| async move {
        hold(&mut stream).await;
    })
    .await;
    let egress = open_egress();
    let target = target(&egress, &https(&peer, "localhost"));
    let round = async |timeout| {
        let request = Request::json(1, &target, Bytes::new(), timeout);
        egress.send(request, &mut |_| ()).await
    };
    let exchange = with_room(round, |exchange| exchange.stage == Stage::Tls).await;
    assert_eq!((cause(&exchange), exchange.stage), (CauseKind::Timeout, Stage::Tls));
}
