//! `POST /v1/batch`: any of the commands, each with its arguments.

use crate::glossary::{Language, Text};
use scarce_core::command::{COMMANDS, CommandSpec, Effect};
use serde_json::{Map, Value, json};

use super::operations::add_operation_headers;
use super::schemas::{nullable, object, reference, type_name};
use super::system::{json_body, of_kind, with_problems};
use crate::routes::Method;

/// The maximum number of operations in a batch.
pub const BATCH_OPERATIONS_MAX: usize = 1_000;

/// The answers to a batch besides 200: the status and the codes.
const PROBLEMS: &[(&str, &[&str])] = &[
    ("400", &["INVALID"]),
    ("409", &["BATCH_REFUSED", "CROSS_PARTITION", "ID_EXPIRED", "DEADLINE_PASSED", "RESOLVED_ABSENT"]),
    ("422", &["ID_REUSED"]),
    ("503", &["OVERLOADED", "UNAVAILABLE"]),
    ("504", &["UNKNOWN"]),
];

/// The commands that may be in a batch.
pub fn lines() -> impl Iterator<Item = &'static CommandSpec> {
    COMMANDS.iter().copied().filter(|spec| spec.joins_batches())
}

/// The name of the schema of a command as an operation.
pub fn line_name(spec: &CommandSpec) -> String {
    format!("{}Operation", type_name(spec.name))
}

/// The schemas of requests and answers by their names.
pub fn schemas() -> Vec<(String, Value)> {
    let named = [("BatchRequest", request()), ("BatchAnswer", answer()), ("BatchResult", result())];
    let named = named.map(|(name, schema)| (name.to_owned(), schema));
    lines().map(|spec| (line_name(spec), line(spec))).chain(named).collect()
}

/// A command with its arguments, and with an id, a deadline and a durability if it changes state.
fn line(spec: &CommandSpec) -> Value {
    let mut fields = Map::new();
    fields.insert("command".to_owned(), json!({ "type": "string", "const": spec.name }));
    fields.insert("arguments".to_owned(), reference(&format!("{}Arguments", type_name(spec.name))));
    if spec.effect == Effect::Write {
        fields.insert("id".to_owned(), nullable(reference("OperationId")));
        let natural = json!({ "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_u64 });
        fields.insert("deadline".to_owned(), nullable(natural));
        fields.insert("durability".to_owned(), nullable(reference("Durability")));
    }
    object(fields, &["command", "arguments"])
}

fn request() -> Value {
    let any: Vec<_> = lines().map(|spec| reference(&line_name(spec))).collect();
    let places = lines()
        .map(|spec| (spec.name.to_owned(), Value::from(format!("#/components/schemas/{}", line_name(spec)))));
    let discriminator = json!({ "propertyName": "command", "mapping": places.collect::<Map<_, _>>() });
    let part = part();
    json!({
        "type": "object",
        "properties": {
            "atomic": { "type": ["boolean", "null"], "default": false },
            "operations": {
                "type": "array", "minItems": 1, "maxItems": BATCH_OPERATIONS_MAX,
                "items": { "oneOf": any, "discriminator": discriminator },
            },
        },
        "required": ["operations"],
        "additionalProperties": false,
        // An atomic batch has one id, one deadline and one durability, in its headers, and all of its
        // operations change state.
        "if": { "properties": { "atomic": { "const": true } }, "required": ["atomic"] },
        "then": { "properties": { "operations": { "items": part } } },
    })
}

/// Extra rules for a line of an atomic batch: it changes state, and has no id, deadline and durability of
/// its own.
pub fn part() -> Value {
    let writes: Vec<_> = lines().filter(|spec| spec.effect == Effect::Write).map(|spec| spec.name).collect();
    let of_the_whole = json!({ "type": "null" });
    json!({
        "properties": {
            "command": { "enum": writes },
            "id": of_the_whole, "deadline": of_the_whole, "durability": of_the_whole,
        }
    })
}

fn result() -> Value {
    json!({
        "type": "object",
        "properties": {
            "status": { "type": "integer" },
            "id": { "type": "string" },
            "replayed": { "type": "boolean" },
            "result": { "type": "object" },
            "problem": reference("Problem"),
        },
        "required": ["status"],
        "additionalProperties": false,
    })
}

fn answer() -> Value {
    json!({
        "type": "object",
        "properties": {
            "results": { "type": "array", "items": reference("BatchResult") },
            "receipt": reference("Receipt"),
            "dry_run": { "type": "boolean", "const": true },
        },
        "required": ["results"],
        "additionalProperties": false,
    })
}

/// The description of the route.
pub fn operation(language: Language) -> Value {
    let description = Text::new(
        "Many operations in one request, each with an id and an outcome of its own; or, with atomic, all or none \
         under the one Idempotency-Key, later lines seeing the effects of earlier ones. Results stand in the order \
         of the operations.",
        "一次请求提交多个操作，各有自己的 ID 与结果；atomic 为 true 时在同一 Idempotency-Key 下全部执行或全部不执行，\
         后面的行能看到前面行的效果。结果与操作顺序一致。",
    );
    let parameters = ["AcceptLanguage", "DryRun", "IdempotencyKey", "Deadline", "Durability"]
        .map(|name| json!({ "$ref": format!("#/components/parameters/{name}") }));
    let done = Text::new("What came of each.", "各操作的结果。");
    let mut responses = with_problems(
        json_body(done, &reference("BatchAnswer"), language),
        of_kind(Method::Post, PROBLEMS, language),
    );
    // An atomic batch is one operation.
    for status in std::iter::once("200").chain(PROBLEMS.iter().map(|(status, _)| *status)) {
        add_operation_headers(&mut responses[status]);
    }
    json!({
        "operationId": "batch",
        "tags": ["batch"],
        "summary": Text::new("Sends many operations at once.", "批量提交操作。").get(language),
        "description": description.get(language),
        "parameters": parameters,
        "requestBody": {
            "required": true, "content": { "application/json": { "schema": reference("BatchRequest") } }
        },
        "responses": responses,
    })
}
