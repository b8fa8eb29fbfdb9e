//! The way out through a proxy.

mod support;

use std::net::SocketAddr;

use gonets_egress::{CauseKind, Egress, OurFault, Proxy, Seen};
use support::*;
use tokio::io::{AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A proxy that tunnels, or answers `instead`; tells the head of each request.
async fn proxy(instead: Option<&'static str>) -> (Peer, UnboundedReceiver<String>) {
    let (tell, told) = unbounded_channel();
    let peer = Peer::start(move |mut stream, _| {
        let tell = tell.clone();
        async move {
            let head = read_head(&mut stream).await;
            let to: SocketAddr = head.split(' ').nth(1).unwrap().parse().unwrap();
            tell.send(head).unwrap();
            if let Some(answer) = instead {
                stream.write_all(answer.as_bytes()).await.unwrap();
                return;
            }
            let mut there = TcpStream::connect(to).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
            copy_bidirectional(&mut stream, &mut there).await.ok();
        }
    })
    .await;
    (peer, told)
}

fn through(proxy: &Peer) -> std::sync::Arc<Egress> {
    let mut config = open_config();
    config.proxy = Some(Proxy::parse(&format!("http://u:p@{}", proxy.address)).unwrap());
    Egress::new(config).unwrap()
}

#[tokio::test]
async fn everything_goes_through_the_tunnel_to_the_vetted_address() {
    let peer = Peer::keeping(OK).await;
    let (proxy, mut told) = proxy(None).await;
    let egress = through(&proxy);
    let url = format!("http://localhost:{}/hook", peer.address.port());
    for _ in 0..2 {
        let exchange = send(&egress, &url).await;
        assert_eq!((status(&exchange), exchange.remote), (200, Some(peer.address)));
    }
    let head = told.recv().await.unwrap();
    assert!(head.starts_with(&format!("CONNECT {} HTTP/1.1\r\n", peer.address)), "{head}");
    assert!(head.contains("Proxy-Authorization: Basic dTpw\r\n"), "{head}");
    assert_eq!((proxy.connections(), peer.connections()), (1, 1));
}

#[tokio::test]
async fn a_denied_address_does_not_even_reach_the_proxy() {
    let (proxy, _told) = proxy(None).await;
    let mut config = open_config();
    config.proxy = Some(Proxy::parse(&format!("http://{}", proxy.address)).unwrap());
    config.allow_networks.clear();
    let exchange = send(&Egress::new(config).unwrap(), "http://localhost:9/").await;
    assert!(matches!(exchange.seen, Seen::Blocked(_)), "{:?}", exchange.seen);
    assert_eq!(proxy.connections(), 0);
}

#[tokio::test]
async fn what_the_proxy_refuses_is_our_fault_and_what_it_cannot_reach_is_not() {
    let (busy, _told) = proxy(Some("HTTP/1.1 502 Bad Gateway\r\n\r\n")).await;
    let exchange = send(&through(&busy), "http://127.0.0.1:9/").await;
    assert_eq!((failure(&exchange), exchange.sends), (CauseKind::ConnectFailed, 0));
    for answer in ["HTTP/1.1 407 Who\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nextra", "SSH-2.0\r\n", ""] {
        let (strict, _told) = proxy(Some(answer)).await;
        let exchange = send(&through(&strict), "http://127.0.0.1:9/").await;
        assert!(matches!(exchange.seen, Seen::OurFault(OurFault::ProxyDown(_))), "{:?}", exchange.seen);
    }
}
