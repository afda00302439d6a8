//! Answers that are not sent as they are: compressed, or not again; and the id by which a request is found in the log.

use std::io::Read as _;

use flate2::read::GzDecoder;
use serde_json::json;

use crate::Bench;
use crate::support::Response;

const GZIP: (&str, &str) = ("Accept-Encoding", "br, gzip;q=0.8");

fn unpacked(response: &Response) -> Vec<u8> {
    assert_eq!(response.header("content-encoding"), Some("gzip"), "{:?}", response.headers);
    let mut plain = Vec::new();
    GzDecoder::new(response.body.as_slice()).read_to_end(&mut plain).unwrap();
    plain
}

#[test]
fn a_large_answer_is_compressed_for_who_takes_it() {
    let mut bench = Bench::start(&[]);
    let lines: Vec<_> = (0..100)
        .map(|at| json!({ "command": "ACCOUNT.OPEN", "arguments": { "account": format!("a{at:02}"), "asset": "EUR" } }))
        .collect();
    let batch = json!({ "operations": lines });
    let opened = bench.http.call("POST", "/v1/batch", &[GZIP], Some(&batch));
    assert!(unpacked(&opened).starts_with(b"{"));
    for target in
        ["/v1/accounts?limit=100", "/openapi.json", "/console/console.js", "/docs/swagger-ui-bundle.js"]
    {
        let plain = bench.http.get(target);
        assert_eq!((plain.status, plain.header("content-encoding")), (200, None));
        let packed = bench.http.call("GET", target, &[GZIP], None);
        assert!(
            packed.body.len() * 2 < plain.body.len(),
            "{target}: {} of {}",
            packed.body.len(),
            plain.body.len()
        );
        assert_eq!(unpacked(&packed), plain.body, "{target}");
        assert!(packed.header("vary").unwrap().contains("accept-encoding"), "{:?}", packed.headers);
    }
    let small = bench.http.call("GET", "/v1/stock/sku", &[GZIP], None);
    assert_eq!((small.status, small.header("content-encoding")), (200, None));
    bench.check_well();
}

#[test]
fn a_read_is_answered_again_only_when_its_answer_is_another_one() {
    let mut bench = Bench::start(&[]);
    for target in
        ["/v1/stock/sku", "/v1/stock", "/openapi.json", "/openapi.json?lang=zh", "/console/console.css"]
    {
        let first = bench.http.get(target);
        let tag = first.header("etag").unwrap_or_else(|| panic!("{target}: {:?}", first.headers)).to_owned();
        for headers in [&[("If-None-Match", tag.as_str())][..], &[("If-None-Match", tag.as_str()), GZIP][..]]
        {
            let again = bench.http.call("GET", target, headers, None);
            assert_eq!((again.status, again.body.len()), (304, 0), "{target}");
            assert_eq!(again.header("etag"), Some(tag.as_str()));
        }
        if target.starts_with("/v1/stock") {
            bench.applied("POST", "/v1/stock/sku/take", &json!({ "quantity": 1, "owner": "bob" }));
            let other = bench.http.call("GET", target, &[("If-None-Match", &tag)], None);
            assert!(other.status == 200 && other.header("etag") != Some(tag.as_str()), "{target}");
        }
    }
    let missing = bench.http.call("GET", "/v1/stock/none", &[("If-None-Match", "*")], None);
    assert_eq!((missing.status, missing.header("etag")), (404, None));
    bench.check_well();
}

#[test]
fn a_request_is_found_in_the_access_log_by_its_id_and_its_trace() {
    let options = ["--log-format", "json", "--log-level", "info,access=debug"];
    let mut bench = Bench::start(&options);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let parent = format!("00-{trace}-00f067aa0ba902b7-01");
    let debit = json!({ "amount": 1_000 });
    let headers = [("X-Request-Id", "order-7"), ("traceparent", &parent)];
    let refused = bench.http.call("POST", "/v1/accounts/alice/debit", &headers, Some(&debit));
    assert_eq!((refused.status, refused.header("x-request-id")), (409, Some("order-7")));
    let traced = bench.http.call("GET", "/v1/accounts/alice", &[("traceparent", &parent)], None);
    assert_eq!(traced.header("x-request-id"), Some(trace));
    let forged = bench.http.call("GET", "/livez", &[("X-Request-Id", "a\tb {\"x\":1}")], None);
    let made = forged.header("x-request-id").unwrap();
    assert!(made.len() == 32 && made != trace, "{made}");
    bench.check_well();
    let log = bench.server.stop_overheard();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let lines: Vec<_> = lines.filter(|line| line["target"] == "access").collect();
    let line = lines.iter().find(|line| line["request_id"] == "order-7").unwrap();
    assert_eq!(
        (&line["method"], &line["path"], &line["status"], &line["trace_id"], &line["peer"]),
        (&"POST".into(), &"/v1/accounts/alice/debit".into(), &409.into(), &trace.into(), &"127.0.0.1".into())
    );
    assert!(line["took_us"].as_u64().unwrap() > 0 && line["bytes"].as_u64().unwrap() > 0, "{line}");
    assert!(lines.iter().any(|line| line["request_id"] == trace), "{lines:#?}");
    assert!(!log.contains("{\\\"x\\\""), "{log}");
}
