//! The signing secret of an endpoint: shown to those who may see it, and rotated.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use gonets_core::{limits, notice::NoticeKind, time::Timestamp};
use gonets_store::entity::{EndpointDoc, SecretDoc};
use gonets_wire::{Place, Purpose, Secret};

use super::told::told;
use crate::{
    access::AppAccess,
    error::Error,
    field::Fields,
    idempotency::RequestKey,
    service::Service,
    write::{self, Change, Written},
};

/// The longest grace of an old secret.
const GRACE_MAX_S: u32 = 7 * 24 * 3600;

/// A wish for a new secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rotation {
    /// `None` makes one.
    pub key: Option<String>,
    /// How long the old one still signs beside the new; `None`: a day.
    pub grace_period_s: Option<u32>,
}

impl Service {
    /// The current secret, as shown.
    ///
    /// # Errors
    /// [`Error::Internal`] when it cannot be opened with the configured master key.
    pub fn get_secret(&self, who: &AppAccess, endpoint: &str) -> Result<String, Error> {
        let endpoint = self.endpoint(who, endpoint)?;
        self.current_secret(endpoint.place(Purpose::EndpointSecret), &endpoint.doc)
    }

    /// Puts a new secret in front; the one of before still signs for the grace period.
    ///
    /// # Errors
    /// [`Error::Conflict`] when ten old secrets are still valid.
    pub async fn rotate_secret(
        &self,
        who: &AppAccess,
        endpoint: &str,
        rotation: Rotation,
        key: Option<RequestKey>,
    ) -> Result<String, Error> {
        let no = self.endpoint(who, endpoint)?.no;
        let mut fields = Fields::default();
        fields.within("gracePeriodSeconds", rotation.grace_period_s, 0, GRACE_MAX_S);
        let secret = match &rotation.key {
            Some(text) => fields.check("key", Secret::parse(text)),
            None => Some(Secret::generate().map_err(Error::internal)?),
        };
        fields.done()?;
        let secret = secret.ok_or_else(|| Error::internal("a secret that was neither taken nor refused"))?;
        let sealed = self.seal_secret(who.environment(), no.0, &secret)?;
        let grace = rotation
            .grace_period_s
            .map_or(limits::OLD_KEY_GRACE, |seconds| Duration::from_secs(seconds.into()));
        let mut tries = self.tries_about(who.app.no);
        loop {
            tries.next().await?;
            let current =
                self.directory().endpoint(no).filter(|one| !one.row.deleted).ok_or(Error::Deleted)?;
            let now = self.now();
            let secrets = rotated(&current.doc.secrets, sealed.clone(), now, grace)?;
            let doc = EndpointDoc { secrets, updated_at: now, ..current.doc.clone() };
            let updated = told(&who.app, no, NoticeKind::EndpointUpdated, doc.updated_at);
            let change = Change::replace(&current.row, current.row.uid.clone(), &doc)?
                .of(&who.app)
                .telling(vec![updated]);
            match self.write(change.with_key(key)).await? {
                Written::Done(_) => return Ok(secret.shown().to_owned()),
                Written::Replayed(row) => {
                    return self.current_secret(current.place(Purpose::EndpointSecret), &write::read(&row)?);
                }
                Written::Outrun | Written::UidTaken => {}
            }
        }
    }

    fn current_secret(&self, place: Place, doc: &EndpointDoc) -> Result<String, Error> {
        let current = doc.secrets.first().ok_or_else(|| Error::internal("an endpoint without a secret"))?;
        let sealed = STANDARD.decode(&current.sealed).map_err(Error::internal)?;
        let opened = self.directory().context().keyring.open(place, &sealed).map_err(Error::internal)?;
        String::from_utf8(opened.to_vec()).map_err(Error::internal)
    }
}

/// The new secret first, then the one of before with its end, then older ones that still sign.
fn rotated(
    before: &[SecretDoc],
    new: SecretDoc,
    now: Timestamp,
    grace: Duration,
) -> Result<Vec<SecretDoc>, Error> {
    let until = now + grace;
    let mut secrets = vec![new];
    for secret in before {
        let expires_at = secret.expires_at.unwrap_or(until);
        if now < expires_at {
            secrets.push(SecretDoc { expires_at: Some(expires_at), ..secret.clone() });
        }
    }
    if secrets.len() > 1 + limits::OLD_KEYS {
        return Err(Error::Conflict {
            code: "too_many_old_keys",
            detail: format!(
                "{} old secrets are still valid, which is the most. Wait for one to end.",
                limits::OLD_KEYS
            ),
        });
    }
    Ok(secrets)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn secret(name: &str, expires_at: Option<i64>) -> SecretDoc {
        SecretDoc { sealed: name.into(), expires_at: expires_at.map(Timestamp::from_millis) }
    }

    #[test]
    fn the_old_secret_signs_until_its_grace_ends() {
        let now = Timestamp::from_millis(1_000);
        let secrets =
            rotated(&[secret("b", None), secret("a", Some(1_000))], secret("c", None), now, DAY).unwrap();
        assert_eq!(secrets, [secret("c", None), secret("b", Some(86_401_000))]);
    }

    #[test]
    fn without_grace_only_the_new_one_is_left() {
        let secrets =
            rotated(&[secret("a", None)], secret("b", None), Timestamp::from_millis(5), Duration::ZERO)
                .unwrap();
        assert_eq!(secrets, [secret("b", None)]);
    }

    #[test]
    fn an_eleventh_old_secret_is_refused() {
        let mut secrets = vec![secret("0", None)];
        for i in 1..=10 {
            secrets =
                rotated(&secrets, secret(&i.to_string(), None), Timestamp::from_millis(i), DAY).unwrap();
        }
        let error = rotated(&secrets, secret("11", None), Timestamp::from_millis(11), DAY).unwrap_err();
        assert_eq!(error.code(), "too_many_old_keys");
    }
}
