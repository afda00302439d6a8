//! One operation of the description for each route of a command.

use std::collections::BTreeMap;

use crate::glossary::{Language, Text, command_summary, term_in};
use scarce_core::command::{ArgumentSpec, CommandSpec};
use scarce_core::outcome::Code;
use serde_json::{Map, Value, json};

use super::examples::{self, Example};
use super::schemas::{described, field, reference, type_name};
use super::tag;
use crate::answer::paged;
use crate::arguments::names_of;
use crate::problem::PortCode;
use crate::routes::{Method, Route};

/// The pattern of a cursor.
pub const CURSOR_PATTERN: &str = "^[A-Za-z0-9_-]+$";

/// The answers to any command that changes state, besides its own refusals, in the order of the checks,
/// which come before the command's own.
const OF_EVERY_WRITE: &[Code] =
    &[Code::ResolvedAbsent, Code::IdReused, Code::IdExpired, Code::DeadlinePassed, Code::Overloaded];

/// The description of a route.
pub fn operation(route: &Route, spec: &'static CommandSpec, language: Language) -> Value {
    let mut operation = json!({
        "operationId": operation_id(spec.name),
        "tags": [tag(spec.group())],
        "summary": command_summary(spec.name).map_or(spec.summary, |text| text.get(language)),
        "description": described_codes(spec, language),
        "parameters": of_route(route, spec, language),
        "responses": responses(route, spec, language),
        "x-command": spec.name,
        "x-arguments": arguments(spec),
        "x-refusals": spec.refusals.iter().map(|code| code.word()).collect::<Vec<_>>(),
        "x-events": spec.events.iter().map(|event| event.name).collect::<Vec<_>>(),
    });
    if route.method.has_body()
        && let Value::Object(operation) = &mut operation
    {
        let schema = reference(&format!("{}Request", type_name(spec.name)));
        let mut json = json!({ "schema": schema });
        if let Some(values) = examples::described(&examples::of(spec), |its| Some(body_of(route, its))) {
            json["examples"] = values;
        }
        // Even an empty object: the content type must be sent, and a description can ask for it only so.
        let body = json!({ "required": true, "content": { "application/json": json } });
        operation.insert("requestBody".to_owned(), body);
    }
    operation
}

/// What of an example is in the body: what is neither in the path nor in the query.
fn body_of(route: &Route, example: &Example) -> Value {
    let mut fields = example.fields.clone();
    route.path_arguments().chain(["on"]).for_each(|name| drop(fields.remove(name)));
    fields.into()
}

/// The arguments as the RESP port takes them: the keyword in front of each, and the fields of JSON that it is given by.
fn arguments(spec: &'static CommandSpec) -> Vec<Value> {
    let argument = |its: &'static ArgumentSpec| json!({ "name": its.name, "token": its.token, "fields": names_of(spec, its), "optional": its.optional });
    spec.arguments.iter().map(argument).collect()
}

/// `ACCOUNT.OPEN` as `account_open`.
pub fn operation_id(command: &str) -> String {
    command.to_ascii_lowercase().replace('.', "_")
}

/// The refusals in the order of the checks.
fn described_codes(spec: &CommandSpec, language: Language) -> String {
    let lead = Text::new("Refusals, in the order of the checks: ", "拒绝码（按检查顺序）：").get(language);
    let codes: Vec<_> = spec.refusals.iter().map(|code| format!("`{}`", code.word())).collect();
    if codes.is_empty() { String::new() } else { format!("{lead}{}", codes.join(", ")) }
}

fn of_route(route: &Route, spec: &'static CommandSpec, language: Language) -> Value {
    let in_path: Vec<_> = route.path_arguments().collect();
    let mut parameters: Vec<Value> = Vec::new();
    for argument in spec.arguments {
        for name in names_of(spec, argument) {
            let in_query = !route.method.has_body() || *name == "on";
            if in_path.contains(name) {
                parameters.push(parameter("path", spec, argument, name, language));
            } else if in_query && !(paged(spec).is_some() && matches!(*name, "after" | "count")) {
                parameters.push(parameter("query", spec, argument, name, language));
            }
        }
    }
    let examples = examples::of(spec);
    for parameter in &mut parameters {
        let name = parameter["name"].as_str().unwrap_or_default().to_owned();
        if let Some(values) = examples::described(&examples, |its| its.fields.get(&name).cloned()) {
            parameter["examples"] = values;
        }
    }
    let mut shared = vec!["AcceptLanguage"];
    if paged(spec).is_some() {
        shared.extend(["Cursor", "Limit"]);
    }
    if route.is_write() {
        shared.push("DryRun");
        if !spec.common_options().is_empty() {
            shared.extend(["IdempotencyKey", "Deadline", "Durability"]);
        }
    }
    let ids = examples::described(&examples, |its| its.id.clone().map(Value::from));
    let shared = shared.iter().map(|name| match &ids {
        Some(ids) if *name == "IdempotencyKey" => {
            let mut own = self::parameters(language)[*name].clone();
            own["examples"] = ids.clone();
            own
        }
        _ => json!({ "$ref": format!("#/components/parameters/{name}") }),
    });
    parameters.into_iter().chain(shared).collect()
}

fn parameter(
    place: &str,
    spec: &'static CommandSpec,
    argument: &ArgumentSpec,
    name: &str,
    language: Language,
) -> Value {
    let mut schema = field(spec, argument, name, language);
    let description = schema.get("description").cloned().unwrap_or_default();
    // A text cannot be null.
    if let Value::Object(object) = &mut schema {
        object.remove("description");
        if let Some([kind, ..]) = object.get("type").and_then(Value::as_array).map(Vec::as_slice) {
            let kind = kind.clone();
            object.insert("type".to_owned(), kind);
        }
        if let Some(inner) = object.get("anyOf").and_then(|any| any.get(0)).cloned() {
            schema = inner;
        }
    }
    let optional = argument.optional || argument.kind == scarce_core::command::ArgumentKind::OptionalResource;
    json!({
        "name": name, "in": place, "required": place == "path" || !optional, "description": description, "schema": schema,
    })
}

/// The parameters shared by many routes.
pub fn parameters(language: Language) -> Value {
    let text = |en, zh| Text::new(en, zh).get(language);
    let natural = json!({ "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_u64 });
    json!({
        "IdempotencyKey": {
            "name": "Idempotency-Key", "in": "header", "schema": reference("OperationId"),
            "description": text(
                "The operation id: under it the command is applied once, however often it is sent.",
                "操作 ID（幂等键）：同一 ID 无论发送多少次只生效一次。",
            ),
        },
        "Deadline": {
            "name": "Scarce-Deadline", "in": "header", "schema": natural,
            "description": text(
                "From this time on (ms since the Unix epoch) the command is not applied any more.",
                "截止时刻（Unix 毫秒），到达后不再执行。",
            ),
        },
        "Durability": {
            "name": "Scarce-Durability", "in": "header", "schema": reference("Durability"),
            "description": text(
                "How safe the change must be before it is answered; as the deployment says if not said. A level that the \
                 engine does not have is UNAVAILABLE; one that was not reached in time is UNKNOWN, and the command may \
                 have been applied.",
                "答复之前必须达到的持久化级别；不填则按部署的设置。引擎不提供该级别时返回 UNAVAILABLE；未能及时达到时返回 \
                 UNKNOWN，此时命令可能已经执行。",
            ),
        },
        "DryRun": {
            "name": "dry_run", "in": "query", "schema": { "type": "boolean" },
            "description": text(
                "true: answers what would happen and changes nothing. The Idempotency-Key of the answer is still free.",
                "true：只返回将会发生的结果，不做任何修改；响应中的 Idempotency-Key 仍可使用。",
            ),
        },
        "Cursor": {
            "name": "cursor", "in": "query", "schema": { "type": "string", "pattern": CURSOR_PATTERN },
            "description": text("Where the list goes on, as the page before said.", "上一页返回的游标。"),
        },
        "Limit": {
            "name": "limit", "in": "query",
            "schema": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 100 },
            "description": text("How many rows a page has at most.", "每页最多行数。"),
        },
        "AcceptLanguage": {
            "name": "Accept-Language", "in": "header", "schema": { "type": "string" },
            "description": text("en or zh: the language of titles and advice.", "en 或 zh：标题与建议的语言。"),
        },
    })
}

/// The headers of answers.
pub fn headers(language: Language) -> Value {
    let text = |en, zh| Text::new(en, zh).get(language);
    json!({
        "IdempotencyKey": {
            "schema": { "type": "string" },
            "description": text("The operation id, the caller's or one made here.", "操作 ID：调用方给出的或服务器生成的。"),
        },
        "IdempotencyReplayed": {
            "schema": { "type": "string", "const": "true" },
            "description": text("There where this is the first answer again.", "重放首次结果时出现。"),
        },
        "RetryAfter": {
            "schema": { "type": "integer" },
            "description": text("After how many seconds to try again.", "建议多少秒后重试。"),
        },
    })
}

/// The answers of a route by status.
fn responses(route: &Route, spec: &CommandSpec, language: Language) -> Value {
    let mut responses = Map::new();
    let suffix = if route.is_write() { "Result" } else { "Answer" };
    let mut success = json!({
        "description": Text::new("Applied.", "已执行。").get(language),
        "content": { "application/json": { "schema": reference(&format!("{}{suffix}", type_name(spec.name))) } },
    });
    if route.is_write() {
        add_operation_headers(&mut success);
    }
    // A dry run creates nothing.
    responses.insert("200".to_owned(), success.clone());
    responses.insert(route.success_status.to_string(), success);
    for (status, words) in problems(spec, route) {
        let mut problem = problem(&words, language);
        if route.is_write() && is_of_commands(&words) {
            add_operation_headers(&mut problem);
        }
        responses.insert(status.to_string(), problem);
    }
    Value::Object(responses)
}

/// Whether one of these is an answer of commands, and not of the port alone.
pub fn is_of_commands(words: &[&str]) -> bool {
    words.iter().any(|word| Code::from_word(word).is_some())
}

/// Adds the headers with the operation id, and with whether the answer repeats the first one.
pub fn add_operation_headers(response: &mut Value) {
    let Value::Object(response) = response else { return };
    let headers = response.entry("headers").or_insert_with(|| json!({}));
    if let Value::Object(headers) = headers {
        for (name, component) in
            [("Idempotency-Key", "IdempotencyKey"), ("Idempotency-Replayed", "IdempotencyReplayed")]
        {
            let header = json!({ "$ref": format!("#/components/headers/{component}") });
            headers.insert(name.to_owned(), header);
        }
    }
}

/// The codes that a route may return, by status, in the order of the checks.
fn problems(spec: &CommandSpec, route: &Route) -> BTreeMap<u16, Vec<&'static str>> {
    let mut codes = vec![Code::Invalid];
    if route.is_write() {
        codes.extend(OF_EVERY_WRITE);
    }
    if spec.route.len() > 1 || spec.asks_about_operation() {
        codes.push(Code::CrossPartition);
    }
    codes.extend(spec.refusals);
    codes.extend([Code::Unavailable, Code::Overloaded, Code::Unknown, Code::Migrated]);
    let own = codes.iter().map(|code| (code.http_status(), code.word()));
    let port = of_port(route.method).into_iter().map(|code| (code.status(), code.word()));
    let mut by_status: BTreeMap<u16, Vec<&'static str>> = BTreeMap::new();
    for (status, word) in own.chain(port) {
        let words = by_status.entry(status).or_default();
        if !words.contains(&word) {
            words.push(word);
        }
    }
    by_status
}

/// The answers of the port itself to a method.
pub fn of_port(method: Method) -> Vec<PortCode> {
    let body: &[PortCode] = &[
        PortCode::NotAdmitted,
        PortCode::PayloadTooLarge,
        PortCode::UnsupportedMediaType,
        PortCode::RequestTimeout,
    ];
    let any = [
        PortCode::Unauthenticated,
        PortCode::Forbidden,
        PortCode::TooManyAttempts,
        PortCode::TooManyRequests,
        PortCode::CrossOrigin,
        PortCode::Misdirected,
        PortCode::HeadersTooLarge,
    ];
    any.iter().chain(body.iter().filter(|_| method.has_body())).copied().collect()
}

/// A problem with one of these codes.
pub fn problem(words: &[&str], language: Language) -> Value {
    let schema = json!({
        "allOf": [
            reference("Problem"),
            { "type": "object", "properties": { "code": { "type": "string", "enum": words } } },
        ],
    });
    let mut response = json!({
        "description": causes(words, language),
        "content": { "application/problem+json": { "schema": schema } },
    });
    let waits = [
        "OVERLOADED",
        "UNAVAILABLE",
        "TOO_MANY_ATTEMPTS",
        "TOO_MANY_REQUESTS",
        "NOT_ADMITTED",
        "REQUEST_TIMEOUT",
    ];
    if words.iter().any(|word| waits.contains(word))
        && let Value::Object(response) = &mut response
    {
        response.insert(
            "headers".to_owned(),
            json!({
                "Retry-After": { "$ref": "#/components/headers/RetryAfter" },
            }),
        );
    }
    response
}

fn causes(words: &[&str], language: Language) -> String {
    let cause = |word: &&str| {
        let own = Code::from_word(word).map(Code::cause);
        let port = || PortCode::ALL.iter().find(|code| code.word() == *word).map(|code| code.cause());
        let text = own.or_else(port).map(|text| text.get(language)).unwrap_or_default();
        format!("`{word}`: {text}")
    };
    words.iter().map(cause).collect::<Vec<_>>().join(" ")
}

/// A parameter of the query that is not an argument of a command.
pub fn query(name: &str, schema: &Value, description: Text, language: Language) -> Value {
    let described = described(json!({}), term_in("request", name), language);
    let known = described.get("description").cloned();
    json!({
        "name": name, "in": "query", "schema": schema,
        "description": known.unwrap_or_else(|| description.get(language).into()),
    })
}
