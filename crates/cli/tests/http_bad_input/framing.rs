//! Requests that a proxy and this port could read in two ways: no part of a body becomes a request.

use crate::Bench;
use crate::support::Http;

const BODY: &str = r#"{"quantity":1,"owner":"u"}"#;

fn head(lines: &[&str]) -> String {
    let head = "POST /v1/stock/sku/take HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    lines.iter().fold(head.to_owned(), |head, line| head + line + "\r\n") + "\r\n"
}

fn chunked(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}

/// The statuses that come back until the connection ends.
fn statuses(http: &mut Http) -> Vec<u16> {
    let mut statuses = Vec::new();
    while !http.has_ended() {
        statuses.push(http.response().status);
    }
    statuses
}

#[test]
fn what_can_be_read_in_two_ways_is_refused_and_ends_the_connection() {
    let mut bench = Bench::start(&[]);
    let before = bench.everything();
    let smuggled = "POST /v1/stock/sku/take HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let length = format!("Content-Length: {}", BODY.len());
    let chunks = chunked(BODY);
    let cases: [(&[&str], &str); 11] = [
        (&["Transfer-Encoding: gzip, chunked"], &chunks),
        (&["Transfer-Encoding: chunked, chunked"], &chunks),
        (&["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], &chunks),
        (&["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], &chunks),
        (&["Transfer-Encoding: xchunked"], &chunks),
        (&["Transfer-Encoding : chunked"], &chunks),
        (&["Transfer-Encoding:\r\n chunked"], &chunks),
        (&["Content-Length: 26, 26"], BODY),
        (&["Content-Length: +26"], BODY),
        (&["X: a\rTransfer-Encoding: chunked", &length], BODY),
        (&["Authorization: Bearer a", "Authorization: Bearer b", &length], BODY),
    ];
    for (lines, body) in cases {
        let mut http = bench.server.http();
        http.send(format!("{}{body}{smuggled}", head(lines)).as_bytes());
        let statuses = statuses(&mut http);
        assert!(matches!(statuses[..], [] | [400]), "{lines:?}: {statuses:?}");
        bench.reconnect();
        assert_eq!(bench.everything(), before, "{lines:?}");
    }
    // With a length beside chunks the chunks count, and nothing behind them is read.
    for lines in [
        ["Content-Length: 4", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked", "Content-Length: 4"],
    ] {
        let mut http = bench.server.http();
        http.send(format!("{}{chunks}{smuggled}", head(&lines)).as_bytes());
        assert_eq!(statuses(&mut http), [200], "{lines:?}");
    }
    // The same without what is ambiguous.
    for (line, body) in [("Transfer-Encoding: Chunked", &*chunks), (&*length, BODY)] {
        bench.http.send(format!("{}{body}", head(&[line])).as_bytes());
        assert_eq!(bench.http.response().status, 200, "{line}");
    }
    bench.check_well();
}
