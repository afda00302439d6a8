//! Events as JSON: what streams, exports and projections are made of. Fields that are never public
//! are left out.

use scarce_core::event::{Entry, Event};
use serde_json::{Map, Value, json};

use crate::answer;
use crate::values::type_of;

/// The events of an entry after a sequence, each with its own.
pub fn of_entry(partition: u32, entry: &Entry, after: u64) -> impl Iterator<Item = (u64, Value)> {
    let head = &entry.head;
    let operation = head.operation.as_ref().map(|mark| mark.id.as_str());
    (head.sequence_first..).zip(&entry.events).filter(move |(sequence, _)| *sequence > after).map(
        move |(sequence, event)| {
            let shown = json!({
                "partition": partition,
                "epoch": head.epoch,
                "sequence": sequence,
                "at": head.at,
                "operation": operation,
                "name": event.spec().name,
                "fields": fields(event),
            });
            (sequence, shown)
        },
    )
}

/// The public fields of an event by their names.
#[must_use]
pub fn fields(event: &Event) -> Map<String, Value> {
    let name = event.spec().name;
    let field =
        |(field, value): (&'static str, _)| (field.to_owned(), answer::shown(type_of(name, field), &value));
    event.fields().into_iter().map(field).collect()
}
