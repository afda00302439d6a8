//! Tickets: a room, a user and a moment, signed so that any process with the same secret can check them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use scarce_core::types::TimeMs;
use sha2::Sha256;

/// What every ticket begins with.
const FRONT: &str = "wr1_";

/// How many bytes of a signature are kept.
const SIGNATURE_BYTES: usize = 16;

/// A longer text is no ticket.
const TEXT_BYTES_MAX: usize = 512;

/// A place in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The room.
    pub room: String,
    /// Whom it is for.
    pub user: String,
    /// When its time comes, in Unix milliseconds.
    pub admit_ms: TimeMs,
}

/// What signs tickets.
#[derive(Clone)]
pub struct TicketKey(Hmac<Sha256>);

impl std::fmt::Debug for TicketKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("TicketKey")
    }
}

impl TicketKey {
    /// A key of a deployment's secret, which has other uses.
    #[must_use]
    pub fn of(secret: &[u8; 32]) -> Self {
        let mut derived = keyed(secret);
        derived.update(b"scarce waiting rooms");
        Self(keyed(&derived.finalize().into_bytes().into()))
    }

    /// The text of a ticket.
    #[must_use]
    pub fn sign(&self, ticket: &Ticket) -> String {
        let Ticket { room, user, admit_ms } = ticket;
        let mut bytes = format!("{admit_ms}\n{room}\n{user}").into_bytes();
        let signature = self.signature(&bytes);
        bytes.extend(&signature[..SIGNATURE_BYTES]);
        format!("{FRONT}{}", URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Reads a text. `None` if it is no ticket that was signed with this key.
    #[must_use]
    pub fn read(&self, text: &str) -> Option<Ticket> {
        let text = Some(text).filter(|text| text.len() <= TEXT_BYTES_MAX)?.strip_prefix(FRONT)?;
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (bytes, signature) = bytes.split_at_checked(bytes.len().checked_sub(SIGNATURE_BYTES)?)?;
        let mut mac = self.0.clone();
        mac.update(bytes);
        mac.verify_truncated_left(signature).ok()?;
        let mut parts = std::str::from_utf8(bytes).ok()?.splitn(3, '\n');
        let admit_ms = parts.next()?.parse().ok()?;
        let (room, user) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        Some(Ticket { room, user, admit_ms })
    }

    fn signature(&self, bytes: &[u8]) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(bytes);
        mac.finalize().into_bytes().into()
    }
}

/// A block of the hash's size, so that making it cannot fail.
fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    let mut block = [0; 64];
    block[..32].copy_from_slice(key);
    <Hmac<Sha256> as KeyInit>::new(&block.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_read_as_it_was_signed_and_nothing_else_is_one() {
        let key = TicketKey::of(&[7; 32]);
        let ticket =
            Ticket { room: "sale".to_owned(), user: "u:1@x".to_owned(), admit_ms: 1_764_000_000_123 };
        let text = key.sign(&ticket);
        assert_eq!(key.read(&text), Some(ticket.clone()));
        assert_eq!(TicketKey::of(&[8; 32]).read(&text), None);
        for at in FRONT.len()..text.len() {
            let mut other = text.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).expect("text");
            assert_ne!(key.read(&other), Some(ticket.clone()), "{other}");
        }
        for other in ["", FRONT, "wr1_AAAA", &text[..text.len() - 1], &text[4..], &"x".repeat(9_999)] {
            assert_eq!(key.read(other), None, "{other}");
        }
    }
}
