//! What the library says has changed since a sequence.

use crate::values::Unreadable;

/// The rows that the log has changed behind a sequence, as they are at the end of the log.
#[derive(Debug)]
pub(super) struct Changes<'a> {
    pub(super) epoch: u64,
    /// The end of the log.
    pub(super) sequence: u64,
    /// The sequence up to which these are all rows; nothing where the log does not reach back so far.
    pub(super) through: Option<u64>,
    /// The stamp of the last event.
    pub(super) at: u64,
    /// Whether an operation has further steps to take.
    pub(super) is_unfinished: bool,
    rows: Vec<&'a str>,
}

impl<'a> Changes<'a> {
    /// Reads the library's answer.
    pub(super) fn read(answer: &'a redis::Value) -> Result<Self, Unreadable> {
        use redis::Value::{Array, BulkString, Int};
        let Array(fields) = answer else { return Err(Unreadable("it is no list")) };
        let [Int(epoch), Int(sequence), _, Array(texts)] = fields.as_slice() else {
            return Err(Unreadable("it has other fields"));
        };
        let text = |value: &'a redis::Value| match value {
            BulkString(text) => std::str::from_utf8(text).map_err(|_| Unreadable("a text is no UTF-8")),
            _ => Err(Unreadable("a row is no text")),
        };
        let texts: Vec<&str> = texts.iter().map(text).collect::<Result<_, _>>()?;
        let [through, at, is_unfinished, rows @ ..] = texts.as_slice() else {
            return Err(Unreadable("it says no sequence"));
        };
        let quantity = |number: i64| u64::try_from(number).map_err(|_| Unreadable("a quantity is below 0"));
        Ok(Self {
            epoch: quantity(*epoch)?,
            sequence: quantity(*sequence)?,
            through: through.parse().ok(),
            at: at.parse().map_err(|_| Unreadable("a stamp is no number"))?,
            is_unfinished: *is_unfinished == "1",
            rows: rows.to_vec(),
        })
    }

    /// Hash, id and text of each row; the text is empty where the row is gone.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        self.rows.chunks_exact(3).map(|row| (row[0], row[1], row[2]))
    }
}
