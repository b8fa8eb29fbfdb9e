//! A server put together and taken apart.
//!
//! # Starting
//! The port first, because a taken one is the commonest mistake and costs nothing to notice. Then
//! the store, the engine on it, and last the API: nobody is answered before what the last run left
//! is known.
//!
//! # Stopping
//! The other way round. The API takes no new connections and ends its requests; then the engine
//! sends nothing new, waits for the attempts in flight, commits their outcomes and closes the
//! store. Every phase has an end of its own: a drain its limit, an attempt its deadline.

use std::{net::SocketAddr, sync::Arc};

use gonets_core::time::Clock;
use gonets_dispatch::config::Bounds;
use gonets_egress::{Egress, EgressConfig};
use gonets_engine::{Engine, Parts};
use gonets_server::Limits;
use gonets_service::Service;
use gonets_store::{
    engine::{Engine as StoreEngine, Fatal},
    query::Queries,
};
use gonets_wire::Keyring;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::{
    config::Config,
    error::Error,
    files,
    timekeeper::{Resumed, Timekeeper},
};

/// Where a server describes its API.
pub const DESCRIPTION_PATH: &str = "/openapi.json";
/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

/// The writer's and the readers' side of a store.
pub type Store = (Box<dyn StoreEngine>, Arc<dyn Queries>);

/// A server that is up.
pub struct Running {
    address: SocketAddr,
    engine: Arc<Engine>,
    server: JoinHandle<gonets_server::Drained>,
    stop_server: oneshot::Sender<()>,
    fatal: oneshot::Receiver<Fatal>,
    timekeeping: JoinHandle<()>,
}

/// Takes the port.
///
/// # Errors
/// When it is taken, or the address is not this machine's.
pub async fn listen(address: SocketAddr) -> Result<TcpListener, Error> {
    let told = |cause| Error::listening(address, "--listen", cause);
    let socket =
        if address.is_ipv4() { tokio::net::TcpSocket::new_v4() } else { tokio::net::TcpSocket::new_v6() };
    let socket = socket.map_err(told)?;
    // A restart must not wait for the connections of the last run to be forgotten.
    socket.set_reuseaddr(true).map_err(told)?;
    socket.bind(address).map_err(told)?;
    socket.listen(BACKLOG).map_err(told)
}

/// Starts everything on an open store.
///
/// # Errors
/// When the store cannot be read, or TLS or the resolver not be set up.
pub async fn start(
    config: &Config,
    listener: TcpListener,
    (mut store, queries): Store,
    keyring: Keyring,
) -> Result<Running, Error> {
    let address =
        listener.local_addr().map_err(|cause| Error::listening(config.settings.listen, "--listen", cause))?;
    let (shares, told) = files::raise_limit(config.settings.global_concurrency);
    if let Some(sentence) = told {
        tracing::warn!("{sentence}");
    }
    let egress = Egress::new(EgressConfig { pool_max_idle: shares.idle, ..config.egress.clone() })?;
    let (tell_fatal, fatal) = oneshot::channel();
    let keeper = Timekeeper::of(&config.settings.data_dir);
    let (message, attempt) = store.last_ids().map_err(Error::Fatal)?;
    let Resumed { clock, set_forward } = keeper.resume(message.accepted_at().max(attempt.made_at()));
    let clock: Arc<dyn Clock> = Arc::new(clock);
    let engine = gonets_engine::start(Parts {
        store,
        queries,
        clock: Arc::clone(&clock),
        egress,
        profiles: config.profiles.clone(),
        default_profile: Arc::clone(&config.default_profile),
        keyring,
        bounds: Bounds { global_slots: shares.requests, ..Bounds::default() },
        set_forward,
        mailer: config.mailer.clone(),
        seed: seed()?,
        // Without a receiver the server is ending already.
        fatal: Box::new(move |cause| drop(tell_fatal.send(cause))),
    })
    .await?;
    let service = Arc::new(Service::new(
        Arc::clone(&engine),
        gonets_service::Settings { payload_bytes: config.settings.payload_bytes },
    ));
    let router = gonets_api::router(service);
    let (stop_server, stopped) = oneshot::channel();
    let limits = Limits { connections: shares.callers, ..Limits::default() };
    let until_stopped = async move { drop(stopped.await) };
    let server = tokio::spawn(gonets_server::serve(listener, router, limits, until_stopped));
    let timekeeping = tokio::spawn(keeper.keep(clock));
    Ok(Running { address, engine, server, stop_server, fatal, timekeeping })
}

/// The API's description as JSON.
///
/// # Errors
/// When it cannot be written, which a test of the API excludes.
pub fn openapi() -> Result<String, Error> {
    gonets_api::openapi().to_pretty_json().map_err(Error::NotJson)
}

/// Feeds jitter: different in each process, so that restarted nodes do not retry in step.
fn seed() -> Result<u64, Error> {
    let mut bytes = [0u8; 8];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| Error::NoRandomness)?;
    Ok(u64::from_le_bytes(bytes))
}

impl Running {
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The engine, for those who look at it from inside the process.
    pub const fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Why it cannot go on; never, if all is well.
    pub async fn failed(&mut self) -> Error {
        tokio::select! {
            Ok(cause) = &mut self.fatal => Error::Fatal(cause),
            ended = &mut self.server => Error::Server(match ended {
                Ok(_) => "it ended by itself".to_owned(),
                Err(cause) => cause.to_string(),
            }),
        }
    }

    /// Ends in order.
    ///
    /// # Errors
    /// When the store failed on the way: then not all is on disk.
    pub async fn stop(mut self) -> Result<(), Error> {
        // The server may have ended by itself.
        let _ = self.stop_server.send(());
        if !self.server.is_finished()
            && let Ok(gonets_server::Drained::CutOff(connections)) = self.server.await
        {
            tracing::warn!("{connections} connections were cut off: their requests did not end in time.");
        }
        self.engine.shut_down().await;
        self.timekeeping.abort();
        match self.fatal.try_recv() {
            Ok(cause) => Err(Error::Fatal(cause)),
            Err(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
