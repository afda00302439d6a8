//! The schema of an event.

use crate::glossary::{Language, term_in};
use scarce_core::outcome::Code;
use serde_json::{Map, Value, json};

use super::schemas::{described, integer, nullable, object};
use crate::event::MEMBERS;

/// An event, whose fields are any object.
pub fn any(language: Language) -> Value {
    of(json!({ "type": "string" }), json!({ "type": "object" }), language)
}

/// An event with a known name and known fields.
pub fn of(name: Value, fields: Value, language: Language) -> Value {
    let mut known = Map::from_iter([("name".to_owned(), name), ("fields".to_owned(), fields)]);
    let properties = MEMBERS.map(|member| {
        let schema = known.remove(member).unwrap_or_else(|| match member {
            "namespace" | "operation" => json!({ "type": ["string", "null"] }),
            "more" => json!({ "type": "boolean" }),
            "outcome" => nullable(answered(language)),
            _ => integer(),
        });
        (member.to_owned(), described(schema, term_in("event", member), language))
    });
    object(properties.into_iter().collect(), &MEMBERS)
}

/// A code and its values without names.
fn answered(language: Language) -> Value {
    let code =
        json!({ "type": "string", "enum": Code::ALL.iter().map(|code| code.word()).collect::<Vec<_>>() });
    let facts = json!({ "type": "array", "items": {} });
    let fields = [("code", code), ("facts", facts)]
        .map(|(name, schema)| (name.to_owned(), described(schema, term_in("answered", name), language)));
    object(fields.into_iter().collect(), &["code", "facts"])
}
