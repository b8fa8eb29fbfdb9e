//! Keeps a second process out of a data directory.
//!
//! SQLite's own locks would let two processes take turns; the memory of the writer (recent keys,
//! versions of applications) would then be wrong. The system drops the lock with the process, so a
//! crash leaves nothing to clean up.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Seek, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::{FlockOperation, flock};

use crate::error::OpenError;

const NAME: &str = "gonets.lock";

/// Held as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    pub(crate) fn take(dir: &Path) -> Result<Self, OpenError> {
        let broken = |cause| OpenError::Directory { dir: dir.to_owned(), cause };
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(dir.join(NAME))
            .map_err(broken)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut text = String::new();
            let pid = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
            return Err(OpenError::Locked { dir: dir.to_owned(), pid });
        }
        file.set_len(0).map_err(broken)?;
        file.rewind().map_err(broken)?;
        writeln!(file, "{}", std::process::id()).map_err(broken)?;
        Ok(Self { _file: file })
    }
}
