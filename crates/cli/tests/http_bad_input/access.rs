//! Authentication and host names.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::support::{Response, Server};
use crate::{Bench, assert_problem};

/// What a browser says of a page of another site.
const CROSS_SITE: (&str, &str) = ("Sec-Fetch-Site", "cross-site");

#[test]
fn a_page_of_another_origin_neither_changes_nor_reads() {
    let mut bench = Bench::start(&["--http-origins", "https://shop.example, http://localhost:3000"]);
    let before = bench.everything();
    let foreign: &[&[(&str, &str)]] = &[
        &[("Origin", "https://evil.example")],
        &[("Origin", "https://shop.example:8443")],
        &[("Origin", "null")],
        &[("Origin", "http://localhost:3000"), ("Origin", "https://shop.example")],
        &[CROSS_SITE],
        &[("Sec-Fetch-Site", "same-site")],
        &[CROSS_SITE, ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")],
    ];
    let body = serde_json::json!({ "quantity": 1, "owner": "u" });
    for headers in foreign {
        let taken = bench.http.call("POST", "/v1/stock/sku/take", headers, Some(&body));
        assert_problem(&format!("{headers:?}"), &taken, 403, "CROSS_ORIGIN");
        assert!(taken.json()["advice"].as_str().unwrap().contains("http_origins"));
        assert_eq!(taken.header("access-control-allow-origin"), None);
        for target in ["/v1/events", "/v1/digest", "/metrics", "/openapi.json"] {
            let streamed = [headers, &[("Accept", "text/event-stream")][..]].concat();
            assert_problem(target, &bench.http.call("GET", target, &streamed, None), 403, "CROSS_ORIGIN");
        }
        let asked = [headers, &[("Access-Control-Request-Method", "POST")][..]].concat();
        let preflight = bench.http.call("OPTIONS", "/v1/stock/sku/take", &asked, None);
        assert_problem("a preflight", &preflight, 403, "CROSS_ORIGIN");
    }
    assert_eq!(bench.everything(), before);

    let listed = ("Origin", "https://shop.example");
    let asked = [listed, CROSS_SITE, ("Access-Control-Request-Method", "POST")];
    let preflight = bench.http.call("OPTIONS", "/v1/stock/sku/take", &asked, None);
    assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, Some(listed.1)));
    let taken = bench.http.call("POST", "/v1/stock/sku/take", &[listed, CROSS_SITE], Some(&body));
    assert_eq!((taken.status, taken.header("access-control-allow-origin")), (200, Some(listed.1)));
    let own = format!("http://{}", bench.server.http);
    let taken = bench.http.call("POST", "/v1/stock/sku/take", &[("Origin", &own)], Some(&body));
    assert_eq!((taken.status, taken.header("access-control-allow-origin")), (200, None));
    let link = [CROSS_SITE, ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
    assert_eq!(bench.http.call("GET", "/docs/", &link, None).status, 200, "a link from another site");
    bench.check_well();
}

#[test]
fn without_a_password_only_this_machine_is_a_host() {
    let mut bench = Bench::start(&[]);
    let address = bench.server.http.clone();
    let mut ask = |hosts: &[&str]| -> Response {
        let hosts: String = hosts.iter().map(|host| format!("Host: {host}\r\n")).collect();
        bench.http.send(format!("GET /v1/stock/sku HTTP/1.1\r\n{hosts}\r\n").as_bytes());
        bench.http.response()
    };
    for local in [address.as_str(), "localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:7380"] {
        assert_eq!(ask(&[local]).status, 200, "{local}");
    }
    let misdirected: &[&[&str]] = &[
        &["shop.example"],
        &["shop.example:7380"],
        &["localhost.shop.example"],
        &["127.0.0.1.nip.example"],
        &[""],
        &["\u{fc}"],
        &[],
        &["localhost", "shop.example"],
        &["shop.example", "localhost"],
    ];
    for hosts in misdirected {
        assert_problem(&format!("{hosts:?}"), &ask(hosts), 421, "MISDIRECTED");
    }
    bench.check_well();
}

#[test]
fn with_a_password_it_must_be_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    std::fs::write(&file, "open sesame\n").unwrap();
    let options = ["--password-file", file.to_str().unwrap()];
    let server = Server::overheard(&options);
    let mut http = server.http();
    let basic = |pair: &str| format!("Basic {}", STANDARD.encode(pair));
    let mut ask = |target: &str, shown: Option<&str>| {
        let headers: Vec<_> = shown.map(|shown| ("Authorization", shown)).into_iter().collect();
        http.call("GET", target, &headers, None)
    };
    for right in
        ["Bearer open sesame", "bearer open sesame", &basic("any:open sesame"), &basic(":open sesame")]
    {
        assert_eq!(ask("/v1/digest", Some(right)).status, 200, "{right}");
    }
    let wrong = [
        None,
        Some(String::new()),
        Some("Bearer".to_owned()),
        Some("Bearer ".to_owned()),
        Some("Bearer open sesam".to_owned()),
        Some("Bearer open sesame!".to_owned()),
        Some("open sesame".to_owned()),
        Some("Digest open sesame".to_owned()),
        Some("Basic open sesame".to_owned()),
        Some(basic("open sesame")),
        Some(basic("open sesame:")),
        Some(basic("any:wrong")),
        Some("Basic ====".to_owned()),
    ];
    for target in ["/v1/digest", "/v1/events", "/metrics", "/v1/stock/sku"] {
        // A new one each time, which has not been shown too many wrong ones.
        let server = Server::overheard(&options);
        let mut http = server.http();
        for shown in &wrong {
            let headers: Vec<_> = shown.iter().map(|shown| ("Authorization", shown.as_str())).collect();
            let response = http.call("GET", target, &headers, None);
            assert_problem(&format!("{target} {shown:?}"), &response, 401, "UNAUTHENTICATED");
            assert_eq!(response.header("www-authenticate"), Some("Bearer"));
        }
    }
    for open in ["/livez", "/readyz", "/openapi.json", "/docs/", "/problems/SOLD_OUT"] {
        assert_eq!(ask(open, None).status, 200, "{open}");
    }
    let posted = http.call("POST", "/v1/stock", &[], Some(&serde_json::json!({ "sku": "s", "quantity": 1 })));
    assert_problem("a POST", &posted, 401, "UNAUTHENTICATED");
    let mut other = server.http();
    other
        .send(b"GET /v1/stock/s HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer open sesame\r\n\r\n");
    assert_problem("by a name, and not made", &other.response(), 404, "STOCK_NOT_FOUND");
    assert!(!server.overhead().contains("panicked"));
}

/// A page that the server itself shows runs no text of a caller, and is shown in nobody else's frame.
#[test]
fn pages_run_only_what_comes_with_them_and_in_no_frame() {
    let mut bench = Bench::start(&[]);
    for path in ["/console/", "/docs/"] {
        let response = bench.http.get(path);
        let policy = response.header("content-security-policy").unwrap_or_default();
        assert!(
            policy.starts_with("default-src 'self'") && policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        // Nothing is said of scripts, so the default holds for them.
        assert!(
            !policy.contains("script-src") && !policy.contains("unsafe-eval") && !policy.contains('*'),
            "{policy}"
        );
        assert_eq!(policy.contains("unsafe-inline"), path == "/docs/", "the explorer's styles: {policy}");
    }
    let json = bench.http.get("/v1/stock/sku");
    assert_eq!(json.header("x-content-type-options"), Some("nosniff"));
    bench.check_well();
}
