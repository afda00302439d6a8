//! Pieces in a store: named by their content, encrypted if there is a key, checked when they are read.

use ring::digest;
use scarce_engine::random::hex;

use crate::BackupError;
use crate::key::{Key, Keys};
use crate::manifest::{Manifest, Piece};
use crate::store::{Store, StoreError};

/// How long a piece is at most.
pub(crate) const PIECE_BYTES: usize = 4 << 20;
/// What encryption adds.
pub(crate) const TAG_BYTES: u64 = 16;

/// A store with the keys to it.
pub struct Vault {
    /// The store.
    pub store: Box<dyn Store>,
    /// The keys.
    pub keys: Keys,
}

impl Vault {
    /// The name of a content in new backups.
    pub(crate) fn name_of(&self, content: &[u8]) -> String {
        name_of(content, self.keys.first())
    }

    pub(crate) fn put(&self, piece: &Piece, content: &[u8]) -> Result<(), BackupError> {
        let put = match self.keys.first() {
            None => self.store.put(&piece.object(), content),
            Some(key) => self.store.put(&piece.object(), &key.encrypt(&piece.hash, content)),
        };
        Ok(put?)
    }

    /// The key of a backup, or none if it is not encrypted.
    ///
    /// # Errors
    /// When it is encrypted with a key that is not there, or not encrypted although keys were given.
    pub fn key_of(&self, manifest: &Manifest) -> Result<Option<&Key>, BackupError> {
        let Some(wanted) = &manifest.key else {
            let refused = || BackupError::Plain { backup: manifest.id.clone() };
            return self.keys.admit_plain().then_some(None).ok_or_else(refused);
        };
        let found = self.keys.find(wanted);
        found.map(Some).ok_or_else(|| BackupError::WrongKey {
            backup: manifest.id.clone(),
            wanted: wanted.clone(),
            given: self.keys.ids(),
        })
    }

    /// The content of an object, which is damaged if it is nothing that was ever put.
    pub(crate) fn read(&self, object: &str, bytes_max: u64) -> Result<Vec<u8>, BackupError> {
        let damaged = |place, reason: &str| BackupError::Damaged { place, reason: reason.to_owned() };
        self.store.get(object, bytes_max).map_err(|error| match error {
            StoreError::TooLarge { place, .. } => damaged(place, "it is longer than it was"),
            StoreError::NoFile { place } => damaged(place, "it is no regular file"),
            error => error.into(),
        })
    }

    /// The content of a piece, checked.
    pub(crate) fn get(&self, piece: &Piece, key: Option<&Key>) -> Result<Vec<u8>, BackupError> {
        let object = piece.object();
        let damaged = |reason: &str| BackupError::Damaged {
            place: self.store.locate(&object),
            reason: reason.to_owned(),
        };
        let bytes = match self.read(&object, piece.bytes + TAG_BYTES) {
            Err(BackupError::Store(StoreError::Missing { .. })) => return Err(damaged("it is missing")),
            bytes => bytes?,
        };
        let content = match key {
            None => bytes,
            Some(key) => {
                key.decrypt(&piece.hash, bytes).ok_or_else(|| damaged("it is not what was encrypted"))?
            }
        };
        if content.len() as u64 != piece.bytes {
            return Err(damaged("it is shorter than it was"));
        }
        if name_of(&content, key) != piece.hash {
            return Err(damaged("its content is not the one in its name"));
        }
        Ok(content)
    }
}

pub(crate) fn name_of(content: &[u8], key: Option<&Key>) -> String {
    match key {
        None => hex(digest::digest(&digest::SHA256, content).as_ref()),
        Some(key) => key.name(content),
    }
}
