//! `EVENTS partition epoch sequence [COUNT n] [JSON]`: the durable events after a cursor. The log is read and decoded beside
//! the port's thread, no further than the answer needs.

use compact_str::CompactString;
use scarce_api::event::of_entry;
use scarce_core::event::Entry;
use scarce_core::outcome::Value;
use scarce_core::types::Natural;
use scarce_engine::Engine;

use super::reply::{Protocol, Replies};

/// The maximum size of an answer, but for its last event.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The most that is read of the log at a time.
const READ_BYTES_MAX: u64 = 256 << 10;

/// About how much of the log an event takes.
const EVENT_BYTES: u64 = 256;

/// The default number of events of an answer.
const COUNT_DEFAULT: u64 = 1_000;

/// The maximum number of events of an answer.
const COUNT_MAX: u64 = 10_000;

/// What is asked for.
pub(super) struct Asked {
    partition: u32,
    epoch: u64,
    after: u64,
    count_max: usize,
    /// Whether each event is the JSON of `/v1/events`, with the outcome of its operation.
    is_json: bool,
}

impl Asked {
    /// Reads the words after `EVENTS`.
    pub(super) fn read(cursor: [&[u8]; 3], rest: &[&[u8]]) -> Result<Self, String> {
        let [partition, epoch, after] =
            [number(cursor[0], "partition")?, number(cursor[1], "epoch")?, number(cursor[2], "sequence")?];
        let (rest, is_json) = match rest {
            [before @ .., word] if word.eq_ignore_ascii_case(b"JSON") => (before, true),
            rest => (rest, false),
        };
        let count_max = match rest {
            [] => COUNT_DEFAULT,
            [word, count] if word.eq_ignore_ascii_case(b"COUNT") => number(count, "count")?.min(COUNT_MAX),
            _ => return Err("usage: EVENTS partition epoch sequence [COUNT n] [JSON]".to_owned()),
        };
        let partition = u32::try_from(partition).unwrap_or(u32::MAX);
        let count_max = usize::try_from(count_max).unwrap_or(usize::MAX);
        Ok(Self { partition, epoch, after, count_max, is_json })
    }

    /// Reads the log and writes the reply. It blocks on the disk or on a server.
    pub(super) fn answer(&self, engine: &dyn Engine, protocol: Protocol) -> Vec<u8> {
        let mut reply = Vec::new();
        let mut events = Vec::new();
        match self.collect(engine, protocol, &mut events) {
            Err(text) => Replies::new(&mut reply, protocol).error("ERR", &text),
            Ok(count) => {
                Replies::new(&mut reply, protocol).array(count);
                reply.append(&mut events);
            }
        }
        reply
    }

    /// Writes the events to `out`; returns how many there are.
    fn collect(&self, engine: &dyn Engine, protocol: Protocol, out: &mut Vec<u8>) -> Result<usize, String> {
        let Self { partition, epoch, after, count_max, .. } = *self;
        if epoch != 0 && after != 0 {
            check_epoch(&self.entries(engine, after, 1, 1)?, epoch, after)?;
        }
        let (mut count, mut through) = (0, after);
        while count < count_max && out.len() < ANSWER_BYTES_MAX {
            let bytes_max = (EVENT_BYTES * (count_max - count) as u64).min(READ_BYTES_MAX);
            let entries = self.entries(engine, through.saturating_add(1), count_max - count, bytes_max)?;
            let Some(last) = entries.last() else { break };
            let events = entries.iter().flat_map(|entry| self.shown(entry, through));
            for event in events.take(count_max - count) {
                Replies::new(out, protocol).value(&event);
                count += 1;
                if out.len() >= ANSWER_BYTES_MAX {
                    break;
                }
            }
            through = last.sequence_last();
        }
        // A log in Redis may have been trimmed to its end.
        let is_behind = || engine.durable_through(partition).is_ok_and(|through| through > after);
        if count == 0
            && count_max > 0
            && is_behind()
            && let Some(reason) = self.trimmed(engine)
        {
            return Err(reason);
        }
        Ok(count)
    }

    /// The events of an entry after a sequence.
    fn shown(&self, entry: &Entry, after: u64) -> Vec<Value> {
        if self.is_json {
            let events = of_entry(self.partition, entry, after);
            return events.map(|(_, event)| Value::from(event.to_string().as_str())).collect();
        }
        let events = shown(self.partition, entry).filter(|(sequence, _)| *sequence > after);
        events.map(|(_, event)| event).collect()
    }

    fn entries(
        &self,
        engine: &dyn Engine,
        sequence: u64,
        events_max: usize,
        bytes_max: u64,
    ) -> Result<Vec<Entry>, String> {
        let read = engine.entries_up_to(self.partition, sequence, events_max, bytes_max);
        read.map_err(|failure| self.trimmed(engine).unwrap_or_else(|| failure.to_string()))
    }

    /// The error that says where a log begins, if it no longer has what follows the cursor.
    fn trimmed(&self, engine: &dyn Engine) -> Option<String> {
        let Self { partition, after, .. } = self;
        let begins_at = engine.first_sequence(*partition).ok()?;
        let before = begins_at.checked_sub(1).filter(|before| before > after)?;
        Some(format!(
            "the log of partition {partition} begins at sequence {begins_at}, and what follows {after} was deleted; \
             rebuild from another source, then continue with EVENTS {partition} 0 {before}"
        ))
    }
}

fn number(text: &[u8], name: &'static str) -> Result<u64, String> {
    Natural::parse(text, name).map(Natural::get).map_err(|problem| problem.to_string())
}

/// A cursor names an event by epoch and sequence; one of another history is rejected.
fn check_epoch(entries: &[Entry], epoch: u64, after: u64) -> Result<(), String> {
    let holds = |entry: &&Entry| (entry.head.sequence_first..=entry.sequence_last()).contains(&after);
    match entries.iter().find(holds).map(|entry| entry.head.epoch) {
        Some(found) if found == epoch => Ok(()),
        Some(found) => Err(format!("sequence {after} belongs to epoch {found}, not to {epoch}; begin anew")),
        None => Err(format!("there is no sequence {after} yet; begin anew")),
    }
}

fn shown(partition: u32, entry: &Entry) -> impl Iterator<Item = (u64, Value)> {
    let head = &entry.head;
    let operation = head.operation.as_ref().map(|mark| CompactString::from(mark.id.as_str()));
    (head.sequence_first..).zip(&entry.events).map(move |(sequence, event)| {
        let fields = event.fields().into_iter().flat_map(|(name, value)| [Value::from(name), value]);
        let values = vec![
            Value::from(u64::from(partition)),
            Value::from(head.epoch),
            Value::from(sequence),
            Value::from(head.at),
            Value::from(operation.clone()),
            Value::from(event.spec().name),
            Value::List(fields.collect()),
        ];
        (sequence, Value::List(values))
    })
}
