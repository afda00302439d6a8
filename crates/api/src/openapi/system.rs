//! The routes without a command: events, previews, health, documents.

use crate::glossary::{Language, Text};
use scarce_core::event::EVENTS;
use scarce_core::resource::ResourceKind;
use serde_json::{Value, json};

use super::batch;
use super::operations::{CURSOR_PATTERN, of_port, operation_id, problem, query};
use super::schemas::{object, reference};
use crate::routes::Method;

/// The path, method and description of each.
pub fn operations(language: Language) -> Vec<(&'static str, String, Value)> {
    let get = |path, operation| (path, "get".to_owned(), operation);
    let post = |path, operation| (path, "post".to_owned(), operation);
    vec![
        post("/v1/batch", batch::operation(language)),
        post("/v1/packet-previews", preview(language)),
        get("/v1/events", events(language)),
        get("/v1/consumers", consumers(language)),
        get("/livez", plain("livez", Text::new("Whether the process runs.", "进程是否存活。"), language)),
        get("/readyz", readiness(language)),
        get("/metrics", figures(language)),
        get("/problems/{code}", explanation(language)),
    ]
}

pub(super) fn of_kind(method: Method, more: &[(&str, &[&str])], language: Language) -> Vec<(String, Value)> {
    let mut by_status: std::collections::BTreeMap<String, Vec<&str>> = std::collections::BTreeMap::new();
    for code in of_port(method) {
        by_status.entry(code.status().to_string()).or_default().push(code.word());
    }
    for (status, words) in more {
        by_status.entry((*status).to_owned()).or_default().extend(*words);
    }
    by_status.into_iter().map(|(status, words)| (status, problem(&words, language))).collect()
}

pub(super) fn with_problems(success: Value, problems: Vec<(String, Value)>) -> Value {
    let mut responses = serde_json::Map::new();
    responses.insert("200".to_owned(), success);
    responses.extend(problems);
    Value::Object(responses)
}

pub(super) fn json_body(description: Text, schema: &Value, language: Language) -> Value {
    json!({ "description": description.get(language), "content": { "application/json": { "schema": schema } } })
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

fn consumers(language: Language) -> Value {
    let integer = || json!({ "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_u64 });
    let text_or_null = || json!({ "type": ["string", "null"] });
    let row = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string" },
            "partition": integer(),
            "epoch": integer(),
            "sequence": integer(),
            "confirmed_at": integer(),
            "lag_events": integer(),
            "holder": text_or_null(),
            "state": { "type": "string", "enum": ["starting", "running", "elsewhere", "troubled", "absent"] },
            "troubled_since": { "type": ["integer", "null"], "minimum": 0, "maximum": 9_007_199_254_740_991_u64 },
            "reason": text_or_null(),
            "diverged": {
                "type": ["object", "null"],
                "properties": { "epoch": integer(), "sequence": integer() },
                "required": ["epoch", "sequence"],
                "additionalProperties": false,
            },
        },
        "required": [
            "name", "partition", "epoch", "sequence", "confirmed_at", "lag_events", "holder", "state",
            "troubled_since", "reason", "diverged",
        ],
        "additionalProperties": false,
    });
    let answer = json!({
        "type": "object",
        "properties": { "consumers": { "type": "array", "items": row } },
        "required": ["consumers"],
        "additionalProperties": false,
    });
    let description = Text::new(
        "Who consumes the log: the projection into SQL, the outflow to Kafka, consumers of other processes. The log \
         is kept for the slowest of them; `reason` says why one does not go on, `diverged` which position of another \
         history of the log it holds.",
        "日志的消费者：SQL 投影、Kafka 输出以及其他进程的消费者。日志按其中最慢者保留；`reason` 说明某个消费者为何停滞，\
         `diverged` 是它所持有的、属于另一段日志历史的位置。",
    );
    json!({
        "operationId": "consumers",
        "tags": ["events"],
        "summary": Text::new("Who consumes the log, and how far each is.", "日志消费者及其进度。").get(language),
        "description": description.get(language),
        "parameters": [{ "$ref": "#/components/parameters/AcceptLanguage" }],
        "responses": with_problems(
            json_body(Text::new("The consumers.", "消费者。"), &answer, language),
            of_kind(Method::Get, &[("400", &["INVALID"])], language),
        ),
    })
}

fn events(language: Language) -> Value {
    let description = Text::new(
        "The log as server-sent events, from the cursor on and then as it grows. The id of each is the cursor \
         behind it, so that a browser's EventSource goes on by itself; Last-Event-ID and cursor mean the same. A \
         stream that cannot go on ends with an event named problem. With Accept: application/json one page is \
         answered instead.",
        "以 SSE 推送日志事件：先从游标处补齐，再随日志增长推送。每条消息的 id 即其后的游标，EventSource 断线后自动续传；\
         Last-Event-ID 与 cursor 含义相同。无法继续时以名为 problem 的事件结束。Accept: application/json 时返回一页。",
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
    let from = json!({
        "name": "from", "in": "query", "schema": { "type": "string", "enum": ["oldest", "now"] },
        "description": Text::new(
            "Where to begin without a cursor: at the oldest event that the log still has, or behind the last one.",
            "没有游标时从何处开始：日志中现存最早的事件，或最后一条事件之后。",
        ).get(language),
    });
    let last = json!({
        "name": "Last-Event-ID", "in": "header", "schema": { "type": "string", "pattern": CURSOR_PATTERN },
        "description": Text::new("The id of the last event that was seen.", "最后收到的事件 id。").get(language),
    });
    let shared = ["AcceptLanguage", "Cursor", "Limit"]
        .map(|name| json!({ "$ref": format!("#/components/parameters/{name}") }));
    let chosen = [partition, from, last].into_iter().chain(filters(language));
    let parameters: Vec<Value> = chosen.chain(shared).collect();
    json!({
        "operationId": "events",
        "tags": ["events"],
        "summary": Text::new("Reads the log, and follows it.", "读取并跟随事件日志。").get(language),
        "description": description.get(language),
        "parameters": parameters,
        "responses": with_problems(
            success,
            of_kind(
                Method::Get,
                &[("400", &["INVALID"]), ("410", &["CURSOR_TRIMMED"]), ("503", &["UNAVAILABLE"])],
                language,
            ),
        ),
    })
}

/// By what the events of a log are selected.
fn filters(language: Language) -> [Value; 3] {
    let kinds: Vec<&str> = ResourceKind::ALL.iter().map(|kind| kind.word()).collect();
    let names: Vec<&str> = EVENTS.iter().map(|spec| spec.name).collect();
    [
        ("kind", json!({ "type": "string", "enum": kinds }), Text::new("Only of this kind.", "只取该种类。")),
        ("resource", reference("Id"), Text::new("Only of this resource.", "只取该资源。")),
        ("name", json!({ "type": "string", "enum": names }), Text::new("Only of this name.", "只取该名称。")),
    ]
    .map(|(name, schema, description)| query(name, &schema, description, language))
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

fn figures(language: Language) -> Value {
    let summary = Text::new("Figures for Prometheus.", "Prometheus 指标。");
    let mut operation = plain("metrics", summary, language);
    let schema = json!({ "schema": { "type": "string" } });
    operation["responses"]["200"]["content"] = json!({ "application/openmetrics-text": schema });
    operation
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
