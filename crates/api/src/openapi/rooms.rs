//! The routes of waiting rooms.

use serde_json::{Value, json};

use super::schemas::reference;
use super::system::{json_body, of_kind};
use crate::glossary::{Language, Text};
use crate::routes::Method;

/// The path, method and description of each.
pub fn operations(language: Language) -> Vec<(&'static str, String, Value)> {
    vec![
        ("/v1/waiting-rooms/{room}/tickets", "post".to_owned(), join(language)),
        ("/v1/waiting-rooms/{room}/tickets/{ticket}", "get".to_owned(), place(language)),
    ]
}

fn ticket() -> Value {
    let integer = || json!({ "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_u64 });
    json!({
        "type": "object",
        "properties": {
            "ticket": { "type": "string" },
            "room": { "type": "string" },
            "user": reference("Id"),
            "place": integer(),
            "wait_ms": integer(),
            "is_admitted": { "type": "boolean" },
            "expires_ms": integer(),
        },
        "required": ["ticket", "room", "user", "place", "wait_ms", "is_admitted", "expires_ms"],
        "additionalProperties": false,
    })
}

fn in_path(name: &str) -> Value {
    json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } })
}

fn responses(status: &str, method: Method, language: Language) -> Value {
    let answer = json_body(Text::new("The ticket and its place.", "号牌及其位置。"), &ticket(), language);
    let problems = of_kind(method, &[("400", &["INVALID"]), ("404", &["NOT_FOUND"])], language);
    let all = std::iter::once((status.to_owned(), answer)).chain(problems);
    Value::Object(all.collect())
}

fn join(language: Language) -> Value {
    let request = json!({
        "type": "object",
        "properties": { "user": reference("Id") },
        "required": ["user"],
        "additionalProperties": false,
    });
    let description = Text::new(
        "A user that waits keeps its place, however often it asks. Show the ticket in the header Scarce-Ticket once wait_ms is over.",
        "正在等待的用户重复请求时位置不变。wait_ms 过后，在 Scarce-Ticket 头中携带号牌。",
    );
    json!({
        "operationId": "waiting_room_join",
        "tags": ["system"],
        "summary": Text::new("Takes a ticket of a waiting room.", "领取等候室的号牌。").get(language),
        "description": description.get(language),
        "parameters": [in_path("room"), { "$ref": "#/components/parameters/AcceptLanguage" }],
        "requestBody": { "required": true, "content": { "application/json": { "schema": request } } },
        "responses": responses("201", Method::Post, language),
    })
}

fn place(language: Language) -> Value {
    json!({
        "operationId": "waiting_room_ticket",
        "tags": ["system"],
        "summary": Text::new("Where a ticket stands.", "号牌的位置。").get(language),
        "parameters": [in_path("room"), in_path("ticket"), { "$ref": "#/components/parameters/AcceptLanguage" }],
        "responses": responses("200", Method::Get, language),
    })
}
