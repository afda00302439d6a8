//! Facts as JSON text.

use std::fmt::Write;

use scarce_core::outcome::{Outcome, Value};

use crate::table::Text;

/// A value: an integer, a text, a list, or null.
pub(super) fn text(value: &Value) -> Text {
    let mut out = String::new();
    put(&mut out, value);
    out.into()
}

/// An object, put together member by member.
#[derive(Debug, Default)]
pub(super) struct Object(String);

impl Object {
    pub(super) fn put(&mut self, name: &str, value: &Value) {
        self.put_name(name);
        put(&mut self.0, value);
    }

    pub(super) fn put_true(&mut self, name: &str) {
        self.put_name(name);
        self.0.push_str("true");
    }

    /// A member that is an object of alternating names and values.
    pub(super) fn put_pairs(&mut self, name: &str, pairs: &[Value]) {
        self.put_name(name);
        self.0.push_str(&object(pairs));
    }

    pub(super) fn end(mut self) -> Text {
        self.0.push_str(if self.0.is_empty() { "{}" } else { "}" });
        self.0.into()
    }

    fn put_name(&mut self, name: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        put_text(&mut self.0, name);
        self.0.push(':');
    }
}

/// Alternating names and values, as an object.
pub(super) fn object(pairs: &[Value]) -> Text {
    let mut object = Object::default();
    for pair in pairs.chunks_exact(2) {
        let name = pair[0].to_string();
        object.put(&name, &pair[1]);
    }
    object.end()
}

/// The values of an applied operation in the order of its command's answer; the facts of a refusal by name.
pub(super) fn facts(outcome: &Outcome) -> Text {
    if !outcome.is_applied() {
        let named = scarce_api::answer::facts(outcome.code, &outcome.facts);
        return serde_json::Value::Object(named).to_string().into();
    }
    let mut out = String::new();
    put_list(&mut out, &outcome.facts);
    out.into()
}

/// The public fields of an event by name.
pub(super) fn fields(fields: &[(&'static str, Value)]) -> Text {
    let mut object = Object::default();
    fields.iter().for_each(|(name, value)| object.put(name, value));
    object.end()
}

fn put(out: &mut String, value: &Value) {
    match value {
        Value::Absent => out.push_str("null"),
        // Writing to a text cannot fail.
        Value::Integer(value) => {
            let _ = write!(out, "{value}");
        }
        Value::Text(text) => put_text(out, text),
        Value::List(values) => put_list(out, values),
    }
}

fn put_list(out: &mut String, values: &[Value]) {
    out.push('[');
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        put(out, value);
    }
    out.push(']');
}

fn put_text(out: &mut String, text: &str) {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if text.bytes().all(is_plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&serde_json::Value::from(text).to_string());
    }
}

#[cfg(test)]
mod tests {
    use scarce_core::facts as values;
    use scarce_core::outcome::Code;

    use super::*;

    #[test]
    fn values_are_json() {
        let list = Value::List(values!["a\"b\\c", -1_i64, Value::Absent, Value::List(vec![])].into_vec());
        let read: serde_json::Value = serde_json::from_str(&text(&list)).expect("JSON");
        assert_eq!(read, serde_json::json!(["a\"b\\c", -1, null, []]));
        let pairs = values!["user", "u\u{1}", "store", 7_i64];
        let read: serde_json::Value = serde_json::from_str(&object(&pairs)).expect("JSON");
        assert_eq!(read, serde_json::json!({ "user": "u\u{1}", "store": 7 }));
    }

    #[test]
    fn figures_stand_in_order_and_facts_by_name() {
        assert_eq!(&*facts(&Outcome::applied(values![40_i64, 40_i64])), "[40,40]");
        let refused = Outcome { code: Code::InsufficientFunds, facts: values!["a", 3_i64, 5_i64] };
        let read: serde_json::Value = serde_json::from_str(&facts(&refused)).expect("JSON");
        assert_eq!(read, serde_json::json!({ "account": "a", "available": 3, "requested": 5 }));
    }
}
