//! The settings as TOML that can be read back. Secrets are masked: what is printed ends up in
//! tickets.

use gonets_egress::Ports;
use toml::{Table, Value};

use super::settings::{EgressSettings, Settings};

const MASK: &str = "***";

/// Every setting with its value, defaults too; what is not set at all is left out.
///
/// # Errors
/// When the TOML library cannot write a profile, which it always could.
pub fn to_toml(settings: &Settings) -> Result<String, toml::ser::Error> {
    let mut all = Table::new();
    let mut put = |key: &str, value: Value| {
        let (section, name) = key.split_once('.').expect("every key has a section");
        let table = all.entry(section).or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(table) = table {
            table.insert(name.to_owned(), value);
        }
    };
    put("server.listen", text(settings.listen));
    put_some(&mut put, "server.public_url", settings.public_url.as_ref().map(text));
    match &settings.database {
        Some(url) => put("store.url", text(masked_url(url))),
        None => put("store.dir", text(settings.data_dir.display())),
    }
    put_egress(&mut put, &settings.egress);
    put("delivery.default_profile", text(&settings.default_profile));
    put("delivery.global_concurrency", Value::Integer(settings.global_concurrency as i64));
    put("limits.payload_bytes", Value::Integer(settings.payload_bytes as i64));
    put_some(&mut put, "retention.payload", settings.retention_payload.map(text));
    put_some(&mut put, "retention.journal", settings.retention_journal.map(text));
    if let Some(smtp) = &settings.smtp {
        put_smtp(&mut put, smtp);
    }
    put("log.format", text(settings.log.format.name()));
    put("log.level", text(&settings.log.level));
    for (name, profile) in &settings.profiles {
        put(&format!("profiles.{name}"), Value::try_from(profile)?);
    }
    toml::to_string(&all)
}

fn put_egress(put: &mut impl FnMut(&str, Value), egress: &EgressSettings) {
    let list = |items: Vec<Value>| Value::Array(items);
    put("egress.allow_networks", list(egress.allow_networks.iter().map(text).collect()));
    put("egress.deny_networks", list(egress.deny_networks.iter().map(text).collect()));
    put("egress.allow_http", Value::Boolean(egress.allow_http));
    let ports = match &egress.allow_ports {
        Ports::Any => text("any"),
        Ports::Only(ports) => list(ports.iter().map(|port| Value::Integer((*port).into())).collect()),
    };
    put("egress.allow_ports", ports);
    put("egress.allow_local_names", Value::Boolean(egress.allow_local_names));
    put("egress.nat64", Value::Boolean(egress.nat64));
    put("egress.extra_roots", list(egress.extra_roots.iter().map(|path| text(path.display())).collect()));
    put_some(put, "egress.resolver", egress.resolver.map(text));
    put_some(put, "egress.user_agent", egress.user_agent.as_ref().map(text));
    put_some(put, "egress.proxy", egress.proxy.as_deref().map(|url| text(masked_url(url))));
}

fn put_smtp(put: &mut impl FnMut(&str, Value), smtp: &gonets_mail::Settings) {
    put("smtp.host", text(&smtp.host));
    put_some(put, "smtp.port", smtp.port.map(|port| Value::Integer(port.into())));
    put("smtp.security", text(smtp.security.name()));
    put_some(put, "smtp.user", smtp.user.as_ref().map(text));
    put_some(put, "smtp.password", smtp.password.as_ref().map(|_| text(MASK)));
    put("smtp.from", text(&smtp.from));
    put_some(put, "smtp.operator", smtp.operator.as_ref().map(text));
    put("smtp.language", text(smtp.language.name()));
}

fn put_some(put: &mut impl FnMut(&str, Value), key: &str, value: Option<Value>) {
    if let Some(value) = value {
        put(key, value);
    }
}

fn text(shown: impl std::fmt::Display) -> Value {
    Value::String(shown.to_string())
}

/// `postgres://user:***@host/…`. The credentials end at the last @, since people leave slashes in
/// passwords, and any parameter may be a password too.
fn masked_url(url: &str) -> String {
    let (scheme, rest) = url.split_at(url.find("://").map_or(0, |at| at + 3));
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?***"));
    let Some((credentials, place)) = rest.rsplit_once('@') else { return format!("{scheme}{rest}{query}") };
    let shown =
        credentials.split_once(':').map_or(credentials.to_owned(), |(user, _)| format!("{user}:{MASK}"));
    format!("{scheme}{shown}@{place}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_of_a_url_is_shown() {
        for (url, shown) in [
            ("postgres://db/gonets", "postgres://db/gonets"),
            ("postgres://me@db/gonets", "postgres://me@db/gonets"),
            ("postgres://me:s3cret@db:5432/gonets", "postgres://me:***@db:5432/gonets"),
            ("postgres://me:s3cr:et@x@db/g", "postgres://me:***@db/g"),
            ("postgres://db/g?password=s3cret", "postgres://db/g?***"),
            ("me:s3cret@db", "me:***@db"),
        ] {
            assert_eq!(masked_url(url), shown);
            assert!(!masked_url(url).contains("s3cr"), "{url}");
        }
    }

    #[test]
    fn a_password_with_a_slash_is_not_shown_either() {
        assert!(!masked_url("postgres://me:s3/cret@db/g").contains("cret@"));
    }
}
