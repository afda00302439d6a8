//! Random bytes, and bytes as hexadecimal text.

use std::fmt::Write;
use std::io;

/// Random bytes from the operating system, fit for secrets.
///
/// # Errors
/// When the system has none.
pub fn bytes<const BYTES: usize>() -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// Bytes as lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes of a text of twice as many hexadecimal digits; `None` for any other text.
#[must_use]
pub fn unhex<const BYTES: usize>(text: &str) -> Option<[u8; BYTES]> {
    if text.len() != 2 * BYTES || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; BYTES];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_back() {
        let drawn: [u8; 32] = bytes().expect("random bytes");
        assert_eq!(unhex(&hex(&drawn)), Some(drawn));
        assert_eq!(unhex(&hex(&drawn).to_uppercase()), Some(drawn));
        for wrong in ["", "0", "0g", "000", "+1", "é"] {
            assert_eq!(unhex::<1>(wrong), None, "{wrong}");
        }
    }
}
