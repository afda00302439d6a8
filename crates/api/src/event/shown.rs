//! From an entry of the log to JSON.

use scarce_core::event::{Entry, EntryHead, Event};
use scarce_core::outcome::shape::{Shape, ValueType};
use scarce_core::outcome::{Outcome, Value as Figure};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value};

use crate::answer;

/// An event with everything that a reader needs without the rest of the log.
#[derive(Clone, Copy, Debug)]
pub struct Public<'a> {
    /// The partition.
    pub partition: u32,
    /// The header of its entry.
    pub head: &'a EntryHead,
    /// Its own sequence.
    pub sequence: u64,
    /// The sequence of the entry's last event.
    pub entry_last: u64,
    /// The event.
    pub event: &'a Event,
    /// For the last event: the operation's outcome, if it is stored.
    pub outcome: Option<&'a Outcome>,
}

impl Public<'_> {
    /// Its JSON.
    #[must_use]
    pub fn json(&self) -> String {
        // Names are texts and values are integers, so this cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The events of an entry after a sequence.
pub fn public(partition: u32, entry: &Entry, after: u64) -> impl Iterator<Item = Public<'_>> {
    let (head, entry_last) = (&entry.head, entry.sequence_last());
    (head.sequence_first..).zip(&entry.events).filter(move |(sequence, _)| *sequence > after).map(
        move |(sequence, event)| {
            let outcome = entry.outcome.as_ref().filter(|_| sequence == entry_last);
            Public { partition, head, sequence, entry_last, event, outcome }
        },
    )
}

/// The events of an entry after a sequence, each with its JSON.
pub fn of_entry(partition: u32, entry: &Entry, after: u64) -> impl Iterator<Item = (u64, Value)> {
    // Names are texts and values are integers, so this cannot fail.
    public(partition, entry, after)
        .map(|public| (public.sequence, serde_json::to_value(public).unwrap_or_default()))
}

/// The public fields of an event by their names.
#[must_use]
pub fn fields(event: &Event) -> Map<String, Value> {
    match serde_json::to_value(Fields(event)) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

impl Serialize for Public<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let head = self.head;
        let operation = head.operation.as_ref();
        let mut members = serializer.serialize_map(Some(super::MEMBERS.len()))?;
        members.serialize_entry("partition", &self.partition)?;
        members.serialize_entry("epoch", &head.epoch)?;
        members.serialize_entry("sequence", &self.sequence)?;
        members.serialize_entry("at", &head.at)?;
        members.serialize_entry("namespace", &operation.map(|mark| mark.namespace.as_str()))?;
        members.serialize_entry("operation", &operation.map(|mark| mark.id.as_str()))?;
        members.serialize_entry("name", self.event.spec().name)?;
        members.serialize_entry("fields", &Fields(self.event))?;
        members.serialize_entry("entry_first", &head.sequence_first)?;
        members.serialize_entry("entry_last", &self.entry_last)?;
        members.serialize_entry("more", &head.more)?;
        members.serialize_entry("outcome", &self.outcome.map(Answered))?;
        members.end()
    }
}

struct Fields<'a>(&'a Event);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values = self.0.fields();
        let mut members = serializer.serialize_map(Some(values.len()))?;
        for ((name, value), spec) in values.iter().zip(self.0.spec().fields) {
            members.serialize_entry(name, &Field(spec.value_type, value))?;
        }
        members.end()
    }
}

struct Field<'a>(ValueType, &'a Figure);

impl Serialize for Field<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.1 {
            Figure::Integer(value) if self.0.shape == Shape::Boolean => {
                serializer.serialize_bool(*value != 0)
            }
            Figure::List(_) => answer::shown(self.0, self.1).serialize(serializer),
            value => Raw(value).serialize(serializer),
        }
    }
}

/// A value without names.
struct Raw<'a>(&'a Figure);

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Figure::Absent => serializer.serialize_none(),
            Figure::Integer(value) => serializer.serialize_i64(*value),
            Figure::Text(text) => serializer.serialize_str(text),
            Figure::List(values) => raw_list(values, serializer),
        }
    }
}

fn raw_list<S: Serializer>(values: &[Figure], serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(values.len()))?;
    values.iter().try_for_each(|value| list.serialize_element(&Raw(value)))?;
    list.end()
}

/// An outcome as its code and its values in order. The values' names depend on the command, which the log
/// does not contain.
struct Answered<'a>(&'a Outcome);

impl Serialize for Answered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Facts<'a>(&'a [Figure]);
        impl Serialize for Facts<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                raw_list(self.0, serializer)
            }
        }
        let mut members = serializer.serialize_map(Some(2))?;
        members.serialize_entry("code", self.0.code.word())?;
        members.serialize_entry("facts", &Facts(&self.0.facts))?;
        members.end()
    }
}
