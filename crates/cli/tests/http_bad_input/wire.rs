//! Requests that are broken, slow, too large, or sent to unknown paths.

use std::net::Shutdown;

use serde_json::json;

use crate::support::{Http, Response, encoded};
use crate::{Bench, assert_invalid, assert_problem};

const TAKE: &str = "/v1/stock/sku/take";
const BODY: &str = r#"{"quantity": 1, "owner": "u"}"#;

fn request(bench: &Bench, body: &str) -> String {
    format!(
        "POST {TAKE} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        bench.server.http,
        body.len()
    )
}

/// The status of the answer, if one comes before the connection ends.
fn answer(http: &mut Http) -> Option<u16> {
    if http.has_ended() { None } else { Some(http.response().status) }
}

#[test]
fn a_request_that_breaks_off_anywhere_changes_nothing() {
    let mut bench = Bench::start(&[]);
    let before = bench.everything();
    let bytes = request(&bench, BODY);
    for end in 1..bytes.len() {
        let mut http = bench.server.http();
        http.send(&bytes.as_bytes()[..end]);
        http.sender().shutdown(Shutdown::Write).unwrap();
        let status = answer(&mut http);
        assert!(matches!(status, None | Some(400)), "cut off after {end} bytes: {status:?}");
    }
    bench.reconnect();
    assert_eq!(bench.everything(), before);
    bench.check_well();
}

#[test]
fn chunks_make_a_body_and_broken_ones_change_nothing() {
    let mut bench = Bench::start(&[]);
    let head = format!(
        "POST {TAKE} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n",
        bench.server.http
    );
    let mut chunked: String = BODY.chars().map(|byte| format!("1\r\n{byte}\r\n")).collect();
    chunked.push_str("0\r\n\r\n");
    bench.http.send(format!("{head}\r\n{chunked}").as_bytes());
    let response = bench.http.response();
    assert_eq!((response.status, response.json()["first_serial"].as_u64()), (200, Some(1)));
    let before = bench.everything();
    let broken = [
        format!("{head}\r\nzz\r\n{BODY}\r\n0\r\n\r\n"),
        format!("{head}\r\n-5\r\n{BODY}\r\n0\r\n\r\n"),
        format!("{head}\r\nffffffffffffffffff\r\n{BODY}"),
        format!("{head}\r\n5\r\n{BODY}\r\n0\r\n\r\n"),
        format!("{head}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{BODY}"),
        request(&bench, BODY).replace("Content-Length: 29", "Content-Length: -1"),
        request(&bench, BODY).replace("Content-Length: 29", "Content-Length: 29, 30"),
        request(&bench, BODY).replace("HTTP/1.1", "HTTP/9.9"),
        request(&bench, BODY).replace("Host:", "Ho st:"),
        "\r\n\r\nhello\r\n\r\n".to_owned(),
        "\0\0\0\0\r\n\r\n".to_owned(),
    ];
    for bytes in broken {
        let mut http = bench.server.http();
        http.send(bytes.as_bytes());
        http.sender().shutdown(Shutdown::Write).unwrap();
        let status = answer(&mut http);
        assert!(matches!(status, None | Some(400)), "{bytes:?}: {status:?}");
    }
    assert_eq!(bench.everything(), before);
    bench.check_well();
}

#[test]
fn what_cannot_be_read_is_answered_with_a_problem_document_behind_the_answers_before() {
    let bench = Bench::start(&[]);
    let malformed = [
        "GET /livez HTTP/9.9\r\n\r\n",
        "GET  /livez HTTP/1.1\r\nHo st: localhost\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
        "POST /v1/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "POST /v1/batch HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
    ];
    for request in malformed {
        for before in ["", "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"] {
            let mut http = bench.server.http();
            http.send(format!("{before}{request}").as_bytes());
            if !before.is_empty() {
                assert_eq!(http.response().status, 200);
            }
            let response = http.response();
            assert_invalid(request, &response, "request", "HTTP/1.1");
            assert_eq!(response.header("connection"), Some("close"));
            assert!(response.header("x-request-id").is_some_and(|id| id.len() == 32), "{request:?}");
            assert!(http.has_ended());
        }
    }
    bench.check_well();
}

#[test]
fn headers_have_16_kib_and_no_more() {
    let mut bench = Bench::start(&[]);
    let small = format!("X-Note: {}", "n".repeat(8 << 10));
    assert_eq!(bench.raw("GET", "/livez", &[&small], b"").status, 200);
    for bytes in [17 << 10, 1 << 20] {
        bench.reconnect();
        let large =
            format!("GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Note: {}\r\n\r\n", "n".repeat(bytes));
        let mut sender = bench.http.sender();
        // The server may close the connection before it has read everything.
        let sending =
            std::thread::spawn(move || std::io::Write::write_all(&mut sender, large.as_bytes()).is_ok());
        let line = bench.http.line();
        assert!(line.starts_with("HTTP/1.1 431 "), "{bytes} bytes: {line:?}");
        let head = std::iter::repeat_with(|| bench.http.line()).take_while(|line| !line.is_empty());
        assert!(head.collect::<Vec<_>>().iter().any(|line| line.contains("application/problem+json")));
        bench.reconnect();
        let _ = sending.join().unwrap();
    }
    let many: Vec<String> = (0..200).map(|at| format!("X-{at}: n")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    bench.reconnect();
    let response = bench.raw("GET", "/livez", &many, b"");
    assert_problem("more than 100 headers", &response, 431, "HEADERS_TOO_LARGE");
    bench.check_well();
}

/// Sends a byte after each answer to another request, until the server closes the connection. Returns the answer.
fn drip(bench: &Bench, head: &str) -> Response {
    let mut slow = bench.server.http();
    slow.send(head.as_bytes());
    let mut sender = slow.sender();
    let ended = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let response = slow.response();
            while !slow.has_ended() {
                slow.line();
            }
            response
        });
        let mut other = bench.server.http();
        while !reader.is_finished() {
            assert_eq!(other.get("/v1/stock/sku").status, 200);
            // Fails once the server has closed the connection.
            let _ = std::io::Write::write_all(&mut sender, b"x");
            std::thread::park_timeout(std::time::Duration::from_millis(20));
        }
        reader.join()
    });
    ended.unwrap()
}

#[test]
fn who_drips_headers_is_cut_off_and_delays_nobody() {
    let bench = Bench::start(&[]);
    let response = drip(&bench, "GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
    assert_problem("a head that does not end", &response, 408, "REQUEST_TIMEOUT");
    assert_eq!(response.json()["retryable"], true);
    bench.check_well();
}

#[test]
fn who_drips_a_body_is_cut_off_and_changes_nothing() {
    let mut bench = Bench::start(&[]);
    let before = bench.everything();
    let response = drip(
        &bench,
        &format!(
            "POST {TAKE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n"
        ),
    );
    assert_problem("a body that does not end", &response, 408, "REQUEST_TIMEOUT");
    bench.reconnect();
    assert_eq!(bench.everything(), before);
    bench.check_well();
}

#[test]
fn a_connection_stays_open_for_as_long_as_is_set_and_an_idle_one_is_told_nothing() {
    let bench = Bench::start(&["--http-keep-alive-ms", "5s"]);
    let mut idle = bench.server.http();
    assert_eq!(idle.get("/livez").status, 200);
    let mut silent = bench.server.http();
    assert!(idle.has_ended() && silent.has_ended(), "without an answer that nobody asked for");
    // Under the usual setting, connections that are idle for as long are still served.
    let usual = Bench::start(&[]);
    let mut kept = usual.server.http();
    assert_eq!(kept.get("/livez").status, 200);
    std::thread::park_timeout(std::time::Duration::from_secs(6));
    assert_eq!(kept.get("/livez").status, 200);
    bench.check_well();
}

#[test]
fn half_sent_bodies_take_little_memory_and_nobody_s_place() {
    let mut bench = Bench::start(&[]);
    let before = bench.everything();
    let kib = bench.server.resident_kib();
    let head = "POST /v1/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";
    let half = [head.as_bytes(), &vec![b' '; 500_000]].concat();
    let senders: Vec<_> = (0..500)
        .map(|_| {
            let mut sender = std::net::TcpStream::connect(&bench.server.http).unwrap();
            sender.set_nonblocking(true).unwrap();
            // What the server does not read stays in the system's buffers.
            let _ = std::io::Write::write(&mut sender, &half);
            sender
        })
        .collect();
    for _ in 0..10 {
        assert_eq!(bench.everything(), before);
    }
    let taken_kib = bench.server.resident_kib() - kib;
    // The bodies alone are 240 MiB. Beside their bound of 8, each connection has its buffers.
    assert!(taken_kib < 100 << 10, "{taken_kib} KiB");
    bench.applied("POST", TAKE, &json!({ "quantity": 1, "owner": "u" }));
    drop(senders);
    bench.check_well();
}

#[test]
fn requests_in_a_row_are_answered_in_their_order() {
    let mut bench = Bench::start(&[]);
    let mut bytes = String::new();
    for at in 1..=9 {
        let body = format!(r#"{{"quantity": 1, "owner": "u{at}"}}"#);
        bytes.push_str(&request(&bench, &body));
        bytes.push_str("GET /v1/stock/sku HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    bench.http.send(bytes.as_bytes());
    for serial in 1..=9 {
        assert_eq!(bench.http.response().json()["first_serial"], serial);
        assert_eq!(bench.http.response().json()["sold"], serial);
    }
    bench.check_well();
}

#[test]
fn any_id_has_its_place_in_a_path() {
    let mut bench = Bench::start(&["--partitions", "4"]);
    for id in ["a/b", "{tag}/x", "a+b=c", "..", ".", "@:/=+", "%2F".trim_matches('%'), &"i".repeat(64)] {
        bench.applied("POST", "/v1/accounts", &json!({ "account": id, "asset": "EUR" }));
        let path = format!("/v1/accounts/{}", encoded(id));
        assert_eq!(bench.http.get(&path).json()["account"], id);
        let hold = json!({ "hold": id, "amount": 5 });
        bench.applied("POST", &format!("{path}/credit"), &json!({ "amount": 5 }));
        bench.applied("POST", &format!("{path}/holds"), &hold);
        let voided = bench.applied("POST", &format!("{path}/holds/{}/void", encoded(id)), &json!({}));
        assert_eq!(voided["released"], 5, "{id}");
    }
    let response = bench.http.call("GET", "/v1/operations/%7Bo%7D%2F%3F%25?on=%7Btag%7D%2Fx", &[], None);
    assert_problem("an operation", &response, 404, "OPERATION_NOT_FOUND");
    assert_eq!(response.json()["facts"]["operation"], "{o}/?%");
    for path in ["/v1/accounts/%ff", "/v1/accounts/%c3%28/holds"] {
        assert_invalid(path, &bench.http.get(path), "path", "is not UTF-8");
    }
    let response = bench.http.post("/v1/accounts//credit", &json!({ "amount": 1 }));
    assert_invalid("an empty id", &response, "account", "must be");
    let response = bench.http.get("/v1/accounts/a%00b");
    assert_invalid("a zero byte", &response, "account", "may hold");
    let response = bench.http.get(&format!("/v1/accounts/{}", "i".repeat(65)));
    assert_invalid("65 bytes", &response, "account", "64");
    bench.check_well();
}

#[test]
fn where_nothing_is_a_problem_says_so() {
    let mut bench = Bench::start(&[]);
    let nowhere = [
        "/",
        "/v1",
        "/v1/",
        "/v2/accounts",
        "/v1/accounts/",
        "/v1/stock/sku/",
        "/V1/stock/sku",
        "/problems/",
        "/problems/NO_SUCH",
        "/problems/APPLIED",
        "/problems/sold_out",
        "/problems/%ff",
        "/docs/none.js",
        "/docs/..%2f..%2fetc%2fpasswd",
        "/docs/%ff",
        "//v1/stock/sku",
        "/v1/stock/sku/../../digest",
    ];
    for target in nowhere {
        assert_problem(target, &bench.http.get(target), 404, "NOT_FOUND");
    }
    let chinese = bench.http.call("GET", "/nowhere", &[("Accept-Language", "zh-CN,zh;q=0.9,en;q=0.8")], None);
    assert_eq!(chinese.header("content-language"), Some("zh-CN"));
    assert_ne!(chinese.json()["title"], bench.http.get("/nowhere").json()["title"]);
    bench.check_well();
}

#[test]
fn a_path_tells_which_methods_it_has() {
    let mut bench = Bench::start(&[]);
    let before = bench.everything();
    let refused = [
        ("OPTIONS", TAKE, "POST"),
        ("GET", TAKE, "POST"),
        ("HEAD", TAKE, "POST"),
        ("PUT", "/v1/coupons/c", "GET,HEAD,PATCH"),
        ("OPTIONS", "/v1/accounts/alice/holds", "GET,HEAD,POST"),
        ("TRACE", "/v1/digest", "GET,HEAD"),
        ("POST", "/v1/events", "GET,HEAD"),
        ("DELETE", "/livez", "GET,HEAD"),
        ("POST", "/openapi.json", "GET,HEAD"),
        ("BREW", "/v1/batch", "POST"),
    ];
    for (method, target, allowed) in refused {
        let response = bench.http.call(method, target, &[], None);
        assert_eq!(response.status, 405, "{method} {target}");
        let mut known: Vec<&str> = response.header("allow").unwrap_or_default().split(',').collect();
        known.sort_unstable();
        assert_eq!(known.join(","), allowed, "{method} {target}");
        if method != "HEAD" {
            assert_problem(target, &response, 405, "METHOD_NOT_ALLOWED");
        }
    }
    let head = bench.http.call("HEAD", "/v1/stock/sku", &[], None);
    let get = bench.http.get("/v1/stock/sku");
    assert_eq!((head.status, head.header("content-length")), (200, get.header("content-length")));
    assert_eq!(bench.everything(), before);
    bench.check_well();
}
