//! Webhooks and settlement with the binary alone: a signed event at a receiver, a packet on an account, and
//! the errors when something is missing.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/receiver.rs"]
mod receiver;
mod support;

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use receiver::{Came, PATIENCE, receiver};
use serde_json::{Value, json};
use sha2::Sha256;
use support::{Server, json_lines, redis_server, refused_start, scarce, serve};

/// Whether a message was signed with a secret, verified without the server's code.
fn is_genuine(secret: &str, came: &Came) -> bool {
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(format!("{}.{}.", came.headers["webhook-id"], came.headers["webhook-timestamp"]).as_bytes());
    mac.update(&came.body);
    let wanted = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    came.headers["webhook-signature"].split(' ').any(|signature| signature == wanted)
}

fn run(words: &[&str]) -> (Option<i32>, String, String) {
    let output = scarce().args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn file(folder: &Path) -> String {
    format!("sqlite://{}", folder.join("shop.db").display())
}

type Headers<'a> = &'a [(&'a str, &'a str)];

#[test]
fn an_event_comes_signed_under_one_id_until_it_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let url = file(folder.path());
    let server = Server::fresh(&["--sql", &url, "--webhooks"]);
    let place = ["--sql", &url, "--resp", &server.address];
    let webhooks = |words: &[&str]| run(&[&["webhooks"][..], words, &place].concat());
    let (hook, came) = receiver(&[500]);
    let (code, added, said) = webhooks(&["add", &hook, "stock.*"]);
    assert_eq!(code, Some(0), "{said}");
    let (endpoint, secret) = added.trim().split_once(' ').unwrap();
    let mut http = server.http();
    http.post("/v1/accounts", &json!({ "account": "u1", "asset": "EUR" }));
    http.post("/v1/stock", &json!({ "sku": "s1", "quantity": 5 }));
    let listed = || json_lines(&webhooks(&["deliveries", "--endpoint", endpoint, "--json"]).1);
    let next = || came.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("nothing came: {:?}", listed()));
    let tries = [next(), next()];
    for its in &tries {
        assert!(is_genuine(secret, its));
        let body: Value = serde_json::from_slice(&its.body).unwrap();
        assert_eq!((&body["type"], &body["data"]["fields"]["sku"]), (&json!("stock.created"), &json!("s1")));
    }
    assert_eq!(tries[0].headers["webhook-id"], tries[1].headers["webhook-id"]);
    support::wait_until("the delivery was noted", || listed()[0]["state"] == json!("delivered"));
    let [delivery] = &listed()[..] else { panic!("one delivery: {:?}", listed()) };
    assert_eq!((&delivery["attempts"], &delivery["event"]), (&json!(2), &json!("stock.created")));
    let number = delivery["delivery"].to_string();
    assert_eq!(webhooks(&["replay", &number]).0, Some(0));
    assert_eq!(next().headers["webhook-id"], tries[0].headers["webhook-id"]);
    assert_eq!(webhooks(&["pause", endpoint]).0, Some(0));
    assert!(webhooks(&["list"]).1.contains("paused"));
    assert_eq!(webhooks(&["remove", endpoint]).0, Some(0));
    assert_eq!(webhooks(&["remove", endpoint]).0, Some(1));
    assert_eq!(webhooks(&["add", "ftp://there", "*"]).0, Some(1));
    // A connection that is not used while commands run may be closed.
    let metrics = server.http().get("/metrics").text();
    assert!(metrics.contains("scarce_deliveries_dead{queue=\"webhooks\"} 0"), "{metrics}");
}

#[test]
fn an_event_comes_with_the_trace_of_its_request() {
    const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let folder = tempfile::tempdir().unwrap();
    let url = file(folder.path());
    let server = Server::fresh(&["--sql", &url, "--webhooks"]);
    let (hook, came) = receiver(&[]);
    let (code, _, said) = run(&["webhooks", "add", &hook, "*", "--sql", &url, "--resp", &server.address]);
    assert_eq!(code, Some(0), "{said}");
    let mut http = server.http();
    let open = |account: &str| json!({ "account": account, "asset": "EUR" });
    let lines = json!({ "operations": [{ "command": "ACCOUNT.OPEN", "arguments": open("u3") }] });
    let requests: [(&str, Headers<'_>, Value); 4] = [
        ("/v1/accounts", &[("traceparent", TRACE), ("Idempotency-Key", "open-1")], open("u1")),
        ("/v1/accounts", &[], open("u2")),
        ("/v1/batch", &[("traceparent", TRACE)], lines),
        ("/v1/accounts", &[("traceparent", "00-0-0-01")], open("u4")),
    ];
    for (target, headers, body) in requests {
        assert!(http.call("POST", target, headers, Some(&body)).status < 300);
    }
    let traces: BTreeMap<String, Option<String>> = (0..4)
        .map(|_| {
            let came = came.recv_timeout(PATIENCE).unwrap();
            let body: Value = serde_json::from_slice(&came.body).unwrap();
            let account = body["data"]["fields"]["account"].as_str().unwrap().to_owned();
            (account, came.headers.get("traceparent").cloned())
        })
        .collect();
    let known = || Some(TRACE.to_owned());
    let wanted = [("u1", known()), ("u2", None), ("u3", known()), ("u4", None)];
    assert_eq!(traces, wanted.map(|(account, trace)| (account.to_owned(), trace)).into());
}

#[test]
fn the_settings_say_after_how_many_failures_and_how_long_an_endpoint_is_suspended() {
    let folder = tempfile::tempdir().unwrap();
    let url = file(folder.path());
    let limits = ["--webhooks-suspend-after-ms", "1ms", "--webhooks-suspend-failures", "2"];
    let server = Server::fresh(&[&["--sql", &url, "--webhooks"][..], &limits].concat());
    let place = ["--sql", &url, "--resp", &server.address];
    let webhooks = |words: &[&str]| run(&[&["webhooks"][..], words, &place].concat());
    let (hook, came) = receiver(&[500, 500]);
    let (code, _, said) = webhooks(&["add", &hook, "*"]);
    assert_eq!(code, Some(0), "{said}");
    server.http().post("/v1/accounts", &json!({ "account": "u1", "asset": "EUR" }));
    support::wait_until("the endpoint was suspended", || webhooks(&["list"]).1.contains("suspended"));
    assert_eq!(came.try_iter().count(), 2, "one failure is not enough");
}

#[test]
fn secrets_are_encrypted_with_the_key_of_the_server_and_of_the_tool() {
    let folder = tempfile::tempdir().unwrap();
    let (url, keys) = (file(folder.path()), folder.path().join("keys"));
    std::fs::write(&keys, format!("{}\n", STANDARD.encode([7; 32]))).unwrap();
    let key = ["--secrets-key-file", keys.to_str().unwrap()];
    let server = Server::fresh(&[&["--sql", &url, "--webhooks"][..], &key].concat());
    let place = ["--sql", &url, "--resp", &server.address];
    let webhooks = |words: &[&str]| run(&[&["webhooks"][..], words, &place].concat());
    let (hook, came) = receiver(&[]);
    let (code, added, said) = webhooks(&["add", &hook, "*"]);
    assert!(code == Some(0) && said.contains("plain text"), "{said}");
    let secret = added.trim().split_once(' ').unwrap().1;
    server.http().post("/v1/accounts", &json!({ "account": "u1", "asset": "EUR" }));
    assert!(is_genuine(secret, &came.recv_timeout(PATIENCE).unwrap()));
    let rekey = || webhooks(&[&["rekey"][..], &key].concat());
    support::wait_until("the server encrypted it", || rekey().2.contains("0 secrets were encrypted"));
    server.http().post("/v1/accounts", &json!({ "account": "u2", "asset": "EUR" }));
    assert!(is_genuine(secret, &came.recv_timeout(PATIENCE).unwrap()));
    // Without the key that it is encrypted with, nothing can be done, and that is no success.
    let other = folder.path().join("other");
    std::fs::write(&other, STANDARD.encode([8; 32])).unwrap();
    let (code, _, said) = webhooks(&["rekey", "--secrets-key-file", other.to_str().unwrap()]);
    assert!(code == Some(1) && said.contains("1 secrets were left") && said.contains("ep_"), "{said}");
    std::fs::write(&other, "").unwrap();
    let (code, _, said) = webhooks(&["rekey", "--secrets-key-file", other.to_str().unwrap()]);
    assert!(code == Some(2) && said.contains("holds no key") && !said.contains("password"), "{said}");
    let (code, _, said) = webhooks(&["rekey"]);
    assert!(code == Some(2) && said.contains("--secrets-key-file"), "{said}");
    let (code, _, said) = webhooks(&[&["add", &hook, "*"][..], &key].concat());
    assert!(code == Some(0) && !said.contains("plain text"), "{said}");
    let (code, id, _) = webhooks(&["add", &hook, "*", "--secret-from", "env:NOT_THERE"]);
    assert_eq!(code, Some(0));
    support::wait_until("the missing variable is shown", || webhooks(&["list"]).1.contains("env:NOT_THERE"));
    assert_eq!(webhooks(&["remove", id.trim()]).0, Some(0));
}

/// Names, bodies and pages that are not there or malformed.
fn refuses_what_is_wrong(server: &Server) {
    for (path, body, status) in [
        ("/v1/webhooks/ep_none/pause", json!({}), 404),
        ("/v1/deliveries/999999/replay", json!({}), 404),
        ("/v1/deliveries/first/replay", json!({}), 400),
        ("/v1/settlements/c/replay", json!({ "packet": "1" }), 400),
        ("/v1/settlements/c/replay", json!({ "all": true }), 400),
    ] {
        assert_eq!(server.http().post(path, &body).status, status, "{path} {body}");
    }
    for query in ["state=lost", "cursor=x", "limit=0", "limit=1001", "of=x"] {
        assert_eq!(server.http().get(&format!("/v1/deliveries?{query}")).status, 400, "{query}");
        assert_eq!(server.http().get(&format!("/v1/settlements?{query}")).status, 400, "{query}");
    }
}

#[test]
fn operators_see_deliveries_over_http_and_have_them_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let url = file(folder.path());
    let server = Server::fresh(&["--sql", &url, "--webhooks", "--settlement", "engine"]);
    let place = ["--sql", &url, "--resp", &server.address];
    let (hook, came) = receiver(&[]);
    let (code, added, said) = run(&[&["webhooks", "add", &hook, "account.opened"][..], &place].concat());
    assert_eq!(code, Some(0), "{said}");
    let (endpoint, secret) = added.trim().split_once(' ').unwrap();
    let get = |path: &str| server.http().get(path);
    let post = |path: &str, body: Value| server.http().post(path, &body);
    let listed = get("/v1/webhooks");
    assert!(!listed.text().contains(secret), "{}", listed.text());
    let rows = listed.json();
    let [row] = &rows["endpoints"].as_array().unwrap()[..] else { panic!("{rows}") };
    let facts = [&row["endpoint"], &row["url"], &row["state"], &row["events"], &row["failures"]];
    let expected = [json!(endpoint), json!(hook), json!("active"), json!(["account.opened"]), json!(0)];
    assert_eq!(facts, expected.each_ref());

    // A packet that its account cannot take, and an event that is delivered.
    post("/v1/accounts", json!({ "account": "u1", "asset": "USD" }));
    let first = came.recv_timeout(PATIENCE).unwrap();
    post("/v1/packets", json!({ "campaign": "c/1", "asset": "EUR", "amounts": [30, 20] }));
    assert_eq!(post("/v1/packets/c%2F1/claims", json!({ "user": "u1" })).status, 201);
    let dead =
        || get("/v1/settlements?state=dead&campaign=c/1").json()["settlements"].as_array().unwrap().clone();
    support::wait_until("the credit is a dead letter", || dead().len() == 1);
    let letter = dead().remove(0);
    assert!(letter["last_error"].as_str().unwrap().contains("keeps USD"), "{letter}");
    assert_eq!(get("/v1/settlements?state=dead&campaign=c").json()["settlements"], json!([]));
    let attempts = || dead().first().map(|letter| letter["attempts"].clone());
    let before = attempts();
    for body in [json!({ "packet": letter["packet"] }), json!({})] {
        assert_eq!(post("/v1/settlements/c%2F1/replay", body).json(), json!({ "replayed": 1 }));
        support::wait_until("it is a dead letter again", || attempts() == before);
    }
    assert_eq!(
        post("/v1/settlements/c%2F1/replay", json!({ "packet": 999 })).json(),
        json!({ "replayed": 0 })
    );

    let delivered = || get(&format!("/v1/deliveries?endpoint={endpoint}&state=delivered&limit=1")).json();
    support::wait_until("the delivery is noted", || {
        delivered()["deliveries"][0]["event"] == json!("account.opened")
    });
    let number = &delivered()["deliveries"][0]["delivery"];
    assert_eq!(post(&format!("/v1/deliveries/{number}/replay"), json!({})).json(), json!({ "replayed": 1 }));
    assert_eq!(came.recv_timeout(PATIENCE).unwrap().headers["webhook-id"], first.headers["webhook-id"]);
    let of = |what: &str| format!("/v1/webhooks/{endpoint}/{what}");
    assert_eq!(post(&of("pause"), json!({})).json(), json!({ "endpoint": endpoint }));
    assert_eq!(get("/v1/webhooks").json()["endpoints"][0]["state"], json!("paused"));
    assert_eq!(post(&of("resume"), json!({})).status, 200);
    assert_eq!(post(&of("replay"), json!({})).json(), json!({ "replayed": 0 }));
    refuses_what_is_wrong(&server);
    let off = Server::fresh(&[]);
    for path in ["/v1/webhooks", "/v1/deliveries", "/v1/settlements"] {
        let refused = off.http().get(path);
        assert_eq!((refused.status, &refused.json()["code"]), (503, &json!("UNAVAILABLE")), "{path}");
    }
}

/// Claims three packets, and waits until they are settled.
fn claim_and_settle(server: &Server, url: &str) -> Vec<Value> {
    let mut http = server.http();
    let plan = json!({ "campaign": "c1", "asset": "EUR", "amounts": [30, 20, 10] });
    assert_eq!(http.post("/v1/packets", &plan).status, 201);
    for user in ["u1", "u2", "u3"] {
        assert_eq!(http.post("/v1/packets/c1/claims", &json!({ "user": user })).status, 201);
    }
    let settled = || {
        let words =
            ["settlements", "list", "--state", "settled", "--json", "--sql", url, "--resp", &server.address];
        json_lines(&run(&words).1)
    };
    support::wait_until("every packet is settled", || settled().len() == 3);
    settled()
}

#[test]
fn claimed_packets_are_on_the_accounts_with_either_engine() {
    let redis = redis_server(&[]);
    let address = redis.url();
    for engine in [&[][..], &["--engine", "redis", "--redis-url", &address]] {
        let folder = tempfile::tempdir().unwrap();
        let url = file(folder.path());
        let settling = ["--sql", &url, "--settlement", "engine", "--settlement-from-beginning"];
        let server = Server::fresh(&[engine, &settling].concat());
        let settled = claim_and_settle(&server, &url);
        assert!(settled.iter().all(|row| row["account"] == row["user"]), "{settled:?}");
        let mut http = server.http();
        for (user, amount) in [("u1", 30), ("u2", 20), ("u3", 10)] {
            assert_eq!(http.get(&format!("/v1/accounts/{user}")).json()["balance"], json!(amount), "{user}");
        }
        server.wait_until_drained();
        let statement = http.get("/v1/history/accounts/u1/entries").json();
        assert_eq!(statement["rows"][0]["operation_id"], json!("settle:c1:1"));
        server.stop();
        let left = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        let logs: Vec<_> = left.filter(|name| name.to_string_lossy().ends_with("-wal")).collect();
        assert!(logs.is_empty(), "{logs:?}");
    }
}

#[test]
fn claimed_packets_go_to_a_balance_system_signed() {
    let folder = tempfile::tempdir().unwrap();
    let url = file(folder.path());
    let (hook, came) = receiver(&[]);
    let secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXY=";
    let key = folder.path().join("secret");
    std::fs::write(&key, secret).unwrap();
    let settling = ["--sql", &url, "--settlement", &hook, "--settlement-secret-file", key.to_str().unwrap()];
    let server = Server::fresh(&[&settling[..], &["--settlement-from-beginning"]].concat());
    claim_and_settle(&server, &url);
    let mut paid = BTreeMap::new();
    for _ in 0..3 {
        let its = came.recv_timeout(PATIENCE).unwrap();
        assert!(is_genuine(secret, &its));
        let body: Value = serde_json::from_slice(&its.body).unwrap();
        assert_eq!(body["data"]["operation_id"], json!(its.headers["idempotency-key"]));
        paid.insert(
            body["data"]["user"].as_str().unwrap().to_owned(),
            body["data"]["amount"].as_u64().unwrap(),
        );
    }
    assert_eq!(paid, [("u1", 30), ("u2", 20), ("u3", 10)].map(|(user, sum)| (user.to_owned(), sum)).into());
}

#[test]
fn what_is_missing_is_said_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let no_key = folder.path().join("no-key").display().to_string();
    std::fs::write(&no_key, "hunter2\n").unwrap();
    let url = file(folder.path());
    for (options, told) in [
        (&["--webhooks"][..], "need a database; name one with --sql"),
        (&["--settlement", "engine"], "need a database; name one with --sql"),
        (&["--sql", &url, "--settlement", "https://there/"], "--settlement-secret-file"),
        (
            &["--sql", &url, "--settlement", "elsewhere"],
            "must be off, engine, or the address of a balance system",
        ),
        (&["--sql", &url, "--settlement", "engine", "--settlement-account", "all"], "with {user} in it"),
        (&["--sql", &url, "--webhooks", "--secrets-key-file", &no_key], "openssl rand -base64 32"),
    ] {
        let (code, said) = refused_start(&mut serve(&folder.path().join("data"), options));
        assert!(code.is_some_and(|code| code != 0), "{options:?}: {said}");
        assert!(said.contains(told), "{options:?}: {said}");
    }
}

#[test]
fn a_mistyped_database_gets_no_tables() {
    let folder = tempfile::tempdir().unwrap();
    let (url, empty) = (file(folder.path()), folder.path().join("empty.db"));
    std::fs::write(&empty, "").unwrap();
    let server = Server::fresh(&["--sql", &url, "--webhooks"]);
    let silent = Server::fresh(&[]);
    let add = |server: &Server, url: &str| {
        run(&["webhooks", "add", "http://127.0.0.1:1/hook", "*", "--resp", &server.address, "--sql", url])
    };
    let typo = folder.path().join("shpo.db");
    for (server, path) in [(&server, &typo), (&server, &empty), (&silent, &typo)] {
        let address = format!("sqlite://{}", path.display());
        let (code, _, said) = add(server, &address);
        let is_told = said.contains("has no") && said.contains("--webhooks") && said.contains("scarce serve");
        assert!(code == Some(1) && is_told, "{said}");
    }
    assert!(!typo.exists());
    assert_eq!(std::fs::metadata(&empty).unwrap().len(), 0);
    let (code, _, said) = add(&server, &url);
    assert_eq!(code, Some(0), "{said}");
    silent.stop();
    server.stop();
}
