//! The log of a partition: a stream whose entries hold, under the sequence of their last event, what one
//! call logged.

use scarce_core::codec::Malformed;
use scarce_core::event::{Entry, EntryHead, Event, FromShown, OperationMark};
use scarce_core::outcome::Value;

use super::call::{quantity, read_outcome};
use super::values::{Unreadable, read_all};

/// Reads the entries that one call logged.
///
/// # Errors
/// When the bytes are none that this version knows.
pub fn read_entries(bytes: &[u8]) -> Result<Vec<Entry>, Unreadable> {
    read_all(bytes)?.iter().map(read_entry).collect()
}

/// An entry from epoch, first sequence, stamp, operation, whether more follows, outcome and events.
fn read_entry(value: &Value) -> Result<Entry, Unreadable> {
    let Value::List(fields) = value else { return Err(Unreadable("an entry is no list")) };
    let [epoch, first, at, operation, more, outcome, Value::List(events)] = fields.as_slice() else {
        return Err(Unreadable("an entry has other fields"));
    };
    let head = EntryHead {
        epoch: quantity(epoch)?,
        sequence_first: quantity(first)?,
        at: quantity(at)?,
        operation: read_mark(operation)?,
        more: quantity(more)? == 1,
    };
    let outcome = match outcome {
        Value::Absent => None,
        Value::List(fields) => match fields.as_slice() {
            [code, facts] => Some(read_outcome(code, facts)?),
            _ => return Err(Unreadable("an outcome has other fields")),
        },
        _ => return Err(Unreadable("an outcome is no list")),
    };
    let events: Vec<Event> = events.iter().map(read_event).collect::<Result<_, _>>()?;
    if events.is_empty() {
        Err(Unreadable("an entry has no event"))
    } else {
        Ok(Entry { head, outcome, events })
    }
}

fn read_mark(value: &Value) -> Result<Option<OperationMark>, Unreadable> {
    let other = |_: Malformed| Unreadable("an operation has other fields");
    match value {
        Value::Absent => Ok(None),
        Value::List(fields) => match fields.as_slice() {
            [Value::Text(namespace), id, Value::Text(fingerprint)] => Ok(Some(OperationMark {
                namespace: namespace.clone(),
                id: FromShown::from_shown(id).map_err(other)?,
                fingerprint: u64::from_str_radix(fingerprint, 16).map_err(|_| other(Malformed))?,
            })),
            _ => Err(other(Malformed)),
        },
        _ => Err(other(Malformed)),
    }
}

fn read_event(value: &Value) -> Result<Event, Unreadable> {
    let Value::List(fields) = value else { return Err(Unreadable("an event is no list")) };
    let (number, values) = fields.split_first().ok_or(Unreadable("an event has no number"))?;
    let number = u16::try_from(quantity(number)?).map_err(|_| Unreadable("an event is unknown"))?;
    Event::from_values(number, values).map_err(|_| Unreadable("an event has other fields"))
}
