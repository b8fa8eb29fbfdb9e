//! `gonets listen`: a receiver for developers. Shows each delivery as it comes, verified or not,
//! and answers as told, so that retries can be watched from the other end.

use std::{sync::Arc, time::Duration};

use gonets_core::{clock::SystemClock, duration::DurationText};
use gonets_wire::VerifyingKey;
use http::StatusCode;

use crate::{
    error::Error,
    receiver::{Received, Receiver, Reply, on_loopback},
    runtime::{self, Signals},
    terminal::{Terminal, Tone},
};

#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// The port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 8090)]
    port: u16,
    /// The endpoint's secret (whsec_…, whsk_… or whpk_…), to verify signatures with; may be repeated
    #[arg(long, value_name = "SECRET", env = "GONETS_LISTEN_SECRET", hide_env_values = true)]
    secret: Vec<String>,
    /// The status to answer with
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(200..=599))]
    status: u16,
    /// How long to wait before answering: 250ms, 2s
    #[arg(long, default_value = "0s")]
    delay: DurationText,
    /// One line of JSON for each delivery
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub fn run(self) -> Result<(), Error> {
        runtime::on_one_thread(self.listen())
    }

    async fn listen(self) -> Result<(), Error> {
        let keys = self.secret.iter().map(|text| VerifyingKey::parse(text)).collect::<Result<Vec<_>, _>>()?;
        let mut signals = Signals::watch()?;
        let (listener, address) = on_loopback(self.port)
            .await
            .map_err(|cause| Error::listening(([127, 0, 0, 1], self.port).into(), "--port", cause))?;
        let terminal = Terminal::of_process();
        if !self.json {
            let how = if keys.is_empty() {
                "signatures are not checked without --secret"
            } else {
                "signatures are checked"
            };
            terminal.line(format_args!("Listening on http://{address}/  ({how}; answers {})", self.status));
        }
        let reply = Reply {
            status: StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK),
            delay: Duration::from(self.delay),
        };
        let json = self.json;
        let answer = move |request: Received| {
            terminal.line(if json {
                as_json(&request, reply).to_string()
            } else {
                as_text(terminal, &request, reply)
            });
            reply
        };
        let receiver = Receiver { clock: Arc::new(SystemClock::start()), keys, answer };
        tokio::select! {
            () = receiver.run(listener) => {}
            _ = signals.next() => {}
        }
        Ok(())
    }
}

fn as_text(terminal: Terminal, request: &Received, reply: Reply) -> String {
    let verdict = match &request.verified {
        None => terminal.paint(Tone::Faint, "not checked"),
        Some(Ok(verified)) => {
            terminal.paint(Tone::Good, format_args!("verified ({})", verified.scheme.name()))
        }
        Some(Err(problem)) => terminal.paint(Tone::Bad, format_args!("NOT verified: {problem}")),
    };
    format!(
        "{}  {} {}  {}  {verdict}, answered {}\n{}",
        request.at,
        request.method,
        request.path,
        request.message_id().unwrap_or("no id"),
        reply.status.as_u16(),
        terminal.paint(Tone::Faint, String::from_utf8_lossy(&request.body)),
    )
}

fn as_json(request: &Received, reply: Reply) -> serde_json::Value {
    let headers: serde_json::Map<String, serde_json::Value> = request
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), String::from_utf8_lossy(value).into_owned().into()))
        .collect();
    serde_json::json!({
        "at": request.at.to_rfc3339(),
        "method": request.method,
        "path": request.path,
        "id": request.message_id(),
        "verified": request.verified.as_ref().map(Result::is_ok),
        "scheme": request.verified.as_ref().and_then(|verdict| verdict.as_ref().ok()).map(|v| v.scheme.name()),
        "problem": request.verified.as_ref().and_then(|verdict| verdict.as_ref().err()).map(ToString::to_string),
        "status": reply.status.as_u16(),
        "headers": headers,
        "body": String::from_utf8_lossy(&request.body),
    })
}

#[cfg(test)]
mod tests {
    use gonets_core::time::Timestamp;
    use gonets_wire::VerifyError;

    use super::*;

    fn received(verified: Option<Result<gonets_wire::Verified, VerifyError>>) -> Received {
        Received {
            at: Timestamp::from_millis(1_000),
            method: "POST".to_owned(),
            path: "/hook".to_owned(),
            headers: vec![("webhook-id".to_owned(), b"msg_1".to_vec())],
            body: bytes::Bytes::from_static(b"{\"a\":1}"),
            verified,
        }
    }

    const REPLY: Reply = Reply { status: StatusCode::OK, delay: Duration::ZERO };

    #[test]
    fn an_unverified_delivery_is_told_with_the_reason() {
        let request = received(Some(Err(VerifyError::NoSignature)));
        let text = as_text(Terminal::plain(), &request, REPLY);
        assert!(text.contains("msg_1  NOT verified: no signature") && text.ends_with("{\"a\":1}"), "{text}");
        assert_eq!(as_json(&request, REPLY)["verified"], false);
    }

    #[test]
    fn without_a_secret_nothing_is_claimed() {
        let request = received(None);
        assert!(as_text(Terminal::plain(), &request, REPLY).contains("not checked, answered 200"));
        assert_eq!(as_json(&request, REPLY)["verified"], serde_json::Value::Null);
    }
}
