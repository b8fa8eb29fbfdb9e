//! File, environment and flags laid over each other.
//!
//! Each value keeps where it came from: the sentence about a wrong one names the line of work to
//! go back to. Keys are checked here, types in [`super::settings`].

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use toml::{Table, Value};

use super::{
    error::{ConfigError, Origin},
    flags::ConfigFlags,
    keys::{self, Kind},
};

const PREFIX: &str = "GONETS_";

/// The environment of the process, passed in so that tests can have their own.
#[derive(Clone, Debug, Default)]
pub struct Variables(BTreeMap<OsString, OsString>);

impl Variables {
    /// Those of this process.
    pub fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// The value of one, if it is set and not empty.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub fn get(&self, name: &str) -> Result<Option<&str>, ConfigError> {
        let Some(value) = self.0.get(std::ffi::OsStr::new(name)) else { return Ok(None) };
        let text = value.to_str().ok_or_else(|| ConfigError::NotUtf8 { name: name.to_owned() })?;
        Ok((!text.is_empty()).then_some(text))
    }

    /// The names that belong to Gonets.
    fn ours(&self) -> impl Iterator<Item = &str> {
        self.0.keys().filter_map(|name| name.to_str()).filter(|name| name.starts_with(PREFIX))
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for Variables {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// What was set, by whom; the last layer that set a key has it.
#[derive(Debug, Default)]
pub struct Layers {
    values: BTreeMap<&'static str, (Value, Origin)>,
    /// Tables by profile, merged key by key.
    profiles: BTreeMap<String, (Table, Origin)>,
}

impl Layers {
    /// Reads the file, then the variables, then the flags.
    ///
    /// # Errors
    /// An unreadable file, an unknown key, or a variable that is not text.
    pub fn gather(flags: &ConfigFlags, variables: &Variables) -> Result<Self, ConfigError> {
        let mut layers = Self::default();
        if let Some(path) = &flags.config {
            layers.add_file(path)?;
        }
        layers.add_variables(variables)?;
        layers.add_flags(flags);
        Ok(layers)
    }

    /// The value of a key and its origin.
    pub fn get(&self, key: &str) -> Option<(&Value, &Origin)> {
        self.values.get(key).map(|(value, origin)| (value, origin))
    }

    /// The first key of a section that was set.
    pub fn first_of(&self, section: &str) -> Option<(&'static str, &Origin)> {
        let of_section = |key: &str| key.split('.').next() == Some(section);
        self.values.iter().find(|(key, _)| of_section(key)).map(|(key, (_, origin))| (*key, origin))
    }

    /// The profiles' tables by name.
    pub fn profiles(&self) -> &BTreeMap<String, (Table, Origin)> {
        &self.profiles
    }

    fn add_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|cause| ConfigError::Unreadable { path: path.to_owned(), cause })?;
        let table: Table = text.parse().map_err(|problem: toml::de::Error| ConfigError::NotToml {
            path: path.to_owned(),
            problem: problem.to_string().trim_end().to_owned(),
        })?;
        let origin = Origin::File(path.to_owned());
        for (section, value) in table {
            self.add_section(&section, value, &origin)?;
        }
        Ok(())
    }

    fn add_section(&mut self, section: &str, value: Value, origin: &Origin) -> Result<(), ConfigError> {
        if !keys::is_section(section) {
            return Err(unknown(section, origin));
        }
        let Value::Table(table) = value else {
            return Err(ConfigError::Value {
                key: section.to_owned(),
                origin: origin.clone(),
                problem: format!("it is a section; write [{section}] and the keys below it"),
            });
        };
        for (name, value) in table {
            if section == "profiles" {
                self.add_profile(&name, value, origin)?;
            } else {
                let full = format!("{section}.{name}");
                let key = keys::find(&full).ok_or_else(|| unknown(&full, origin))?;
                self.values.insert(key.name, (value, origin.clone()));
            }
        }
        Ok(())
    }

    fn add_profile(&mut self, name: &str, value: Value, origin: &Origin) -> Result<(), ConfigError> {
        let Value::Table(table) = value else {
            return Err(ConfigError::NotASection { key: format!("profiles.{name}"), origin: origin.clone() });
        };
        check_profile(name, "", &table, origin)?;
        let (merged, from) =
            self.profiles.entry(name.to_owned()).or_insert_with(|| (Table::new(), origin.clone()));
        merge(merged, table);
        *from = origin.clone();
        Ok(())
    }

    fn add_variables(&mut self, variables: &Variables) -> Result<(), ConfigError> {
        for name in variables.ours() {
            let Some(text) = variables.get(name)? else { continue };
            let below = name[PREFIX.len()..].to_ascii_lowercase();
            let origin = Origin::Variable(name.to_owned());
            let path: Vec<&str> = below.split("__").collect();
            match path.as_slice() {
                [one] => refuse_one_underscore(name, one)?,
                ["profiles", profile, rest @ ..] if !rest.is_empty() => {
                    let value = rest.iter().rev().fold(guessed(text), |inner, key| {
                        Value::Table(Table::from_iter([((*key).to_owned(), inner)]))
                    });
                    self.add_profile(profile, value, &origin)?;
                }
                _ => {
                    let full = path.join(".");
                    let key = keys::find(&full).ok_or_else(|| unknown(&full, &origin))?;
                    self.values.insert(key.name, (read(key.kind, text), origin));
                }
            }
        }
        Ok(())
    }

    fn add_flags(&mut self, flags: &ConfigFlags) {
        let data = flags.data.as_ref().map(|dir| dir.to_string_lossy().into_owned());
        for (key, flag, value) in [
            ("server.listen", "--listen", flags.listen.clone()),
            ("store.dir", "--data", data),
            ("store.url", "--database", flags.database.clone()),
        ] {
            if let Some(value) = value {
                self.values.insert(key, (Value::String(value), Origin::Flag(flag)));
            }
        }
        // A directory named on the command line is meant instead of a database named elsewhere.
        if flags.data.is_some() && flags.database.is_none() {
            self.values.remove("store.url");
        }
    }
}

fn unknown(key: &str, origin: &Origin) -> ConfigError {
    ConfigError::UnknownKey { key: key.to_owned(), origin: origin.clone(), hint: keys::hint(key) }
}

/// Variables without a section are not ours to refuse (an orchestrator sets `GONETS_PORT` for a
/// service of that name), but one that is a key with an underscore missing is a mistake.
fn refuse_one_underscore(name: &str, below: &str) -> Result<(), ConfigError> {
    match keys::KEYS.iter().find(|key| key.name.replace('.', "_") == below) {
        None => Ok(()),
        Some(key) => Err(ConfigError::OneUnderscore {
            name: name.to_owned(),
            instead: format!("{PREFIX}{}", key.name.replace('.', "__").to_ascii_uppercase()),
        }),
    }
}

fn check_profile(profile: &str, inside: &str, table: &Table, origin: &Origin) -> Result<(), ConfigError> {
    for (name, value) in table {
        let below = format!("{inside}{name}");
        if !keys::is_of_profile(&below) {
            return Err(unknown(&format!("profiles.{profile}.{below}"), origin));
        }
        if let Value::Table(table) = value {
            check_profile(profile, &format!("{below}."), table, origin)?;
        }
    }
    Ok(())
}

fn merge(into: &mut Table, from: Table) {
    for (name, value) in from {
        match (into.get_mut(&name), value) {
            (Some(Value::Table(below)), Value::Table(table)) => merge(below, table),
            (_, value) => drop(into.insert(name, value)),
        }
    }
}

/// The text of a variable as its key's kind. What does not fit stays text and is refused where
/// types are checked.
fn read(kind: Kind, text: &str) -> Value {
    let listed = || {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(|item| Value::String(item.to_owned())).collect::<Vec<_>>()
    };
    match kind {
        Kind::Text => Value::String(text.to_owned()),
        Kind::Switch | Kind::Count => guessed(text),
        Kind::List if text.trim_start().starts_with('[') => guessed(text),
        Kind::List => Value::Array(listed()),
        Kind::Ports if text == "any" || text.trim_start().starts_with('[') => guessed(text),
        Kind::Ports => {
            let number = |item: &Value| item.as_str().and_then(|item| item.parse().ok()).map(Value::Integer);
            let numbers: Option<Vec<Value>> = listed().iter().map(number).collect();
            numbers.map_or_else(|| Value::String(text.to_owned()), Value::Array)
        }
    }
}

/// A TOML value if it is one, else the text itself: `true`, `12`, `["1s", "2s"]`, `10s`.
fn guessed(text: &str) -> Value {
    let document: Result<Table, _> = format!("value = {text}").parse();
    match document {
        Ok(mut table) if table.len() == 1 => {
            table.remove("value").unwrap_or_else(|| Value::String(text.to_owned()))
        }
        _ => Value::String(text.to_owned()),
    }
}
