//! Malformed bodies, headers and queries.

use serde_json::json;

use crate::{Bench, assert_invalid, assert_problem};

const TAKE: &str = "/v1/stock/sku/take";

/// The target, the body, the field that the error names, and its reason.
const REFUSED: &[(&str, &str, &str, &str)] = &[
    (TAKE, r#"{"quantity": 1}"#, "owner", "is missing"),
    (TAKE, r#"{"quantity": null, "owner": "u"}"#, "quantity", "is missing"),
    (TAKE, r#"{"quantity": 1, "owner": "u", "more": 1}"#, "more", "is no field here"),
    (TAKE, r#"{"quantity": 1, "owner": "u", "more": null}"#, "more", "is no field here"),
    (TAKE, r#"{"quantity": 1, "owner": "u", "id": "x"}"#, "id", "is no field here"),
    (TAKE, r#"{"quantity": 1, "owner": "u", "sku": "other"}"#, "sku", "is given twice"),
    (TAKE, r#"{"quantity": 1, "owner": "u", "sku": null}"#, "sku", "is given twice"),
    (TAKE, r#"{"quantity": "1", "owner": "u"}"#, "quantity", "must be a JSON integer"),
    (TAKE, r#"{"quantity": 1.5, "owner": "u"}"#, "quantity", "without fraction"),
    (TAKE, r#"{"quantity": 1.0, "owner": "u"}"#, "quantity", "without fraction"),
    (TAKE, r#"{"quantity": 1e3, "owner": "u"}"#, "quantity", "exponent"),
    (TAKE, r#"{"quantity": true, "owner": "u"}"#, "quantity", "must be a JSON integer"),
    (TAKE, r#"{"quantity": [1], "owner": "u"}"#, "quantity", "must be a JSON integer"),
    (TAKE, r#"{"quantity": {}, "owner": "u"}"#, "quantity", "must be a JSON integer"),
    (TAKE, r#"{"quantity": 0, "owner": "u"}"#, "quantity", "from 1 to 9007199254740991"),
    (TAKE, r#"{"quantity": -1, "owner": "u"}"#, "quantity", "from 1 to 9007199254740991"),
    (TAKE, r#"{"quantity": -0, "owner": "u"}"#, "quantity", "must be"),
    (TAKE, r#"{"quantity": 9007199254740992, "owner": "u"}"#, "quantity", "from 1 to 9007199254740991"),
    (TAKE, r#"{"quantity": 18446744073709551615, "owner": "u"}"#, "quantity", "from 1 to"),
    (TAKE, r#"{"quantity": 18446744073709551617, "owner": "u"}"#, "quantity", "must be a JSON integer"),
    (TAKE, r#"{"quantity": 1e400, "owner": "u"}"#, "body", "out of range"),
    (TAKE, r#"{"quantity": NaN, "owner": "u"}"#, "body", "is no JSON"),
    (TAKE, r#"{"quantity": 01, "owner": "u"}"#, "body", "is no JSON"),
    (TAKE, r#"{"quantity": +1, "owner": "u"}"#, "body", "is no JSON"),
    (TAKE, r#"{"quantity": 1, "owner": 7}"#, "owner", "must be a JSON string"),
    (TAKE, r#"{"quantity": 1, "owner": ""}"#, "owner", "must be"),
    (TAKE, r#"{"quantity": 1, "owner": "a b"}"#, "owner", "may hold"),
    (TAKE, r#"{"quantity": 1, "owner": "\u0000"}"#, "owner", "may hold"),
    (TAKE, r#"{"quantity": 1, "owner": "{a}{b}"}"#, "owner", "hash tag"),
    (TAKE, r#"{"quantity": 1, "quantity": 1, "owner": "u"}"#, "body", "names 'quantity' twice"),
    (TAKE, r#"{"quantity": 1, "qu\u0061ntity": 1, "owner": "u"}"#, "body", "twice"),
    (TAKE, r#"{"quantity": 1, "owner": "\ud800"}"#, "body", "is no JSON"),
    (TAKE, r#"{"quantity": 1, "owner": "u"} {}"#, "body", "trailing"),
    (TAKE, r#"{"quantity": 1, "owner": "u",}"#, "body", "is no JSON"),
    (TAKE, r#"{"quantity": 1, "owner": "u""#, "body", "is no JSON"),
    (TAKE, "[]", "body", "must be a JSON object"),
    (TAKE, "null", "body", "must be a JSON object"),
    (TAKE, "7", "body", "must be a JSON object"),
    (TAKE, " ", "body", "is no JSON"),
    ("/v1/stock", r#"{"sku": "n", "quantity": 1, "starts_at": 10, "ends_at": 10}"#, "ends_at", "must be"),
    ("/v1/stock/sku/adjust", r#"{"delta": 0, "reason": "x"}"#, "delta", "must not be 0"),
    ("/v1/stock/sku/adjust", r#"{"delta": 1, "reason": "a\u0007b"}"#, "reason", "control"),
    ("/v1/accounts/alice/holds/h/capture", r#"{"keep_rest": 1}"#, "keep_rest", "true or false"),
    ("/v1/packets", r#"{"campaign": "c", "asset": "EUR"}"#, "plan", "is missing"),
    ("/v1/packets", r#"{"campaign": "c", "asset": "EUR", "plan": 5}"#, "plan", "must be a JSON object"),
    ("/v1/packets", r#"{"campaign": "c", "asset": "EUR", "amounts": []}"#, "amounts", "is empty"),
    (
        "/v1/packets",
        r#"{"campaign": "c", "asset": "EUR", "amounts": [1, "2"]}"#,
        "amounts",
        "must be a JSON integer",
    ),
    (
        "/v1/packets",
        r#"{"campaign": "c", "asset": "EUR", "plan": {"total": 9, "count": 3, "method": "EVEN", "fair": 1}}"#,
        "plan.fair",
        "is no field here",
    ),
    (
        "/v1/packets",
        r#"{"campaign": "c", "asset": "EUR", "amounts": [1], "plan": {"total": 9, "count": 3, "method": "EVEN"}}"#,
        "amounts",
        "does not go with plan",
    ),
    ("/v1/coupons", r#"{"coupon": "c", "limits": {}}"#, "limits", "must be a JSON array"),
    ("/v1/coupons", r#"{"coupon": "c", "limits": [7]}"#, "limits[0]", "must be a JSON object"),
    (
        "/v1/coupons",
        r#"{"coupon": "c", "limits": [{"name": "l", "max": 1, "window": "DAY", "window_ms": 5}]}"#,
        "limits[0].window_ms",
        "does not go with window",
    ),
    (
        "/v1/coupons",
        r#"{"coupon": "c", "limits": [{"name": "l", "max": 1, "per": ["user,device"]}]}"#,
        "limits[0].user,device",
        "is no dimension",
    ),
    ("/v1/coupons/c/claims", r#"{"subject": {"device": "d"}}"#, "subject.user", "is missing"),
    ("/v1/coupons/c/claims", r#"{"subject": {"user": "u", "ID": "x"}}"#, "subject.ID", "is no dimension"),
    ("/v1/coupons/c/claims", r#"{"subject": {"user": "u", "id": "x"}}"#, "subject.id", "is no dimension"),
    ("/v1/coupons/c/claims", r#"{"subject": {"user": "u", "b": 7}}"#, "subject.b", "must be a JSON string"),
    (
        "/v1/markets/m/orders",
        r#"{"order": "o", "owner": "u", "side": "BUY", "type": "STOP", "price": 1, "quantity": 1}"#,
        "type",
        "LIMIT|MARKET",
    ),
    (
        "/v1/markets/m/orders",
        r#"{"order": "o", "owner": "u", "side": "buy", "type": "MARKET", "quantity": 1}"#,
        "side",
        "BUY|SELL",
    ),
    (
        "/v1/markets/m/orders",
        r#"{"order": "o", "owner": "u", "side": "BUY", "type": "MARKET", "price": 1, "quantity": 1}"#,
        "price",
        "does not go with a market order",
    ),
    (
        "/v1/packet-previews",
        r#"{"plan": {"total": 9, "count": 3, "method": "EVEN"}, "seed": "x"}"#,
        "seed",
        "64",
    ),
    ("/v1/batch", "{}", "operations", "must be a JSON array"),
    ("/v1/batch", r#"{"operations": []}"#, "operations", "must be 1 to 1000"),
    ("/v1/batch", r#"{"operations": [], "atomic": "yes"}"#, "atomic", "true or false"),
    ("/v1/batch", r#"{"operations": [], "id": "x"}"#, "id", "is no field here"),
    ("/v1/batch", r#"{"operations": [7]}"#, "operations[0].operation", "must be a JSON object"),
    (
        "/v1/batch",
        r#"{"operations": [{"command": "NO.SUCH", "arguments": {}}]}"#,
        "operations[0].command",
        "unknown",
    ),
    (
        "/v1/batch",
        r#"{"operations": [{"command": "stock.get", "arguments": {}}]}"#,
        "operations[0].command",
        "unknown",
    ),
    (
        "/v1/batch",
        r#"{"operations": [{"command": "DIGEST", "arguments": {}}]}"#,
        "operations[0].command",
        "cannot be",
    ),
    (
        "/v1/batch",
        r#"{"operations": [{"command": "STOCK.GET"}]}"#,
        "operations[0].arguments",
        "must be a JSON object",
    ),
    (
        "/v1/batch",
        r#"{"operations": [{"command": "STOCK.GET", "arguments": {"sku": "sku"}, "id": "x"}]}"#,
        "operations[0].id",
        "belongs to a single command that changes something",
    ),
    (
        "/v1/batch",
        r#"{"atomic": true, "operations": [{"command": "STOCK.GET", "arguments": {"sku": "sku"}}]}"#,
        "operations[0].command",
        "cannot be part of this batch",
    ),
    (
        "/v1/batch",
        r#"{"operations": [{"command": "STOCK.TAKE", "arguments": {"sku": "sku", "quantity": 1, "owner": "u"}, "deadline": -1}]}"#,
        "operations[0].deadline",
        "must be",
    ),
    (
        "/v1/batch",
        r#"{"operations": [{"command": "STOCK.CLOSE", "arguments": {"sku": "sku"}, "durability": "disk"}]}"#,
        "operations[0].durability",
        "must be memory, replicated or synced",
    ),
    (
        "/v1/batch",
        r#"{"operations": [{"command": "STOCK.CLOSE", "arguments": {"sku": "sku"}, "durability": true}]}"#,
        "operations[0].durability",
        "must be a JSON string",
    ),
    (
        "/v1/batch",
        r#"{"operations": [{"command": "STOCK.GET", "arguments": {"sku": "sku"}, "durability": "synced"}]}"#,
        "operations[0].durability",
        "belongs to a single command that changes something",
    ),
    (
        "/v1/batch",
        r#"{"atomic": true, "operations": [{"command": "STOCK.CLOSE", "arguments": {"sku": "sku"}, "durability": "synced"}]}"#,
        "operations[0].durability",
        "an atomic batch has it for the whole",
    ),
];

#[test]
fn a_field_that_is_wrong_is_named() {
    let mut bench = Bench::start(&[]);
    let before = bench.everything();
    for (target, body, field, reason) in REFUSED {
        let response = bench.json_text("POST", target, body);
        assert_invalid(&format!("{target} {body}"), &response, field, reason);
    }
    assert_eq!(bench.everything(), before);
    bench.check_well();
}

#[test]
fn null_is_as_good_as_nothing() {
    let mut bench = Bench::start(&[]);
    let body = json!({ "sku": "n", "quantity": 1, "per_owner_max": null, "starts_at": null });
    bench.applied("POST", "/v1/stock", &body);
    let line = json!({ "command": "STOCK.RESTOCK", "arguments": { "sku": "n", "quantity": 1 }, "id": null, "deadline": null, "durability": null });
    bench.applied("POST", "/v1/batch", &json!({ "atomic": null, "operations": [line] }));
    let plan = json!({ "total": 9, "count": 3, "method": "EVEN", "min": null, "max": null });
    bench.applied(
        "POST",
        "/v1/packets",
        &json!({ "campaign": "c", "asset": "EUR", "plan": plan, "amounts": null }),
    );
    bench.applied("POST", "/v1/packet-previews", &json!({ "plan": plan, "seed": null, "amounts": null }));
}

#[test]
fn json_nests_32_deep_and_no_deeper() {
    let mut bench = Bench::start(&[]);
    let before = bench.everything();
    for depth in [33, 100_000] {
        let body = format!(r#"{{"owner": {}{}}}"#, "[".repeat(depth), "]".repeat(depth));
        let response = bench.json_text("POST", TAKE, &body);
        assert_invalid(&format!("{depth} deep"), &response, "body", "nests deeper than 32");
        let body = "{\"a\":".repeat(depth);
        let response = bench.json_text("POST", TAKE, &body);
        assert_invalid(&format!("{depth} deep, not closed"), &response, "body", "is no JSON that is taken");
    }
    let body = format!(r#"{{"quantity": {}{}}}"#, "[".repeat(31), "]".repeat(31));
    assert_invalid("32 deep", &bench.json_text("POST", TAKE, &body), "quantity", "must be a JSON integer");
    assert_eq!(bench.everything(), before);
    bench.check_well();
}

#[test]
fn a_body_has_1_mib_and_no_more() {
    let mut bench = Bench::start(&[]);
    let body = r#"{"quantity": 1, "owner": "u"}"#;
    let padded = |bytes: usize| " ".repeat(bytes - body.len()) + body;
    let whole = bench.json_text("POST", TAKE, &padded(1 << 20));
    assert_eq!(whole.status, 200, "{}", whole.text());
    let before = bench.everything();
    let larger = bench.json_text("POST", TAKE, &padded((1 << 20) + 1));
    assert_problem("a byte more", &larger, 413, "PAYLOAD_TOO_LARGE");
    bench.reconnect();
    let head = format!(
        "POST {TAKE} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        bench.server.http
    );
    bench.http.send(head.as_bytes());
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x1_0000));
    for _ in 0..16 {
        bench.http.send(chunk.as_bytes());
    }
    bench.http.send(b"1\r\n \r\n");
    assert_problem("a byte more, in chunks", &bench.http.response(), 413, "PAYLOAD_TOO_LARGE");
    bench.reconnect();
    assert_eq!(bench.everything(), before);
    bench.check_well();
}

#[test]
fn a_body_is_json_in_utf_8_by_its_content_type() {
    let mut bench = Bench::start(&[]);
    let before = bench.everything();
    let body = br#"{"quantity": 1, "owner": "u"}"#;
    let kinds: &[&[&str]] = &[
        &[],
        &["Content-Type:"],
        &["Content-Type: text/plain"],
        &["Content-Type: text/json"],
        &["Content-Type: application/x-www-form-urlencoded"],
        &["Content-Type: multipart/form-data; boundary=x"],
        &["Content-Type: application/jsonp"],
        &["Content-Type: \u{fc}"],
    ];
    for headers in kinds {
        for (target, body) in [(TAKE, &body[..]), ("/v1/stock/sku/close", b"")] {
            let response = bench.raw("POST", target, headers, body);
            assert_problem(&format!("{target} {headers:?}"), &response, 415, "UNSUPPORTED_MEDIA_TYPE");
        }
    }
    for bytes in
        [&b"\xff"[..], b"{\"quantity\": 1, \"owner\": \"\xff\"}", b"\xef\xbb\xbf{}", b"\xff\xfe{\0}\0"]
    {
        let response = bench.raw("POST", TAKE, &["Content-Type: application/json"], bytes);
        assert_invalid(&format!("{bytes:?}"), &response, "body", "is no JSON");
    }
    for encoding in ["gzip", "br", "identity, gzip"] {
        let header = format!("Content-Encoding: {encoding}");
        let response = bench.raw("POST", TAKE, &["Content-Type: application/json", &header], body);
        assert_invalid(encoding, &response, "Content-Encoding", "is not taken");
    }
    assert_eq!(bench.everything(), before);
    let response = bench.raw("POST", TAKE, &["Content-Type: Application/JSON; charset=utf-8"], body);
    assert_eq!(response.status, 200);
    bench.check_well();
}

#[test]
fn what_only_reads_takes_no_body() {
    let mut bench = Bench::start(&[]);
    for (method, target) in
        [("GET", "/v1/stock/sku"), ("DELETE", "/v1/markets/m/orders"), ("GET", "/v1/events")]
    {
        for kind in ["Content-Type: application/json", "Content-Type: text/plain"] {
            let response = bench.raw(method, target, &[kind], br#"{"owner": "u"}"#);
            assert_invalid(target, &response, "body", "does not go with");
            bench.reconnect();
        }
    }
    bench.check_well();
}

#[test]
fn a_parameter_of_the_query_that_is_unknown_wrong_or_twice_is_named() {
    let mut bench = Bench::start(&[]);
    bench.applied("POST", "/v1/markets", &json!({ "market": "m" }));
    let before = bench.everything();
    let refused = [
        ("GET", "/v1/stock/sku?more=1", "more", "is no field here"),
        ("GET", "/v1/stock/sku?dry_run=true", "dry_run", "is no field here"),
        ("GET", "/v1/stock/sku?sku=sku", "sku", "is given twice"),
        ("GET", "/v1/markets/m/depth?levels=0", "levels", "must be"),
        ("GET", "/v1/markets/m/depth?levels=1.0", "levels", "must be"),
        ("GET", "/v1/markets/m/depth?levels=", "levels", "must be"),
        ("GET", "/v1/markets/m/depth?levels=%ff", "levels", "must be"),
        ("GET", "/v1/markets/m/depth?levels=1&levels=1", "levels", "is given twice"),
        ("GET", "/v1/operations/x", "on", "is missing"),
        ("GET", "/v1/digest?resource=a%20b", "resource", "may hold"),
        ("GET", "/v1/accounts/alice/holds?limit=0", "limit", "must be 1 to 1000"),
        ("GET", "/v1/accounts/alice/holds?limit=1001", "limit", "must be 1 to 1000"),
        ("GET", "/v1/accounts/alice/holds?limit=-1", "limit", "must be"),
        ("GET", "/v1/accounts/alice/holds?limit=1&limit=2", "limit", "is given twice"),
        ("GET", "/v1/accounts/alice/holds?count=5", "count", "is given twice"),
        ("GET", "/v1/events?limit=1001", "limit", "must be 1 to 1000"),
        ("GET", "/v1/events?partition=1", "partition", "must be 0 to 0"),
        ("GET", "/v1/events?partition=18446744073709551616", "partition", "must be"),
        ("GET", "/v1/events?more=1", "more", "is no parameter here"),
        ("GET", "/readyz?more=1", "more", "is no parameter here"),
        ("POST", "/v1/stock/sku/close?dry_run=maybe", "dry_run", "true or false"),
        ("POST", "/v1/stock/sku/close?dry_run=true&dry_run=false", "dry_run", "is given twice"),
        ("POST", "/v1/stock/sku/close?more=1", "more", "is no parameter here"),
        ("POST", "/v1/stock/sku/take?quantity=1&owner=u", "quantity", "fields belong in the body"),
        ("PATCH", "/v1/coupons/c?limits=1", "limits", "fields belong in the body"),
        ("POST", "/v1/batch?more=1", "more", "is no parameter here"),
        ("POST", "/v1/packet-previews?dry_run=true", "dry_run", "is no parameter here"),
        ("DELETE", "/v1/markets/m/orders", "owner", "is missing"),
    ];
    for (method, target, field, reason) in refused {
        let response = bench.http.call(method, target, &[], None);
        assert_invalid(&format!("{method} {target}"), &response, field, reason);
    }
    assert_eq!(bench.everything(), before);
    bench.check_well();
}

#[test]
fn keys_deadlines_and_durabilities_are_read_strictly() {
    let mut bench = Bench::start(&[]);
    let before = bench.everything();
    let body = br#"{"quantity": 1, "owner": "u"}"#;
    let long = format!("Idempotency-Key: {}", "k".repeat(129));
    let refused: &[(&[&str], &str, &str)] = &[
        (&["Idempotency-Key:"], "Idempotency-Key", "128"),
        (&[&long], "Idempotency-Key", "128"),
        (&["Idempotency-Key: two words"], "Idempotency-Key", "blanks"),
        (&["Idempotency-Key: sch\u{fc}ssel"], "Idempotency-Key", "ASCII"),
        (&["Idempotency-Key: a", "Idempotency-Key: b"], "Idempotency-Key", "is given twice"),
        (&["Idempotency-Key: a", "idempotency-key: a"], "Idempotency-Key", "is given twice"),
        (&["Scarce-Deadline: soon"], "Scarce-Deadline", "must be"),
        (&["Scarce-Deadline: -1"], "Scarce-Deadline", "must be"),
        (&["Scarce-Deadline: 1.5"], "Scarce-Deadline", "must be"),
        (&["Scarce-Deadline:"], "Scarce-Deadline", "must be"),
        (&["Scarce-Deadline: 9007199254740992"], "Scarce-Deadline", "must be"),
        (&["Scarce-Deadline: 5", "Scarce-Deadline: 5"], "Scarce-Deadline", "is given twice"),
        (&["Scarce-Durability: disk"], "Scarce-Durability", "must be memory, replicated or synced"),
        (&["Scarce-Durability: Synced"], "Scarce-Durability", "small letters"),
        (&["Scarce-Durability:"], "Scarce-Durability", "must be"),
        (&["Scarce-Durability: memory, synced"], "Scarce-Durability", "must be"),
        (&["Scarce-Durability: synced", "scarce-durability: synced"], "Scarce-Durability", "is given twice"),
    ];
    for (headers, field, reason) in refused {
        let headers: Vec<&str> =
            ["Content-Type: application/json"].into_iter().chain(headers.iter().copied()).collect();
        let response = bench.raw("POST", TAKE, &headers, body);
        assert_invalid(&format!("{headers:?}"), &response, field, reason);
    }
    let headers = ["Content-Type: application/json", "Scarce-Deadline: 1"];
    assert_problem("too late", &bench.raw("POST", TAKE, &headers, body), 409, "DEADLINE_PASSED");
    let lines = json!({ "operations": [{ "command": "STOCK.CLOSE", "arguments": { "sku": "sku" } }] });
    let response = bench.http.call("POST", "/v1/batch", &[("Idempotency-Key", "x")], Some(&lines));
    assert_invalid("a key of many", &response, "Idempotency-Key", "atomic");
    let response = bench.http.call("POST", "/v1/batch", &[("Scarce-Durability", "synced")], Some(&lines));
    assert_invalid("a durability of many", &response, "Idempotency-Key", "a durability of its own");
    for header in [("Idempotency-Key", "x"), ("Scarce-Deadline", "5"), ("Scarce-Durability", "synced")] {
        let response = bench.http.call("POST", "/v1/operations/x/resolve?on=sku", &[header], None);
        assert_invalid("beside an id", &response, "Idempotency-Key", "does not go with resolve");
    }
    assert_eq!(bench.everything(), before);

    let longest = format!("Idempotency-Key: {}", "k".repeat(128));
    let response = bench.raw("POST", TAKE, &["Content-Type: application/json", &longest], body);
    assert_eq!(response.status, 200);
    let made = bench.raw("POST", TAKE, &["Content-Type: application/json"], body);
    let key = made.header("idempotency-key").expect("an id is made").to_owned();
    assert_eq!(made.json()["receipt"]["operation"], key.as_str());
    let again = bench.http.call(
        "POST",
        TAKE,
        &[("Idempotency-Key", &key)],
        Some(&json!({ "quantity": 1, "owner": "u" })),
    );
    assert_eq!((again.json(), again.header("idempotency-replayed")), (made.json(), Some("true")));
    bench.check_well();
}

#[test]
fn a_batch_has_a_thousand_operations_and_no_more() {
    let mut bench = Bench::start(&[]);
    let before = bench.everything();
    let line = json!({ "command": "ACCOUNT.CREDIT", "arguments": { "account": "alice", "amount": 1 } });
    let batch =
        |count: usize, atomic: bool| json!({ "atomic": atomic, "operations": vec![line.clone(); count] });
    for atomic in [false, true] {
        let response = bench.http.post("/v1/batch", &batch(1_001, atomic));
        assert_invalid("1 001 operations", &response, "operations", "must be 1 to 1000");
    }
    assert_eq!(bench.everything(), before);
    for atomic in [false, true] {
        let body = bench.applied("POST", "/v1/batch", &batch(1_000, atomic));
        let results = body["results"].as_array().unwrap();
        assert_eq!(results.len(), 1_000);
        let last = if atomic { 2_100 } else { 1_100 };
        assert_eq!(results[999]["result"]["balance"], last);
    }
    bench.check_well();
}
