//! Making a key.

use std::time::Duration;

use gonets_core::{
    ids::{AppNo, EnvironmentNo},
    limits,
    time::Timestamp,
};
use gonets_store::entity::{EntityKind, KeyDoc};

use super::Key;
use crate::{
    access::{Admin, Caller, token},
    error::Error,
    field::Fields,
    service::Service,
    write::{Change, Written},
};

/// The longest life that a key may be given; `None` of it lives until it is revoked.
const LIFE_MAX_S: u32 = 10 * 365 * 24 * 3600;

/// What a key is made with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyDraft {
    pub name: String,
    /// An application's id or uid: then it is a token of that application only.
    pub application: Option<String>,
    /// Seconds until it expires.
    pub expires_in_s: Option<u32>,
    /// When it expires, instead.
    pub expires_at: Option<Timestamp>,
}

/// A key with its token, which is shown this once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    pub key: Key,
    pub token: String,
}

impl Service {
    /// Makes a key with a random token. It is not repeated under an idempotency key: the token is
    /// kept nowhere.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such application.
    pub async fn create_key(&self, caller: &Caller, draft: KeyDraft) -> Result<NewKey, Error> {
        let admin = caller.admin()?;
        let mut fields = Fields::default();
        fields.full_text("name", &draft.name, limits::NAME_CHARS);
        fields.within("expiresIn", draft.expires_in_s, 1, LIFE_MAX_S);
        let now = self.now();
        let life = draft.expires_in_s.map(|seconds| Duration::from_secs(seconds.into()));
        let expires_at = draft.expires_at.or(life.map(|life| now + life));
        if draft.expires_at.is_some() && life.is_some() {
            fields.wrong("expiresAt", "expiresAt and expiresIn say the same thing. Give one of them.");
        } else if draft.expires_at.is_some_and(|at| at <= now) {
            fields.wrong("expiresAt", format!("expiresAt is over: it is {now} now."));
        } else if draft.expires_at.is_some_and(|at| at.since(now) > Duration::from_secs(LIFE_MAX_S.into())) {
            fields.wrong(
                "expiresAt",
                "expiresAt is over ten years ahead. Choose an earlier instant, or leave it out.",
            );
        }
        fields.done()?;
        let app = match &draft.application {
            Some(name) => Some(self.app(caller, name)?.app.no),
            None => None,
        };
        let token = token::generate()?;
        let key = self.keep_key(admin.environment, &draft.name, &token, app, expires_at).await?;
        Ok(NewKey { key, token })
    }

    /// Makes an admin key of a token that is given (`GONETS_BOOTSTRAP_KEY`, `dev`), if there is
    /// none of it.
    ///
    /// # Errors
    /// [`Error::Conflict`] when another environment has it.
    pub async fn ensure_admin_key(&self, who: &Admin, name: &str, token: &str) -> Result<(), Error> {
        match self.directory().key_by_hash(token::Hash::of(token).hex()) {
            Some(key) if key.row.environment == who.environment && key.doc.app.is_none() => Ok(()),
            Some(_) => Err(Error::conflict("the key given is in use for something else. Choose another.")),
            None => self.keep_key(who.environment, name, token, None, None).await.map(drop),
        }
    }

    /// An admin key with a random token; for the first start, and for environments when made.
    ///
    /// # Errors
    /// As the store says.
    pub async fn create_admin_key(&self, who: &Admin, name: &str) -> Result<NewKey, Error> {
        let token = token::generate()?;
        let key = self.keep_key(who.environment, name, &token, None, None).await?;
        Ok(NewKey { key, token })
    }

    async fn keep_key(
        &self,
        environment: EnvironmentNo,
        name: &str,
        token: &str,
        app: Option<AppNo>,
        expires_at: Option<Timestamp>,
    ) -> Result<Key, Error> {
        let now = self.now();
        let doc = KeyDoc {
            name: name.to_owned(),
            created_at: now,
            token_hash: token::Hash::of(token).hex().to_owned(),
            app,
            expires_at,
            hint: token::hint(token),
        };
        let change = Change::create(EntityKind::Key, self.next_no()?, environment, None, &doc)?;
        match self.write(change).await? {
            Written::Done(row) | Written::Replayed(row) => Ok(Key::of(self.engine().ids(), &row, &doc)),
            Written::Outrun | Written::UidTaken => Err(Error::Contended),
        }
    }
}
