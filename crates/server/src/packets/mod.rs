//! Red packets seen from outside: what a plan comes to, and whether a campaign was cut as promised.
//! Nothing of a deployment's secrets.

pub mod figures;
pub mod preview;
pub mod verification;

#[cfg(test)]
mod distribution_tests;

use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest, Sha256};

/// A seed by chance, for trying out; none where the system has no random bytes.
#[must_use]
pub fn drawn_seed() -> Option<[u8; 32]> {
    let mut seed = [0; 32];
    // So few bytes come at once, or not at all.
    match getrandom(&mut seed, GetRandomFlags::empty()) {
        Ok(count) if count == seed.len() => Some(seed),
        _ => None,
    }
}

/// The hash of a seed, which is published before the seed is.
#[must_use]
pub fn commitment(seed: &[u8; 32]) -> [u8; 32] {
    Sha256::digest(seed).into()
}

/// Bytes as lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// 32 bytes of 64 hexadecimal digits, if the text is that.
#[must_use]
pub fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}
