//! Whom mails go through, and whom they are from.

use std::{fmt, str::FromStr};

/// `smtp.*` of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub host: String,
    /// `None`: the usual one of the security.
    pub port: Option<u16>,
    pub security: Security,
    pub user: Option<String>,
    pub password: Option<Password>,
    /// An address, with a name if one likes: `Gonets <gonets@example.com>`.
    pub from: String,
    /// Who is told of applications without contacts.
    pub operator: Option<String>,
    pub language: Language,
    /// Begins the links; `server.public_url`.
    pub public_url: Option<String>,
}

/// A password that no log can show.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    pub fn new(text: String) -> Self {
        Self(text)
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// How the connection to the server is kept from others' eyes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Security {
    /// In the clear, port 25: for a server on this machine or network.
    None,
    /// In the clear first, then TLS or nothing, port 587.
    #[default]
    StartTls,
    /// TLS from the start, port 465.
    Tls,
}

/// The language of mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    #[default]
    English,
    Russian,
}

impl Security {
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::StartTls => "starttls",
            Self::Tls => "tls",
        }
    }

    pub(crate) const fn port(self) -> u16 {
        match self {
            Self::None => 25,
            Self::StartTls => 587,
            Self::Tls => 465,
        }
    }
}

impl Language {
    /// Its code in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Russian => "ru",
        }
    }
}

impl FromStr for Security {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        [Self::None, Self::StartTls, Self::Tls].into_iter().find(|one| one.name() == word).ok_or(())
    }
}

impl FromStr for Language {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        [Self::English, Self::Russian].into_iter().find(|one| one.name() == word).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written_and_a_password_is_not_shown() {
        for one in [Security::None, Security::StartTls, Security::Tls] {
            assert_eq!(one.name().parse(), Ok(one));
        }
        assert_eq!("ru".parse(), Ok(Language::Russian));
        assert_eq!("de".parse::<Language>(), Err(()));
        assert_eq!(format!("{:?}", Password::new("s3cret".into())), "***");
    }
}
