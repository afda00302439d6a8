//! Converts answers of the HTTP port to the text form of outcomes in the tables.

use scarce_core::command::CommandSpec;
use scarce_core::outcome::Code;
use scarce_core::outcome::shape::{Shape, ValueSpec, ValueType};
use serde_json::{Map, Value};

/// The values of an applied command.
pub fn applied(spec: &CommandSpec, body: &Value) -> String {
    let values = named(spec.name, spec.reply, body);
    std::iter::once("APPLIED".to_owned()).chain(values).collect::<Vec<_>>().join(" ")
}

/// A problem document.
pub fn refused(problem: &Value) -> String {
    let word = problem["code"].as_str().unwrap_or_default();
    match Code::from_word(word) {
        Some(code) => std::iter::once(word.to_owned())
            .chain(facts(code, &problem["facts"]))
            .collect::<Vec<_>>()
            .join(" "),
        None => format!("a problem of the port: {problem}"),
    }
}

/// The facts of a code in order.
fn facts(code: Code, facts: &Value) -> Vec<String> {
    if code != Code::BatchRefused {
        return named(code.word(), code.facts(), facts);
    }
    let inner = facts["code"].as_str().and_then(Code::from_word).unwrap_or_else(|| panic!("{facts}"));
    vec![facts["index"].to_string(), inner.word().to_owned(), list(self::facts(inner, &facts["facts"]))]
}

fn named(scope: &str, specs: &[ValueSpec], object: &Value) -> Vec<String> {
    let value = |spec: &ValueSpec| {
        let name = spec.name;
        let value =
            object.get(name).unwrap_or_else(|| panic!("{scope} was answered without {name}: {object}"));
        shown(spec.value_type, value)
    };
    specs.iter().map(value).collect()
}

fn list(values: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", values.into_iter().collect::<Vec<_>>().join(" "))
}

fn shown(its: ValueType, value: &Value) -> String {
    match (its.shape, value) {
        (Shape::Rows(spec), Value::Array(rows)) => {
            list(rows.iter().map(|row| list(named(spec.name, spec.values, row))))
        }
        (Shape::Limits, Value::Array(limits)) => list(limits.iter().map(limit)),
        (Shape::Outcome, Value::Object(outcome)) => remembered(outcome),
        _ => raw(value),
    }
}

fn raw(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Bool(value) => u8::from(*value).to_string(),
        Value::String(text) => text.clone(),
        Value::Array(values) => list(values.iter().map(raw)),
        other => other.to_string(),
    }
}

fn limit(limit: &Value) -> String {
    let window = limit.get("window").or(limit.get("window_ms")).unwrap_or(&Value::Null);
    let offset = limit.get("offset_minutes").unwrap_or(&Value::Null);
    list([&limit["name"], &limit["max"], &limit["per"], window, offset].map(raw))
}

fn remembered(outcome: &Map<String, Value>) -> String {
    if outcome["applied"] == Value::Bool(true) {
        let figures = outcome["figures"].as_array().expect("figures");
        return list(std::iter::once("1".to_owned()).chain(figures.iter().map(raw)));
    }
    let word = outcome["code"].as_str().unwrap_or_default();
    let code = Code::from_word(word).unwrap_or_else(|| panic!("{outcome:?}"));
    list(["0".to_owned(), word.to_owned()].into_iter().chain(facts(code, &outcome["facts"])))
}
