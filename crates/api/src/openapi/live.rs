//! The routes of live channels, as far as OpenAPI can say what a stream and a WebSocket carry.

use serde_json::{Value, json};

use super::system::{of_kind, with_problems};
use crate::glossary::{Language, Text};
use crate::routes::Method;

/// What can go wrong besides what can with any route.
const PROBLEMS: [(&str, &[&str]); 2] = [("400", &["INVALID"]), ("503", &["OVERLOADED", "UNAVAILABLE"])];

/// The path, method and description of each.
pub fn operations(language: Language) -> Vec<(&'static str, String, Value)> {
    vec![("/v1/live", "get".to_owned(), live(language)), ("/ws", "get".to_owned(), socket(language))]
}

fn live(language: Language) -> Value {
    let description = Text::new(
        "A snapshot of each channel first, then each change once it is durable. Each event is a JSON object with channel, type \
         (snapshot, delta or end), epoch, sequence (first and last for a delta) and data; its id goes on after a disconnect.",
        "先给出每个频道的快照，再推送每次已持久化的变化。每条事件是一个 JSON 对象，含 channel、type（snapshot、delta 或 end）、\
         epoch、sequence（delta 为 first 与 last）和 data；断线后凭事件 id 续传。",
    );
    let channels = json!({
        "name": "channels", "in": "query", "required": true,
        "schema": { "type": "string" },
        "example": "stock.sku-1,market.BTC-USDT.depth;conflate",
        "description": Text::new(
            "Channels with commas between them, at most 100; each may have ;after=epoch.sequence and ;conflate.",
            "以逗号分隔的频道，最多 100 个；每个可带 ;after=epoch.sequence 和 ;conflate。",
        ).get(language),
    });
    let last = json!({
        "name": "Last-Event-ID", "in": "header", "schema": { "type": "string" },
        "description": Text::new("The id of the last event that was seen.", "最后收到的事件 id。").get(language),
    });
    let success = json!({
        "description": Text::new("Messages of the channels.", "频道的消息。").get(language),
        // Of one event, as tools check streams.
        "content": { "text/event-stream": { "schema": {
            "type": "object",
            "properties": {
                "id": { "type": "string" },
                "event": { "type": "string" },
                "data": { "type": "string", "contentMediaType": "application/json" },
            },
        } } },
    });
    json!({
        "operationId": "live",
        "tags": ["events"],
        "summary": Text::new("Follows live channels.", "订阅实时频道。").get(language),
        "description": description.get(language),
        "parameters": [channels, last, { "$ref": "#/components/parameters/AcceptLanguage" }],
        "responses": with_problems(success, of_kind(Method::Get, &PROBLEMS, language)),
    })
}

fn socket(language: Language) -> Value {
    let description = Text::new(
        "The handshake of a WebSocket. Send {\"method\":\"SUBSCRIBE\",\"params\":[\"stock.sku-1\"],\"id\":1}; each message is a JSON object \
         as of /v1/live. A web page shows its key as the subprotocol bearer.KEY beside scarce.",
        "WebSocket 握手。发送 {\"method\":\"SUBSCRIBE\",\"params\":[\"stock.sku-1\"],\"id\":1}；每条消息是与 /v1/live 相同的 JSON 对象。\
         网页用子协议 scarce 与 bearer.KEY 出示密钥。",
    );
    let mut responses = with_problems(Value::Null, of_kind(Method::Get, &PROBLEMS, language));
    if let Value::Object(responses) = &mut responses {
        responses.remove("200");
        let switched = Text::new("The connection is a WebSocket from here on.", "此后连接为 WebSocket。");
        responses.insert("101".to_owned(), json!({ "description": switched.get(language) }));
    }
    json!({
        "operationId": "ws",
        "tags": ["events"],
        "summary": Text::new("Follows live channels over a WebSocket.", "通过 WebSocket 订阅实时频道。").get(language),
        "description": description.get(language),
        "parameters": [{ "$ref": "#/components/parameters/AcceptLanguage" }],
        "responses": responses,
    })
}
