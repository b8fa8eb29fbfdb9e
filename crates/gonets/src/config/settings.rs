//! The settings with their types and defaults, as `gonets config print` shows them.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use gonets_core::{duration::DurationText, limits, profile::ProfileSpec};
use gonets_egress::Ports;
use ipnet::IpNet;
use serde::Deserialize;
use toml::Value;

use super::{
    error::{ConfigError, Origin},
    layers::Layers,
};

/// Where a server listens unless it is told.
pub const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8071);
/// Where the store is unless it is told.
pub const DATA_DIR: &str = "./gonets-data";

/// All settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub listen: SocketAddr,
    /// Begins the links that are given to people; without it they begin with the address.
    pub public_url: Option<String>,
    pub data_dir: PathBuf,
    pub database: Option<String>,
    pub egress: EgressSettings,
    pub default_profile: String,
    pub global_concurrency: usize,
    pub payload_bytes: usize,
    pub retention_payload: Option<DurationText>,
    pub retention_journal: Option<DurationText>,
    /// `None`: nobody is written to.
    pub smtp: Option<gonets_mail::Settings>,
    pub log: LogSettings,
    pub profiles: BTreeMap<String, ProfileSpec>,
}

/// `egress.*`
#[derive(Clone, Debug, PartialEq)]
pub struct EgressSettings {
    pub allow_networks: Vec<IpNet>,
    pub deny_networks: Vec<IpNet>,
    pub allow_http: bool,
    pub allow_ports: Ports,
    pub allow_local_names: bool,
    pub resolver: Option<SocketAddr>,
    pub nat64: bool,
    /// PEM files.
    pub extra_roots: Vec<PathBuf>,
    pub user_agent: Option<String>,
    pub proxy: Option<String>,
}

/// `log.*`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSettings {
    pub format: LogFormat,
    /// As tracing's filters are written: `info`, `gonets_engine=debug`.
    pub level: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

impl LogFormat {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

impl Settings {
    /// Types and defaults for what was set.
    ///
    /// # Errors
    /// The first value that is not what its key takes.
    pub fn read(layers: &Layers) -> Result<Self, ConfigError> {
        let read = Reader(layers);
        let (database, url_dir) = store_url(read.text("store.url")?);
        Ok(Self {
            listen: read.parsed("server.listen", ADDRESS)?.unwrap_or(LISTEN),
            public_url: read.public_url()?,
            smtp: read.smtp()?,
            data_dir: url_dir.or(read.text("store.dir")?).unwrap_or_else(|| DATA_DIR.to_owned()).into(),
            database,
            egress: EgressSettings::read(&read)?,
            default_profile: read.text("delivery.default_profile")?.unwrap_or_else(|| "standard".to_owned()),
            global_concurrency: read
                .count("delivery.global_concurrency", 1, 1 << 16)?
                .unwrap_or(limits::GLOBAL_CONCURRENCY),
            payload_bytes: read.count("limits.payload_bytes", 1, 16 << 20)?.unwrap_or(limits::PAYLOAD_BYTES),
            retention_payload: read.duration("retention.payload")?,
            retention_journal: read.duration("retention.journal")?,
            log: LogSettings {
                format: read.log_format()?,
                level: read.text("log.level")?.unwrap_or_else(|| "info".to_owned()),
            },
            profiles: read.profiles()?,
        })
    }

    /// What `--dev` allows: endpoints on this machine, over http, on any port.
    pub fn allow_development(&mut self) {
        let egress = &mut self.egress;
        for network in ["127.0.0.0/8", "::1/128"] {
            let network: IpNet = network.parse().expect("both are networks");
            if !egress.allow_networks.contains(&network) {
                egress.allow_networks.push(network);
            }
        }
        egress.allow_http = true;
        egress.allow_ports = Ports::Any;
        egress.allow_local_names = true;
    }
}

impl EgressSettings {
    fn read(read: &Reader<'_>) -> Result<Self, ConfigError> {
        Ok(Self {
            allow_networks: read.networks("egress.allow_networks")?,
            deny_networks: read.networks("egress.deny_networks")?,
            allow_http: read.switch("egress.allow_http")?,
            allow_ports: read.ports("egress.allow_ports")?,
            allow_local_names: read.switch("egress.allow_local_names")?,
            resolver: read.resolver()?,
            nat64: read.switch("egress.nat64")?,
            extra_roots: read.list("egress.extra_roots")?.into_iter().map(PathBuf::from).collect(),
            user_agent: read.text("egress.user_agent")?,
            proxy: read.text("egress.proxy")?,
        })
    }
}

/// `sqlite:DIR` is another way to say `store.dir`; anything else is a database.
fn store_url(url: Option<String>) -> (Option<String>, Option<String>) {
    let dir = url.as_deref().and_then(|url| url.strip_prefix("sqlite:"));
    match dir.map(|dir| dir.strip_prefix("//").unwrap_or(dir).to_owned()) {
        Some(dir) => (None, Some(dir)),
        None => (url, None),
    }
}

const ADDRESS: &str = "an IP address and a port, such as 127.0.0.1:8071";

/// Reads values by key, and tells what is wrong with them by key and origin.
struct Reader<'a>(&'a Layers);

impl Reader<'_> {
    fn read<T>(
        &self,
        key: &str,
        take: impl FnOnce(&Value) -> Result<T, String>,
    ) -> Result<Option<T>, ConfigError> {
        let Some((value, origin)) = self.0.get(key) else { return Ok(None) };
        take(value).map(Some).map_err(|problem| wrong(key, origin, problem))
    }

    fn text(&self, key: &str) -> Result<Option<String>, ConfigError> {
        self.read(key, |value| match value.as_str() {
            Some("") => Err("it is empty; leave the key out instead".to_owned()),
            Some(text) => Ok(text.to_owned()),
            None => Err(format!("{value} is not a text; put it in quotes")),
        })
    }

    fn parsed<T: std::str::FromStr>(&self, key: &str, what: &str) -> Result<Option<T>, ConfigError> {
        self.read(key, |value| {
            let parsed = value.as_str().and_then(|text| text.parse().ok());
            parsed.ok_or_else(|| format!("{value} is not {what}"))
        })
    }

    fn switch(&self, key: &str) -> Result<bool, ConfigError> {
        let on = self
            .read(key, |value| value.as_bool().ok_or_else(|| format!("{value} is neither true nor false")))?;
        Ok(on.unwrap_or(false))
    }

    fn count(&self, key: &str, low: usize, high: usize) -> Result<Option<usize>, ConfigError> {
        self.read(key, |value| {
            let number = value.as_integer().and_then(|number| usize::try_from(number).ok());
            number
                .filter(|number| (low..=high).contains(number))
                .ok_or_else(|| format!("{value} is not a whole number from {low} to {high}"))
        })
    }

    fn duration(&self, key: &str) -> Result<Option<DurationText>, ConfigError> {
        self.read(key, |value| {
            let text = value.as_str().ok_or_else(|| format!("{value} is not a duration such as \"30d\""))?;
            text.parse()
                .map_err(|error: gonets_core::Error| error.to_string().trim_end_matches('.').to_owned())
        })
    }

    fn list(&self, key: &str) -> Result<Vec<String>, ConfigError> {
        let items = self.read(key, |value| {
            let items = value.as_array().ok_or_else(|| format!("{value} is not a list of texts"))?;
            let texts = items.iter().map(|item| {
                item.as_str()
                    .map(str::to_owned)
                    .ok_or_else(|| format!("{item} is not a text; put it in quotes"))
            });
            texts.collect::<Result<Vec<_>, _>>()
        })?;
        Ok(items.unwrap_or_default())
    }

    /// Networks as `10.0.0.0/8`, or single addresses.
    fn networks(&self, key: &str) -> Result<Vec<IpNet>, ConfigError> {
        let parse = |text: String| {
            text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from)).map_err(|_| {
                let origin = self.0.get(key).map_or(Origin::Flag("default"), |(_, origin)| origin.clone());
                wrong(key, &origin, format!("\"{text}\" is not a network such as 10.0.0.0/8"))
            })
        };
        self.list(key)?.into_iter().map(parse).collect()
    }

    fn ports(&self, key: &str) -> Result<Ports, ConfigError> {
        let ports = self.read(key, |value| {
            if value.as_str() == Some("any") {
                return Ok(Ports::Any);
            }
            let wrong = || format!("{value} is neither \"any\" nor a list of ports from 1 to 65535");
            let items = value.as_array().ok_or_else(wrong)?;
            let port =
                |item: &Value| item.as_integer().and_then(|port| u16::try_from(port).ok()).filter(|p| *p > 0);
            items.iter().map(port).collect::<Option<Vec<_>>>().map(Ports::Only).ok_or_else(wrong)
        })?;
        Ok(ports.unwrap_or(Ports::Only(vec![443])))
    }

    /// The port may be left out: DNS has 53.
    fn resolver(&self) -> Result<Option<SocketAddr>, ConfigError> {
        self.read("egress.resolver", |value| {
            let text = value.as_str().unwrap_or_default();
            let address =
                text.parse::<SocketAddr>().or_else(|_| text.parse::<IpAddr>().map(|ip| (ip, 53).into()));
            address.map_err(|_| format!("{value} is not the address of a DNS server, such as 10.0.0.2:53"))
        })
    }

    fn public_url(&self) -> Result<Option<String>, ConfigError> {
        self.read("server.public_url", |value| {
            let text = value.as_str().unwrap_or_default().trim_end_matches('/');
            let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
            match rest {
                Some(rest) if !rest.is_empty() && !rest.contains(['?', '#', ' ']) => Ok(text.to_owned()),
                _ => Err(format!("{value} is not a URL such as https://webhooks.example.com")),
            }
        })
    }

    fn log_format(&self) -> Result<LogFormat, ConfigError> {
        let format = self.read("log.format", |value| match value.as_str() {
            Some("text") => Ok(LogFormat::Text),
            Some("json") => Ok(LogFormat::Json),
            _ => Err(format!("{value} is neither \"text\" nor \"json\"")),
        })?;
        Ok(format.unwrap_or(LogFormat::Text))
    }

    /// Without any key of the section there are no mails; else host and sender must be said.
    fn smtp(&self) -> Result<Option<gonets_mail::Settings>, ConfigError> {
        let Some((first, origin)) = self.0.first_of("smtp") else { return Ok(None) };
        let needed = |key: &str, value: Option<String>| {
            value
                .ok_or_else(|| wrong(first, origin, format!("without {key} no mail can be sent; say it too")))
        };
        Ok(Some(gonets_mail::Settings {
            host: needed("smtp.host", self.text("smtp.host")?)?,
            port: self.count("smtp.port", 1, 65_535)?.and_then(|port| u16::try_from(port).ok()),
            security: self.parsed("smtp.security", "one of none, starttls, tls")?.unwrap_or_default(),
            user: self.text("smtp.user")?,
            password: self.text("smtp.password")?.map(gonets_mail::Password::new),
            from: needed("smtp.from", self.text("smtp.from")?)?,
            operator: self.text("smtp.operator")?,
            language: self.parsed("smtp.language", "one of en, ru")?.unwrap_or_default(),
            public_url: self.public_url()?,
        }))
    }

    fn profiles(&self) -> Result<BTreeMap<String, ProfileSpec>, ConfigError> {
        let spec = |(name, (table, origin)): (&String, &(toml::Table, Origin))| {
            let spec = ProfileSpec::deserialize(table.clone()).map_err(|problem| {
                let problem = problem.to_string().trim_end().trim_end_matches('.').replace('\n', ", ");
                wrong(&format!("profiles.{name}"), origin, problem)
            })?;
            Ok((name.clone(), spec))
        };
        self.0.profiles().iter().map(spec).collect()
    }
}

fn wrong(key: &str, origin: &Origin, problem: String) -> ConfigError {
    ConfigError::Value { key: key.to_owned(), origin: origin.clone(), problem }
}
