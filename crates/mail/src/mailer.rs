//! Mails over SMTP.

use std::{
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use gonets_core::time::Timestamp;
use lettre::{
    AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{Mailbox, header},
    transport::smtp::authentication::Credentials,
};

use crate::{
    digest::Digest,
    settings::{Security, Settings},
    text,
};

/// How long a server may take for one mail.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends digests. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Mailer {
    settings: Arc<Settings>,
    from: Mailbox,
    transport: AsyncSmtpTransport<Tokio1Executor>,
}

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("\"{0}\" is not an address such as gonets@example.com or Gonets <gonets@example.com>")]
    Address(String),
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

/// A mail that did not go.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    #[error("none of the addresses is one: {0}")]
    NoAddress(String),
    #[error("the mail could not be put together: {0}")]
    Message(String),
    #[error("the mail server did not take it: {sentence}")]
    Refused { sentence: String, is_temporary: bool },
}

impl MailError {
    /// Whether it is worth trying again.
    pub const fn is_temporary(&self) -> bool {
        matches!(self, Self::Refused { is_temporary: true, .. })
    }
}

impl Mailer {
    /// # Errors
    /// An address that is none, or TLS that cannot be set up.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        let from = address(&settings.from).ok_or_else(|| SettingsError::Address(settings.from.clone()))?;
        if let Some(operator) = settings.operator.as_deref().filter(|text| address(text).is_none()) {
            return Err(SettingsError::Address(operator.to_owned()));
        }
        let host = settings.host.as_str();
        let tls = |cause: lettre::transport::smtp::Error| SettingsError::Tls(cause.to_string());
        let builder = match settings.security {
            Security::None => AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host),
            Security::StartTls => AsyncSmtpTransport::<Tokio1Executor>::starttls_relay(host).map_err(tls)?,
            Security::Tls => AsyncSmtpTransport::<Tokio1Executor>::relay(host).map_err(tls)?,
        };
        let mut builder =
            builder.port(settings.port.unwrap_or(settings.security.port())).timeout(Some(PATIENCE));
        if let (Some(user), Some(password)) = (&settings.user, &settings.password) {
            builder = builder.credentials(Credentials::new(user.clone(), password.reveal().to_owned()));
        }
        Ok(Self { transport: builder.build(), from, settings: Arc::new(settings) })
    }

    /// Whom to write to about an application: its contacts, else the operator.
    pub fn recipients(&self, contacts: &[String]) -> Vec<String> {
        if contacts.is_empty() { self.settings.operator.iter().cloned().collect() } else { contacts.to_vec() }
    }

    /// Sends one mail, dated `now`.
    ///
    /// # Errors
    /// [`MailError`], which says whether to try again.
    pub async fn send(&self, digest: &Digest, now: Timestamp) -> Result<(), MailError> {
        let message = self.message(digest, now)?;
        self.transport.send(message).await.map(drop).map_err(|cause| MailError::Refused {
            is_temporary: !cause.is_permanent(),
            sentence: sentence(&cause),
        })
    }

    fn message(&self, digest: &Digest, now: Timestamp) -> Result<Message, MailError> {
        let to: Vec<Mailbox> = digest.to.iter().filter_map(|text| address(text)).collect();
        if to.is_empty() {
            return Err(MailError::NoAddress(digest.to.join(", ")));
        }
        let text = text::write(digest, self.settings.language, self.settings.public_url.as_deref());
        let date = UNIX_EPOCH + Duration::from_millis(u64::try_from(now.as_millis()).unwrap_or(0));
        let domain = self.from.email.domain();
        let mut builder = Message::builder()
            .from(self.from.clone())
            .subject(text.subject)
            .date(date)
            .message_id(Some(format!("<{}@{domain}>", digest.id)))
            .header(header::ContentType::TEXT_PLAIN);
        for mailbox in to {
            builder = builder.to(mailbox);
        }
        builder.body(text.body).map_err(|cause| MailError::Message(cause.to_string()))
    }
}

/// `None` for what is no address; line ends in it would begin headers.
fn address(text: &str) -> Option<Mailbox> {
    if text.chars().any(char::is_control) {
        return None;
    }
    text.parse().ok()
}

/// The cause with the causes behind it.
fn sentence(cause: &dyn std::error::Error) -> String {
    let mut text = cause.to_string();
    let mut next = cause.source();
    while let Some(cause) = next {
        let deeper = cause.to_string();
        if !text.contains(&deeper) {
            text.push_str(&format!(": {deeper}"));
        }
        next = cause.source();
    }
    text
}
