//! The routes that stand for no single command: batches, events, previews, health, documents.

use scarce_glossary::{Language, Text};
use serde_json::{Value, json};

use super::operations::{add_operation_headers, of_port, operation_id, problem, query};
use super::schemas::{nullable, object, reference, type_name};
use crate::routes::Method;
use scarce_core::command::{COMMANDS, CommandSpec, Effect};

/// The most operations of one batch.
pub const BATCH_OPERATIONS_MAX: usize = 1_000;

/// Path, method and description of each.
pub fn operations(language: Language) -> Vec<(&'static str, String, Value)> {
    let get = |path, operation| (path, "get".to_owned(), operation);
    let post = |path, operation| (path, "post".to_owned(), operation);
    vec![
        post("/v1/batch", batch(language)),
        post("/v1/packet-previews", preview(language)),
        get("/v1/events", events(language)),
        get("/livez", plain("livez", Text::new("Whether the process runs.", "进程是否存活。"), language)),
        get("/readyz", readiness(language)),
        get(
            "/metrics",
            plain("metrics", Text::new("Figures for Prometheus.", "Prometheus 指标。"), language),
        ),
        get("/problems/{code}", explanation(language)),
    ]
}

fn of_kind(method: Method, more: &[(&str, &[&str])], language: Language) -> Vec<(String, Value)> {
    let mut by_status: std::collections::BTreeMap<String, Vec<&str>> = std::collections::BTreeMap::new();
    for code in of_port(method) {
        by_status.entry(code.status().to_string()).or_default().push(code.word());
    }
    for (status, words) in more {
        by_status.entry((*status).to_owned()).or_default().extend(*words);
    }
    by_status.into_iter().map(|(status, words)| (status, problem(&words, language))).collect()
}

fn with_problems(success: Value, problems: Vec<(String, Value)>) -> Value {
    let mut responses = serde_json::Map::new();
    responses.insert("200".to_owned(), success);
    responses.extend(problems);
    Value::Object(responses)
}

fn json_body(description: Text, schema: &Value, language: Language) -> Value {
    json!({ "description": description.get(language), "content": { "application/json": { "schema": schema } } })
}

/// One of the commands with its arguments, and with an id and a deadline where it changes something.
fn batch_request() -> Value {
    let is_line = |spec: &&&CommandSpec| spec.name != "DIGEST" && spec.name != "OPERATION.RESOLVE";
    let operation = |spec: &&CommandSpec| {
        let mut fields = serde_json::Map::new();
        fields.insert("command".to_owned(), json!({ "type": "string", "const": spec.name }));
        fields.insert("arguments".to_owned(), reference(&format!("{}Arguments", type_name(spec.name))));
        if spec.effect == Effect::Write {
            fields.insert("id".to_owned(), nullable(reference("OperationId")));
            let natural = json!({ "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_u64 });
            fields.insert("deadline".to_owned(), nullable(natural));
        }
        object(fields, &["command", "arguments"])
    };
    let lines = COMMANDS.iter().filter(is_line).map(operation).collect::<Vec<_>>();
    let is_write = |spec: &&&CommandSpec| is_line(spec) && spec.effect == Effect::Write;
    let writes: Vec<_> = COMMANDS.iter().filter(is_write).map(|spec| spec.name).collect();
    let of_the_whole = json!({ "type": "null" });
    let part = json!({
        "properties": { "command": { "enum": writes }, "id": of_the_whole, "deadline": of_the_whole }
    });
    json!({
        "type": "object",
        "properties": {
            "atomic": { "type": ["boolean", "null"], "default": false },
            "operations": {
                "type": "array", "minItems": 1, "maxItems": BATCH_OPERATIONS_MAX, "items": { "oneOf": lines }
            },
        },
        "required": ["operations"],
        "additionalProperties": false,
        // An atomic batch has one id and one deadline, in its headers, and nothing in it only reads.
        "if": { "properties": { "atomic": { "const": true } }, "required": ["atomic"] },
        "then": { "properties": { "operations": { "items": part } } },
    })
}

fn batch_answer() -> Value {
    let result = json!({
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
    });
    json!({
        "type": "object",
        "properties": {
            "results": { "type": "array", "items": result },
            "receipt": reference("Receipt"),
            "dry_run": { "type": "boolean", "const": true },
        },
        "required": ["results"],
        "additionalProperties": false,
    })
}

fn batch(language: Language) -> Value {
    let (request, answer) = (batch_request(), batch_answer());
    let codes: &[(&str, &[&str])] = &[
        ("400", &["INVALID"]),
        ("409", &["BATCH_REFUSED", "CROSS_PARTITION", "ID_EXPIRED", "DEADLINE_PASSED", "RESOLVED_ABSENT"]),
        ("422", &["ID_REUSED"]),
        ("503", &["OVERLOADED", "UNAVAILABLE"]),
        ("504", &["UNKNOWN"]),
    ];
    let description = Text::new(
        "Many operations in one request, each with an id and an outcome of its own; or, with atomic, all or none \
         under the one Idempotency-Key, later lines seeing the effects of earlier ones. Results stand in the order \
         of the operations.",
        "一次请求提交多个操作，各有自己的 ID 与结果；atomic 为 true 时在同一 Idempotency-Key 下全部执行或全部不执行，\
         后面的行能看到前面行的效果。结果与操作顺序一致。",
    );
    let parameters = ["AcceptLanguage", "DryRun", "IdempotencyKey", "Deadline"]
        .map(|name| json!({ "$ref": format!("#/components/parameters/{name}") }));
    let mut responses = with_problems(
        json_body(Text::new("What came of each.", "各操作的结果。"), &answer, language),
        of_kind(Method::Post, codes, language),
    );
    // An atomic batch is one operation.
    for status in ["200", "400", "409", "422", "503", "504"] {
        add_operation_headers(&mut responses[status]);
    }
    json!({
        "operationId": "batch",
        "tags": ["batch"],
        "summary": Text::new("Sends many operations at once.", "批量提交操作。").get(language),
        "description": description.get(language),
        "parameters": parameters,
        "requestBody": { "required": true, "content": { "application/json": { "schema": request } } },
        "responses": responses,
    })
}

fn preview(language: Language) -> Value {
    let request = json!({
        "type": "object",
        "properties": {
            "plan": reference("Plan"),
            "seed": { "type": ["string", "null"], "pattern": "^[0-9a-f]{64}$" },
            "amounts": { "type": ["boolean", "null"], "default": false },
        },
        "required": ["plan"],
        "additionalProperties": false,
    });
    let answer = preview_answer();
    let description = Text::new(
        "Cuts packets as a campaign would, with a random seed or the one given, and shows how they are spread. No \
         campaign is created, and none is ever cut by such a seed.",
        "按活动方案试拆红包（随机种子或指定种子），并给出分布。不会创建活动，任何活动也不会使用这样的种子。",
    );
    json!({
        "operationId": "packet_preview",
        "tags": ["packet"],
        "summary": Text::new("Shows how a plan would be cut.", "预览红包拆分。").get(language),
        "description": description.get(language),
        "parameters": [{ "$ref": "#/components/parameters/AcceptLanguage" }],
        "requestBody": { "required": true, "content": { "application/json": { "schema": request } } },
        "responses": with_problems(
            json_body(Text::new("The cut.", "拆分结果。"), &answer, language),
            of_kind(Method::Post, &[("400", &["INVALID"])], language),
        ),
    })
}

fn preview_answer() -> Value {
    let integer = || json!({ "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_u64 });
    let number = || json!({ "type": "number" });
    let hexadecimal = || json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" });
    let of = |fields: &[(&str, Value)]| {
        let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
        object(fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect(), &names)
    };
    let bucket = of(&[("from", integer()), ("through", integer()), ("count", integer())]);
    let position =
        of(&[("from", integer()), ("through", integer()), ("mean", number()), ("standard_error", number())]);
    let figures = of(&[
        ("min", integer()),
        ("max", integer()),
        ("mean", number()),
        ("median", number()),
        ("standard_deviation", number()),
        ("gini", number()),
        ("largest_share", number()),
    ]);
    let mut answer = of(&[
        ("total", integer()),
        ("count", integer()),
        ("method", json!({ "type": "string", "enum": crate::arguments::METHODS })),
        ("min", integer()),
        ("max", json!({ "type": ["integer", "null"] })),
        ("seed", hexadecimal()),
        ("commitment", hexadecimal()),
        ("figures", figures),
        ("histogram", json!({ "type": "array", "items": bucket })),
        ("positions", json!({ "type": "array", "items": position })),
    ]);
    answer["properties"]["amounts"] = json!({ "type": "array", "items": integer() });
    answer
}

fn events(language: Language) -> Value {
    let description = Text::new(
        "The log as server-sent events, from the cursor on and then as it grows. The id of each is the cursor \
         behind it, so that a browser's EventSource goes on by itself; Last-Event-ID and cursor mean the same. \
         With Accept: application/json one page is answered instead.",
        "以 SSE 推送日志事件：先从游标处补齐，再随日志增长推送。每条消息的 id 即其后的游标，EventSource 断线后自动续传；\
         Last-Event-ID 与 cursor 含义相同。Accept: application/json 时返回一页。",
    );
    let page = json!({
        "type": "object",
        "properties": {
            "events": { "type": "array", "items": reference("Event") },
            "has_more": { "type": "boolean" },
            "cursor": { "type": "string" },
        },
        "required": ["events", "has_more", "cursor"],
        "additionalProperties": false,
    });
    let success = json!({
        "description": Text::new("Events.", "事件。").get(language),
        "content": {
            "application/json": { "schema": page },
            "text/event-stream": { "schema": { "type": "string" } },
        },
    });
    let partition = query(
        "partition",
        &json!({ "type": "integer", "minimum": 0, "maximum": 1023 }),
        Text::new("Only this partition.", "只取该分区。"),
        language,
    );
    let last = json!({
        "name": "Last-Event-ID", "in": "header", "schema": { "type": "string" },
        "description": Text::new("The id of the last event that was seen.", "最后收到的事件 id。").get(language),
    });
    let shared = ["AcceptLanguage", "Cursor", "Limit"]
        .map(|name| json!({ "$ref": format!("#/components/parameters/{name}") }));
    let parameters: Vec<Value> = [partition, last].into_iter().chain(shared).collect();
    json!({
        "operationId": "events",
        "tags": ["events"],
        "summary": Text::new("Reads the log, and follows it.", "读取并跟随事件日志。").get(language),
        "description": description.get(language),
        "parameters": parameters,
        "responses": with_problems(
            success,
            of_kind(Method::Get, &[("400", &["INVALID"]), ("503", &["UNAVAILABLE"])], language),
        ),
    })
}

fn plain(name: &str, summary: Text, language: Language) -> Value {
    let success = json!({
        "description": summary.get(language),
        "content": { "text/plain": { "schema": { "type": "string" } } },
    });
    json!({
        "operationId": operation_id(name),
        "tags": ["system"],
        "summary": summary.get(language),
        "responses": with_problems(success, of_kind(Method::Get, &[], language)),
    })
}

fn readiness(language: Language) -> Value {
    let summary = Text::new("Whether commands are taken.", "是否可以接受命令。");
    let success = json!({
        "description": summary.get(language),
        "content": { "text/plain": { "schema": { "type": "string" } } },
    });
    let verbose = query(
        "verbose",
        &json!({ "type": "string" }),
        Text::new("There: each check on a line.", "存在时逐行列出各项检查。"),
        language,
    );
    let mut responses =
        with_problems(success.clone(), of_kind(Method::Get, &[("400", &["INVALID"])], language));
    if let Value::Object(responses) = &mut responses {
        responses.insert("503".to_owned(), success);
    }
    json!({
        "operationId": "readyz",
        "tags": ["system"],
        "summary": summary.get(language),
        "parameters": [verbose],
        "responses": responses,
    })
}

fn explanation(language: Language) -> Value {
    let summary = Text::new("What a problem's code means.", "问题码的含义。");
    let answer = json!({
        "type": "object",
        "properties": {
            "code": { "type": "string" },
            "status": { "type": "integer" },
            "retryable": { "type": "boolean" },
            "cause": { "type": "string" },
            "advice": { "type": "string" },
            "facts": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["code", "status", "retryable", "cause", "advice", "facts"],
        "additionalProperties": false,
    });
    let code = json!({
        "name": "code", "in": "path", "required": true,
        "schema": { "type": "string", "enum": super::schemas::words() },
    });
    json!({
        "operationId": "problem",
        "tags": ["system"],
        "summary": summary.get(language),
        "parameters": [code, { "$ref": "#/components/parameters/AcceptLanguage" }],
        "responses": with_problems(
            json_body(summary, &answer, language),
            of_kind(Method::Get, &[("404", &["NOT_FOUND"])], language),
        ),
    })
}
