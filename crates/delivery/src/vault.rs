//! Secrets as the database holds them: encrypted with a key from outside it, by reference, or as plain text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use scarce_engine::random::{bytes, hex};
use sha2::{Digest, Sha256};

use crate::{DeliveryError, Secret};

/// How an encrypted secret begins: the format, then the key's id, then nonce and ciphertext as base64.
const ENCRYPTED: &str = "aes256gcm:";

/// How many bytes a key has.
const KEY_BYTES: usize = 32;

/// The longest reference that the table takes.
const REFERENCE_BYTES_MAX: usize = 500;

/// Keys that encrypt secrets in the database. The first one encrypts; the others still decrypt.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKeys(Vec<[u8; KEY_BYTES]>);

impl SecretKeys {
    /// Reads keys: 32 bytes each as base64, with spaces or line breaks between them.
    ///
    /// # Errors
    /// When one is not a key, or there is none.
    pub fn parse(text: &str) -> Result<Self, DeliveryError> {
        let key = |word: &str| {
            let key = STANDARD.decode(word).ok()?;
            <[u8; KEY_BYTES]>::try_from(key).ok()
        };
        let keys: Option<Vec<_>> = text.split_whitespace().map(key).collect();
        keys.filter(|keys| !keys.is_empty()).map(Self).ok_or(DeliveryError::SecretKey)
    }

    fn find(&self, id: &str) -> Option<&[u8; KEY_BYTES]> {
        self.0.iter().find(|key| id_of(key) == id)
    }
}

/// Debug output does not show keys.
impl std::fmt::Debug for SecretKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretKeys({})", self.0.len())
    }
}

/// A key's public name, by which a secret says how it was encrypted.
fn id_of(key: &[u8; KEY_BYTES]) -> String {
    hex(&Sha256::digest(key)[..4])
}

/// Where a secret is kept outside the database: `file:/path` or `env:NAME`, on the server that delivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretReference(String);

impl SecretReference {
    /// Reads a reference.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(text: &str) -> Result<Self, DeliveryError> {
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let is_file = text.strip_prefix("file:").is_some_and(|path| path.starts_with('/'));
        let is_reference = is_file || text.strip_prefix("env:").is_some_and(is_name);
        let is_short = text.len() <= REFERENCE_BYTES_MAX && text.bytes().all(|byte| byte.is_ascii_graphic());
        let refused = || DeliveryError::SecretReference { reference: text.to_owned() };
        (is_reference && is_short).then(|| Self(text.to_owned())).ok_or_else(refused)
    }

    /// The reference as the table holds it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// What a secret in the table belongs to: a ciphertext that is moved to another row is refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'o> {
    pub(crate) deployment_id: &'o str,
    pub(crate) endpoint_id: &'o str,
}

impl Owner<'_> {
    fn bound(self) -> Aad<String> {
        Aad::from(format!("scarce webhook secret {} {}", self.deployment_id, self.endpoint_id))
    }
}

/// A secret as the table holds it: encrypted if there is a key.
pub(crate) fn stored(
    keys: Option<&SecretKeys>,
    owner: Owner<'_>,
    secret: &Secret,
) -> Result<String, DeliveryError> {
    let Some(key) = keys.and_then(|keys| keys.0.first()) else { return Ok(secret.reveal().to_owned()) };
    let nonce = bytes::<NONCE_LEN>().map_err(|error| DeliveryError::Random { what: error.to_string() })?;
    let mut sealed = secret.reveal().as_bytes().to_vec();
    let unusable = |_| DeliveryError::SecretKey;
    cipher(key)?
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), owner.bound(), &mut sealed)
        .map_err(unusable)?;
    Ok(format!("{ENCRYPTED}{}:{}", id_of(key), STANDARD.encode([&nonce[..], &sealed].concat())))
}

/// Whether a secret would be stored otherwise today: it is plain, or encrypted with an earlier key.
pub(crate) fn is_stale(keys: Option<&SecretKeys>, stored: &str) -> bool {
    let Some(key) = keys.and_then(|keys| keys.0.first()) else { return false };
    match stored.strip_prefix(ENCRYPTED) {
        Some(rest) => !rest.starts_with(&format!("{}:", id_of(key))),
        None => SecretReference::parse(stored).is_err(),
    }
}

/// Reads a secret that the table holds.
pub(crate) fn read(
    keys: Option<&SecretKeys>,
    owner: Owner<'_>,
    stored: &str,
) -> Result<Secret, DeliveryError> {
    if let Some(encrypted) = stored.strip_prefix(ENCRYPTED) {
        return decrypt(keys, owner, encrypted);
    }
    let unreadable = |what: String| DeliveryError::UnreadableReference { reference: stored.to_owned(), what };
    if let Some(path) = stored.strip_prefix("file:") {
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
        return Secret::parse(text.trim()).map_err(|error| unreadable(error.to_string()));
    }
    if let Some(name) = stored.strip_prefix("env:") {
        let text = std::env::var(name).map_err(|error| unreadable(error.to_string()))?;
        return Secret::parse(text.trim()).map_err(|error| unreadable(error.to_string()));
    }
    Secret::parse(stored)
}

fn decrypt(keys: Option<&SecretKeys>, owner: Owner<'_>, encrypted: &str) -> Result<Secret, DeliveryError> {
    let damaged = || DeliveryError::DamagedSecret;
    let (id, coded) = encrypted.split_once(':').ok_or_else(damaged)?;
    let wrong = || DeliveryError::OtherSecretKey { key: id.to_owned() };
    let key = keys.and_then(|keys| keys.find(id)).ok_or_else(wrong)?;
    let mut sealed = STANDARD.decode(coded).map_err(|_| damaged())?;
    let text = sealed.split_off(NONCE_LEN.min(sealed.len()));
    let nonce = Nonce::try_assume_unique_for_key(&sealed).map_err(|_| damaged())?;
    let mut text = text;
    let opened = cipher(key)?.open_in_place(nonce, owner.bound(), &mut text).map_err(|_| damaged())?;
    Secret::parse(std::str::from_utf8(opened).map_err(|_| damaged())?)
}

fn cipher(key: &[u8; KEY_BYTES]) -> Result<LessSafeKey, DeliveryError> {
    Ok(LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).map_err(|_| DeliveryError::SecretKey)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: Owner<'static> = Owner { deployment_id: "00", endpoint_id: "ep_1" };

    fn keys(bytes: &[u8]) -> SecretKeys {
        let keys: Vec<String> = bytes.iter().map(|byte| STANDARD.encode([*byte; KEY_BYTES])).collect();
        SecretKeys::parse(&keys.join("\n")).expect("keys")
    }

    #[test]
    fn a_secret_is_read_with_its_key_in_its_row_only() {
        let secret = Secret::generate().expect("random bytes");
        let (old, both) = (keys(&[1]), keys(&[2, 1]));
        let text = stored(Some(&old), OWNER, &secret).expect("encrypted");
        assert!(!text.contains(secret.reveal()) && text.len() <= 512);
        assert_ne!(
            text,
            stored(Some(&old), OWNER, &secret).expect("encrypted"),
            "each has a nonce of its own"
        );
        for keys in [&old, &both] {
            assert_eq!(read(Some(keys), OWNER, &text).expect("the secret"), secret);
        }
        for keys in [None, Some(&keys(&[2]))] {
            let refused = read(keys, OWNER, &text).expect_err("no key");
            assert!(matches!(refused, DeliveryError::OtherSecretKey { .. }), "{refused}");
        }
        let other = Owner { endpoint_id: "ep_2", ..OWNER };
        let damaged = format!("{}A", text.trim_end_matches('='));
        for (owner, text) in [(other, text.as_str()), (OWNER, damaged.as_str()), (OWNER, "aes256gcm:x")] {
            assert!(read(Some(&old), owner, text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_should_be_encrypted_anew_is_known() {
        let secret = Secret::generate().expect("random bytes");
        let text = stored(Some(&keys(&[1])), OWNER, &secret).expect("encrypted");
        assert!(is_stale(Some(&keys(&[1])), secret.reveal()) && is_stale(Some(&keys(&[2, 1])), &text));
        assert!(!is_stale(Some(&keys(&[1, 2])), &text) && !is_stale(None, secret.reveal()));
        assert!(!is_stale(Some(&keys(&[1])), "file:/run/secrets/hook"));
    }

    #[test]
    fn what_is_no_key_and_no_reference_is_refused() {
        for wrong in ["", "x", &STANDARD.encode([1; 31]), &format!("{} x", STANDARD.encode([1; 32]))] {
            assert!(SecretKeys::parse(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "file:", "file:relative", "env:", "env:A B", "env:A=B", "/path", "file:/with space"]
        {
            assert!(SecretReference::parse(wrong).is_err(), "{wrong}");
        }
        for right in ["file:/run/secrets/hook", "env:HOOK_1"] {
            assert_eq!(SecretReference::parse(right).expect("a reference").text(), right);
        }
    }
}
