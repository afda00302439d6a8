//! `EVENTS partition epoch sequence [COUNT n] [KIND kind] [RESOURCE id] [NAME event] [JSON]`: the durable events after a
//! cursor. The log is read and decoded beside the port's thread, no further than the answer needs.

use compact_str::CompactString;
use scarce_api::event::{FILTERS, Filter, Marks, Public, public};
use scarce_core::event::{Entry, Position};
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

/// How many events are read at a time where some are not wanted.
const READ_EVENTS_MAX: usize = 1_000;

/// How many events are looked at for those that are wanted.
const LOOKED_AT_MAX: usize = 20_000;

/// How the command is written.
pub(super) const USAGE: &str =
    "EVENTS partition epoch sequence [COUNT n] [KIND kind] [RESOURCE id] [NAME event] [JSON]";

/// What is asked for.
pub(super) struct Asked {
    partition: u32,
    epoch: u64,
    after: u64,
    count_max: usize,
    /// Whether each event is the JSON of `/v1/events`, with the outcome of its operation.
    is_json: bool,
    filter: Filter,
}

/// The events of an answer, as they are written.
#[derive(Default)]
struct Collected {
    count: usize,
    written: Vec<u8>,
    /// The last event that was looked at.
    through: Option<Position>,
}

impl Asked {
    /// Reads the words after `EVENTS`.
    pub(super) fn read(cursor: [&[u8]; 3], rest: &[&[u8]]) -> Result<Self, String> {
        let [partition, epoch, after] =
            [number(cursor[0], "partition")?, number(cursor[1], "epoch")?, number(cursor[2], "sequence")?];
        let (mut rest, is_json) = match rest {
            [before @ .., word] if word.eq_ignore_ascii_case(b"JSON") => (before, true),
            rest => (rest, false),
        };
        let (mut count_max, mut filter) = (COUNT_DEFAULT, Filter::default());
        while let [word, value, more @ ..] = rest {
            rest = more;
            let by = FILTERS.into_iter().find(|by| word.eq_ignore_ascii_case(by.as_bytes()));
            match by {
                Some(by) => {
                    let text = String::from_utf8_lossy(value);
                    filter.add(by, &text).map_err(|problem| problem.to_string())?;
                }
                None if word.eq_ignore_ascii_case(b"COUNT") => {
                    count_max = number(value, "count")?.min(COUNT_MAX);
                }
                None => return Err(format!("usage: {USAGE}")),
            }
        }
        if !rest.is_empty() {
            return Err(format!("usage: {USAGE}"));
        }
        let partition = u32::try_from(partition).unwrap_or(u32::MAX);
        let count_max = usize::try_from(count_max).unwrap_or(usize::MAX);
        Ok(Self { partition, epoch, after, count_max, is_json, filter })
    }

    /// Reads the log and writes the reply. It blocks on the disk or on a server.
    pub(super) fn answer(&self, engine: &dyn Engine, protocol: Protocol) -> Vec<u8> {
        let mut reply = Vec::new();
        let mut replies = Replies::new(&mut reply, protocol);
        match self.collect(engine, protocol) {
            Err(text) => replies.error("ERR", &text),
            Ok(Collected { count, mut written, .. }) if self.filter.is_all() => {
                replies.array(count);
                reply.append(&mut written);
            }
            // Where to go on is said: the last event that was looked at may not be among them.
            Ok(Collected { count, mut written, through }) => {
                replies.array(3);
                replies.array(count);
                reply.append(&mut written);
                let through = through.unwrap_or(Position { epoch: self.epoch, sequence: self.after });
                let mut replies = Replies::new(&mut reply, protocol);
                replies.value(&Value::from(through.epoch));
                replies.value(&Value::from(through.sequence));
            }
        }
        reply
    }

    /// Reads and writes the events.
    fn collect(&self, engine: &dyn Engine, protocol: Protocol) -> Result<Collected, String> {
        let Self { partition, epoch, after, count_max, .. } = *self;
        if epoch != 0 && after != 0 {
            check_epoch(&self.entries(engine, after, 1, 1)?, epoch, after)?;
        }
        let (mut collected, mut looked_at) = (Collected::default(), 0);
        while self.has_room(&collected) && looked_at < LOOKED_AT_MAX {
            let through = collected.through.map_or(after, |position| position.sequence);
            let events_max = if self.filter.is_all() { count_max - collected.count } else { READ_EVENTS_MAX };
            let bytes_max = (EVENT_BYTES * events_max as u64).min(READ_BYTES_MAX);
            let entries = self.entries(engine, through.saturating_add(1), events_max, bytes_max)?;
            if entries.is_empty() {
                break;
            }
            looked_at += self.take(&entries, through, protocol, &mut collected);
        }
        // A log in Redis may have been trimmed to its end.
        let is_behind = || engine.durable_through(partition).is_ok_and(|through| through > after);
        if collected.through.is_none()
            && count_max > 0
            && is_behind()
            && let Some(reason) = self.trimmed(engine)
        {
            return Err(reason);
        }
        Ok(collected)
    }

    fn has_room(&self, collected: &Collected) -> bool {
        collected.count < self.count_max && collected.written.len() < ANSWER_BYTES_MAX
    }

    /// Takes the events that are wanted, as long as there is room; returns how many were looked at.
    fn take(&self, entries: &[Entry], after: u64, protocol: Protocol, collected: &mut Collected) -> usize {
        let mut looked_at = 0;
        for entry in entries {
            for event in public(self.partition, entry, after) {
                if !self.has_room(collected) {
                    return looked_at;
                }
                looked_at += 1;
                collected.through = Some(Position { epoch: entry.head.epoch, sequence: event.sequence });
                if self.filter.is_all() || self.filter.wants(&Marks::of(event.event)) {
                    Replies::new(&mut collected.written, protocol).value(&self.shown(&event));
                    collected.count += 1;
                }
            }
        }
        looked_at
    }

    fn shown(&self, public: &Public<'_>) -> Value {
        if self.is_json {
            return Value::from(public.json().as_str());
        }
        let head = public.head;
        let operation = head.operation.as_ref().map(|mark| CompactString::from(mark.id.as_str()));
        let fields = public.event.fields().into_iter().flat_map(|(name, value)| [Value::from(name), value]);
        Value::List(vec![
            Value::from(u64::from(public.partition)),
            Value::from(head.epoch),
            Value::from(public.sequence),
            Value::from(head.at),
            Value::from(operation),
            Value::from(public.event.spec().name),
            Value::List(fields.collect()),
        ])
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
