//! The guard from outside, on servers that run as in production: whatever a partner writes and
//! whatever DNS says, no connection reaches this machine.

mod creation;
mod delivery;
mod namespace;

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    client::Client,
    dns::Dns,
    peer::Peer,
    server::{Data, STRICT_KEY, Server},
};

/// A listener that nobody may reach.
async fn canary(address: &str) -> Peer {
    Peer::at(address, |stream| async move { drop(stream) }).await
}

/// A server with the default policy but for what is in `egress` (lines of TOML), that asks `dns`.
fn server(dns: &Dns, egress: &str) -> Server {
    Server::strict(Data::configured(&format!(
        "[egress]\nresolver = \"{}\"\n{egress}\n\
         [delivery]\ndefault_profile = \"brief\"\n\
         [profiles.brief]\ntimeout = \"4s\"\noutage = {{ delays = [\"1h\"] }}\nbreaker = {{ enabled = false }}\n",
        dns.address()
    )))
}

/// Any port over plain http: the addresses alone are in the way.
const OPEN_PORTS: &str = "allow_http = true\nallow_ports = \"any\"";

fn client(server: &Server) -> Client {
    Client::with_key(server.address(), STRICT_KEY)
}

/// Tries to make an endpoint; gives the status and the answer.
async fn create(client: &mut Client, app: &str, url: &str) -> (u16, Value) {
    let path = format!("/api/v1/app/{app}/endpoint");
    let answer = client.call("POST", &path, &[], json!({"url": url}).to_string().as_bytes()).await;
    let answer = answer.expect("an answer");
    (answer.status, answer.json())
}

/// The longest an attempt may take here, with the journal's part, on a machine that stalls.
const SOON: Duration = Duration::from_secs(15);
