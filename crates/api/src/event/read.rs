//! Parsing events from JSON.

use compact_str::CompactString;
use scarce_core::command::Invalid;
use scarce_core::event::{self, EntryHead, Event, OperationMark, Position};
use scarce_core::outcome::shape::{Shape, ValueType};
use scarce_core::outcome::{Code, Outcome, Value as Figure};
use scarce_core::types::{BALANCE_MAX, OperationId};
use serde_json::{Map, Value};

/// Why a text is not an event.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// It is not JSON.
    #[error("the event is no JSON; look who else writes where it came from")]
    Syntax(#[from] serde_json::Error),
    /// A member is missing or has the wrong shape.
    #[error("the event's member '{member}' is missing or not of its shape; it is none of this version")]
    Member {
        /// The member.
        member: String,
    },
    /// The event is not in the table.
    #[error("there is no event '{name}'; a newer release may know it")]
    Name {
        /// Its name.
        name: String,
    },
}

/// An event from JSON. Fields that are never public are redacted, and the operation's content hash is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The partition.
    pub partition: u32,
    /// The header of its entry.
    pub head: EntryHead,
    /// Its own sequence.
    pub sequence: u64,
    /// The sequence of the entry's last event.
    pub entry_last: u64,
    /// The event.
    pub event: Event,
    /// For the last event: the operation's outcome, if it is stored.
    pub outcome: Option<Outcome>,
}

impl Received {
    /// The position after the event.
    #[must_use]
    pub fn position(&self) -> Position {
        Position { epoch: self.head.epoch, sequence: self.sequence }
    }
}

/// Reads an event.
///
/// # Errors
/// When this version would not write such a text.
pub fn read(text: &[u8]) -> Result<Received, Unreadable> {
    read_value(&serde_json::from_slice(text)?)
}

/// Reads an event from parsed JSON.
///
/// # Errors
/// When this version would not write such an event.
pub fn read_value(value: &Value) -> Result<Received, Unreadable> {
    let members = Members(value.as_object().ok_or_else(|| missing("partition"))?);
    let name = members.text("name")?;
    let spec = event::find(name).ok_or_else(|| Unreadable::Name { name: name.to_owned() })?;
    let fields = members.object("fields")?;
    let values = spec.fields.iter().map(|field| {
        let name = field.name;
        let value = fields.get(name).ok_or_else(|| missing(&format!("fields.{name}")))?;
        figure(field.value_type, value).ok_or_else(|| missing(&format!("fields.{name}")))
    });
    let values = values.collect::<Result<Vec<_>, _>>()?;
    let event = Event::from_public_values(spec.number, &values).map_err(|_| missing("fields"))?;
    let partition = u32::try_from(members.number("partition")?).map_err(|_| missing("partition"))?;
    let head = EntryHead {
        epoch: members.number("epoch")?,
        sequence_first: members.number("entry_first")?,
        at: members.number("at")?,
        operation: members.operation()?,
        more: members.boolean("more")?,
    };
    let (sequence, entry_last) = (members.number("sequence")?, members.number("entry_last")?);
    if !(head.sequence_first..=entry_last).contains(&sequence) {
        return Err(missing("sequence"));
    }
    Ok(Received { partition, head, sequence, entry_last, event, outcome: members.outcome()? })
}

fn missing(member: &str) -> Unreadable {
    Unreadable::Member { member: member.to_owned() }
}

/// The members of the event's object.
struct Members<'a>(&'a Map<String, Value>);

impl<'a> Members<'a> {
    fn get<T>(&self, member: &str, read: impl FnOnce(&'a Value) -> Option<T>) -> Result<T, Unreadable> {
        self.0.get(member).and_then(read).ok_or_else(|| missing(member))
    }

    fn text(&self, member: &str) -> Result<&'a str, Unreadable> {
        self.get(member, Value::as_str)
    }

    fn number(&self, member: &str) -> Result<u64, Unreadable> {
        self.get(member, Value::as_u64)
    }

    fn boolean(&self, member: &str) -> Result<bool, Unreadable> {
        self.get(member, Value::as_bool)
    }

    fn object(&self, member: &str) -> Result<&'a Map<String, Value>, Unreadable> {
        self.get(member, Value::as_object)
    }

    fn operation(&self) -> Result<Option<OperationMark>, Unreadable> {
        if self.0.get("operation").is_none_or(Value::is_null) {
            return Ok(None);
        }
        let id = OperationId::parse(self.text("operation")?.as_bytes(), "operation");
        let id = id.map_err(|Invalid { argument, .. }| missing(argument))?;
        Ok(Some(OperationMark { namespace: self.text("namespace")?.into(), id, fingerprint: 0 }))
    }

    fn outcome(&self) -> Result<Option<Outcome>, Unreadable> {
        let outcome = match self.0.get("outcome") {
            None | Some(Value::Null) => return Ok(None),
            Some(outcome) => outcome,
        };
        let read = || {
            let code = Code::from_word(outcome.get("code")?.as_str()?)?;
            let facts = outcome.get("facts")?.as_array()?;
            Some(Outcome { code, facts: facts.iter().map(raw).collect::<Option<_>>()? })
        };
        read().map(Some).ok_or_else(|| missing("outcome"))
    }
}

/// The inverse of [`answer::shown`](crate::answer::shown).
fn figure(its: ValueType, value: &Value) -> Option<Figure> {
    match (its.shape, value) {
        (_, Value::Null) => its.is_nullable.then_some(Figure::Absent),
        (Shape::Boolean, Value::Bool(value)) => Some(Figure::Integer(i64::from(*value))),
        (Shape::Boolean, _) | (_, Value::Bool(_)) => None,
        (Shape::Limits, Value::Array(limits)) => {
            limits.iter().map(limit).collect::<Option<_>>().map(Figure::List)
        }
        (Shape::Subject, Value::Object(pairs)) => {
            let pair = |(name, value): (&String, &Value)| Some([text(name), raw(value)?]);
            let pairs: Vec<[Figure; 2]> = pairs.iter().map(pair).collect::<Option<_>>()?;
            Some(Figure::List(pairs.into_iter().flatten().collect()))
        }
        (_, value) => raw(value),
    }
}

fn text(text: &str) -> Figure {
    Figure::Text(CompactString::from(text))
}

/// Name, max, dimensions, window, offset.
fn limit(value: &Value) -> Option<Figure> {
    let limit = value.as_object()?;
    let window = limit.get("window").or_else(|| limit.get("window_ms"))?;
    let offset = limit.get("offset_minutes").unwrap_or(&Value::Null);
    let values = [limit.get("name")?, limit.get("max")?, limit.get("per")?, window, offset];
    values.into_iter().map(raw).collect::<Option<_>>().map(Figure::List)
}

/// A value without names.
fn raw(value: &Value) -> Option<Figure> {
    match value {
        Value::Null => Some(Figure::Absent),
        Value::Number(number) => {
            let number = number.as_i64().filter(|number| number.abs() <= BALANCE_MAX)?;
            Some(Figure::Integer(number))
        }
        Value::String(string) => Some(text(string)),
        Value::Array(values) => values.iter().map(raw).collect::<Option<_>>().map(Figure::List),
        Value::Bool(_) | Value::Object(_) => None,
    }
}
