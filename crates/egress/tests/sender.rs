//! The sender against scripted peers: the well-behaved, the early, the late and the hostile.

mod support;

use std::time::Duration;

use bytes::Bytes;
use gonets_egress::{CauseKind, Egress, EgressConfig, Request, Seen, Stage};
use support::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[tokio::test]
async fn a_usual_exchange_gives_status_body_address_and_times() {
    let peer = Peer::keeping(OK).await;
    let exchange = send(&open_egress(), &peer.url()).await;
    assert_eq!((status(&exchange), exchange.sends), (200, 1));
    assert_eq!((&exchange.body[..], exchange.truncated), (&b"ok"[..], false));
    assert_eq!((exchange.remote, exchange.stage), (Some(peer.address), Stage::Done));
    assert!(exchange.byte_may_have_left && exchange.tls_version.is_none());
    let phases = exchange.phases;
    let sum = phases.dns_us + phases.connect_us + phases.send_us + phases.wait_us + phases.body_us;
    assert!(u64::from(sum) <= exchange.duration_us && exchange.duration_us > 0);
}

#[tokio::test]
async fn the_request_reaches_the_wire_byte_for_byte() {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let peer = Peer::start(move |mut stream, _| {
        let tell = tell.clone();
        async move {
            tell.send(read_request(&mut stream).await.unwrap()).unwrap();
            stream.write_all(OK).await.unwrap();
        }
    })
    .await;
    let egress = open_egress();
    let path = "/p?sp=%2Ftriggers%2Fmanual%2Frun&promptToModel=576%3Aa-b&promptToModel=577%3Ac&empty=&flag";
    let target = target(&egress, &format!("http://{}{path}", peer.address));
    for length in [2, 65_536, 1 << 20] {
        let body = Bytes::from(vec![b'7'; length]);
        let mut request = Request::json(1, &target, body.clone(), LONG);
        request.custom_headers = b"X-Shop: 7\r\n";
        let exchange = egress.send(request, &mut |wire| wire.extend_from_slice(b"webhook-id: m\r\n")).await;
        assert_eq!(status(&exchange), 200);
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: Gonets/{}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\nX-Shop: 7\r\n\
             webhook-id: m\r\n\r\n",
            peer.address,
            env!("CARGO_PKG_VERSION"),
        );
        let wire = told.recv().await.unwrap();
        assert_eq!(String::from_utf8_lossy(&wire[..head.len()]), head);
        assert!(wire[head.len()..] == body[..]);
    }
}

#[tokio::test]
async fn a_connection_is_reused_within_one_endpoint_and_not_by_another() {
    let peer = Peer::keeping(OK).await;
    let egress = open_egress();
    let target = target(&egress, &peer.url());
    for (key, connections) in [(1, 1), (1, 1), (2, 2), (1, 2)] {
        let request = Request::json(key, &target, Bytes::new(), LONG);
        let exchange = egress.send(request, &mut |_| ()).await;
        assert_eq!((status(&exchange), exchange.sends), (200, 1));
        assert_eq!(peer.connections(), connections);
    }
    assert_eq!(egress.idle_connections(), 2);
    egress.forget(1);
    assert_eq!(egress.idle_connections(), 1);
}

#[tokio::test]
async fn a_connection_too_old_too_long_idle_or_too_many_is_not_kept() {
    let peer = Peer::keeping(OK).await;
    let strict: [fn(&mut EgressConfig); 3] =
        [|c| c.idle_max = Duration::ZERO, |c| c.age_max = Duration::ZERO, |c| c.pool_max_idle = 0];
    for edit in strict {
        let mut config = open_config();
        edit(&mut config);
        let egress = Egress::new(config).unwrap();
        let before = peer.connections();
        for _ in 0..2 {
            assert_eq!(send(&egress, &peer.url()).await.sends, 1);
        }
        assert_eq!(peer.connections(), before + 2);
    }
}

#[tokio::test]
async fn the_sweeper_closes_what_lay_idle_too_long() {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let peer = Peer::start(move |mut stream, _| {
        let tell = tell.clone();
        async move {
            read_request(&mut stream).await;
            stream.write_all(OK).await.unwrap();
            tell.send(stream.read(&mut [0]).await.unwrap()).unwrap();
        }
    })
    .await;
    let mut config = open_config();
    config.idle_max = Duration::from_millis(50);
    let egress = Egress::new(config).unwrap();
    tokio::spawn(egress.clone().run_sweeper());
    assert_eq!(status(&send(&egress, &peer.url()).await), 200);
    assert_eq!(told.recv().await, Some(0));
    assert_eq!(egress.idle_connections(), 0);
}

#[tokio::test]
async fn a_reused_connection_that_dies_before_an_answer_is_replaced_at_once() {
    // The first connection takes a second request and closes without a byte.
    let peer = Peer::start(|mut stream, nth| async move {
        read_request(&mut stream).await;
        stream.write_all(OK).await.unwrap();
        read_request(&mut stream).await;
        if nth > 0 {
            stream.write_all(OK).await.ok();
        }
    })
    .await;
    let egress = open_egress();
    let target = target(&egress, &peer.url());
    let mut signed = 0;
    for sends in [1, 2] {
        let request = Request::json(1, &target, Bytes::from_static(b"{}"), LONG);
        let exchange = egress.send(request, &mut |_| signed += 1).await;
        assert_eq!((status(&exchange), exchange.sends), (200, sends));
    }
    assert_eq!((signed, peer.connections()), (3, 2));
}

#[tokio::test]
async fn a_fresh_connection_that_dies_before_an_answer_is_a_failure() {
    let peer = Peer::start(|mut stream, _| async move {
        read_request(&mut stream).await;
    })
    .await;
    let exchange = send(&open_egress(), &peer.url()).await;
    assert_eq!((failure(&exchange), exchange.sends), (CauseKind::Closed, 1));
    assert_eq!((peer.connections(), exchange.stage), (1, Stage::Wait));
}

#[tokio::test]
async fn a_pooled_connection_the_peer_has_closed_costs_no_send() {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let peer = Peer::start(move |mut stream, _| {
        let tell = tell.clone();
        async move {
            read_request(&mut stream).await;
            stream.write_all(OK).await.unwrap();
            drop(stream);
            tell.send(()).unwrap();
        }
    })
    .await;
    let egress = open_egress();
    for _ in 0..3 {
        let exchange = send(&egress, &peer.url()).await;
        assert_eq!(status(&exchange), 200);
        // Seen in time or not, it must never be a failure.
        assert!(exchange.sends <= 2);
        told.recv().await.unwrap();
    }
}

#[tokio::test]
async fn leftover_bytes_cost_the_connection() {
    let peer = Peer::keeping([OK, b"HTTP/1.1 500 Poison\r\nContent-Length: 0\r\n\r\n"].concat()).await;
    let egress = open_egress();
    for connections in [1, 2] {
        assert_eq!(status(&send(&egress, &peer.url()).await), 200);
        assert_eq!((peer.connections(), egress.idle_connections()), (connections, 0));
    }
}

#[tokio::test]
async fn an_early_413_is_that_status_and_no_broken_pipe() {
    let peer = Peer::start(|mut stream, _| async move {
        stream.read_exact(&mut [0; 64]).await.unwrap();
        stream.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig").await.unwrap();
        // Closed with the body unread: a reset.
    })
    .await;
    let body = Bytes::from(vec![b'x'; 5 << 20]);
    for _ in 0..10 {
        let exchange = send_within(&open_egress(), &peer.url(), body.clone(), LONG).await;
        assert_eq!(status(&exchange), 413);
    }
}

#[tokio::test]
async fn an_early_answer_from_a_peer_that_never_reads_ends_the_exchange() {
    let peer = Peer::start(|mut stream, _| async move {
        stream.read_exact(&mut [0; 64]).await.unwrap();
        stream.write_all(OK).await.unwrap();
        std::future::pending::<()>().await;
    })
    .await;
    let egress = open_egress();
    let body = Bytes::from(vec![b'x'; 20 << 20]);
    let exchange = send_within(&egress, &peer.url(), body, LONG).await;
    assert_eq!((status(&exchange), egress.idle_connections()), (200, 0));
}

#[tokio::test]
async fn interim_answers_are_skipped_and_a_lone_one_is_the_status() {
    let hints = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
    let peer = Peer::answering([hints, OK].concat()).await;
    assert_eq!(status(&send(&open_egress(), &peer.url()).await), 200);
    let peer = Peer::answering(&hints[..]).await;
    assert_eq!(status(&send(&open_egress(), &peer.url()).await), 103);
    let peer = Peer::answering("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nzzz").await;
    assert_eq!(status(&send(&open_egress(), &peer.url()).await), 101);
}

#[tokio::test]
async fn bodies_of_every_framing_are_read() {
    for (answer, body) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwiki", "wiki"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nwi\r\n2\r\nki\r\n0\r\n\r\n", "wiki"),
        ("HTTP/1.1 200 OK\r\n\r\nwiki", "wiki"),
        ("HTTP/1.0 200 OK\r\n\r\nwiki", "wiki"),
        ("HTTP/1.1 204 No Content\r\n\r\n", ""),
        ("HTTP/1.1 205 Reset\r\n\r\n", ""),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nwiki", "wiki"),
    ] {
        let exchange = send(&open_egress(), &Peer::answering(answer).await.url()).await;
        assert_eq!(exchange.body, body, "{answer}");
        assert!((200..206).contains(&status(&exchange)) && !exchange.truncated, "{answer}");
    }
}

#[tokio::test]
async fn an_endless_body_is_cut_at_its_cap_and_the_connection_dropped() {
    for head in [
        "HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
    ] {
        let peer = Peer::start(move |mut stream, _| async move {
            read_request(&mut stream).await;
            stream.write_all(head.as_bytes()).await.unwrap();
            while stream.write_all(&[0; 4096]).await.is_ok() {}
        })
        .await;
        let egress = open_egress();
        let exchange = send(&egress, &peer.url()).await;
        assert_eq!((status(&exchange), exchange.body.len()), (200, 16 * 1024));
        assert!(exchange.truncated && egress.idle_connections() == 0);
    }
}

#[tokio::test]
async fn what_is_no_answer_is_a_failure_with_a_reason() {
    let long_head = format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "a".repeat(64 * 1024));
    let many_lines = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(65));
    for (answer, kind) in [
        ("", CauseKind::Closed),
        ("HTTP/1.1 2", CauseKind::Closed),
        ("SSH-2.0-x\r\n", CauseKind::Malformed),
        ("HTTP/1.1 200 OK\r\nno colon here\r\n\r\n", CauseKind::Malformed),
        ("HTTP/1.1 999 Odd\r\n\r\n", CauseKind::Malformed),
        (&long_head, CauseKind::Malformed),
        (&many_lines, CauseKind::Malformed),
    ] {
        let exchange = send(&open_egress(), &Peer::answering(answer).await.url()).await;
        assert_eq!(failure(&exchange), kind, "{:?}", &answer[..answer.len().min(40)]);
        let Seen::Failed(cause) = &exchange.seen else { unreachable!() };
        assert!(cause.sentence().ends_with('.') && cause.sentence().contains("127.0.0.1"));
    }
}

#[tokio::test]
async fn a_closed_port_is_refused_and_nothing_was_sent() {
    let (_closed, address) = closed_port();
    let exchange = send(&open_egress(), &format!("http://{address}/")).await;
    assert_eq!(failure(&exchange), CauseKind::ConnectRefused);
    assert_eq!((exchange.sends, exchange.byte_may_have_left), (0, false));
    assert_eq!(exchange.stage, Stage::Connect);
}

#[tokio::test]
async fn a_redirect_is_a_status_and_is_not_followed() {
    let canary = Peer::keeping(OK).await;
    for code in [301, 302, 303, 307, 308] {
        let answer =
            format!("HTTP/1.1 {code} Moved\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", canary.url());
        let exchange = send(&open_egress(), &Peer::answering(answer).await.url()).await;
        assert_eq!(status(&exchange), code);
        let location = exchange.header_values("location").next();
        assert_eq!(location, Some(canary.url().as_bytes()));
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn every_retry_after_line_is_handed_over() {
    let answer = "HTTP/1.1 429 Slow\r\nRetry-After: 5\r\nretry-after: 120\r\nContent-Length: 0\r\n\r\n";
    let exchange = send(&open_egress(), &Peer::answering(answer).await.url()).await;
    let values: Vec<_> = exchange.retry_after_values().collect();
    assert_eq!(values, [&b"5"[..], b"120"]);
}

#[tokio::test]
async fn a_blocked_address_is_never_dialled() {
    let peer = Peer::keeping(OK).await;
    let open = open_egress();
    let target = target(&open, &peer.url());
    let mut config = open_config();
    config.allow_networks.clear();
    let closed = Egress::new(config).unwrap();
    assert!(closed.vet(&target).await.is_err());
    assert!(open.vet(&target).await.is_ok());
    let exchange = closed.send(Request::json(1, &target, Bytes::new(), LONG), &mut |_| ()).await;
    let Seen::Blocked(denied) = &exchange.seen else { panic!("{:?}", exchange.seen) };
    assert_eq!((denied.code(), denied.partner()), ("address", "this address is not allowed"));
    assert_eq!((exchange.sends, exchange.stage, peer.connections()), (0, Stage::Dns, 0));
}

#[tokio::test]
async fn localhost_needs_no_dns_but_still_needs_the_guard() {
    let peer = Peer::keeping(OK).await;
    let url = format!("http://localhost:{}/", peer.address.port());
    assert_eq!(status(&send(&open_egress(), &url).await), 200);
    let mut config = open_config();
    config.allow_networks.clear();
    let exchange = send(&Egress::new(config).unwrap(), &url).await;
    assert!(matches!(exchange.seen, Seen::Blocked(_)), "{:?}", exchange.seen);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_never_mix_their_paths_headers_or_answers() {
    // Answers with the path and the id it got, and closes every third connection at once.
    let peer = Peer::start(|mut stream, nth| async move {
        while let Some(request) = read_request(&mut stream).await {
            let text = String::from_utf8(request).unwrap();
            let path = text.split(' ').nth(1).unwrap();
            let id = text.lines().find_map(|line| line.strip_prefix("webhook-id: ")).unwrap();
            let body = format!("{path} {id}");
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).await.ok();
            if nth % 3 == 0 {
                return;
            }
        }
    })
    .await;
    let egress = open_egress();
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 0..40u64 {
        let (egress, endpoint) = (egress.clone(), worker % 10);
        let target = target(&egress, &format!("http://{}/hook/{endpoint}", peer.address));
        tasks.spawn(async move {
            for n in 0..50 {
                let id = format!("msg_{worker}_{n}");
                let request = Request::json(endpoint, &target, Bytes::from_static(b"{}"), LONG);
                let exchange = egress
                    .send(request, &mut |wire| {
                        wire.extend_from_slice(format!("webhook-id: {id}\r\n").as_bytes());
                    })
                    .await;
                assert_eq!(status(&exchange), 200);
                assert_eq!(exchange.body, format!("/hook/{endpoint} {id}"));
            }
        });
    }
    while let Some(result) = tasks.join_next().await {
        result.unwrap();
    }
}
