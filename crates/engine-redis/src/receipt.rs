//! Receipts as the library writes them: once, as a text, which is the answer, what is remembered of an
//! operation, and what the log says of it.

use scarce_core::outcome::{Code, Durability, Outcome, Receipt, Value};

use super::values::{Unreadable, from_json};

/// What a receipt's text says.
#[derive(Debug)]
pub(super) struct WrittenReceipt {
    /// The operation's content hash, as hexadecimal digits; empty where it has no id.
    pub(super) fingerprint: String,
    /// When it was decided.
    pub(super) at: u64,
    /// The last event, or the one before all that is to come where it has none.
    pub(super) sequence_last: u64,
    /// How many events it has.
    pub(super) events: u64,
    /// The partition's leadership at that time.
    pub(super) epoch: u64,
    /// The answer.
    pub(super) outcome: Outcome,
}

impl WrittenReceipt {
    /// Reads content hash, stamp, last sequence, number of events, epoch, code and facts.
    pub(super) fn read(text: &str) -> Result<Self, Unreadable> {
        let fields: Vec<&str> = text.splitn(7, '|').collect();
        let [fingerprint, at, sequence_last, events, epoch, code, facts] = fields.as_slice() else {
            return Err(Unreadable("a receipt has other fields"));
        };
        let code = code.parse().ok().and_then(Code::from_number).ok_or(Unreadable("a code is unknown"))?;
        let Value::List(facts) = from_json(facts)? else { return Err(Unreadable("facts are no list")) };
        Ok(Self {
            fingerprint: (*fingerprint).to_owned(),
            at: number(at)?,
            sequence_last: number(sequence_last)?,
            events: number(events)?,
            epoch: number(epoch)?,
            outcome: Outcome { code, facts: facts.into_iter().collect() },
        })
    }

    pub(super) fn into_receipt(self, partition: u32, replayed: bool) -> Receipt {
        Receipt {
            outcome: self.outcome,
            partition,
            epoch: self.epoch,
            sequence_first: self.sequence_last - self.events.saturating_sub(1).min(self.sequence_last),
            sequence_last: self.sequence_last,
            at: self.at,
            replayed,
            durability: Durability::Memory,
        }
    }
}

/// A quantity in digits.
pub(super) fn number(text: &str) -> Result<u64, Unreadable> {
    text.parse().map_err(|_| Unreadable("a quantity is no number"))
}
