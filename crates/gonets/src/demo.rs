//! `gonets demo`: a platform, its Gonets and four partners in one process.
//!
//! Nothing is staged but the partners' tempers: the server is the one of `gonets serve`, on a
//! temporary data directory; the events are posted through its HTTP API; each line of the account
//! is an outcome that was just committed ([`tap`]); and the books at the end are balanced between
//! what the receivers saw and what the API says ([`books`]).
//!
//! - [`partners`]: the four receivers and their tempers.
//! - [`profiles`]: the demo's profiles, whose ladders take seconds.
//! - [`events`]: what is posted, and when.
//! - [`account`]: the lines.

mod account;
mod books;
mod events;
mod partners;
mod profiles;
mod tap;

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use gonets_core::{clock::SystemClock, time::Clock};
use gonets_engine::Engine;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};

use self::{
    account::Account,
    books::Books,
    partners::Partners,
    tap::{Tapped, Told},
};
use crate::{
    client::Api,
    config::{Config, ConfigFlags, Layers, Settings, Variables},
    error::Error,
    installation::Installation,
    logs,
    runtime::Signals,
    secrets,
    serving::{self, Running},
    terminal::{Terminal, Tone},
};

/// By then every sample event has come to its end, or something is wrong.
const ONCE_WITHIN: Duration = Duration::from_secs(40);

/// Runs the demo: until Ctrl-C, or with `once` until all sample events have come to their ends.
///
/// # Errors
/// When it cannot start; with `once` also when an event was lost, unverified or taken twice.
pub async fn run(listen: SocketAddr, once: bool) -> Result<(), Error> {
    let mut signals = Signals::watch()?;
    let terminal = Terminal::of_process();
    let (mut stage, mut running) = Stage::set(listen, terminal).await?;
    let outcome = tokio::select! {
        outcome = stage.play(once) => outcome,
        _ = signals.next() => Ok(()),
        cause = running.failed() => Err(cause),
    };
    let books = Books::balance(&stage.api, &stage.partners, &stage.posted).await;
    tokio::select! {
        stopped = running.stop() => stopped?,
        _ = signals.next() => {}
    }
    outcome?;
    let books = books?;
    terminal.line("");
    terminal.line(&books);
    if once {
        return books.verdict();
    }
    terminal.line(terminal.paint(Tone::Faint, "The demo's server has stopped, and its data is gone."));
    Ok(())
}

/// Everything that the demo stands on.
struct Stage {
    engine: Arc<Engine>,
    api: Api,
    partners: Partners,
    account: Account,
    told: mpsc::UnboundedReceiver<Told>,
    /// Messages by public id, with the partner each is for.
    posted: BTreeMap<String, &'static str>,
    /// Deliveries that have come to their ends.
    ended: usize,
    /// Removed when the demo ends.
    _data: tempfile::TempDir,
}

impl Stage {
    async fn set(listen: SocketAddr, terminal: Terminal) -> Result<(Self, Running), Error> {
        let io = |what| move |cause| Error::Io { what, cause };
        let data = tempfile::tempdir().map_err(io("no temporary directory could be made"))?;
        let config = configuration(listen, data.path())?;
        logs::start(&config.settings.log)?;
        let listener = serving::listen(listen).await?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
        let mut installation = Installation::open(data.path(), Arc::clone(&clock))?;
        installation.prepare(&[secrets::DEV_KEY.to_owned()])?;
        let keyring = secrets::keyring(&Variables::default(), true, data.path())?;
        let (engine, readers) = installation.into_store();
        let (tell, told) = mpsc::unbounded_channel();
        let store: serving::Store = (Box::new(Tapped::new(Box::new(engine), tell)), readers);
        let running = serving::start(&config, listener, store, keyring).await?;

        let api = Api::new(&format!("http://{}", running.address()), secrets::DEV_KEY.to_owned())?;
        let partners = Partners::open(clock).await?;
        partners.subscribe(&api).await?;
        let account = Account::new(terminal);
        open_the_curtain(terminal, running.address());
        let engine = Arc::clone(running.engine());
        let posted = BTreeMap::new();
        let stage = Self { engine, api, partners, account, told, posted, ended: 0, _data: data };
        Ok((stage, running))
    }

    /// Posts what is due and tells what comes of it.
    async fn play(&mut self, once: bool) -> Result<(), Error> {
        let began = Instant::now();
        let mut script = events::script(once);
        let mut next = script.next();
        loop {
            let due = next.as_ref().map(|event| began + event.after);
            tokio::select! {
                biased;
                told = self.told.recv() => match told {
                    Some(told) => self.tell(&told),
                    None => return Ok(()),
                },
                () = sleep_until(due.unwrap_or(began + ONCE_WITHIN)) => match next.take() {
                    Some(event) => {
                        let id = events::post(&self.api, &event).await?;
                        self.posted.insert(id, event.partner);
                        next = script.next();
                    }
                    None => return Ok(()),
                },
            }
            if next.is_none() && self.ended >= self.posted.len() {
                return Ok(());
            }
        }
    }

    fn tell(&mut self, told: &Told) {
        match told {
            Told::Accepted { message, event_type, critical } => {
                self.account.accepted(*message, event_type, *critical);
            }
            Told::Outcome { at, outcome } => {
                let directory = self.engine.directory();
                let app =
                    directory.endpoint(outcome.endpoint).and_then(|endpoint| directory.app(endpoint.app));
                let Some(app) = app else { return };
                let partner = app.row.uid.clone().unwrap_or_default();
                self.ended += usize::from(self.account.outcome(*at, &partner, &app.profile, outcome));
            }
        }
    }
}

fn open_the_curtain(terminal: Terminal, address: SocketAddr) {
    let key = secrets::DEV_KEY;
    let links =
        format!("Open  http://{address}{}      key: {key}            Ctrl-C ends", serving::DESCRIPTION_PATH);
    terminal.line(terminal.paint(Tone::Strong, "Gonets demo: one platform, four partners, on 127.0.0.1"));
    terminal.line("");
    terminal.line("  healthy    answers at once          refusing   answers 403 twice, then takes it");
    terminal.line("  flaky      503, then recovers       down       closed port, comes back after 8 s");
    terminal.line("");
    terminal.line(terminal.paint(Tone::Faint, links));
    terminal.line("");
}

/// As `serve --dev` would have it, on `data`.
fn configuration(listen: SocketAddr, data: &std::path::Path) -> Result<Config, Error> {
    let flags = ConfigFlags { dev: true, ..ConfigFlags::default() };
    let mut settings = Settings::read(&Layers::gather(&flags, &Variables::default())?)?;
    settings.allow_development();
    settings.listen = listen;
    settings.data_dir = data.to_owned();
    settings.profiles = profiles::all();
    "warn".clone_into(&mut settings.log.level);
    Ok(Config::of(settings, true)?)
}
