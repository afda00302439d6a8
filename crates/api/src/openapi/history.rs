//! The routes of histories, generated from their table.

use crate::glossary::{Language, Text, term};
use serde_json::{Map, Value, json};

use super::operations::{operation_id, query};
use super::schemas::{object, reference};
use super::system::{json_body, of_kind, with_problems};
use crate::history::{Column, HISTORIES, History, Kind};
use crate::routes::Method;

/// The path, method and description of each.
pub fn operations(language: Language) -> impl Iterator<Item = (&'static str, String, Value)> {
    HISTORIES.iter().map(move |history| (history.path, "get".to_owned(), operation(history, language)))
}

fn operation(history: &History, language: Language) -> Value {
    let lead = Text::new(
        "Read from the tables that the log is projected into (`--sql`), which may be a moment behind; `UNAVAILABLE` \
         where there are none or the database does not answer.",
        "从日志投影出的 SQL 表（`--sql`）读取，可能略有延迟；未配置投影或数据库不可用时返回 `UNAVAILABLE`。",
    );
    json!({
        "operationId": operation_id(&format!("history_{}", history.name.replace('-', "_"))),
        "tags": ["history"],
        "summary": history.summary.get(language),
        "description": lead.get(language),
        "parameters": parameters(history, language),
        "responses": with_problems(
            json_body(history.summary, &answer(history), language),
            of_kind(Method::Get, &[("400", &["INVALID"]), ("503", &["UNAVAILABLE"])], language),
        ),
    })
}

fn parameters(history: &History, language: Language) -> Vec<Value> {
    let required = history.required().map(|name| {
        json!({
            "name": name, "in": "path", "required": true, "schema": schema(name),
            "description": described(name, language),
        })
    });
    let filters = history.filters.iter().map(|name| {
        json!({ "name": name, "in": "query", "schema": schema(name), "description": described(name, language) })
    });
    let sort = query(
        "sort",
        &json!({ "type": "string", "enum": ["newest_first", "oldest_first"], "default": "newest_first" }),
        Text::new(
            "Which end comes first; the same for all pages of a list.",
            "排列方向；同一列表的各页须一致。",
        ),
        language,
    );
    let shared = ["Cursor", "Limit", "AcceptLanguage"]
        .map(|name| json!({ "$ref": format!("#/components/parameters/{name}") }));
    required.chain(filters).chain([sort]).chain(shared).collect()
}

fn described(name: &str, language: Language) -> &'static str {
    match name {
        "from_ms" => {
            Text::new("From this time on, in Unix milliseconds.", "起始时刻（Unix 毫秒，含）。").get(language)
        }
        "to_ms" => Text::new("Before this time, in Unix milliseconds.", "结束时刻（Unix 毫秒，不含）。")
            .get(language),
        _ => term(name).map_or("", |term| term.meaning.get(language)),
    }
}

fn schema(name: &str) -> Value {
    match name {
        "serial" | "from_ms" | "to_ms" => natural(),
        "operation" => reference("OperationId"),
        _ => reference("Id"),
    }
}

fn natural() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_u64 })
}

fn answer(history: &History) -> Value {
    let member = |column: &Column| {
        let schema = match column.kind {
            Kind::Integer => json!({ "type": "integer" }),
            Kind::OptionalInteger => json!({ "type": ["integer", "null"] }),
            Kind::Text => json!({ "type": "string" }),
            Kind::OptionalText => json!({ "type": ["string", "null"] }),
            Kind::Json => json!({}),
        };
        (column.name.to_owned(), schema)
    };
    let names: Vec<&str> = history.columns.iter().map(|column| column.name).collect();
    let row = object(history.columns.iter().map(member).collect(), &names);
    let members: Map<String, Value> = Map::from_iter([
        ("rows".to_owned(), json!({ "type": "array", "items": row })),
        ("has_more".to_owned(), json!({ "type": "boolean" })),
        ("cursor".to_owned(), json!({ "type": ["string", "null"] })),
    ]);
    object(members, &["rows", "has_more", "cursor"])
}
