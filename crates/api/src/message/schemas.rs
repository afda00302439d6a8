//! JSON Schemas (2020-12) of all messages in topics, generated from the tables.

use crate::glossary::{Language, event_summary};
use scarce_core::command::{CommandSpec, Effect};
use scarce_core::event::{EVENTS, EventSpec};
use scarce_core::outcome::Code;
use serde_json::{Map, Value, json};

use super::{Reason, Stage};
use crate::openapi::audit;
use crate::openapi::batch::{self, BATCH_OPERATIONS_MAX};
use crate::openapi::event;
use crate::openapi::schemas::{self, all_required, integer, nullable, object, reference, type_name};

/// The types of messages that are not events.
pub const COMMAND_TYPE: &str = "scarce.command.v1";
/// See [`COMMAND_TYPE`].
pub const OUTCOME_TYPE: &str = "scarce.outcome.v1";
/// See [`COMMAND_TYPE`].
pub const DEAD_LETTER_TYPE: &str = "scarce.dead-letter.v1";
/// See [`COMMAND_TYPE`].
pub const AUDIT_TYPE: &str = "scarce.audit.v1";
/// See [`COMMAND_TYPE`].
pub const RESUMED_TYPE: &str = "scarce.log.resumed.v1";

/// The location of definitions in the description of the HTTP port, and in a schema.
const IN_DESCRIPTION: &str = "#/components/schemas/";
const IN_SCHEMA: &str = "#/$defs/";

/// The type of the message of an event: `account.debited` is `scarce.account.debited.v1`.
#[must_use]
pub fn event_type(name: &str) -> String {
    format!("scarce.{name}.v1")
}

/// The schemas of all messages, each with its type.
#[must_use]
pub fn all(language: Language) -> Vec<(String, Value)> {
    let definitions = schemas::all(language);
    let titled = |kind: String, title: &str, schema: Value| {
        let schema = standalone(&kind, title, schema, &definitions);
        (kind, schema)
    };
    let events = EVENTS.iter().map(|spec| {
        let title = event_summary(spec.name).map_or(spec.summary, |summary| summary.get(language));
        titled(event_type(spec.name), title, of_event(spec, language))
    });
    let others = [
        (COMMAND_TYPE, "A command, or an atomic batch of them.", command()),
        (OUTCOME_TYPE, "What a command was answered.", outcome()),
        (DEAD_LETTER_TYPE, "A command that went no further, and why.", dead_letter()),
        (AUDIT_TYPE, "A record of the audit log.", audit::record()),
        (RESUMED_TYPE, "The log does not go on from the message before.", resumed()),
    ];
    let others = others.map(|(kind, title, schema)| titled(kind.to_owned(), title, schema));
    events.chain(others).collect()
}

/// Adds the parts of a standalone schema: its name, and the definitions that it refers to.
fn standalone(kind: &str, title: &str, schema: Value, definitions: &Value) -> Value {
    let mut needed = Map::new();
    collect(&schema, definitions, &mut needed);
    let mut schema = schema;
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["$id"] = format!("urn:scarce:schema:{kind}").into();
    schema["title"] = title.into();
    if !needed.is_empty() {
        schema["$defs"] = needed.into();
    }
    moved(&mut schema);
    schema
}

/// The definitions that a schema refers to, directly or indirectly.
fn collect(schema: &Value, definitions: &Value, needed: &mut Map<String, Value>) {
    match schema {
        Value::Object(members) => {
            let name = members.get("$ref").and_then(Value::as_str);
            if let Some(name) = name.and_then(|place| place.strip_prefix(IN_DESCRIPTION))
                && !needed.contains_key(name)
                && let Some(definition) = definitions.get(name)
            {
                needed.insert(name.to_owned(), definition.clone());
                collect(definition, definitions, needed);
            }
            members.values().for_each(|value| collect(value, definitions, needed));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, definitions, needed)),
        _ => {}
    }
}

/// Points references to the definitions in the schema itself.
fn moved(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            // It only has a meaning in the description of a port.
            members.remove("discriminator");
            if let Some(Value::String(place)) = members.get_mut("$ref") {
                *place = place.replace(IN_DESCRIPTION, IN_SCHEMA);
            }
            members.values_mut().for_each(moved);
        }
        Value::Array(values) => values.iter_mut().for_each(moved),
        _ => {}
    }
}

fn of_event(spec: &EventSpec, language: Language) -> Value {
    let fields = all_required(spec.name, spec.fields, language);
    event::of(json!({ "type": "string", "const": spec.name }), fields, language)
}

/// Where the topic of events goes on after a break.
fn resumed() -> Value {
    let place = || object(named([("epoch", integer()), ("sequence", integer())]), &["epoch", "sequence"]);
    let fields = [("partition", integer()), ("after", place()), ("left", nullable(place()))];
    object(named(fields), &["partition", "after", "left"])
}

/// The commands that a message may contain.
fn commands() -> impl Iterator<Item = &'static CommandSpec> {
    batch::lines().filter(|spec| spec.effect == Effect::Write)
}

fn command() -> Value {
    let mut any: Vec<Value> = commands().map(|spec| reference(&batch::line_name(spec))).collect();
    let line = json!({ "oneOf": any, "allOf": [batch::part()] });
    let fields = [
        ("atomic", json!({ "type": "boolean", "const": true })),
        (
            "operations",
            json!({ "type": "array", "minItems": 1, "maxItems": BATCH_OPERATIONS_MAX, "items": line }),
        ),
        ("id", nullable(reference("OperationId"))),
        (
            "deadline",
            nullable(json!({ "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_u64 })),
        ),
        ("durability", nullable(reference("Durability"))),
    ];
    any.push(object(named(fields), &["atomic", "operations"]));
    json!({ "oneOf": any })
}

fn outcome() -> Value {
    let names: Vec<&str> = commands().map(|spec| spec.name).collect();
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.word()).collect();
    let boolean = json!({ "type": "boolean" });
    let fields = [
        ("operation", reference("OperationId")),
        ("command", nullable(json!({ "type": "string", "enum": names }))),
        ("applied", boolean.clone()),
        ("code", json!({ "type": "string", "enum": codes })),
        ("retryable", boolean.clone()),
        ("replayed", boolean.clone()),
        ("result", json!({ "type": ["object", "null"] })),
        ("results", json!({ "type": ["array", "null"], "items": { "type": "object" } })),
        ("facts", json!({ "type": ["object", "null"] })),
        ("receipt", nullable(reference("Receipt"))),
        ("source", place()),
        ("truncated", boolean),
    ];
    let required = fields.each_ref().map(|(name, _)| *name);
    let mut schema = object(named(fields), &required);
    let results = commands().map(|spec| {
        when(
            json!({ "command": { "const": spec.name }, "applied": { "const": true } }),
            &json!({ "result": reference(&format!("{}Answer", type_name(spec.name))) }),
        )
    });
    let refusals = Code::ALL.iter().filter(|code| **code != Code::Applied);
    let facts = refusals.map(|code| {
        when(
            json!({ "code": { "const": code.word() } }),
            &json!({ "facts": reference(&format!("{}Facts", type_name(code.word()))) }),
        )
    });
    schema["allOf"] = results.chain(facts).collect();
    schema
}

/// Constrains properties of a complete outcome, depending on others.
fn when(mut condition: Value, then: &Value) -> Value {
    condition["truncated"] = json!({ "const": false });
    json!({ "if": { "properties": condition }, "then": { "properties": then } })
}

fn dead_letter() -> Value {
    let text = json!({ "type": "string" });
    let content = json!({
        "oneOf": [
            object(named([("text", text.clone())]), &["text"]),
            object(named([("base64", json!({ "type": "string", "contentEncoding": "base64" }))]), &["base64"]),
        ]
    });
    let stages = Stage::ALL.map(Stage::word);
    let reason = [
        ("stage", json!({ "type": "string", "enum": stages })),
        ("code", json!({ "type": "string", "enum": Reason::CODES })),
        ("field", json!({ "type": ["string", "null"] })),
        ("text", text.clone()),
    ];
    let header = object(named([("name", text), ("value", nullable(content.clone()))]), &["name", "value"]);
    let fields = [
        ("reason", object(named(reason), &["stage", "code", "field", "text"])),
        ("source", place()),
        ("timestamp", nullable(integer())),
        ("key", nullable(content.clone())),
        ("headers", json!({ "type": "array", "items": header })),
        ("value", nullable(content)),
        ("value_bytes", json!({ "type": "integer", "minimum": 0 })),
        ("truncated", json!({ "type": "boolean" })),
    ];
    let required = fields.each_ref().map(|(name, _)| *name);
    object(named(fields), &required)
}

fn place() -> Value {
    let natural = json!({ "type": "integer", "minimum": 0 });
    let fields =
        [("topic", json!({ "type": "string" })), ("partition", natural.clone()), ("offset", natural)];
    object(named(fields), &["topic", "partition", "offset"])
}

fn named<const COUNT: usize>(fields: [(&str, Value); COUNT]) -> Map<String, Value> {
    fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonschema::Draft;
    use scarce_core::command::COMMANDS;

    #[test]
    fn every_schema_is_one_and_refers_to_nothing_outside() {
        let all = all(Language::English);
        assert_eq!(all.len(), EVENTS.len() + 5);
        for (kind, schema) in &all {
            let built = jsonschema::options().with_draft(Draft::Draft202012).build(schema);
            assert!(built.is_ok(), "{kind}: {:?}", built.err());
            assert!(!schema.to_string().contains(IN_DESCRIPTION), "{kind}");
        }
    }

    #[test]
    fn every_command_that_changes_something_can_be_asked_for() {
        let all = all(Language::English);
        let (_, schema) = all.iter().find(|(kind, _)| kind == COMMAND_TYPE).expect("a schema");
        let text = schema.to_string();
        for spec in COMMANDS.iter().filter(|spec| spec.name != "OPERATION.RESOLVE") {
            let is_there = text.contains(&format!("\"const\":\"{}\"", spec.name));
            assert_eq!(is_there, spec.effect == Effect::Write, "{}", spec.name);
        }
    }
}
