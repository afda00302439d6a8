//! The routes of reconciliations.

use crate::glossary::{Language, Text};
use serde_json::{Value, json};

use super::schemas::object;
use super::system::{json_body, of_kind, with_problems};
use crate::routes::Method;

/// The path, method and description of each.
pub fn operations(language: Language) -> Vec<(&'static str, String, Value)> {
    let list = json!({ "type": "array", "items": row(false) });
    let all = object([("reconciliations".to_owned(), list)].into_iter().collect(), &["reconciliations"]);
    let listed = Text::new("The last reconciliations, the latest first.", "最近的对账，最新的在前。");
    let one = Text::new("A reconciliation with its report.", "一次对账及其报告。");
    let asked = Text::new("Asks for a reconciliation.", "请求一次对账。");
    let get =
        |id: &str, parameters: Vec<Value>, summary: Text, answer: &Value, problems: &[(&str, &[&str])]| {
            json!({
                "operationId": id,
                "tags": ["system"],
                "summary": summary.get(language),
                "parameters": parameters,
                "responses": with_problems(
                    json_body(summary, answer, language),
                    of_kind(Method::Get, problems, language),
                ),
            })
        };
    let speech = || json!({ "$ref": "#/components/parameters/AcceptLanguage" });
    let id = json!({ "name": "id", "in": "path", "required": true, "schema": integer() });
    vec![
        (
            "/v1/reconciliations",
            "get".to_owned(),
            get("reconciliations", vec![speech()], listed, &all, &[("400", &["INVALID"])]),
        ),
        ("/v1/reconciliations", "post".to_owned(), request(asked, language)),
        (
            "/v1/reconciliations/{id}",
            "get".to_owned(),
            get(
                "reconciliation",
                vec![id, speech()],
                one,
                &row(true),
                &[("400", &["INVALID"]), ("404", &["NOT_FOUND"])],
            ),
        ),
    ]
}

fn request(summary: Text, language: Language) -> Value {
    let description = Text::new(
        "Log, engine, tables and credits are compared beside the load. One runs at a time: while one waits or runs, that \
         one is answered, with 200.",
        "在正常负载之外比较日志、引擎、表与入账。同一时刻只运行一次：已有一次在等待或运行时，返回该次，状态为 200。",
    );
    let running = Text::new("The one that waits or runs already.", "已在等待或运行的对账。");
    let begun = Text::new("The new one.", "新的对账。");
    let problems = [("400", &["INVALID"][..]), ("503", &["UNAVAILABLE"][..])];
    let mut responses =
        with_problems(json_body(running, &row(false), language), of_kind(Method::Post, &problems, language));
    responses["202"] = json_body(begun, &row(false), language);
    let nothing = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    json!({
        "operationId": "reconciliation_request",
        "tags": ["system"],
        "summary": summary.get(language),
        "description": description.get(language),
        "parameters": [{ "$ref": "#/components/parameters/AcceptLanguage" }],
        "requestBody": { "required": true, "content": { "application/json": { "schema": nothing } } },
        "responses": responses,
    })
}

fn integer() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_u64 })
}

fn or_null(mut schema: Value) -> Value {
    schema["type"] = json!([schema["type"], "null"]);
    schema
}

fn of(fields: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    object(fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect(), &names)
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn row(has_report: bool) -> Value {
    let states = ["waiting", "running", "equal", "different", "failed"];
    let progress = of(&[("doing", text()), ("partition", integer()), ("done", integer())]);
    let mut fields = vec![
        ("id", integer()),
        ("state", json!({ "type": "string", "enum": states })),
        ("cause", json!({ "type": "string", "enum": ["interval", "request"] })),
        ("started_at", or_null(integer())),
        ("ended_at", or_null(integer())),
        ("progress", or_null(progress)),
        ("differences", or_null(integer())),
        ("reason", or_null(text())),
    ];
    if has_report {
        fields.push(("report", or_null(report())));
    }
    of(&fields)
}

fn report() -> Value {
    let list = |items: Value| json!({ "type": "array", "items": items });
    let partition = of(&[
        ("partition", integer()),
        ("begins_after", integer()),
        ("log_sequence", integer()),
        ("tables_sequence", or_null(integer())),
        ("topic_sequence", or_null(integer())),
    ]);
    let check = of(&[
        ("check", text()),
        ("state", json!({ "type": "string", "enum": ["equal", "different", "skipped"] })),
        ("compared", integer()),
        ("differences", integer()),
        ("notes", list(text())),
    ]);
    let place = of(&[("partition", integer()), ("sequence", integer()), ("event", or_null(text()))]);
    let finding = of(&[
        ("check", text()),
        ("partition", or_null(integer())),
        ("resource", or_null(text())),
        ("field", text()),
        ("expected", or_null(text())),
        ("found", or_null(text())),
        ("first_event", or_null(place)),
    ]);
    let mut report = of(&[
        ("deployment_id", text()),
        ("differences", integer()),
        ("partitions", list(partition)),
        ("checks", list(check)),
        ("findings", list(finding)),
    ]);
    // There where rows of the tables are to be put right.
    report["properties"]["repair"] = of(&[
        ("done", json!({ "type": "boolean" })),
        ("added", integer()),
        ("changed", integer()),
        ("removed", integer()),
        ("left", integer()),
        ("refused", or_null(text())),
    ]);
    report
}
