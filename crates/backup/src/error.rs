//! Why a backup cannot be made, read or removed.

use std::path::PathBuf;

use scarce_engine_embedded::EmbeddedError;

use crate::store::StoreError;

/// Why a backup cannot be made, read or removed.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The files of the deployment cannot be backed up.
    #[error("the data directory cannot be backed up as it is")]
    Data(#[from] EmbeddedError),
    /// What is to be backed up is in no data directory and cannot be read.
    #[error("it cannot be backed up: {0}")]
    Live(String),
    /// What is in the store is not what was put there.
    #[error("{place} is damaged: {reason}; use another backup, and look after the store")]
    Damaged {
        /// Which object.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// A newer release wrote it.
    #[error(
        "{place} has format version {found}, and this release reads up to {supported}; use the newer release"
    )]
    Newer {
        /// Which object.
        place: String,
        /// Its version.
        found: u64,
        /// The newest version known here.
        supported: u64,
    },
    /// It is encrypted, and the key is not there.
    #[error("backup {backup} is encrypted with the key {wanted}, and {}; name the file of that key", shown(.given))]
    WrongKey {
        /// Which backup.
        backup: String,
        /// The id of its key.
        wanted: String,
        /// The ids of the keys that were given.
        given: Vec<String>,
    },
    /// It is not encrypted, and keys were given: anyone who can write to the store may have placed it.
    #[error(
        "backup {backup} is not encrypted, although a key was given; someone may have placed it there; if it is yours, add --allow-plain"
    )]
    Plain {
        /// Which backup.
        backup: String,
    },
    /// A new backup would stand beside others of which it is not certain that they belong together.
    #[error(
        "{place} holds backups that {}: the newest is {backup}; {}, or use another store, or add --allow-plain to have both there",
        if *.is_encrypted { "are encrypted, and the new one would not be" } else { "are not encrypted, and the new one would be" },
        if *.is_encrypted { "name the key with --key-file" } else { "leave out the key" }
    )]
    Mixed {
        /// The store.
        place: String,
        /// The newest backup.
        backup: String,
        /// Whether it is encrypted.
        is_encrypted: bool,
    },
    /// The store is another deployment's.
    #[error(
        "{place} is of the deployment {found}, not of {expected}; give each deployment a store of its own"
    )]
    Foreign {
        /// The store, or the object in it that says so.
        place: String,
        /// Whose backups are there.
        found: String,
        /// Whose should be.
        expected: String,
    },
    /// The newest backup cannot be used, and an older one is another state.
    #[error("{reasons}\n{}", advice(.older.as_deref()))]
    NewestUnusable {
        /// Which cannot be used, and why.
        reasons: String,
        /// The newest that can, if there is one.
        older: Option<String>,
    },
    /// What says whose backups a store holds is not there any more, and so nothing of it may be.
    #[error(
        "the store is not there any more: {place} is missing{}; to begin anew in an empty store, remove {}",
        if .place.contains("://") { "" } else { ", and its file system may not be mounted" },
        .known_in.display()
    )]
    StoreGone {
        /// The object.
        place: String,
        /// The file of the data directory that says that it was there once.
        known_in: PathBuf,
    },
    /// A part of the log that was put is not there any more, or is another one.
    #[error(
        "{place} lacks part {number} of the log, which was put there; was the store put back to an older state?"
    )]
    PartLost {
        /// The folder of the log.
        place: String,
        /// The first one.
        number: u64,
    },
    /// A piece of the backup that the log follows is not there any more.
    #[error("{0}; was the store put back to an older state, or does a rule remove old objects?")]
    PieceLost(String),
    /// Another server has gone on with the data.
    #[error("{0}")]
    Superseded(String),
    /// More than one backup may be meant.
    #[error("{0}")]
    Undecided(String),
    /// No backup is there, or none that reaches the wanted point.
    #[error("{0}")]
    NotFound(String),
    /// The log cannot be laid aside here while it is read.
    #[error("the log of a backup cannot be written to a temporary file")]
    Spool(#[source] std::io::Error),
    /// Its maker was asked to stop, or the log that it held up became too long.
    #[error("{0}")]
    Abandoned(String),
    /// Without randomness, no name is certain to be new.
    #[error("the system gave no random bytes to name the backup with")]
    Random(#[source] std::io::Error),
}

fn advice(older: Option<&str>) -> String {
    match older {
        None => "there is no other backup; look after the store".to_owned(),
        Some(older) => format!(
            "it may be the newest, and nothing older is taken unasked: name one with --backup, such as {older}; \
             or add --skip-damaged for the newest that can be used, with the log that follows it"
        ),
    }
}

fn shown(keys: &[String]) -> String {
    match keys {
        [] => "no key was given".to_owned(),
        keys => format!("the given one is {}", keys.join(", ")),
    }
}
