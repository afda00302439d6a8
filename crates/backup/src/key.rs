//! Keys that encrypt backups.
//!
//! All is derived from 32 secret bytes by HMAC-SHA256: an id that may be shown, the names of pieces, the seal of
//! manifests, and for each piece a key of its own. A piece's name is a keyed hash of its content, so that a key only ever
//! encrypts one content, and a constant nonce is right.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hmac;
use scarce_engine::random::{self, hex};

const KEY_BYTES: usize = 32;

/// Why keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read.
    #[error("the keys in {path} cannot be read")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A line is no key.
    #[error(
        "line {line} of {path} is no key: 32 bytes as base64 are expected; 'scarce backup key' makes one"
    )]
    Malformed {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
    },
    /// The file has no key.
    #[error("{path} has no key; 'scarce backup key' makes one")]
    Empty {
        /// The file.
        path: String,
    },
}

/// A key that encrypts backups.
pub struct Key {
    id: String,
    names: hmac::Key,
    manifests: hmac::Key,
    pieces: hmac::Key,
}

impl Key {
    /// The key of these secret bytes.
    #[must_use]
    pub fn new(secret: &[u8; KEY_BYTES]) -> Self {
        let secret = hmac::Key::new(hmac::HMAC_SHA256, secret);
        let derived = |use_of_it: &str| hmac::sign(&secret, format!("scarce backup {use_of_it}").as_bytes());
        let key = |use_of_it: &str| hmac::Key::new(hmac::HMAC_SHA256, derived(use_of_it).as_ref());
        Self {
            id: hex(&derived("key id").as_ref()[..8]),
            names: key("names"),
            manifests: key("manifests"),
            pieces: key("pieces"),
        }
    }

    /// What tells it from other keys; it may be shown.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// A new key as the line of a file.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn generate() -> std::io::Result<String> {
        Ok(STANDARD.encode(random::bytes::<KEY_BYTES>()?))
    }

    pub(crate) fn name(&self, content: &[u8]) -> String {
        hex(hmac::sign(&self.names, content).as_ref())
    }

    pub(crate) fn seal(&self, manifest: &[u8]) -> String {
        hex(hmac::sign(&self.manifests, manifest).as_ref())
    }

    pub(crate) fn encrypt(&self, name: &str, content: &[u8]) -> Vec<u8> {
        let mut bytes = content.to_vec();
        let sealed =
            self.cipher(name).seal_in_place_append_tag(nonce(), Aad::from(name.as_bytes()), &mut bytes);
        sealed.expect("a piece is far below the cipher's limit");
        bytes
    }

    /// None where the content is not what was encrypted under this name.
    pub(crate) fn decrypt(&self, name: &str, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
        let opened = self.cipher(name).open_in_place(nonce(), Aad::from(name.as_bytes()), &mut bytes);
        let length = opened.ok()?.len();
        bytes.truncate(length);
        Some(bytes)
    }

    fn cipher(&self, name: &str) -> LessSafeKey {
        let key = hmac::sign(&self.pieces, name.as_bytes());
        LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key.as_ref()).expect("the key has 32 bytes"))
    }
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

/// The keys that were given: the first one encrypts, all of them decrypt.
#[derive(Default)]
pub struct Keys {
    keys: Vec<Key>,
    allow_plain: bool,
}

impl Keys {
    /// Reads a file of keys, one on each line.
    ///
    /// # Errors
    /// When it cannot be read, or a line is no key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|source| KeyError::Unreadable { path: shown.clone(), source })?;
        let mut keys = Vec::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let bytes = STANDARD.decode(line.trim()).ok();
            let secret: Option<[u8; KEY_BYTES]> = bytes.and_then(|bytes| bytes.try_into().ok());
            let secret = secret.ok_or_else(|| KeyError::Malformed { path: shown.clone(), line: at + 1 })?;
            keys.push(Key::new(&secret));
        }
        if keys.is_empty() {
            return Err(KeyError::Empty { path: shown });
        }
        Ok(Self { keys, allow_plain: false })
    }

    /// Also reads backups that are not encrypted, although there are keys, and makes such ones beside encrypted ones.
    #[must_use]
    pub fn allowing_plain(self, allow_plain: bool) -> Self {
        Self { allow_plain, ..self }
    }

    /// Whether something that is not encrypted is taken for ours: with keys, anyone could have placed it.
    pub(crate) fn admit_plain(&self) -> bool {
        self.keys.is_empty() || self.allow_plain
    }

    /// Whether a new backup may stand beside one with this key, so that a forgotten key is noticed.
    pub(crate) fn may_join(&self, key: Option<&str>) -> bool {
        self.allow_plain || key.is_some() != self.keys.is_empty()
    }

    /// The one that encrypts, if there is one.
    #[must_use]
    pub fn first(&self) -> Option<&Key> {
        self.keys.first()
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Key> {
        self.keys.iter().find(|key| key.id == id)
    }

    pub(crate) fn ids(&self) -> Vec<String> {
        self.keys.iter().map(|key| key.id.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_only_read_with_its_key_under_its_name_and_unchanged() {
        let (key, other) = (Key::new(&[1; 32]), Key::new(&[2; 32]));
        let name = key.name(b"content");
        let encrypted = key.encrypt(&name, b"content");
        assert!(!encrypted.windows(7).any(|part| part == b"content"));
        assert_eq!(key.decrypt(&name, encrypted.clone()).as_deref(), Some(&b"content"[..]));
        assert_eq!(other.decrypt(&name, encrypted.clone()), None);
        assert_eq!(key.decrypt(&key.name(b"other"), encrypted.clone()), None);
        for at in 0..encrypted.len() {
            let mut changed = encrypted.clone();
            changed[at] ^= 1;
            assert_eq!(key.decrypt(&name, changed), None, "byte {at}");
        }
        assert_eq!(key.decrypt(&name, encrypted[..encrypted.len() - 1].to_vec()), None);
        assert_ne!(key.id(), other.id());
        assert_ne!(name, other.name(b"content"), "names tell nothing about contents");
    }
}
