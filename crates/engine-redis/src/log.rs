//! The log of a partition: a stream whose entries hold, under the sequence of their last event, what one
//! call logged. `scripts/log.lua` says in what order.

use scarce_core::codec::Malformed;
use scarce_core::event::{EVENTS, Entry, EntryHead, Event, FromShown, OperationMark};
use scarce_core::outcome::{Outcome, Value};

use super::call::quantity;
use super::receipt::{WrittenReceipt, number};
use super::values::{Unreadable, read_all};

/// Reads the entries that one call logged, from the words of the stream's entry: names and values by turns, first
/// the list of all, then what is too long for it.
///
/// # Errors
/// When the words are none that this version knows.
pub fn read_entries(words: &[Vec<u8>]) -> Result<Vec<Entry>, Unreadable> {
    let [_, list, long @ ..] = words else { return Err(Unreadable("it has no list")) };
    let values = read_all(list)?;
    let [Value::List(values)] = values.as_slice() else { return Err(Unreadable("it is no list")) };
    let [epoch, first, rest @ ..] = values.as_slice() else {
        return Err(Unreadable("it says no sequence"));
    };
    let (mut reader, mut entries) = (EntryReader { rest, long, epoch: quantity(epoch)? }, Vec::new());
    let mut first = quantity(first)?;
    while !reader.rest.is_empty() {
        let entry = reader.entry(first)?;
        first = entry.sequence_last() + 1;
        entries.push(entry);
    }
    Ok(entries)
}

/// The values that were not read yet.
struct EntryReader<'a> {
    rest: &'a [Value],
    long: &'a [Vec<u8>],
    epoch: u64,
}

impl<'a> EntryReader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [Value], Unreadable> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Unreadable("an entry ends early"))?;
        self.rest = rest;
        Ok(taken)
    }

    /// An entry from the operation's key, its head, and its events.
    fn entry(&mut self, sequence_first: u64) -> Result<Entry, Unreadable> {
        let [key, head, count] = self.take(3)? else {
            return Err(Unreadable("an entry has other fields"));
        };
        let head = self.head(head)?;
        let (head, outcome) = match key {
            Value::Text(key) => self.head_of(key, head, sequence_first)?,
            _ => (self.head_without_id(head, sequence_first)?, None),
        };
        let events = match (count, &outcome) {
            (Value::Integer(number @ ..0), Some(outcome)) => vec![self.told_event(*number, outcome)?],
            _ => (0..quantity(count)?).map(|_| self.event()).collect::<Result<_, _>>()?,
        };
        if events.is_empty() {
            Err(Unreadable("an entry has no event"))
        } else {
            Ok(Entry { head, outcome, events })
        }
    }

    fn head(&self, value: &'a Value) -> Result<&'a str, Unreadable> {
        match value {
            Value::Text(head) => Ok(head),
            place => {
                let place = usize::try_from(quantity(place)?).unwrap_or(usize::MAX);
                let word = self.long.get(place.saturating_mul(2).saturating_sub(1));
                let word = word.ok_or(Unreadable("a receipt is missing"))?;
                std::str::from_utf8(word).map_err(|_| Unreadable("a text is no UTF-8"))
            }
        }
    }

    /// The head of an operation's entry: its receipt; content hash and stamp where more follows.
    fn head_of(
        &self,
        key: &str,
        text: &str,
        sequence_first: u64,
    ) -> Result<(EntryHead, Option<Outcome>), Unreadable> {
        let head = |epoch, at, fingerprint: &str, more| {
            let operation = Some(mark(key, fingerprint)?);
            Ok(EntryHead { epoch, sequence_first, at, operation, more })
        };
        match text.split_once('|') {
            Some((fingerprint, at)) if !at.contains('|') => {
                Ok((head(self.epoch, number(at)?, fingerprint, true)?, None))
            }
            _ => {
                let written = WrittenReceipt::read(text)?;
                let head = head(written.epoch, written.at, &written.fingerprint, false)?;
                Ok((head, Some(written.outcome)))
            }
        }
    }

    /// The head of an entry without an operation: the stamp, and whether more follows.
    fn head_without_id(&self, text: &str, sequence_first: u64) -> Result<EntryHead, Unreadable> {
        let (at, more) = text.strip_suffix("|+").map_or((text, false), |at| (at, true));
        Ok(EntryHead { epoch: self.epoch, sequence_first, at: number(at)?, operation: None, more })
    }

    /// A credit or debit, whose account and amount stand here; the answer says what was available and the balance then.
    fn told_event(&mut self, number: i64, outcome: &Outcome) -> Result<Event, Unreadable> {
        let other = Unreadable("an event has other fields");
        let number = u16::try_from(-number).map_err(|_| Unreadable("an event is unknown"))?;
        let ([account, amount], [available, balance]) = (self.take(2)?, outcome.facts.as_slice()) else {
            return Err(other);
        };
        let values = [account, amount, balance, available].map(Clone::clone);
        Event::from_values(number, &values).map_err(|Malformed| other)
    }

    fn event(&mut self) -> Result<Event, Unreadable> {
        let unknown = Unreadable("an event is unknown");
        let number = u16::try_from(quantity(&self.take(1)?[0])?).map_err(|_| unknown.clone())?;
        let spec = EVENTS.iter().find(|spec| spec.number == number).ok_or(unknown)?;
        let values = self.take(spec.field_names().count())?;
        Event::from_values(number, values).map_err(|Malformed| Unreadable("an event has other fields"))
    }
}

/// The operation of a key, which joins namespace and id by a blank, or is an id.
fn mark(key: &str, fingerprint: &str) -> Result<OperationMark, Unreadable> {
    let other = |Malformed| Unreadable("an operation has other fields");
    let (namespace, id) = key.rsplit_once(' ').unwrap_or(("", key));
    Ok(OperationMark {
        namespace: namespace.into(),
        id: FromShown::from_shown(&Value::from(id)).map_err(other)?,
        fingerprint: u64::from_str_radix(fingerprint, 16).map_err(|_| other(Malformed))?,
    })
}
