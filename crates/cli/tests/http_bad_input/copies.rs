//! One key has one effect and one answer, however many duplicates arrive, and however close together.

use std::sync::Barrier;

use serde_json::json;

use crate::{Bench, FAILURES, assert_problem};

#[test]
fn copies_that_come_at_once_are_one_operation() {
    for copies in [2, 64] {
        let mut bench = Bench::start(&[]);
        let barrier = Barrier::new(copies);
        let body = json!({ "quantity": 1, "owner": "u" });
        let answers: Vec<_> = std::thread::scope(|scope| {
            let asking: Vec<_> = (0..copies)
                .map(|_| {
                    scope.spawn(|| {
                        let mut http = bench.server.http();
                        barrier.wait();
                        http.call(
                            "POST",
                            "/v1/stock/sku/take",
                            &[("Idempotency-Key", "order-1")],
                            Some(&body),
                        )
                    })
                })
                .collect();
            asking.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let first = answers[0].text();
        let mut replayed = 0;
        for answer in &answers {
            assert_eq!((answer.status, answer.text()), (200, first.clone()));
            assert_eq!(answer.header("idempotency-key"), Some("order-1"));
            replayed += usize::from(answer.header("idempotency-replayed") == Some("true"));
        }
        assert_eq!(replayed, copies - 1);
        assert_eq!(bench.http.get("/v1/stock/sku").json()["sold"], 1);
        bench.check_well();
    }
}

#[test]
fn a_key_of_another_content_is_refused() {
    let mut bench = Bench::start(&[]);
    let mut ask =
        |target: &str, body| bench.http.call("POST", target, &[("Idempotency-Key", "pay-1")], Some(&body));
    let first = ask("/v1/accounts/alice/credit", json!({ "amount": 5 }));
    assert_eq!(first.status, 200);
    let others = [
        ("/v1/accounts/alice/credit", json!({ "amount": 6 })),
        ("/v1/accounts/alice/debit", json!({ "amount": 5 })),
        ("/v1/accounts/bob/credit", json!({ "amount": 5 })),
        ("/v1/stock/sku/close", json!({})),
        (
            "/v1/batch",
            json!({ "atomic": true, "operations": [
                { "command": "ACCOUNT.CREDIT", "arguments": { "account": "alice", "amount": 5 } }
            ] }),
        ),
    ];
    for (target, body) in others {
        let response = ask(target, body);
        assert_problem(target, &response, 422, "ID_REUSED");
        assert_eq!(response.json()["operation"], "pay-1");
    }
    let again = ask("/v1/accounts/alice/credit", json!({ "amount": 5 }));
    assert_eq!((again.text(), again.header("idempotency-replayed")), (first.text(), Some("true")));
    assert_eq!(bench.http.get("/v1/accounts/alice").json()["balance"], 105);
    bench.check_well();
}

#[test]
fn a_full_memory_of_ids_is_told_with_when_to_come_back() {
    let mut bench = Bench::start(&["--operations-max", "8"]);
    let mut refused = 0;
    for at in 0..12 {
        let key = format!("pay-{at}");
        let body = json!({ "amount": 1 });
        let response =
            bench.http.call("POST", "/v1/accounts/alice/credit", &[("Idempotency-Key", &key)], Some(&body));
        if response.status == 200 {
            continue;
        }
        assert!(FAILURES.contains(&response.status.into()), "{}", response.text());
        assert_problem(&key, &response, 503, "OVERLOADED");
        let problem = response.json();
        let wait_ms = problem["facts"]["retry_after_ms"].as_u64().unwrap();
        assert!((1..=600_000).contains(&wait_ms), "an id stays for ten minutes at least: {wait_ms}");
        let wait_s = wait_ms.div_ceil(1_000).to_string();
        assert_eq!(response.header("retry-after"), Some(wait_s.as_str()));
        assert_eq!(problem["retryable"], true);
        refused += 1;
    }
    assert!((1..12).contains(&refused), "{refused}");
    bench.check_well();
}
