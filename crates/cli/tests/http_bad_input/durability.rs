//! An answer states its durability, and this engine refuses levels that it cannot guarantee.

use serde_json::{Value, json};

use crate::{Bench, assert_problem};

const CREDIT: &str = "/v1/accounts/alice/credit";

fn line(durability: &Value) -> Value {
    let arguments = json!({ "account": "alice", "amount": 1 });
    json!({ "command": "ACCOUNT.CREDIT", "arguments": arguments, "durability": durability })
}

#[test]
fn receipts_say_how_safe_the_change_is() {
    let mut bench = Bench::start(&[]);
    for asked in [&[][..], &[("Scarce-Durability", "memory")], &[("Scarce-Durability", "synced")]] {
        let made = bench.http.call("POST", CREDIT, asked, Some(&json!({ "amount": 1 }))).json();
        assert_eq!(made["receipt"]["durability"], "synced", "{asked:?}: {made}");
        let batch = json!({ "atomic": true, "operations": [line(&Value::Null)] });
        let made = bench.http.call("POST", "/v1/batch", asked, Some(&batch)).json();
        assert_eq!(made["receipt"]["durability"], "synced", "{asked:?}: {made}");
    }
    let lines = [Value::Null, "memory".into(), "synced".into()].map(|level| line(&level));
    let made = bench.applied("POST", "/v1/batch", &json!({ "operations": lines }));
    for at in 0..3 {
        let receipt = &made["results"][at]["result"]["receipt"];
        assert_eq!(receipt["durability"], "synced", "{made}");
    }
    bench.check_well();
}

#[test]
fn a_copy_may_ask_for_another_durability() {
    let mut bench = Bench::start(&[]);
    let mut ask = |level: &str| {
        let headers = [("Idempotency-Key", "pay-1"), ("Scarce-Durability", level)];
        bench.http.call("POST", CREDIT, &headers, Some(&json!({ "amount": 1 })))
    };
    let (first, again) = (ask("memory"), ask("synced"));
    assert_eq!((again.status, again.text()), (200, first.text()));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    bench.check_well();
}

#[test]
fn replicas_are_not_promised_where_there_are_none() {
    let mut bench = Bench::start(&[]);
    let before = bench.everything();
    let atomic = json!({ "atomic": true, "operations": [line(&Value::Null)] });
    let dry = format!("{CREDIT}?dry_run=true");
    for (target, body) in
        [(CREDIT, json!({ "amount": 1 })), (&dry, json!({ "amount": 1 })), ("/v1/batch", atomic)]
    {
        let headers = [("Scarce-Durability", "replicated"), ("Idempotency-Key", "pay-1")];
        let response = bench.http.call("POST", target, &headers, Some(&body));
        assert_problem(target, &response, 503, "UNAVAILABLE");
        let reason = response.json()["facts"]["reason"].to_string();
        assert!(reason.contains("no replicas") && reason.contains("synced"), "{target}: {reason}");
    }
    let each = bench.applied("POST", "/v1/batch", &json!({ "operations": [line(&"replicated".into())] }));
    let result = &each["results"][0];
    assert_eq!(
        (&result["status"], &result["problem"]["code"]),
        (&json!(503), &json!("UNAVAILABLE")),
        "{each}"
    );
    assert_eq!(bench.everything(), before);

    // It is not remembered either.
    let free =
        bench.http.call("POST", CREDIT, &[("Idempotency-Key", "pay-1")], Some(&json!({ "amount": 2 })));
    assert_eq!((free.status, free.header("idempotency-replayed")), (200, None));
    bench.check_well();
}
