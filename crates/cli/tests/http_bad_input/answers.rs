//! Answers that are not sent as they are: compressed, or not again.

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
