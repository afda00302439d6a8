//! Cursors: where a list or a stream continues. They are opaque to callers, so that their contents may
//! change; a malformed cursor, or one of another list, is refused.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use scarce_core::event::Position;

use crate::Misshapen;

/// The longest accepted cursor.
const BYTES_MAX: usize = 32 * 1024;

fn seal(kind: &str, text: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{kind}:{text}"))
}

fn open(kind: &str, cursor: &str) -> Result<String, Misshapen> {
    let malformed = || Misshapen::new("cursor", "is not one that this list gave; begin without one");
    if cursor.len() > BYTES_MAX {
        return Err(malformed());
    }
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| malformed())?;
    let text = String::from_utf8(bytes).map_err(|_| malformed())?;
    let rest = text.strip_prefix(kind).and_then(|rest| rest.strip_prefix(':'));
    rest.map(str::to_owned).ok_or_else(malformed)
}

/// The cursor after a row of a list.
#[must_use]
pub fn after_row(command: &str, row: &str) -> String {
    seal(command, row)
}

/// The row before a list's cursor.
///
/// # Errors
/// When it is not a cursor of that list.
pub fn row(command: &str, cursor: &str) -> Result<String, Misshapen> {
    open(command, cursor)
}

/// The cursor of a stream over all partitions.
#[must_use]
pub fn of_positions(positions: &[Position]) -> String {
    let positions: Vec<_> = positions.iter().map(Position::to_string).collect();
    seal("EVENTS", &positions.join(","))
}

/// The positions of a stream's cursor, one for each partition.
///
/// # Errors
/// When it is not a cursor of a stream with this number of partitions.
pub fn positions(cursor: &str, partitions: u32) -> Result<Vec<Position>, Misshapen> {
    let text = open("EVENTS", cursor)?;
    let malformed = || Misshapen::new("cursor", "belongs to another deployment; begin without one");
    let positions = text.split(',').map(|position| {
        let (epoch, sequence) = position.split_once('.')?;
        Some(Position { epoch: epoch.parse().ok()?, sequence: sequence.parse().ok()? })
    });
    let positions: Option<Vec<Position>> = positions.collect();
    positions.filter(|positions| positions.len() == partitions as usize).ok_or_else(malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_back_to_its_place_and_nowhere_else() {
        let cursor = after_row("ACCOUNT.HOLDS", "h:1");
        assert_eq!(row("ACCOUNT.HOLDS", &cursor).as_deref(), Ok("h:1"));
        assert!(row("PACKET.CLAIMS", &cursor).is_err());
        let at = [Position { epoch: 3, sequence: 9 }, Position::default()];
        assert_eq!(positions(&of_positions(&at), 2), Ok(at.to_vec()));
        assert!(positions(&of_positions(&at), 1).is_err());
        for bad in ["", "%%", "AAAA", "RVZFTlRTOg", &"A".repeat(100_000)] {
            assert!(positions(bad, 1).is_err() && row("ACCOUNT.HOLDS", bad).is_err(), "{bad:.20}");
        }
    }
}
