//! The text of a key: `sk_`, its public id, `_`, its secret.
//!
//! Only a SHA-256 of the secret is kept. A slow hash such as argon2 protects what people choose, which can be guessed from
//! lists; a secret of 192 random bits cannot, whatever a guess costs. A slow hash would cost every request over HTTP tens of
//! milliseconds instead.

use std::fmt;
use std::io;

use scarce_engine::random::{self, hex, unhex};
use sha2::{Digest as _, Sha256};

/// What every key begins with, so that a text that leaked is known for one.
const PREFIX: &str = "sk_";
const ID_BYTES: usize = 6;
const SECRET_BYTES: usize = 24;

/// The public part of a key: it may be shown and logged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; ID_BYTES]);

impl KeyId {
    /// A new one.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn draw() -> io::Result<Self> {
        random::bytes().map(Self)
    }

    /// Whether a text could be taken for an id.
    pub(crate) fn is_like(text: &str) -> bool {
        text.starts_with(PREFIX) || Self::parse(text).is_some()
    }

    /// Reads an id, also with what every key begins with.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        unhex(text.strip_prefix(PREFIX).unwrap_or(text)).map(Self)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

/// A key as a caller shows it. It is never kept, and its text only shown where it is made.
pub struct Shown {
    /// Its public part.
    pub id: KeyId,
    secret: [u8; SECRET_BYTES],
}

impl Shown {
    /// Draws a new one from the operating system's randomness.
    ///
    /// # Errors
    /// When the system has none.
    pub fn draw() -> io::Result<Self> {
        Ok(Self { id: KeyId::draw()?, secret: random::bytes()? })
    }

    /// Reads a key; `None` for any other text.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (id, secret) = std::str::from_utf8(text).ok()?.strip_prefix(PREFIX)?.split_once('_')?;
        Some(Self { id: KeyId(unhex(id)?), secret: unhex(secret)? })
    }

    /// Its text, for the one who asked for it.
    #[must_use]
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}_{}", self.id, hex(&self.secret))
    }

    /// What is kept of its secret.
    #[must_use]
    pub fn secret(&self) -> Secret {
        Secret(Sha256::digest(self.secret).into())
    }
}

/// What is kept of a secret: enough to know it again, and nothing to log in with.
#[derive(Clone, Copy)]
pub struct Secret([u8; 32]);

impl Secret {
    /// What no secret is known by.
    pub(crate) const NONE: Self = Self([0; 32]);

    /// Whether it is of the same secret, in a time that does not depend on where they differ.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        std::hint::black_box(self.0.iter().zip(&other.0).fold(0, |sum, (a, b)| sum | (a ^ b))) == 0
    }

    pub(crate) fn text(&self) -> String {
        hex(&self.0)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        unhex(text).map(Self)
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.is(other)
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_and_another_text_is_none() {
        let drawn = Shown::draw().expect("random bytes");
        let text = drawn.reveal();
        assert_eq!(text.len(), 64);
        let read = Shown::parse(text.as_bytes()).expect("a key");
        assert!(read.id == drawn.id && read.secret().is(&drawn.secret()));
        assert_eq!(KeyId::parse(&text[..15]), Some(drawn.id));
        for other in ["", "sk_", &text[1..], &text[..63], &format!("{text}0"), "correct horse battery staple"]
        {
            assert!(Shown::parse(other.as_bytes()).is_none(), "{other}");
        }
        assert!(!drawn.secret().is(&Shown::draw().expect("random bytes").secret()));
        assert!(!format!("{:?}", drawn.secret()).contains(&drawn.secret().text()[..8]));
    }
}
