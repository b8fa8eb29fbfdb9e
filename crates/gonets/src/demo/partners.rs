//! The four partners: their tempers, and what each of them saw.

use std::{collections::HashMap, net::SocketAddr, sync::Arc, time::Duration};

use gonets_core::time::{Clock, Timestamp};
use gonets_wire::Secret;
use http::StatusCode;
use parking_lot::Mutex;
use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};
use tokio::net::TcpListener;

use super::profiles;
use crate::{
    client::Api,
    error::Error,
    receiver::{Received, Receiver, Reply, on_loopback},
};

/// How long `down` is down.
const DOWN_FOR: Duration = Duration::from_secs(8);
/// `flaky` answers 503 for the first part of each period.
const FLAKY_PERIOD: Duration = Duration::from_secs(30);
const FLAKY_BAD: Duration = Duration::from_secs(3);
/// How often `refusing` refuses each payment.
const REFUSALS: u32 = 2;

/// How a partner answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Temper {
    Healthy,
    Flaky,
    Refusing,
    /// Takes everything, once it is there.
    Down,
}

impl Temper {
    const ALL: [Self; 4] = [Self::Healthy, Self::Flaky, Self::Refusing, Self::Down];

    const fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Flaky => "flaky",
            Self::Refusing => "refusing",
            Self::Down => "down",
        }
    }

    const fn profile(self) -> &'static str {
        match self {
            Self::Refusing => profiles::PAYMENTS,
            _ => profiles::ORDERS,
        }
    }

    /// The status for a message that came `before` times already, `age` after the beginning.
    fn status(self, before: u32, age: Duration) -> StatusCode {
        match self {
            Self::Flaky if age.as_millis() % FLAKY_PERIOD.as_millis() < FLAKY_BAD.as_millis() => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::Refusing if before < REFUSALS => StatusCode::FORBIDDEN,
            _ => StatusCode::OK,
        }
    }
}

/// What one partner saw of one message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    pub requests: u32,
    pub verified: u32,
    /// Requests that were answered with 2xx; more than one is a duplicate.
    pub taken: u32,
}

/// What all partners saw, by partner and message.
pub type Sights = HashMap<(&'static str, String), Sight>;

/// The partners, open for business.
pub struct Partners {
    addresses: Vec<(Temper, SocketAddr, Secret)>,
    sights: Arc<Mutex<Sights>>,
}

impl Partners {
    /// Opens all four; `down` only has its port reserved, and comes up by itself later.
    ///
    /// # Errors
    /// When this machine has no free port.
    pub async fn open(clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let no_port = |cause| Error::Io { what: "a receiver of the demo found no free port", cause };
        let began = clock.now();
        let (mut addresses, sights) = (Vec::new(), Arc::new(Mutex::new(Sights::new())));
        for temper in Temper::ALL {
            let secret = Secret::generate()?;
            let receiver = receiver(temper, &secret, began, Arc::clone(&clock), Arc::clone(&sights));
            let address = if temper == Temper::Down {
                let (socket, address) = reserve().map_err(no_port)?;
                tokio::spawn(async move {
                    tokio::time::sleep(DOWN_FOR).await;
                    match come_up(socket) {
                        Ok(listener) => receiver.run(listener).await,
                        Err(cause) => tracing::error!(%cause, "the partner that is down cannot come up"),
                    }
                });
                address
            } else {
                let (listener, address) = on_loopback(0).await.map_err(no_port)?;
                tokio::spawn(receiver.run(listener));
                address
            };
            addresses.push((temper, address, secret));
        }
        Ok(Self { addresses, sights })
    }

    /// Makes an application and an endpoint for each partner.
    ///
    /// # Errors
    /// As the API's.
    pub async fn subscribe(&self, api: &Api) -> Result<(), Error> {
        for (temper, address, secret) in &self.addresses {
            let name = temper.name();
            let app = json!({ "name": name, "uid": name, "profile": temper.profile() });
            api.post::<Value>("/app", &app).await?;
            let endpoint = json!({ "url": format!("http://{address}/webhooks"), "secret": secret.shown() });
            api.post::<Value>(&format!("/app/{name}/endpoint"), &endpoint).await?;
        }
        Ok(())
    }

    /// What was seen until now.
    pub fn sights(&self) -> Sights {
        self.sights.lock().clone()
    }
}

fn receiver(
    temper: Temper,
    secret: &Secret,
    began: Timestamp,
    clock: Arc<dyn Clock>,
    sights: Arc<Mutex<Sights>>,
) -> Receiver<impl Fn(Received) -> Reply + Send + Sync + 'static> {
    let time = Arc::clone(&clock);
    let answer = move |request: Received| {
        let id = request.message_id().unwrap_or_default().to_owned();
        let verified = matches!(request.verified, Some(Ok(_)));
        let mut sights = sights.lock();
        let sight = sights.entry((temper.name(), id)).or_default();
        // As a good receiver does: what is not verified is not taken.
        let status = if verified {
            temper.status(sight.requests, time.now().since(began))
        } else {
            StatusCode::UNAUTHORIZED
        };
        sight.requests += 1;
        sight.verified += u32::from(verified);
        sight.taken += u32::from(status.is_success());
        Reply { status, delay: Duration::ZERO }
    };
    Receiver { clock, keys: vec![secret.clone().into()], answer }
}

/// A port that is ours but closed: who connects is refused.
fn reserve() -> std::io::Result<(Socket, SocketAddr)> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())?;
    let address = socket.local_addr()?.as_socket();
    let address = address.ok_or_else(|| std::io::Error::other("the socket has no address"))?;
    Ok((socket, address))
}

fn come_up(socket: Socket) -> std::io::Result<TcpListener> {
    socket.listen(128)?;
    socket.set_nonblocking(true)?;
    TcpListener::from_std(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flaky_recovers_and_refusing_gives_in_at_the_third_time() {
        let seconds = Duration::from_secs;
        assert_eq!(Temper::Flaky.status(0, seconds(1)), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(Temper::Flaky.status(9, seconds(4)), StatusCode::OK);
        let refusing = [0, 1, 2, 3].map(|before| Temper::Refusing.status(before, seconds(0)).as_u16());
        assert_eq!(refusing, [403, 403, 200, 200]);
        assert_eq!(Temper::Healthy.status(0, seconds(0)), StatusCode::OK);
    }

    #[tokio::test]
    async fn a_reserved_port_refuses_until_it_comes_up() {
        let (socket, address) = reserve().unwrap();
        let refused = tokio::net::TcpStream::connect(address).await.unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
        let _listener = come_up(socket).unwrap();
        tokio::net::TcpStream::connect(address).await.unwrap();
    }
}
