//! A mail server on a socket: takes what it is given and shows it.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

/// A mail as it came over the wire.
#[derive(Debug, Clone)]
pub struct Received {
    pub from: String,
    pub to: Vec<String>,
    pub data: String,
}

pub struct Sink {
    pub port: u16,
    pub mails: mpsc::UnboundedReceiver<Received>,
}

/// What the server says to RCPT, one after another; then it takes everybody.
pub type Refusals = Arc<Mutex<Vec<&'static str>>>;

impl Sink {
    pub async fn start(refusals: &[&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let (sender, mails) = mpsc::unbounded_channel();
        let refusals: Refusals = Arc::new(Mutex::new(refusals.to_vec()));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (sender, refusals) = (sender.clone(), Arc::clone(&refusals));
                tokio::spawn(async move { drop(serve(stream, sender, refusals).await) });
            }
        });
        Self { port, mails }
    }
}

async fn serve(
    stream: TcpStream,
    mails: mpsc::UnboundedSender<Received>,
    refusals: Refusals,
) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    write.write_all(b"220 sink\r\n").await?;
    let mut mail = Received { from: String::new(), to: Vec::new(), data: String::new() };
    while let Some(line) = lines.next_line().await? {
        let verb = line.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
        let answer = match verb.as_str() {
            "EHLO" | "HELO" => "250-sink\r\n250 8BITMIME\r\n",
            "MAIL" => {
                mail = Received { from: line.clone(), to: Vec::new(), data: String::new() };
                "250 ok\r\n"
            }
            "RCPT" => {
                let refusal = refusals.lock().expect("the list").pop();
                if refusal.is_none() {
                    mail.to.push(line.clone());
                }
                refusal.unwrap_or("250 ok\r\n")
            }
            "DATA" => {
                write.write_all(b"354 go on\r\n").await?;
                while let Some(line) = lines.next_line().await? {
                    if line == "." {
                        break;
                    }
                    mail.data.push_str(line.strip_prefix('.').unwrap_or(&line));
                    mail.data.push('\n');
                }
                let _ = mails.send(mail.clone());
                "250 taken\r\n"
            }
            "QUIT" => {
                write.write_all(b"221 bye\r\n").await?;
                return Ok(());
            }
            _ => "250 ok\r\n",
        };
        write.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}
