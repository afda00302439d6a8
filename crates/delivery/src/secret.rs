//! Secrets, and the signatures of Standard Webhooks made with them. The crate `standardwebhooks` would add a
//! second HMAC, a second base64 and a calendar library for these few lines.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use scarce_engine::random;
use sha2::Sha256;

use crate::DeliveryError;

/// The prefix of every secret.
const PREFIX: &str = "whsec_";

/// How many bytes a generated secret has.
const GENERATED_BYTES: usize = 32;

/// A secret that signs messages: `whsec_` and 24 to 64 bytes as base64.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    text: String,
    key: Vec<u8>,
}

impl Secret {
    /// Reads a secret.
    ///
    /// # Errors
    /// When the text is not a secret.
    pub fn parse(text: &str) -> Result<Self, DeliveryError> {
        let coded = text.strip_prefix(PREFIX).ok_or(DeliveryError::Secret)?;
        let key = STANDARD.decode(coded).map_err(|_| DeliveryError::Secret)?;
        if !(24..=64).contains(&key.len()) {
            return Err(DeliveryError::Secret);
        }
        Ok(Self { text: text.to_owned(), key })
    }

    /// Generates a secret.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn generate() -> Result<Self, DeliveryError> {
        let bytes = random::bytes::<GENERATED_BYTES>()
            .map_err(|error| DeliveryError::Random { what: error.to_string() })?;
        Ok(Self { text: format!("{PREFIX}{}", STANDARD.encode(bytes)), key: bytes.to_vec() })
    }

    /// The secret as receivers get it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// The signature of a message: `v1,` and the HMAC-SHA256 of `id.timestamp.body` as base64.
    #[must_use]
    pub fn sign(&self, id: &str, timestamp_s: i64, body: &[u8]) -> String {
        // HMAC pads a key of up to the hash's block size of 64 bytes with zeros.
        let mut block = [0; 64];
        block[..self.key.len()].copy_from_slice(&self.key);
        let mut mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
        mac.update(format!("{id}.{timestamp_s}.").as_bytes());
        mac.update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

/// Debug output does not show secrets.
impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(whsec_…)")
    }
}

/// The signatures of a message by several secrets, for its header.
pub(crate) fn signatures(secrets: &[Secret], id: &str, timestamp_s: i64, body: &[u8]) -> String {
    let each: Vec<String> = secrets.iter().map(|secret| secret.sign(id, timestamp_s, body)).collect();
    each.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in the tests of Standard Webhooks' libraries.
    #[test]
    fn the_published_example_is_signed_as_published() {
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("a secret");
        let signature =
            secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn what_is_no_secret_is_refused_and_none_is_shown() {
        let short = format!("whsec_{}", STANDARD.encode([1; 23]));
        let long = format!("whsec_{}", STANDARD.encode([1; 65]));
        for wrong in ["", "whsec_", "whsec_?", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", &short, &long] {
            assert!(Secret::parse(wrong).is_err(), "{wrong}");
        }
        let made = Secret::generate().expect("random bytes");
        assert_eq!(Secret::parse(made.reveal()).expect("a secret"), made);
        assert_ne!(Secret::generate().expect("random bytes"), made);
        assert!(!format!("{made:?}").contains(made.reveal()));
    }
}
