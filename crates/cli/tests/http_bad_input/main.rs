//! Bad and hostile input to the HTTP port: the server says what is wrong, changes nothing, and continues to
//! serve everyone else. Also its promises to clients in doubt: dry runs, duplicates of an operation, streams
//! that resume after a disconnect.

#![allow(clippy::unwrap_used, reason = "only tests use it")]

#[path = "../support/mod.rs"]
mod support;

mod access;
mod answers;
mod copies;
mod dry_runs;
mod durability;
mod framing;
mod lists;
mod shapes;
mod stream;
mod wire;

use serde_json::{Value, json};
use support::{Http, Response, Server};

/// The statuses allowed for server failures, and only in a problem document.
const FAILURES: [u64; 2] = [503, 504];

/// A server with some stock, and a connection to it.
struct Bench {
    server: Server,
    http: Http,
}

impl Bench {
    /// Starts a server with ten units of `sku` and 100 on the account `alice`.
    fn start(options: &[&str]) -> Self {
        let server = Server::overheard(options);
        let http = server.http();
        let mut bench = Self { server, http };
        bench.applied("POST", "/v1/stock", &json!({ "sku": "sku", "quantity": 10 }));
        bench.applied("POST", "/v1/accounts", &json!({ "account": "alice", "asset": "EUR" }));
        bench.applied("POST", "/v1/accounts/alice/credit", &json!({ "amount": 100 }));
        bench
    }

    /// Sends a request that must be applied.
    fn applied(&mut self, method: &str, target: &str, body: &Value) -> Value {
        let response = self.http.call(method, target, &[], Some(body));
        assert!(response.status < 300, "{method} {target} {body}: {}", response.text());
        response.json()
    }

    /// Sends a request with raw bytes as its body.
    fn raw(&mut self, method: &str, target: &str, headers: &[&str], body: &[u8]) -> Response {
        let mut bytes = format!("{method} {target} HTTP/1.1\r\nHost: {}\r\n", self.server.http).into_bytes();
        for header in headers {
            bytes.extend_from_slice(header.as_bytes());
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
        bytes.extend_from_slice(body);
        self.http.send(&bytes);
        self.http.response()
    }

    /// Sends a raw JSON text.
    fn json_text(&mut self, method: &str, target: &str, body: &str) -> Response {
        self.raw(method, target, &["Content-Type: application/json"], body.as_bytes())
    }

    /// Opens a new connection if the last one was or may be closed.
    fn reconnect(&mut self) {
        self.http = self.server.http();
    }

    /// The whole state: the digest of every partition, and the whole log.
    fn everything(&mut self) -> String {
        let digests = self.http.get("/v1/digest").text();
        let mut events = Vec::new();
        let mut target = "/v1/events?limit=1000".to_owned();
        loop {
            let page = self.http.get(&target).json();
            events.extend(page["events"].as_array().cloned().unwrap());
            target = format!("/v1/events?limit=1000&cursor={}", page["cursor"].as_str().unwrap());
            if page["has_more"] == false {
                return format!("{digests} {}", Value::from(events));
            }
        }
    }

    /// Checks that the server runs, answers others, and has not panicked.
    fn check_well(&self) {
        assert_eq!(self.server.http().get("/livez").status, 200);
        let said = self.server.overhead();
        assert!(!said.contains("panicked"), "{said}");
    }
}

/// Checks that a response rejects a malformed request, names a field and says what is wrong.
fn assert_invalid(asked: &str, response: &Response, field: &str, reason: &str) {
    assert_eq!(response.status, 400, "{asked}: {}", response.text());
    assert_eq!(response.media_type(), "application/problem+json", "{asked}");
    let problem = response.json();
    assert_eq!(problem["code"], "INVALID", "{asked}: {problem}");
    assert_eq!(problem["facts"]["argument"], field, "{asked}: {problem}");
    let said = problem["facts"]["reason"].as_str().unwrap();
    assert!(said.contains(reason), "{asked}: {problem}");
}

/// Checks that a response is a problem with this status and code.
fn assert_problem(asked: &str, response: &Response, status: u16, code: &str) {
    assert_eq!((response.status, response.code().as_str()), (status, code), "{asked}: {}", response.text());
    assert_eq!(response.media_type(), "application/problem+json", "{asked}");
    assert_eq!(response.json()["status"], status, "{asked}");
}
