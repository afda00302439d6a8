//! Lists page by page, and invalid cursors.

use scarce_api::cursor;
use scarce_core::event::Position;
use serde_json::json;

use crate::{Bench, assert_invalid};

#[test]
fn a_list_is_read_page_by_page() {
    let mut bench = Bench::start(&[]);
    let lines: Vec<_> = (0..25)
        .map(|at| json!({ "command": "ACCOUNT.HOLD", "arguments": { "account": "alice", "hold": format!("h{at:02}"), "amount": 1 } }))
        .collect();
    bench.applied("POST", "/v1/batch", &json!({ "operations": lines }));
    for limit in [1, 7, 25, 26, 1000] {
        let mut names = Vec::new();
        let mut target = format!("/v1/accounts/alice/holds?limit={limit}");
        loop {
            let page = bench.http.get(&target).json();
            let rows = page["holds"].as_array().unwrap();
            names.extend(rows.iter().map(|row| row["hold"].as_str().unwrap().to_owned()));
            assert_eq!(page["has_more"].as_bool(), Some(page["cursor"].is_string()));
            let Some(cursor) = page["cursor"].as_str() else { break };
            assert_eq!(rows.len(), limit);
            target = format!("/v1/accounts/alice/holds?limit={limit}&cursor={cursor}");
        }
        let expected: Vec<String> = (0..25).map(|at| format!("h{at:02}")).collect();
        assert_eq!(names, expected, "pages of {limit}");
    }
    bench.check_well();
}

#[test]
fn a_cursor_that_is_malformed_or_of_another_list_is_refused() {
    let mut bench = Bench::start(&[]);
    bench.applied("POST", "/v1/packets", &json!({ "campaign": "c", "asset": "EUR", "amounts": [1, 2] }));
    let events = bench.http.get("/v1/events").json()["cursor"].as_str().unwrap().to_owned();
    let (holds, claims) = (cursor::after_row("ACCOUNT.HOLDS", "h"), cursor::after_row("PACKET.CLAIMS", "1"));
    let long = "A".repeat(8_000);
    let malformed = ["", "x", "%00", "%ff", "AAAA", "!!!!", "RVZFTlRTOg", &long];
    let all =
        |foreign: [&str; 2]| malformed.iter().copied().chain(foreign).map(str::to_owned).collect::<Vec<_>>();
    for (target, cursors) in [
        ("/v1/accounts/alice/holds", all([&claims, &events])),
        ("/v1/packets/c/claims", all([&holds, &events])),
        ("/v1/events", all([&holds, &claims])),
    ] {
        for cursor in cursors {
            let asked = format!("{target}?cursor={cursor}");
            assert_invalid(&asked, &bench.http.get(&asked), "cursor", "begin without one");
        }
        let twice = format!("{target}?cursor=a&cursor=b");
        assert_invalid(&twice, &bench.http.get(&twice), "cursor", "is given twice");
    }
    bench.check_well();
}

#[test]
fn a_cursor_of_another_history_is_refused() {
    let mut bench = Bench::start(&[]);
    let refused = [
        (vec![Position { epoch: 99, sequence: 1 }], "another history"),
        (vec![Position { epoch: 1, sequence: 1_000_000 }], "another history"),
        (vec![Position { epoch: u64::MAX, sequence: u64::MAX }], "another history"),
        (vec![Position::default(); 2], "another deployment"),
        (Vec::new(), "begin without one"),
    ];
    for (places, reason) in refused {
        let cursor = cursor::of_positions(&places);
        for accept in ["application/json", "text/event-stream"] {
            let target = format!("/v1/events?cursor={cursor}");
            let response = bench.http.call("GET", &target, &[("Accept", accept)], None);
            assert_invalid(&target, &response, "cursor", reason);
            let headers = [("Accept", accept), ("Last-Event-ID", &cursor)];
            let response = bench.http.call("GET", "/v1/events", &headers, None);
            assert_invalid(&target, &response, "cursor", reason);
        }
    }
    let response = bench.raw("GET", "/v1/events", &["Last-Event-ID: \u{fc}"], b"");
    assert_invalid("not ASCII", &response, "cursor", "begin without one");
    let response = bench.raw("GET", "/v1/events", &["Last-Event-ID: a", "Last-Event-ID: b"], b"");
    assert_invalid("twice", &response, "Last-Event-ID", "is given twice");
    bench.check_well();
}
