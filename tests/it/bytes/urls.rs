//! A URL reaches the wire as it was given, byte for byte, but for what egress.md takes away.

use std::{net::IpAddr, time::Duration};

use serde_json::json;
use tokio::sync::mpsc;

use crate::{
    client::Client,
    dns::{Dns, Says},
    peer::{Peer, Raw, keep},
    server::{Data, Server},
    world,
};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

async fn peer_at(address: &str) -> (Peer, mpsc::UnboundedReceiver<Raw>) {
    let (sender, came) = mpsc::unbounded_channel();
    let peer = Peer::at(address, move |stream| {
        let sender = sender.clone();
        async move { keep(stream, OK, |raw| drop(sender.send(raw))).await }
    })
    .await;
    (peer, came)
}

/// Makes an endpoint of that URL, and gives the one request of one message.
async fn sent(client: &mut Client, url: &str, came: &mut mpsc::UnboundedReceiver<Raw>) -> Raw {
    let (app, _) = world::subscriber(client, "shop", url).await;
    world::post(client, &app, &json!({"n": 1})).await;
    let next = tokio::time::timeout(Duration::from_secs(10), came.recv()).await;
    next.unwrap_or_else(|_| panic!("{url}: nothing came")).expect("the peer lives")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn path_and_query_arrive_as_they_were_written() {
    let (peer, mut came) = peer_at("127.0.0.1:0").await;
    let server = Server::start();
    let mut client = Client::of(server.address());
    for target in [
        "/",
        "/p?sp=%2Ftriggers%2Fmanual%2Frun&promptToModel=576%3Aa-b&promptToModel=577%3Ac&empty=&flag",
        "/%2f%2F%e2%9C%93?q=%3a%3A+a%20b&&x=1&x=2&?",
        "/a//b/%2E%2e./c;v=1,2?a=b=c&d[]=1&e[k]=2",
        "/?",
        "/~user/!$&'()*+,:@?/?:@!$()*,;",
        "/%00%0d%0aX-Injected:%201",
        "/q?url=https%3A%2F%2Fx.example%2F%3Fa%3D1%26b%3D2",
    ] {
        let raw = sent(&mut client, &peer.url(target), &mut came).await;
        assert_eq!(raw.request_line(), format!("POST {target} HTTP/1.1"));
        assert_eq!(raw.header("Host"), Some(format!("127.0.0.1:{}", peer.port()).as_str()));
    }
    for (rest, line) in [("", "POST / HTTP/1.1"), ("?a=%2f", "POST /?a=%2f HTTP/1.1")] {
        let raw = sent(&mut client, &peer.url(rest), &mut came).await;
        assert_eq!(raw.request_line(), line);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_host_line_names_the_host_without_dot_and_with_a_port_only_where_needed() {
    let loopback: IpAddr = "127.0.0.1".parse().unwrap();
    let dns = Dns::start(move |name, _| match name {
        "xn--bcher-kva.example" | "sink.example" => Says::Addresses(vec![loopback]),
        "port-80.example" => Says::Addresses(vec!["127.0.0.80".parse().unwrap()]),
        _ => Says::NoSuchName,
    })
    .await;
    let (peer, mut came) = peer_at("127.0.0.1:0").await;
    let (peer_v6, mut came_v6) = peer_at("[::1]:0").await;
    let (_peer_80, mut came_80) = peer_at("127.0.0.80:80").await;
    let data = Data::configured(&format!("[egress]\nresolver = \"{}\"\n", dns.address()));
    let server = Server::on(data, &[]);
    let mut client = Client::of(server.address());

    let port = peer.port();
    for (host, wire) in [
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost"),
        ("localhost.", "localhost"),
        ("LOCALHOST", "localhost"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("Sink.Example.", "sink.example"),
    ] {
        let raw = sent(&mut client, &format!("http://{host}:{port}/Case"), &mut came).await;
        assert_eq!(raw.request_line(), "POST /Case HTTP/1.1", "{host}");
        assert_eq!(raw.header("Host"), Some(format!("{wire}:{port}").as_str()), "{host}");
    }
    assert!(dns.asked("xn--bcher-kva.example") > 0, "asked by its ASCII form");

    let port = peer_v6.port();
    for host in ["[::1]", "[0:0:0:0:0:0:0:1]"] {
        let raw = sent(&mut client, &format!("http://{host}:{port}/v6"), &mut came_v6).await;
        assert_eq!(raw.header("Host"), Some(format!("[::1]:{port}").as_str()), "{host}");
    }
    for (url, wire) in [
        ("http://127.0.0.80/h", "127.0.0.80"),
        ("http://127.0.0.80:80/h", "127.0.0.80"),
        ("http://port-80.example:80/h", "port-80.example"),
    ] {
        let raw = sent(&mut client, url, &mut came_80).await;
        assert_eq!(raw.header("Host"), Some(wire), "{url}");
    }
}
