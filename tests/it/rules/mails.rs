//! Mails to people, in their language, through a real exchange of SMTP: R21.

use std::time::Duration;

use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::Instant,
};

use super::partner::{self, Partner};
use crate::{
    client::Client,
    receiver::Reply,
    server::{Data, Server},
};

/// A mail server that shows what it takes.
async fn mail_server() -> (u16, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let (sender, mails) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let sender = sender.clone();
            tokio::spawn(async move { drop(take_mail(stream, sender).await) });
        }
    });
    (port, mails)
}

async fn take_mail(stream: TcpStream, mails: mpsc::UnboundedSender<String>) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    write.write_all(b"220 here\r\n").await?;
    while let Some(line) = lines.next_line().await? {
        if line == "DATA" {
            write.write_all(b"354 go on\r\n").await?;
            let mut mail = String::new();
            while let Some(line) = lines.next_line().await? {
                if line == "." {
                    break;
                }
                mail.push_str(&line);
                mail.push('\n');
            }
            // The test may be over.
            let _ = mails.send(mail);
        }
        write.write_all(b"250 ok\r\n").await?;
    }
    Ok(())
}

/// The body of a mail as a person reads it.
fn read(mail: &str) -> String {
    let (head, body) = mail.split_once("\n\n").expect("a head and a body");
    let head = head.to_ascii_lowercase();
    if head.contains("content-transfer-encoding: base64") {
        use base64::Engine as _;
        let text: String = body.split_whitespace().collect();
        let bytes = base64::engine::general_purpose::STANDARD.decode(text).expect("base64");
        return String::from_utf8(bytes).expect("UTF-8");
    }
    let mut bytes = Vec::new();
    let joined = body.replace("=\n", "");
    let mut rest = joined.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = (*first == b'=').then(|| tail.get(..2)).flatten();
        let byte = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).expect("UTF-8")
}

async fn told_by_mail(language: &str) -> String {
    let (port, mut mails) = mail_server().await;
    let partner = Partner::start(Reply::status(410)).await;
    let config = format!(
        "[smtp]\nhost = \"127.0.0.1\"\nport = {port}\nsecurity = \"none\"\nfrom = \"gonets@example.com\"\noperator = \"ops@example.com\"\nlanguage = \"{language}\"\n"
    );
    let server = Server::on(Data::configured(&config), &[]);
    let mut client = Client::of(server.address());
    let (app, endpoint) = partner::subscriber(&mut client, "standard", &partner.url(), json!({})).await;
    let posted = Instant::now();
    for n in 0..20 {
        partner::post(&mut client, &app, false, n).await;
    }
    let path = format!("/api/v1/app/{app}/endpoint/{endpoint}");
    partner::until(&mut client, &path, "disabling", |shown| shown["disabled"] == true).await;
    // A notice that waits for its mail is not lost with the process.
    let server = Server::on(server.kill(), &[]);
    let mail =
        tokio::time::timeout(Duration::from_secs(90), mails.recv()).await.expect("in time").expect("a mail");
    assert!(posted.elapsed() >= Duration::from_secs(29), "it was gathered for a while");
    assert!(mail.contains("To: ops@example.com"), "{mail}");
    drop(server);
    assert!(mails.try_recv().is_err(), "one digest, not a flood");
    let text = read(&mail);
    assert!(text.contains(&partner.url()), "it names the endpoint: {text}");
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r21_the_operator_gets_one_mail_in_the_language_of_the_installation() {
    let (english, russian) = tokio::join!(told_by_mail("en"), told_by_mail("ru"));
    assert!(english.contains("was disabled: it answered 410 Gone"), "{english}");
    assert!(russian.contains("отключён: ответил 410 Gone"), "{russian}");
}
