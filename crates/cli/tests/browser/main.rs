//! A real browser on a page of another origin: whatever the page sends to the ports of a server without a
//! password, nothing changes. Only a page whose origin the settings list may call the server.

#![allow(clippy::unwrap_used, reason = "only tests use it")]

#[path = "../support/mod.rs"]
mod support;

mod chromium;
mod site;

use chromium::Chromium;
use serde_json::{Value, json};
use site::Site;
use support::{Http, Server};

/// What the page of an attacker does.
const ATTACK: &str = include_str!("attack.html");

/// What the page of a customer's own back office does.
const CALL: &str = include_str!("call.html");

/// Something to steal and to use up.
fn prepare(http: &mut Http) {
    for (path, body) in [
        ("/v1/accounts", json!({ "account": "alice", "asset": "EUR" })),
        ("/v1/accounts", json!({ "account": "mallory", "asset": "EUR" })),
        ("/v1/accounts/alice/credit", json!({ "amount": 1_000 })),
        ("/v1/stock", json!({ "sku": "sku", "quantity": 10 })),
    ] {
        assert!(http.post(path, &body).status < 300, "{path}");
    }
}

/// The digest and the whole log.
fn everything(http: &mut Http) -> (Value, Value) {
    (http.get("/v1/digest").json(), http.get("/v1/events?limit=1000").json())
}

/// The page with the addresses of the server in it.
fn page(text: &str, server: &Server) -> String {
    text.replace("HTTP_ADDRESS", &server.http).replace("RESP_ADDRESS", &server.address)
}

#[test]
fn no_page_of_another_origin_changes_anything() {
    let server = Server::overheard(&[]);
    let mut http = server.http();
    prepare(&mut http);
    let before = everything(&mut http);
    let site = Site::serve(page(ATTACK, &server));
    // To the server's address, the first is the same site on another port, the second another site.
    for host in ["127.0.0.1", "localhost"] {
        let _browser = Chromium::open(&site.url(host));
        let tried = site.report();
        let tried = tried.as_object().unwrap();
        assert!(tried.len() >= 14, "{host}: not everything was tried: {tried:?}");
        let read: Vec<_> = tried.iter().filter(|(_, seen)| *seen == "read").collect();
        assert!(read.is_empty(), "{host}: the page could read {read:?}");
        assert_eq!(everything(&mut http), before, "{host}: {tried:?}");
    }
    let said = server.overhead();
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn a_page_of_a_listed_origin_may_call_and_no_other() {
    let site = Site::bind();
    let server = Server::overheard(&["--http-origins", &site.origin("127.0.0.1")]);
    let mut http = server.http();
    prepare(&mut http);
    let site = site.start(page(CALL, &server));
    let seen = {
        let _browser = Chromium::open(&site.url("127.0.0.1"));
        site.report()
    };
    assert_eq!(seen["credit"]["status"], 200, "{seen}");
    assert_eq!(seen["credit"]["body"]["balance"], 1_007, "{seen}");
    assert_eq!(seen["credit"]["key"], "page-1", "the page reads the operation id: {seen}");
    assert_eq!(seen["events"], "read", "{seen}");
    let before = everything(&mut http);
    let _browser = Chromium::open(&site.url("localhost"));
    let seen = site.report();
    assert_eq!((&seen["credit"], &seen["events"]), (&json!("blocked"), &json!("blocked")), "{seen}");
    assert_eq!(everything(&mut http), before);
}
