//! `gonets serve`: the server, from the start to the last commit.

use std::{path::Path, sync::Arc};

use gonets_core::clock::SystemClock;

use crate::{
    config::{self as configuration, Config, ConfigFlags, Variables},
    error::Error,
    installation::Installation,
    logs,
    runtime::{self, Signals},
    secrets,
    serving::{self, Running},
    terminal::Terminal,
};

#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    config: ConfigFlags,
    /// Logs as JSON, one object a line
    #[arg(long)]
    log_json: bool,
}

impl Arguments {
    pub fn run(self) -> Result<(), Error> {
        let variables = Variables::of_process();
        let mut config = configuration::load(&self.config, &variables)?;
        if self.log_json {
            config.settings.log.format = configuration::LogFormat::Json;
        }
        logs::start(&config.settings.log)?;
        runtime::on_all_cores(serve(config, &variables))
    }
}

async fn serve(config: Config, variables: &Variables) -> Result<(), Error> {
    let mut signals = Signals::watch()?;
    let listener = serving::listen(config.settings.listen).await?;
    let dir = config.settings.data_dir.clone();
    let mut installation = Installation::open(&dir, Arc::new(SystemClock::start()))?;
    let keyring = secrets::keyring(variables, config.dev, &dir)?;
    installation.check_master_key(&keyring)?;
    if !config.dev && installation.end_dev_key()? {
        tracing::warn!("the admin key \"{}\" of an earlier --dev was ended.", secrets::DEV_KEY);
    }
    let new_key = installation.prepare(&secrets::bootstrap_keys(variables, config.dev)?)?;
    let (engine, readers) = installation.into_store();
    let mut running = serving::start(&config, listener, (Box::new(engine), readers), keyring).await?;

    if let Some(token) = new_key {
        Terminal::of_process()
            .line(format_args!("Admin key of environment default, shown this once: {token}"));
    }
    tell_start(&config, &running, &dir);
    tokio::select! {
        signal = signals.next() => {
            tracing::info!("{signal}: no new requests; waiting for what is in flight. A second signal ends at once.");
        }
        // Nothing may be written or answered any more: there is nothing to end in order.
        cause = running.failed() => return Err(cause),
    }
    tokio::select! {
        stopped = running.stop() => {
            stopped?;
            tracing::info!("Gonets has stopped; everything is on disk.");
        }
        signal = signals.next() => {
            tracing::warn!("{signal} again: ending at once. What was accepted is on disk; attempts in flight are made again.");
            std::process::exit(1);
        }
    }
    Ok(())
}

fn tell_start(config: &Config, running: &Running, dir: &Path) {
    if config.dev {
        tracing::warn!(
            "--dev: endpoints may be on this machine and over plain http, the master key lies beside the data, and \"{}\" is an admin key. Not for production.",
            secrets::DEV_KEY
        );
    }
    let base = config.base_url(running.address());
    tracing::info!(
        "Gonets {} listens on {}, data in {}. API {base}/api/v1, described in {base}{}",
        env!("CARGO_PKG_VERSION"),
        running.address(),
        dir.display(),
        serving::DESCRIPTION_PATH,
    );
}
