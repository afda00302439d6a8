//! Outcomes as JSON.

use scarce_core::command::CommandSpec;
use scarce_core::outcome::shape::{Shape, ValueSpec, ValueType};
use scarce_core::outcome::{Code, Receipt, Value as Figure};
use serde_json::{Map, Value, json};

/// The values of an applied command by their names.
#[must_use]
pub fn figures(spec: &CommandSpec, figures: &[Figure]) -> Map<String, Value> {
    named(spec.reply, figures)
}

/// The facts of a refusal by their names.
#[must_use]
pub fn facts(code: Code, facts: &[Figure]) -> Map<String, Value> {
    let mut named = named(code.facts(), facts);
    if code == Code::BatchRefused
        && let (Some(Figure::Text(word)), Some(Figure::List(inner))) = (facts.get(1), facts.get(2))
        && let Some(inner_code) = Code::from_word(word)
    {
        named.insert("facts".to_owned(), Value::Object(self::facts(inner_code, inner)));
    }
    named
}

/// Values by their names.
#[must_use]
pub fn named(specs: &[ValueSpec], values: &[Figure]) -> Map<String, Value> {
    let pairs = specs.iter().zip(values);
    pairs.map(|(spec, value)| (spec.name.to_owned(), shown(spec.value_type, value))).collect()
}

/// The answers to the lines of an applied batch, each with its command's values.
#[must_use]
pub fn lines(specs: &[&CommandSpec], answers: &[Figure]) -> Vec<Value> {
    let line = |(spec, answer): (&&CommandSpec, &Figure)| match answer {
        Figure::List(values) => Value::Object(figures(spec, values.get(1..).unwrap_or_default())),
        other => raw(other),
    };
    specs.iter().zip(answers).map(line).collect()
}

/// The answer's position in the log, and how safe it is.
#[must_use]
pub fn receipt(receipt: &Receipt, operation: &str) -> Value {
    json!({
        "operation": operation,
        "partition": receipt.partition,
        "epoch": receipt.epoch,
        "sequence_first": receipt.sequence_first,
        "sequence_last": receipt.sequence_last,
        "at": receipt.at,
        "durability": receipt.durability.word(),
    })
}

/// A value, converted by its type.
#[must_use]
pub fn shown(its: ValueType, value: &Figure) -> Value {
    let Figure::List(values) = value else {
        return match (its.shape, value) {
            (Shape::Boolean, Figure::Integer(value)) => Value::Bool(*value != 0),
            _ => raw(value),
        };
    };
    match its.shape {
        Shape::Rows(row) => Value::Array(values.iter().map(|values| self::row(row.values, values)).collect()),
        Shape::Limits => Value::Array(values.iter().map(limit).collect()),
        Shape::Subject => Value::Object(subject(values)),
        Shape::Outcome => outcome_of(values),
        _ => raw(value),
    }
}

fn row(specs: &[ValueSpec], row: &Figure) -> Value {
    match row {
        Figure::List(values) => Value::Object(named(specs, values)),
        other => raw(other),
    }
}

/// Name, max, dimensions, window, offset.
fn limit(limit: &Figure) -> Value {
    let Figure::List(values) = limit else { return raw(limit) };
    let [name, max, per, window, offset] = values.as_slice() else { return raw(limit) };
    let mut object = Map::new();
    for (field, value) in [("name", name), ("max", max), ("per", per)] {
        object.insert(field.to_owned(), raw(value));
    }
    // A window that is not a word is a number of milliseconds.
    let field = if matches!(window, Figure::Integer(_)) { "window_ms" } else { "window" };
    object.insert(field.to_owned(), raw(window));
    if let Figure::Integer(offset_minutes) = offset {
        object.insert("offset_minutes".to_owned(), Value::from(*offset_minutes));
    }
    Value::Object(object)
}

/// Dimension, value, dimension, value …
fn subject(pairs: &[Figure]) -> Map<String, Value> {
    pairs.chunks_exact(2).map(|pair| (pair[0].to_string(), raw(&pair[1]))).collect()
}

/// 1 and the values, without names because they are not stored, or 0, the code and its facts.
fn outcome_of(values: &[Figure]) -> Value {
    match values {
        [Figure::Integer(0), Figure::Text(word), rest @ ..] => {
            let code = Code::from_word(word);
            let facts = code.map(|code| facts(code, rest)).unwrap_or_default();
            json!({ "applied": false, "code": word.as_str(), "facts": facts })
        }
        [_, rest @ ..] => json!({ "applied": true, "figures": rest.iter().map(raw).collect::<Vec<_>>() }),
        [] => Value::Null,
    }
}

/// A value without names.
#[must_use]
pub fn raw(value: &Figure) -> Value {
    match value {
        Figure::Absent => Value::Null,
        Figure::Integer(value) => Value::from(*value),
        Figure::Text(text) => Value::from(text.as_str()),
        Figure::List(values) => values.iter().map(raw).collect(),
    }
}

/// The list in the answer of a command that lists, with the name of its field and the row's field after
/// which the next page begins.
#[must_use]
pub fn paged(spec: &CommandSpec) -> Option<(&'static str, &'static str)> {
    spec.reply.iter().find_map(|value| match value.value_type.shape {
        Shape::Rows(row) => row.page_key.map(|key| (value.name, key)),
        _ => None,
    })
}
