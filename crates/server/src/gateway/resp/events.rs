//! `EVENTS partition epoch sequence [COUNT n] [JSON]`: the durable events after a cursor.

use compact_str::CompactString;
use scarce_api::event::of_entry;
use scarce_core::event::Entry;
use scarce_core::outcome::Value;
use scarce_core::types::Natural;

use super::session::Turn;

/// The maximum number of bytes of entries read at once.
const BYTES_MAX: u64 = 4 << 20;

/// The default number of events of an answer.
const COUNT_DEFAULT: u64 = 1_000;

/// The maximum number of events of an answer.
const COUNT_MAX: u64 = 10_000;

/// The events after a cursor: partition, epoch, sequence, timestamp, operation id, name, fields; or each as the JSON of
/// `/v1/events`, with the outcome of its operation.
pub(super) fn read(cursor: [&[u8]; 3], rest: &[&[u8]], turn: &Turn<'_>) -> Result<Vec<Value>, String> {
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
    let read = |sequence, bytes_max| {
        let read = turn.shared.engine.entries(partition, sequence, bytes_max);
        read.map_err(|failure| trimmed(turn, partition, after).unwrap_or_else(|| failure.to_string()))
    };
    if epoch != 0 && after != 0 {
        check_epoch(&read(after, 1)?, epoch, after)?;
    }
    let entries = read(after.saturating_add(1), BYTES_MAX)?;
    // A log in Redis may have been trimmed to its end.
    let is_behind = || turn.shared.engine.durable_through(partition).is_ok_and(|through| through > after);
    if entries.is_empty()
        && is_behind()
        && let Some(reason) = trimmed(turn, partition, after)
    {
        return Err(reason);
    }
    let count_max = usize::try_from(count_max).unwrap_or(usize::MAX);
    if is_json {
        let events = entries.iter().flat_map(|entry| of_entry(partition, entry, after));
        return Ok(events
            .take(count_max)
            .map(|(_, event)| Value::from(event.to_string().as_str()))
            .collect());
    }
    let events = entries.iter().flat_map(|entry| shown(partition, entry));
    Ok(events.filter(|(sequence, _)| *sequence > after).take(count_max).map(|(_, event)| event).collect())
}

/// The error that says where a log begins, if it no longer has what follows a cursor.
fn trimmed(turn: &Turn<'_>, partition: u32, after: u64) -> Option<String> {
    let begins_at = turn.shared.engine.first_sequence(partition).ok()?;
    let before = begins_at.checked_sub(1).filter(|before| *before > after)?;
    Some(format!(
        "the log of partition {partition} begins at sequence {begins_at}, and what follows {after} was deleted; \
         rebuild from another source, then continue with EVENTS {partition} 0 {before}"
    ))
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
