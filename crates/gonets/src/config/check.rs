//! What the settings come to: everything a server is started with, or the sentence why not.

use std::{path::Path, sync::Arc};

use gonets_core::profile::{Profile, Profiles};
use gonets_egress::{EgressConfig, Proxy};
use gonets_mail::Mailer;
use rustls::pki_types::{CertificateDer, pem::PemObject};

use super::{
    error::ConfigError,
    settings::{EgressSettings, Settings},
};

/// A configuration that can be served.
#[derive(Clone, Debug)]
pub struct Config {
    pub settings: Settings,
    pub dev: bool,
    pub profiles: Profiles,
    pub default_profile: Arc<Profile>,
    pub egress: EgressConfig,
    /// `None`: nobody is written to.
    pub mailer: Option<Mailer>,
}

impl Config {
    /// Resolves the profiles and reads the certificates.
    ///
    /// # Errors
    /// What is not supported yet, a profile that cannot work, a file that is not there.
    pub fn of(settings: Settings, dev: bool) -> Result<Self, ConfigError> {
        refuse_unsupported(&settings)?;
        crate::logs::check(&settings.log.level)?;
        let profiles = Profiles::resolve(settings.profiles.clone())?;
        let default_profile = profiles.get(&settings.default_profile).cloned().ok_or_else(|| {
            let known: Vec<_> = profiles.iter().map(|profile| profile.name.as_str()).collect();
            ConfigError::NoSuchProfile { name: settings.default_profile.clone(), known: known.join(", ") }
        })?;
        let egress = egress(&settings.egress)?;
        let mailer = settings.smtp.clone().map(Mailer::new).transpose()?;
        Ok(Self { settings, dev, profiles, default_profile, egress, mailer })
    }

    /// The beginning of links for people, without a slash at the end.
    pub fn base_url(&self, listening: std::net::SocketAddr) -> String {
        self.settings.public_url.clone().unwrap_or_else(|| {
            if !listening.ip().is_unspecified() {
                return format!("http://{listening}");
            }
            format!("http://127.0.0.1:{}", listening.port())
        })
    }
}

/// Keys that are known but have nothing behind them yet are refused: whoever sets one relies on it.
fn refuse_unsupported(settings: &Settings) -> Result<(), ConfigError> {
    let not_yet = |key: &str, instead| Err(ConfigError::NotSupported { key: key.to_owned(), instead });
    if settings.database.is_some() {
        return not_yet("store.url", "this version keeps its data in a directory; use store.dir or --data");
    }
    if settings.retention_payload.is_some() {
        return not_yet("retention.payload", "this version keeps all payloads; leave the key out");
    }
    if settings.retention_journal.is_some() {
        return not_yet("retention.journal", "this version keeps the whole journal; leave the key out");
    }
    Ok(())
}

fn egress(settings: &EgressSettings) -> Result<EgressConfig, ConfigError> {
    let mut extra_roots = Vec::new();
    for path in &settings.extra_roots {
        read_roots(path, &mut extra_roots)
            .map_err(|problem| ConfigError::Roots { path: path.clone(), problem })?;
    }
    let mut config = EgressConfig {
        allow_networks: settings.allow_networks.clone(),
        deny_networks: settings.deny_networks.clone(),
        allow_http: settings.allow_http,
        allow_ports: settings.allow_ports.clone(),
        resolver: settings.resolver,
        nat64: settings.nat64,
        allow_local_names: settings.allow_local_names,
        extra_roots,
        proxy: settings.proxy.as_deref().map(Proxy::parse).transpose()?,
        ..EgressConfig::default()
    };
    if let Some(user_agent) = &settings.user_agent {
        config.user_agent.clone_from(user_agent);
    }
    Ok(config)
}

fn read_roots(path: &Path, roots: &mut Vec<CertificateDer<'static>>) -> Result<(), String> {
    let before = roots.len();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|cause| cause.to_string())? {
        roots.push(certificate.map_err(|cause| cause.to_string())?);
    }
    if roots.len() == before {
        return Err("there is no \"-----BEGIN CERTIFICATE-----\" in it".to_owned());
    }
    Ok(())
}
