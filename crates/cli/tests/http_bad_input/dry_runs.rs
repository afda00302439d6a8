//! Dry runs of every command that changes state: each predicts the answer and leaves no trace.

use scarce_api::ROUTES;
use serde_json::{Map, Value, json};

use crate::Bench;

/// Commands with their arguments, in an order in which each is applied.
fn story() -> Vec<(&'static str, Value)> {
    [of_accounts_and_stock(), of_the_others()].concat()
}

fn of_accounts_and_stock() -> Vec<(&'static str, Value)> {
    vec![
        ("ACCOUNT.OPEN", json!({ "account": "a", "asset": "EUR", "overdraft": 5 })),
        ("ACCOUNT.OPEN", json!({ "account": "b", "asset": "EUR" })),
        ("ACCOUNT.CREDIT", json!({ "account": "a", "amount": 100 })),
        ("ACCOUNT.DEBIT", json!({ "account": "a", "amount": 1 })),
        ("ACCOUNT.TRANSFER", json!({ "from": "a", "to": "b", "amount": 1 })),
        ("ACCOUNT.HOLD", json!({ "account": "a", "hold": "h", "amount": 20, "ttl_ms": 60_000 })),
        ("ACCOUNT.EXTEND", json!({ "account": "a", "hold": "h", "ttl_ms": 90_000 })),
        (
            "ACCOUNT.CAPTURE",
            json!({ "account": "a", "hold": "h", "amount": 5, "to": "b", "keep_rest": true }),
        ),
        ("ACCOUNT.VOID", json!({ "account": "a", "hold": "h" })),
        ("ACCOUNT.OVERDRAFT", json!({ "account": "a", "overdraft": 7 })),
        ("ACCOUNT.FREEZE", json!({ "account": "a" })),
        ("ACCOUNT.UNFREEZE", json!({ "account": "a" })),
        ("ACCOUNT.DEBIT", json!({ "account": "b", "amount": 6 })),
        ("ACCOUNT.CLOSE", json!({ "account": "b" })),
        ("STOCK.CREATE", json!({ "sku": "s", "quantity": 5, "per_owner_max": 4 })),
        ("STOCK.RESTOCK", json!({ "sku": "s", "quantity": 5 })),
        ("STOCK.ADJUST", json!({ "sku": "s", "delta": -1, "reason": "damaged in transit" })),
        ("STOCK.TAKE", json!({ "sku": "s", "quantity": 2, "owner": "u" })),
        ("STOCK.RETURN", json!({ "sku": "s", "first": 1, "count": 1 })),
        (
            "STOCK.RESERVE",
            json!({ "sku": "s", "reservation": "r", "quantity": 1, "owner": "u", "ttl_ms": 60_000 }),
        ),
        ("STOCK.EXTEND", json!({ "sku": "s", "reservation": "r", "ttl_ms": 90_000 })),
        ("STOCK.CONFIRM", json!({ "sku": "s", "reservation": "r" })),
        (
            "STOCK.RESERVE",
            json!({ "sku": "s", "reservation": "q", "quantity": 1, "owner": "u", "ttl_ms": 60_000 }),
        ),
        ("STOCK.RELEASE", json!({ "sku": "s", "reservation": "q" })),
        ("STOCK.AUDIT", json!({ "sku": "s" })),
        ("STOCK.CLOSE", json!({ "sku": "s" })),
    ]
}

fn of_the_others() -> Vec<(&'static str, Value)> {
    let plan = json!({ "total": 100, "count": 5, "method": "DOUBLE_MEAN" });
    let limits =
        json!([{ "name": "daily", "max": 2, "per": ["user"], "window": "DAY", "offset_minutes": 480 }]);
    let order = |order: &str, owner: &str, side: &str, quantity: u64| {
        json!({
            "market": "m", "order": order, "owner": owner, "side": side,
            "type": "LIMIT", "price": 10, "quantity": quantity,
        })
    };
    vec![
        ("PACKET.CREATE", json!({ "campaign": "p", "asset": "EUR", "plan": plan })),
        ("PACKET.CREATE", json!({ "campaign": "l", "asset": "EUR", "amounts": [3, 1, 2] })),
        ("PACKET.CLAIM", json!({ "campaign": "p", "user": "u" })),
        ("PACKET.CLOSE", json!({ "campaign": "p" })),
        ("COUPON.CREATE", json!({ "coupon": "c", "limits": limits, "claim_ttl_ms": 60_000 })),
        (
            "COUPON.UPDATE",
            json!({ "coupon": "c", "limits": [{ "name": "daily", "max": 3 }, { "name": "all", "max": 9, "per": [] }] }),
        ),
        ("COUPON.CLAIM", json!({ "coupon": "c", "subject": { "user": "u" } })),
        ("COUPON.REDEEM", json!({ "coupon": "c", "serial": 1, "user": "u" })),
        ("COUPON.CLAIM", json!({ "coupon": "c", "subject": { "user": "u", "device": "d" } })),
        ("COUPON.REVOKE", json!({ "coupon": "c", "serial": 2, "give_back": true })),
        ("COUPON.PAUSE", json!({ "coupon": "c" })),
        ("COUPON.RESUME", json!({ "coupon": "c" })),
        ("MARKET.CREATE", json!({ "market": "m", "lot": 1, "max_quantity": 100 })),
        ("ORDER.PLACE", order("o1", "ann", "SELL", 9)),
        ("ORDER.PLACE", order("o2", "ben", "BUY", 2)),
        ("ORDER.REDUCE", json!({ "market": "m", "order": "o1", "owner": "ann", "by": 2 })),
        (
            "ORDER.REPLACE",
            json!({ "market": "m", "order": "o1", "owner": "ann", "price": 11, "quantity": 3 }),
        ),
        ("ORDER.CANCEL", json!({ "market": "m", "order": "o1", "owner": "ann" })),
        ("ORDER.PLACE", order("o3", "ann", "SELL", 9)),
        ("ORDER.CANCELALL", json!({ "market": "m", "owner": "ann" })),
        ("MARKET.HALT", json!({ "market": "m" })),
        ("MARKET.RESUME", json!({ "market": "m" })),
        ("OPERATION.RESOLVE", json!({ "operation": "lost", "on": "a" })),
    ]
}

/// Commands that are refused after the story, each for a different reason.
fn refused() -> Vec<(&'static str, Value)> {
    vec![
        ("ACCOUNT.OPEN", json!({ "account": "a", "asset": "EUR" })),
        ("ACCOUNT.DEBIT", json!({ "account": "a", "amount": 9_007_199_254_740_991_u64 })),
        ("ACCOUNT.CREDIT", json!({ "account": "b", "amount": 1 })),
        ("STOCK.TAKE", json!({ "sku": "s", "quantity": 1, "owner": "u" })),
        ("STOCK.CONFIRM", json!({ "sku": "s", "reservation": "q" })),
        ("PACKET.CLAIM", json!({ "campaign": "p", "user": "v" })),
        ("COUPON.REDEEM", json!({ "coupon": "c", "serial": 1, "user": "u" })),
        ("ORDER.CANCEL", json!({ "market": "m", "order": "o3", "owner": "ann" })),
    ]
}

/// Method, target and body for a command's route.
fn request(command: &str, arguments: &Value, dry_run: bool) -> (&'static str, String, Option<Value>) {
    let route = ROUTES.iter().find(|route| route.command == command).unwrap();
    let mut fields = arguments.as_object().unwrap().clone();
    let mut target = route.path.to_owned();
    for name in route.path_arguments() {
        let value = fields.remove(name).unwrap();
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        target = target.replace(&format!("{{{name}}}"), &text);
    }
    let in_query = |name: &str| !route.method.has_body() || name == "on";
    let mut query: Vec<String> = fields
        .iter()
        .filter(|(name, _)| in_query(name))
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap()))
        .collect();
    query.extend(dry_run.then(|| "dry_run=true".to_owned()));
    let body: Map<String, Value> = fields.into_iter().filter(|(name, _)| !in_query(name)).collect();
    let target = if query.is_empty() { target } else { format!("{target}?{}", query.join("&")) };
    (route.method.word(), target, (!body.is_empty()).then_some(Value::Object(body)))
}

/// Whether the prediction was right. A dry run omits what must stay secret until it is done.
fn came_as_foretold(told: &Value, real: &Value) -> bool {
    match (told, real) {
        (Value::Null, _) => true,
        (Value::Object(told), Value::Object(real)) => {
            let is_figure = |name: &&String| !["dry_run", "receipt"].contains(&name.as_str());
            told.keys().filter(is_figure).eq(real.keys().filter(is_figure))
                && told
                    .iter()
                    .filter(|(name, _)| is_figure(name))
                    .all(|(name, told)| came_as_foretold(told, &real[name]))
        }
        (Value::Array(told), Value::Array(real)) => {
            told.len() == real.len() && told.iter().zip(real).all(|(told, real)| came_as_foretold(told, real))
        }
        (told, real) => told == real,
    }
}

#[test]
fn a_dry_run_of_everything_foretells_and_changes_nothing() {
    let mut bench = Bench::start(&["--manual-clock"]);
    let story = story();
    for route in ROUTES.iter().filter(|route| route.is_write()) {
        assert!(
            story.iter().any(|(command, _)| *command == route.command),
            "the story has no {}",
            route.command
        );
    }
    let applied = story.len();
    for (at, (command, arguments)) in story.into_iter().chain(refused()).enumerate() {
        let key = format!("op-{at}");
        let headers: &[(&str, &str)] =
            if command == "OPERATION.RESOLVE" { &[] } else { &[("Idempotency-Key", &key)] };
        let before = bench.everything();
        let (method, target, body) = request(command, &arguments, true);
        let told = bench.http.call(method, &target, headers, body.as_ref());
        let again = bench.http.call(method, &target, headers, body.as_ref());
        assert_eq!((told.status, told.text()), (again.status, again.text()), "{command}: twice foretold");
        assert_eq!(told.header("idempotency-replayed"), None, "{command}");
        assert_eq!(bench.everything(), before, "{command}: a dry run left a trace");

        let (method, target, body) = request(command, &arguments, false);
        let real = bench.http.call(method, &target, headers, body.as_ref());
        assert_eq!(told.status / 100, real.status / 100, "{command}: {} {}", told.text(), real.text());
        let (told, real) = (told.json(), real.json());
        assert!(came_as_foretold(&told, &real), "{command}: foretold {told}, came {real}");
        let is_refused = real.get("code").is_some();
        assert_eq!(told.get("dry_run").is_some(), !is_refused, "{command}: {told}");
        assert_eq!(real.get("receipt").is_some(), !is_refused, "{command}: {real}");
        assert_eq!(is_refused, at >= applied, "{command} {arguments}: {real}");
    }
    bench.check_well();
}

#[test]
fn a_dry_run_of_a_batch_changes_nothing_either() {
    let mut bench = Bench::start(&["--manual-clock"]);
    let line = |command: &str, arguments: Value| json!({ "command": command, "arguments": arguments });
    let take = |owner: &str| line("STOCK.TAKE", json!({ "sku": "sku", "quantity": 4, "owner": owner }));
    let pay = line("ACCOUNT.DEBIT", json!({ "account": "alice", "amount": 60 }));
    for (atomic, operations, status) in [
        (true, vec![take("u"), pay.clone()], 200),
        (true, vec![take("u"), pay.clone()], 409),
        (false, vec![take("v"), pay.clone()], 200),
    ] {
        let before = bench.everything();
        let body = json!({ "atomic": atomic, "operations": operations });
        let told = bench.http.post("/v1/batch?dry_run=true", &body);
        assert_eq!(bench.everything(), before);
        let real = bench.http.post("/v1/batch", &body);
        assert_eq!((told.status, real.status), (status, status));
        let (told, real) = (told.json(), real.json());
        assert_eq!((&told["code"], &told["facts"]), (&real["code"], &real["facts"]));
        let (told, real) = (results(&told), results(&real));
        assert_eq!(told.len(), if status == 200 { 2 } else { 0 });
        for (told, real) in told.iter().zip(&real) {
            assert_eq!(told["status"], real["status"]);
            assert_eq!(told["problem"]["code"], real["problem"]["code"]);
            assert!(came_as_foretold(&told["result"], &real["result"]), "{told} {real}");
        }
        assert_eq!(told.len(), real.len());
    }
    bench.check_well();
}

fn results(body: &Value) -> Vec<Value> {
    body["results"].as_array().cloned().unwrap_or_default()
}
