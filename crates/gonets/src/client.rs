//! Asks a running Gonets over its API, for the commands that use `--url` and `--token`.
//!
//! Plain HTTP only, one connection for each request: these commands ask a few questions of a
//! server nearby. Whoever needs TLS has a proxy in front and a shell on its host.

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::error::Error;

/// Where the API is and who asks.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ApiFlags {
    /// The URL of a running server [default: http://127.0.0.1:8071]
    #[arg(long, env = "GONETS_URL", value_name = "URL")]
    pub url: Option<String>,
    /// A key of the server
    #[arg(long, env = "GONETS_TOKEN", hide_env_values = true, value_name = "KEY")]
    pub token: Option<String>,
}

const DEFAULT_URL: &str = "http://127.0.0.1:8071";

/// The API of one server.
#[derive(Clone)]
pub struct Api {
    /// `host:port`, for the connection and the Host line.
    authority: String,
    /// What stands before `/api/v1`, without a slash at the end.
    prefix: String,
    token: String,
}

impl Api {
    /// As the flags and variables say.
    ///
    /// # Errors
    /// Without a token, or with a URL that is not plain HTTP.
    pub fn of(flags: &ApiFlags) -> Result<Self, Error> {
        let token = flags.token.clone().ok_or(Error::NoToken)?;
        Self::new(flags.url.as_deref().unwrap_or(DEFAULT_URL), token)
    }

    /// # Errors
    /// When the URL is not `http://host[:port][/path]`.
    pub fn new(url: &str, token: String) -> Result<Self, Error> {
        let bad = |problem| Error::BadUrl { url: url.to_owned(), problem };
        let rest = match url.split_once("://") {
            Some(("http", rest)) => rest,
            Some(("https", _)) => {
                return Err(bad("this command speaks plain http only; ask the server on its own host"));
            }
            _ => return Err(bad("it must begin with http://")),
        };
        let (authority, prefix) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        if authority.is_empty() || authority.contains(['@', '?', '#', ' ']) {
            return Err(bad("it has no host"));
        }
        let authority = if has_port { authority.to_owned() } else { format!("{authority}:80") };
        Ok(Self { authority, prefix: prefix.trim_end_matches('/').to_owned(), token })
    }

    /// # Errors
    /// As [`Self::ask`].
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        self.ask(Method::GET, path, Bytes::new()).await
    }

    /// # Errors
    /// As [`Self::ask`].
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Error> {
        self.ask(Method::POST, path, body.to_string().into()).await
    }

    /// A request whose answer says nothing but that it was done.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub async fn order(&self, method: Method, path: &str, body: &Value) -> Result<(), Error> {
        self.exchange(method, path, body.to_string().into()).await.map(drop)
    }

    /// # Errors
    /// As [`Self::ask`].
    pub async fn delete(&self, path: &str) -> Result<(), Error> {
        self.exchange(Method::DELETE, path, Bytes::new()).await.map(drop)
    }

    /// One request; `path` is below `/api/v1`.
    ///
    /// # Errors
    /// When nobody answers, the answer is not 2xx, or its body is not what was expected.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<T, Error> {
        let name = name_of(&method);
        let answer = self.exchange(method, path, body).await?;
        serde_json::from_slice(&answer).map_err(|problem| Error::Answer {
            method: name,
            path: path.to_owned(),
            problem: problem.to_string(),
        })
    }

    async fn exchange(&self, method: Method, path: &str, body: Bytes) -> Result<Bytes, Error> {
        let name = name_of(&method);
        let (status, answer) = self
            .send(method, path, body)
            .await
            .map_err(|cause| Error::Unreachable { url: self.url(), cause })?;
        match status {
            status if status.is_success() => Ok(answer),
            StatusCode::UNAUTHORIZED => Err(Error::Unauthorized { url: self.url() }),
            status => Err(Error::Api {
                method: name,
                path: path.to_owned(),
                status: status.as_u16(),
                detail: detail(&answer),
            }),
        }
    }

    async fn send(&self, method: Method, path: &str, body: Bytes) -> Result<(StatusCode, Bytes), String> {
        let stream = TcpStream::connect(&self.authority).await.map_err(|cause| cause.to_string())?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|cause| cause.to_string())?;
        let driving = tokio::spawn(connection);
        let request = Request::builder()
            .method(method)
            .uri(format!("{}/api/v1{path}", self.prefix))
            .header(header::HOST, &self.authority)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .map_err(|cause| cause.to_string())?;
        let answer = sender.send_request(request).await.map_err(|cause| cause.to_string())?;
        let status = answer.status();
        let bytes = answer.into_body().collect().await.map_err(|cause| cause.to_string())?.to_bytes();
        driving.abort();
        Ok((status, bytes))
    }

    /// For sentences.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.authority, self.prefix)
    }
}

fn name_of(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::DELETE => "DELETE",
        _ => "request",
    }
}

/// What an error answer says: `detail` as a text, or the list of what is wrong with which field.
fn detail(answer: &[u8]) -> String {
    let body: Value = serde_json::from_slice(answer).unwrap_or_default();
    match &body["detail"] {
        Value::String(text) => text.clone(),
        Value::Array(problems) => {
            let one = |problem: &Value| {
                let place: Vec<_> = problem["loc"].as_array().into_iter().flatten().map(plain).collect();
                format!("{}: {}", place.join("."), plain(&problem["msg"]))
            };
            problems.iter().map(one).collect::<Vec<_>>().join("; ")
        }
        _ => String::from_utf8_lossy(answer).chars().take(200).collect(),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// One segment of a path: what a person typed, made safe.
pub fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_plain_http_with_or_without_port_and_path() {
        let of = |url: &str| Api::new(url, String::new()).map(|api| api.url());
        assert_eq!(of("http://localhost:8071").unwrap(), "http://localhost:8071");
        assert_eq!(of("http://10.0.0.1/gonets/").unwrap(), "http://10.0.0.1:80/gonets");
        assert_eq!(of("http://[::1]:8071").unwrap(), "http://[::1]:8071");
        for (url, problem) in [
            ("https://example.com", "plain http only"),
            ("localhost:8071", "must begin with http://"),
            ("http://", "has no host"),
            ("http://me@host", "has no host"),
        ] {
            let error = of(url).unwrap_err().to_string();
            assert!(error.contains(problem), "{url}: {error}");
        }
    }

    #[test]
    fn the_details_of_errors_become_sentences() {
        assert_eq!(detail(br#"{"code":"conflict","detail":"the uid is taken"}"#), "the uid is taken");
        let fields = br#"{"detail":[{"loc":["body","url"],"msg":"is missing","type":"value_error"}]}"#;
        assert_eq!(detail(fields), "body.url: is missing");
        assert_eq!(detail(b"<html>"), "<html>");
    }

    #[test]
    fn a_segment_cannot_leave_its_place_in_the_path() {
        assert_eq!(segment("app_1.x-Y"), "app_1.x-Y");
        assert_eq!(segment("../a b?"), "..%2Fa%20b%3F");
    }

    #[tokio::test]
    async fn without_a_server_the_sentence_says_where_it_was_looked_for() {
        // Bound and not listening: it refuses, and nobody else is given it.
        let closed = tokio::net::TcpSocket::new_v4().unwrap();
        closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let free = closed.local_addr().unwrap();
        let api = Api::new(&format!("http://{free}"), "t".to_owned()).unwrap();
        let error = api.get::<Value>("/app").await.unwrap_err().to_string();
        assert!(error.starts_with(&format!("no Gonets answers at http://{free}")), "{error}");
    }
}
