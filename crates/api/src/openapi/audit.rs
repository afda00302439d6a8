//! The route of the audit log.

use serde_json::{Value, json};

use super::operations::query;
use super::system::{json_body, of_kind, with_problems};
use crate::glossary::{Language, Text};
use crate::routes::Method;

/// The path, method and description.
pub fn operations(language: Language) -> Vec<(&'static str, String, Value)> {
    vec![("/v1/audit", "get".to_owned(), audit(language))]
}

fn integer() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_u64 })
}

/// A record, as it is also sent to Kafka.
pub(crate) fn record() -> Value {
    let text = || json!({ "type": "string" });
    json!({
        "type": "object",
        "properties": {
            "at_ms": integer(),
            "kind": { "type": "string", "enum": ["act", "denial", "gap"] },
            "who": { "type": "string", "enum": ["key", "password", "anyone", "nobody", "user", "server"] },
            "key": text(),
            "name": text(),
            "address": text(),
            "port": { "type": "string", "enum": ["resp", "http", "command-line", "server"] },
            "what": text(),
            "resources": { "type": "array", "items": text() },
            "operation": text(),
            "outcome": text(),
            "detail": text(),
            "partition": integer(),
            "sequence": integer(),
            "left_out": integer(),
        },
        "required": ["at_ms", "kind", "who", "port", "what", "outcome"],
        "additionalProperties": false,
    })
}

fn audit(language: Language) -> Value {
    let page = json!({
        "type": "object",
        "properties": {
            "records": { "type": "array", "items": record() },
            "has_more": { "type": "boolean" },
            "is_cut": { "type": "boolean" },
            "cursor": { "type": "string" },
        },
        "required": ["records", "has_more", "is_cut", "cursor"],
        "additionalProperties": false,
    });
    let description = Text::new(
        "The records of this process, the oldest first. Ask again with the cursor for what was recorded since; is_cut says that \
         records behind the cursor have been removed.",
        "本进程的审计记录，从最早的开始。带上 cursor 再次请求即可取得其后的记录；is_cut 表示游标之后的部分记录已被清除。",
    );
    let limit = json!({ "$ref": "#/components/parameters/Limit" });
    let language_parameter = json!({ "$ref": "#/components/parameters/AcceptLanguage" });
    let parameters: Vec<Value> = filters(language).into_iter().chain([limit, language_parameter]).collect();
    json!({
        "operationId": "audit",
        "tags": ["system"],
        "summary": Text::new(
            "Who administered what, and who was turned away.",
            "谁做了哪些管理操作，谁被拒绝。",
        ).get(language),
        "description": description.get(language),
        "parameters": parameters,
        "responses": with_problems(
            json_body(Text::new("A page of records.", "一页记录。"), &page, language),
            of_kind(Method::Get, &[("400", &["INVALID"]), ("503", &["UNAVAILABLE"])], language),
        ),
    })
}

/// By what records are selected.
fn filters(language: Language) -> Vec<Value> {
    let text = || json!({ "type": "string" });
    [
        (
            "cursor",
            json!({ "type": "string", "pattern": "^[0-9]+-[0-9]+$" }),
            Text::new("Behind this place.", "从此处之后开始。"),
        ),
        (
            "from",
            json!({ "type": "string", "enum": ["oldest", "now"] }),
            Text::new("Where to begin without a cursor.", "没有游标时从何处开始。"),
        ),
        (
            "kind",
            json!({ "type": "string", "enum": ["act", "denial", "gap"] }),
            Text::new("Only of this kind.", "只取该种类。"),
        ),
        ("who", text(), Text::new("Only of this key, by ID or name.", "只取该密钥（ID 或名称）。")),
        ("address", text(), Text::new("Only from this address.", "只取来自该地址的。")),
        (
            "what",
            text(),
            Text::new(
                "Only of this command or route; with a * at its end, of all that begin so.",
                "只取该命令或路由；以 * 结尾时按前缀匹配。",
            ),
        ),
        ("resource", text(), Text::new("Only about this resource.", "只取该资源。")),
        ("outcome", text(), Text::new("Only with this outcome.", "只取该结果。")),
        (
            "since",
            integer(),
            Text::new("Only from this time on, in Unix milliseconds.", "只取此时刻及以后的（Unix 毫秒）。"),
        ),
        ("until", integer(), Text::new("Only before this time.", "只取此时刻之前的。")),
    ]
    .into_iter()
    .map(|(name, schema, description)| query(name, &schema, description, language))
    .collect()
}
