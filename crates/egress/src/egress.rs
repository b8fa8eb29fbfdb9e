//! The sender's lasting parts: guard, resolver, TLS configuration and pool.

use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::config::EgressConfig;
use crate::error::Error;
use crate::exchange::Seen;
use crate::guard::{Denied, Guard};
use crate::pool::Pool;
use crate::proxy::Proxy;
use crate::resolve::Names;
use crate::target::Target;
use crate::tls;

/// How long a form waits for DNS.
const VET_BUDGET: Duration = Duration::from_secs(2);
/// How often idle connections are looked through. A stale one is never reused in between; this
/// only gives its file handle back.
const SWEEP_EVERY: Duration = Duration::from_millis(500);

/// The guard and the sender. Made once; shared by all who send.
pub struct Egress {
    pub(crate) guard: Guard,
    pub(crate) names: Names,
    pub(crate) tls: Arc<ClientConfig>,
    pub(crate) pool: Pool,
    pub(crate) proxy: Option<Proxy>,
    pub(crate) user_agent: Box<str>,
}

impl Egress {
    /// Sets up everything that lasts.
    ///
    /// # Errors
    ///
    /// When an additional root certificate or the user agent cannot be used, or TLS or the
    /// resolver cannot be set up. A system without a DNS server is none of these: literal
    /// addresses work, and names fail with [`OurFault::ResolverDown`](crate::OurFault).
    pub fn new(config: EgressConfig) -> Result<Arc<Self>, Error> {
        if config.user_agent.is_empty() || !config.user_agent.bytes().all(|b| (b' '..0x7f).contains(&b)) {
            return Err(Error::UserAgent);
        }
        Ok(Arc::new(Self {
            guard: Guard::new(&config),
            names: Names::new(config.resolver)?,
            tls: tls::client_config(&config.extra_roots)?,
            pool: Pool::new(config.idle_max, config.age_max, config.pool_max_idle),
            proxy: config.proxy,
            user_agent: config.user_agent.into(),
        }))
    }

    /// The guard, for forms.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// What a form may say about a URL's addresses now, DNS included; takes at most 2 s.
    ///
    /// A name that does not resolve yet passes: nothing is dialled here, and every connection
    /// vets again.
    ///
    /// # Errors
    ///
    /// A [`Denied`] if an address is one that may not be reached.
    pub async fn vet(&self, target: &Target) -> Result<(), Denied> {
        match timeout(VET_BUDGET, self.names.resolve(&self.guard, target)).await {
            Ok(Err(Seen::Blocked(denied))) => Err(denied),
            _ => Ok(()),
        }
    }

    /// Drops the idle connections of a key: its URL, secret or address has changed.
    pub fn forget(&self, pool_key: u64) {
        self.pool.forget(pool_key);
    }

    /// How many connections lie idle, for metrics.
    pub fn idle_connections(&self) -> usize {
        self.pool.idle()
    }

    /// Closes idle connections in time. Runs until it is dropped; its owner spawns it.
    pub async fn run_sweeper(self: Arc<Self>) {
        let mut ticks = interval(SWEEP_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            ticks.tick().await;
            self.pool.sweep(Instant::now());
        }
    }
}
