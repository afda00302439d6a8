//! Bodies over HTTP, and messages from Kafka, which are JSON of the same shape.

use scarce_api::operation::{self, Message};
use scarce_api::{Fields, arguments, routes, strict};
use serde_json::{Value, json};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "body",
    about: "bodies over HTTP and messages from Kafka: JSON, operations, the fields of every route",
    examples,
    check,
    weight: 300,
};

fn examples() -> Vec<Vec<u8>> {
    let bodies = [
        json!({ "account": "u1", "asset": "EUR", "amount": 5, "to": "u2" }),
        json!({ "sku": "s1", "quantity": 5, "owner": "u", "ttl_ms": 1000 }),
        json!({ "campaign": "c", "asset": "EUR", "amounts": [30, 20, 10], "user": "u" }),
        json!({ "coupon": "c", "limits": [{ "per": ["user", "day"], "quantity": 1 }], "values": { "user": "u" } }),
        json!({ "market": "m", "side": "buy", "price": 5, "quantity": 7, "time_in_force": "fok", "owner": "u" }),
        json!({ "operations": [
            { "id": "a", "command": "ACCOUNT.DEBIT", "arguments": { "account": "u", "amount": 5 } },
            { "id": "b", "atomic": [{ "command": "STOCK.TAKE", "sku": "s", "quantity": 1, "owner": "o" }] },
        ] }),
        json!({ "text": "\u{1f9e7} \\ \"", "number": -1.5e300, "none": null, "yes": true }),
    ];
    bodies.iter().map(|body| body.to_string().into_bytes()).collect()
}

/// Whether a number is no integer: no amount is one, and its last digit may differ when it is read again.
fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(values) => values.iter().any(has_fraction),
        Value::Object(fields) => fields.values().any(has_fraction),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn check(bytes: &[u8]) {
    let Ok(value) = strict::read(bytes) else { return };
    if !has_fraction(&value) {
        let again = strict::read(value.to_string().as_bytes()).ok();
        assert_eq!(again.as_ref(), Some(&value), "written and read again");
    }
    let _ = operation::read_all(Some(&value), true);
    let _ = operation::read_all(value.get("operations"), false);
    let _ = Message::read(&value);
    if let Value::Object(object) = &value {
        for route in routes::ROUTES {
            let mut fields = Fields::default();
            route.path_arguments().for_each(|name| fields.add_text(name, "x"));
            fields.add_object(object);
            if let Some(spec) = route.spec() {
                let _ = arguments::command(spec, &fields);
            }
        }
    }
}
