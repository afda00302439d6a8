//! The routes of scripts.

use crate::glossary::{Language, Text};
use serde_json::{Value, json};

use super::schemas::object;
use super::system::{json_body, of_kind, with_problems};
use crate::routes::Method;

type Described = (&'static str, String, Value);

/// What can go wrong with any of them.
const PROBLEMS: [(&str, &[&str]); 5] = [
    ("400", &["INVALID"]),
    ("403", &["SCRIPT_FORBIDDEN"]),
    ("404", &["SCRIPT_NOT_FOUND"]),
    ("503", &["UNAVAILABLE"]),
    ("504", &["UNKNOWN"]),
];

/// The path, method and description of each.
pub fn operations(language: Language) -> Vec<Described> {
    let named =
        || Some(json!({ "name": "script", "in": "path", "required": true, "schema": { "type": "string" } }));
    let list = |item: Value| json!({ "type": "array", "items": item });
    let of = |name: &str, schema: Value| object([(name.to_owned(), schema)].into_iter().collect(), &[name]);
    let one = Text::new(
        "All versions of a script, the latest first. With a version, as in 'name@2', that one alone, with its text.",
        "脚本的所有版本，最新的在前。若写明版本（如 'name@2'），则只返回该版本及其文本。",
    );
    let route = |path, method: Method, id, parameter, request, summary: Text, answer| {
        let operation = operation(id, method, parameter, request, summary, &answer, language);
        (path, method.word().to_ascii_lowercase(), operation)
    };
    vec![
        route(
            "/v1/scripts",
            Method::Get,
            "scripts",
            None,
            None,
            Text::new("The scripts that are registered.", "已注册的脚本。"),
            of("scripts", list(version(false))),
        ),
        route(
            "/v1/scripts/{script}",
            Method::Get,
            "script",
            named(),
            None,
            one,
            json!({ "oneOf": [of("versions", list(version(false))), version(true)] }),
        ),
        route(
            "/v1/scripts/{script}",
            Method::Post,
            "script_register",
            named(),
            Some(registration()),
            Text::new("Registers a script, as its next version.", "注册脚本，作为其下一个版本。"),
            version(false),
        ),
        route(
            "/v1/scripts/{script}",
            Method::Delete,
            "script_remove",
            named(),
            None,
            Text::new("Removes a script with all of its versions.", "删除脚本及其所有版本。"),
            of("removed", json!({ "type": "string" })),
        ),
        route(
            "/v1/scripts/{script}/run",
            Method::Post,
            "script_run",
            named(),
            Some(call()),
            Text::new(
                "Runs a script inside Redis, where its first key is.",
                "在 Redis 中第一个键所在的节点上运行脚本。",
            ),
            of("answer", json!({})),
        ),
    ]
}

fn version(has_text: bool) -> Value {
    let text = || json!({ "type": "string" });
    let mut fields = vec![
        ("name", text()),
        ("version", json!({ "type": "integer", "minimum": 1 })),
        ("read_only", json!({ "type": "boolean" })),
        ("digest", json!({ "type": "string", "pattern": "^[0-9a-f]{40}$" })),
    ];
    if has_text {
        fields.push(("body", text()));
    }
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    object(fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect(), &names)
}

fn registration() -> Value {
    json!({
        "type": "object",
        "properties": {
            "body": { "type": "string" },
            "read_only": { "type": ["boolean", "null"], "default": false },
        },
        "required": ["body"],
        "additionalProperties": false,
    })
}

fn call() -> Value {
    let texts = json!({ "type": ["array", "null"], "items": { "type": ["string", "integer"] } });
    json!({
        "type": "object",
        "properties": { "keys": texts, "arguments": texts },
        "additionalProperties": false,
    })
}

fn operation(
    id: &str,
    method: Method,
    parameter: Option<Value>,
    request: Option<Value>,
    summary: Text,
    answer: &Value,
    language: Language,
) -> Value {
    let language_header = json!({ "$ref": "#/components/parameters/AcceptLanguage" });
    let parameters: Vec<Value> = parameter.into_iter().chain([language_header]).collect();
    let of_runs: [(&str, &[&str]); 3] =
        [("409", &["SCRIPTS_FULL"]), ("422", &["SCRIPT_FAILED"]), ("504", &["SCRIPT_UNKNOWN"])];
    let of_runs = of_runs.into_iter().filter(|_| method.has_body());
    let problems: Vec<_> = PROBLEMS.into_iter().chain(of_runs).collect();
    let mut operation = json!({
        "operationId": id,
        "tags": ["scripts"],
        "summary": summary.get(language),
        "parameters": parameters,
        "responses": with_problems(json_body(summary, answer, language), of_kind(method, &problems, language)),
    });
    if let Some(schema) = request {
        operation["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    operation
}
