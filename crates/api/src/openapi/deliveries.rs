//! The routes of endpoints, deliveries and settlements.

use serde_json::{Value, json};

use super::operators::{Route, integer, of, of_optional, or_null, text};
use crate::glossary::{Language, Text};

/// The path, method and description of each.
pub fn operations(language: Language) -> Vec<(&'static str, String, Value)> {
    let replayed = of(&[("replayed", integer())]);
    let named = of(&[("endpoint", text())]);
    let nothing = || of_optional(&[]);
    vec![
        Route::get("/v1/webhooks", "webhooks", ENDPOINTS)
            .answers(&of(&[("endpoints", json!({ "type": "array", "items": endpoint() }))]))
            .told(language),
        Route::post("/v1/webhooks/{endpoint}/pause", "webhook_pause", PAUSE)
            .takes(nothing())
            .answers(&named)
            .refuses("404", &["NOT_FOUND"])
            .told(language),
        Route::post("/v1/webhooks/{endpoint}/resume", "webhook_resume", RESUME)
            .takes(nothing())
            .answers(&named)
            .refuses("404", &["NOT_FOUND"])
            .told(language),
        Route::post("/v1/webhooks/{endpoint}/replay", "webhook_replay", REPLAY_ENDPOINT)
            .takes(nothing())
            .answers(&replayed)
            .told(language),
        Route::get("/v1/deliveries", "deliveries", DELIVERIES)
            .asks(parameters(&[("endpoint", text()), ("state", states("delivered"))]))
            .answers(&page("deliveries", &delivery()))
            .told(language),
        Route::post("/v1/deliveries/{delivery}/replay", "delivery_replay", REPLAY)
            .takes(nothing())
            .answers(&replayed)
            .refuses("404", &["NOT_FOUND"])
            .told(language),
        Route::get("/v1/settlements", "settlements", SETTLEMENTS)
            .asks(parameters(&[("campaign", text()), ("user", text()), ("state", states("settled"))]))
            .answers(&page("settlements", &settlement()))
            .told(language),
        Route::post("/v1/settlements/{campaign}/replay", "settlement_replay", REPLAY_SETTLEMENTS)
            .takes(of_optional(&[("packet", integer())]))
            .answers(&replayed)
            .told(language),
    ]
}

const ENDPOINTS: Text = Text::new(
    "The endpoints that events are delivered to, without their secrets.",
    "接收事件的 Webhook 端点，不含密钥。",
);
const PAUSE: Text = Text::new("Has deliveries to an endpoint wait.", "暂停向端点投递，投递进入等待。");
const RESUME: Text = Text::new(
    "Goes on with deliveries to an endpoint that was paused, suspended or disabled.",
    "恢复向已暂停、已挂起或已停用的端点投递。",
);
const REPLAY_ENDPOINT: Text =
    Text::new("Has all dead letters of an endpoint tried again.", "重新投递某端点的全部死信。");
const DELIVERIES: Text = Text::new(
    "Deliveries to endpoints with what became of each, the oldest first; dead letters are those in the state dead.",
    "向端点的投递及其结果，最早的在前；状态为 dead 的即死信。",
);
const REPLAY: Text = Text::new("Makes a delivery again.", "重新投递一次。");
const SETTLEMENTS: Text = Text::new(
    "Claimed packets with what became of each, in the order of the claims; dead letters are those in the state dead.",
    "已领取红包的入账情况，按领取顺序排列；状态为 dead 的即死信。",
);
const REPLAY_SETTLEMENTS: Text = Text::new(
    "Has the dead letters of a campaign tried again, or that of one packet.",
    "重新处理某活动的全部入账死信，或其中一个红包的死信。",
);

/// What a list is asked for.
fn parameters(filters: &[(&str, Value)]) -> Vec<Value> {
    let filter =
        |(name, schema): &(&str, Value)| json!({ "name": name, "in": "query", "schema": schema.clone() });
    let cursor = json!({ "name": "cursor", "in": "query", "schema": { "type": "string", "pattern": "^[0-9]{1,18}$" } });
    let limit = json!({ "$ref": "#/components/parameters/Limit" });
    filters.iter().map(filter).chain([cursor, limit]).collect()
}

fn states(done: &str) -> Value {
    json!({ "type": "string", "enum": ["pending", done, "dead"] })
}

fn page(name: &str, row: &Value) -> Value {
    of(&[
        (name, json!({ "type": "array", "items": row })),
        ("has_more", json!({ "type": "boolean" })),
        ("cursor", or_null(text())),
    ])
}

fn endpoint() -> Value {
    let states = json!({ "type": "string", "enum": ["active", "paused", "suspended", "disabled"] });
    of(&[
        ("endpoint", text()),
        ("url", text()),
        ("events", json!({ "type": "array", "items": text() })),
        ("state", states),
        ("failures", integer()),
        ("reason", or_null(text())),
        ("failing_since_ms", or_null(integer())),
        ("suspended_at_ms", or_null(integer())),
        ("created_at_ms", integer()),
        ("updated_at_ms", integer()),
    ])
}

fn delivery() -> Value {
    of(&[
        ("delivery", integer()),
        ("endpoint", text()),
        ("message_id", text()),
        ("event", text()),
        ("body", text()),
        ("state", states("delivered")),
        ("attempts", integer()),
        ("next_at_ms", integer()),
        ("last_status", or_null(integer())),
        ("last_error", or_null(text())),
        ("created_at_ms", integer()),
        ("done_at_ms", or_null(integer())),
    ])
}

fn settlement() -> Value {
    of(&[
        ("campaign", text()),
        ("packet", integer()),
        ("user", text()),
        ("amount", integer()),
        ("asset", or_null(text())),
        ("state", states("settled")),
        ("account", or_null(text())),
        ("operation_id", text()),
        ("attempts", integer()),
        ("claimed_at_ms", integer()),
        ("next_at_ms", integer()),
        ("last_status", or_null(integer())),
        ("last_error", or_null(text())),
        ("done_at_ms", or_null(integer())),
        ("lost_at_ms", or_null(integer())),
        ("resolved_at_ms", or_null(integer())),
    ])
}
