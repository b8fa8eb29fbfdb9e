//! The secrets of an installation that are not configuration: the master key, which seals secrets
//! at rest, and the bootstrap key, which is an admin key known from outside.
//!
//! They come from the environment only, or, with `--dev`, the master key from a file in the data
//! directory. Neither is ever printed; a new admin key is, once, because nobody else knows it.

use std::{io::Write, os::unix::fs::OpenOptionsExt, path::Path};

use gonets_wire::{Keyring, MasterKey};

use crate::{config::Variables, error::Error};

/// The admin key of `--dev`.
pub const DEV_KEY: &str = "dev";
/// Where `--dev` keeps its master key, in the data directory.
const MASTER_KEY_FILE: &str = "master.key";
/// The shortest key that may be given from outside.
const KEY_CHARS: usize = 8;

/// The master keys: of `GONETS_MASTER_KEY`; with `dev` and without that, one of its own in `dir`,
/// made at the first start.
///
/// # Errors
/// When there is none, or it is not a key.
pub fn keyring(variables: &Variables, dev: bool, dir: &Path) -> Result<Keyring, Error> {
    if let Some(text) = variables.get("GONETS_MASTER_KEY")? {
        return Ok(Keyring::parse(text)?);
    }
    if !dev {
        return Err(Error::NoMasterKey);
    }
    let path = dir.join(MASTER_KEY_FILE);
    let kept = |cause| Error::MasterKeyFile { path: path.clone(), cause };
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Keyring::parse(&text)?),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
            let key = MasterKey::generate()?;
            std::fs::create_dir_all(dir).map_err(kept)?;
            let mut file = std::fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)
                .map_err(kept)?;
            file.write_all(key.shown().as_bytes()).and_then(|()| file.sync_all()).map_err(kept)?;
            Ok(Keyring::new(vec![(1, key)])?)
        }
        Err(cause) => Err(kept(cause)),
    }
}

/// The admin keys that are to be there when the server has started: the one given, and with `dev`
/// the one that everybody knows.
///
/// # Errors
/// When the given one could not stand in a header, or is short enough to guess.
pub fn bootstrap_keys(variables: &Variables, dev: bool) -> Result<Vec<String>, Error> {
    let mut keys = Vec::from_iter(dev.then(|| DEV_KEY.to_owned()));
    match variables.get("GONETS_BOOTSTRAP_KEY")? {
        None => {}
        Some(key) if !key.bytes().all(|byte| byte.is_ascii_graphic()) => {
            return Err(Error::BootstrapKey(
                "it has characters that cannot stand in a header; use letters, digits and punctuation of ASCII",
            ));
        }
        Some(key) if !dev && key.len() < KEY_CHARS => {
            return Err(Error::BootstrapKey(
                "it is shorter than 8 characters and easy to guess; make one with `openssl rand -hex 24`",
            ));
        }
        Some(key) => keys.push(key.to_owned()),
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: [(&str, &str); 0] = [];

    #[test]
    fn without_a_master_key_the_sentence_says_how_to_make_one() {
        let dir = tempfile::tempdir().unwrap();
        let error = keyring(&Variables::from_iter(NOTHING), false, dir.path()).unwrap_err().to_string();
        assert!(error.contains("openssl rand -base64 32") && error.contains("--dev"), "{error}");
        assert!(!dir.path().join(MASTER_KEY_FILE).exists());
    }

    #[test]
    fn dev_keeps_one_master_key_that_only_its_owner_can_read() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(MASTER_KEY_FILE);
        keyring(&Variables::from_iter(NOTHING), true, dir.path()).unwrap();
        let first = std::fs::read(&path).unwrap();
        keyring(&Variables::from_iter(NOTHING), true, dir.path()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), first);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_variable_wins_over_the_file_of_dev_and_is_checked() {
        let dir = tempfile::tempdir().unwrap();
        let error = keyring(&Variables::from_iter([("GONETS_MASTER_KEY", "c2hvcnQ=")]), true, dir.path());
        assert!(error.unwrap_err().to_string().contains("has 5 bytes"));
    }

    #[test]
    fn a_bootstrap_key_is_taken_as_it_is_or_refused() {
        let of = |key: &str, dev| bootstrap_keys(&Variables::from_iter([("GONETS_BOOTSTRAP_KEY", key)]), dev);
        assert_eq!(of("a-long-enough-key", false).unwrap(), ["a-long-enough-key"]);
        assert_eq!(of("short", true).unwrap(), ["dev", "short"]);
        assert!(of("short", false).unwrap_err().to_string().contains("easy to guess"));
        assert!(of("with space", false).unwrap_err().to_string().contains("header"));
        assert_eq!(bootstrap_keys(&Variables::from_iter(NOTHING), true).unwrap(), ["dev"]);
        assert!(bootstrap_keys(&Variables::from_iter(NOTHING), false).unwrap().is_empty());
    }
}
