//! The audit log: who administered what, and who was turned away, over both ports, with both engines, across restarts.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use support::{Server, frame, json_lines, redis_server, scarce, wait_until};
use tempfile::TempDir;

/// Makes a key and gives its text.
fn make(data: &Path, name: &str, scope: &str) -> String {
    let made =
        scarce().args(["keys", "create", "--name", name, "--scope", scope, "--data"]).arg(data).output();
    String::from_utf8(made.unwrap().stdout).unwrap().trim().to_owned()
}

/// The records that `scarce audit` prints.
fn records(data: &Path, words: &[&str]) -> Vec<Value> {
    let output = scarce().args(["audit", "--json", "--data"]).arg(data).args(words).output().unwrap();
    json_lines(&String::from_utf8(output.stdout).unwrap())
}

/// Waits until so many records are there.
fn recorded(data: &Path, words: &[&str], count: usize) -> Vec<Value> {
    wait_until(&format!("there are {count} records with {words:?}"), || records(data, words).len() >= count);
    records(data, words)
}

fn fields<'a>(record: &'a Value, names: &[&str]) -> Vec<&'a Value> {
    names.iter().map(|name| &record[*name]).collect()
}

#[test]
fn acts_are_recorded_with_who_what_and_their_outcome_and_survive_a_kill() {
    let data = TempDir::new().unwrap();
    let shop = make(data.path(), "shop", "*");
    let mut server = Server::start(data.path(), &[]);
    let mut socket = server.socket();
    assert_eq!(socket.call(&["AUTH", &shop]), "OK");
    assert_eq!(socket.call(&["STOCK.CREATE", "sku-1", "5", "ID", "make-1"]), "[1 5]");
    assert!(socket.call(&["STOCK.CREATE", "sku-1", "5"]).contains("EXISTS"));
    assert_eq!(socket.call(&["STOCK.TAKE", "sku-1", "1", "u"]), "[1 1 4]");
    assert!(socket.call(&["DRYRUN", "STOCK.CLOSE", "sku-1"]).starts_with("[1"));
    assert_eq!(socket.call(&["MULTI"]), "OK");
    assert_eq!(socket.call(&["STOCK.RESTOCK", "sku-1", "2"]), "QUEUED");
    assert_eq!(socket.call(&["STOCK.TAKE", "sku-1", "1", "u"]), "QUEUED");
    assert!(socket.call(&["EXEC"]).starts_with("[[1"));
    let bearer = format!("Bearer {shop}");
    let headers = [("Authorization", bearer.as_str()), ("Idempotency-Key", "freeze-1")];
    let mut http = server.http();
    let body = json!({ "account": "a", "asset": "coins" });
    assert_eq!(http.call("POST", "/v1/accounts", &headers[..1], Some(&body)).status, 201);
    assert_eq!(http.call("POST", "/v1/accounts/a/freeze", &headers, Some(&json!({}))).status, 200);
    assert_eq!(
        http.call("POST", "/v1/accounts/a/unfreeze?dry_run=true", &headers[..1], Some(&json!({}))).status,
        200
    );
    let lines = json!([{ "command": "STOCK.CLOSE", "arguments": { "sku": "sku-1" } }]);
    let batch = json!({ "operations": lines });
    assert_eq!(http.call("POST", "/v1/batch", &headers[..1], Some(&batch)).status, 200);
    assert_eq!(socket.call(&["SLOWLOG", "RESET"]), "OK");
    let acts = recorded(data.path(), &["--kind", "act", "--who", "shop"], 7);
    server.kill();
    let whats: Vec<&str> = acts.iter().map(|act| act["what"].as_str().unwrap()).collect();
    let expected = [
        "STOCK.CREATE",
        "STOCK.CREATE",
        "STOCK.RESTOCK",
        "ACCOUNT.OPEN",
        "ACCOUNT.FREEZE",
        "STOCK.CLOSE",
        "SLOWLOG RESET",
    ];
    assert_eq!(whats, expected);
    let first = fields(&acts[0], &["who", "name", "address", "port", "resources", "operation", "outcome"]);
    let expected = [
        json!("key"),
        json!("shop"),
        json!("127.0.0.1"),
        json!("resp"),
        json!(["sku-1"]),
        json!("make-1"),
        json!("APPLIED"),
    ];
    assert_eq!(first, expected.iter().collect::<Vec<_>>());
    assert!(acts[0]["sequence"].is_u64() && acts[0]["key"] == shop[3..15], "{}", acts[0]);
    assert_eq!((&acts[1]["outcome"], &acts[1]["sequence"]), (&json!("STOCK_EXISTS"), &Value::Null));
    assert_eq!(
        fields(&acts[4], &["port", "operation", "outcome"]),
        [&json!("http"), &json!("freeze-1"), &json!("APPLIED")]
    );
    assert!(
        !std::fs::read_dir(data.path().join("audit"))
            .unwrap()
            .any(|file| { std::fs::read_to_string(file.unwrap().path()).unwrap().contains(&shop[16..]) })
    );
    let server = Server::start(data.path(), &[]);
    assert_eq!(records(data.path(), &["--kind", "act", "--who", "shop"]), acts, "they are all there");
    drop(server);
}

/// The resources of what is in the files at this moment, each as often as there are records of it.
fn on_disk(data: &Path) -> Vec<String> {
    let files = std::fs::read_dir(data.join("audit")).unwrap().map(|file| file.unwrap().path());
    let lines: String = files.filter_map(|file| std::fs::read_to_string(file).ok()).collect();
    let resources = |record: Value| record["resources"].as_array().cloned().unwrap_or_default();
    let all = json_lines(&lines).into_iter().flat_map(resources);
    all.map(|resource| resource.as_str().unwrap().to_owned()).collect()
}

/// A caller that has the answer to an act finds its record without having to wait for it: on both ports, with both engines, for
/// resources of this partition and of others, alone and together, and for what takes long.
#[test]
fn an_act_is_answered_only_once_its_record_is_on_the_disk() {
    let redis = redis_server(&[]);
    let url = redis.url();
    for options in
        [&["--partitions", "3"][..], &["--engine", "redis", "--redis-url", &url, "--partitions", "2"]]
    {
        let data = TempDir::new().unwrap();
        let server = Server::start(data.path(), options);
        let (mut socket, mut http) = (server.socket(), server.http());
        let seen = |names: &[String]| {
            let found = on_disk(data.path());
            names.iter().all(|name| found.contains(name))
        };
        for n in 0..60 {
            let name = format!("alone-{n}");
            assert_eq!(socket.call(&["STOCK.CREATE", &name, "5"]), "[1 5]");
            assert!(seen(&[name]), "{n}");
            let name = format!("http-{n}");
            assert_eq!(http.post("/v1/stock", &json!({ "sku": name, "quantity": 1 })).status, 201);
            assert!(seen(&[name]), "{n}");
        }
        let names: Vec<String> = (0..500).map(|n| format!("piped-{n}")).collect();
        let commands = names
            .iter()
            .flat_map(|name| [frame(&["STOCK.CREATE", name, "5"]), frame(&["STOCK.TAKE", name, "1", "u"])]);
        socket.send(&commands.flatten().collect::<Vec<u8>>());
        for name in &names {
            assert_eq!(socket.reply(), "[1 5]");
            assert!(seen(std::slice::from_ref(name)), "{name}");
            assert_eq!(socket.reply(), "[1 1 4]", "replies keep their order");
        }
        let names: Vec<String> = (0..100).map(|n| format!("batch-{n}")).collect();
        let line =
            |name: &String| json!({ "command": "STOCK.CREATE", "arguments": { "sku": name, "quantity": 1 } });
        let operations: Vec<Value> = names.iter().map(line).collect();
        assert_eq!(http.post("/v1/batch", &json!({ "operations": operations })).status, 200);
        assert!(seen(&names));
        assert_eq!(socket.call(&["MULTI"]), "OK");
        assert_eq!(socket.call(&["STOCK.CREATE", "{x}1", "1"]), "QUEUED");
        assert_eq!(socket.call(&["STOCK.CREATE", "{x}2", "1"]), "QUEUED");
        assert!(socket.call(&["EXEC"]).starts_with("[[1 "));
        assert!(seen(&["{x}1".to_owned(), "{x}2".to_owned()]));
        let cut = socket.call(&["PACKET.CREATE", "large", "EUR", "PLAN", "900000", "5000", "EVEN"]);
        assert!(cut.starts_with("[1 ") && seen(&["large".to_owned()]), "{cut}");
    }
}

#[test]
fn who_is_turned_away_is_recorded_and_a_flood_is_bounded() {
    let data = TempDir::new().unwrap();
    let reader = make(data.path(), "reader", "read:stock:sku-1");
    let gone = make(data.path(), "gone", "*");
    let server = Server::start(data.path(), &[]);
    let mut socket = server.socket();
    assert!(socket.call(&["STOCK.GET", "sku-1"]).starts_with("-NOAUTH"));
    let wrong = format!("{}{}", &gone[..16], "0".repeat(gone.len() - 16));
    assert!(socket.call(&["AUTH", &wrong]).starts_with("-WRONGPASS"));
    let revoked = scarce().args(["keys", "revoke", "gone", "--data"]).arg(data.path()).status().unwrap();
    assert!(revoked.success());
    wait_until("the key is revoked", || server.socket().call(&["AUTH", &gone]).starts_with("-WRONGPASS"));
    assert_eq!(socket.call(&["AUTH", &reader]), "OK");
    assert!(socket.call(&["STOCK.CLOSE", "sku-1"]).starts_with("-NOPERM"));
    let bearer = format!("Bearer {reader}");
    let mut http = server.http();
    assert_eq!(http.call("GET", "/v1/audit", &[("Authorization", &bearer)], None).status, 403);
    assert_eq!(http.call("GET", "/v1/stock/sku-1", &[("Origin", "https://evil.example")], None).status, 403);
    let of = |outcome: &str, count| recorded(data.path(), &["--kind", "denial", "--outcome", outcome], count);
    assert_eq!(of("NO_KEY", 1)[0]["what"], "STOCK.GET");
    assert_eq!(fields(&of("WRONG_KEY", 1)[0], &["who", "key"]), [&json!("nobody"), &json!(&gone[3..15])]);
    assert_eq!(of("REVOKED_KEY", 1)[0]["key"], gone[3..15]);
    assert_eq!(of("CROSS_ORIGIN", 1)[0]["detail"], "https://evil.example");
    let lacks = of("LACKS_SCOPE", 2);
    let expected = [json!("reader"), json!("STOCK.CLOSE"), json!("administrate:stock:sku-1")];
    assert_eq!(fields(&lacks[0], &["name", "what", "detail"]), expected.iter().collect::<Vec<_>>());
    assert_eq!(
        fields(&lacks[1], &["port", "what", "detail"]),
        [&json!("http"), &json!("GET /v1/audit"), &json!("operate")]
    );
    // What the command line did, and what the server noticed of it.
    let keys = recorded(data.path(), &["--what", "key*"], 4);
    let whats: Vec<&Value> = keys.iter().map(|its| &its["what"]).collect();
    assert_eq!(whats, ["keys create", "keys create", "keys revoke", "key revoked"]);
    assert_eq!(fields(&keys[2], &["who", "resources"]), [&json!("user"), &json!(["gone"])]);
    for _ in 0..200 {
        assert!(socket.call(&["STOCK.CLOSE", "sku-1"]).starts_with("-NOPERM"));
    }
    server.stop();
    let denials = records(data.path(), &["--kind", "denial"]);
    let gaps = records(data.path(), &["--kind", "gap"]);
    assert!(denials.len() < 40, "{}", denials.len());
    let left_out: u64 = gaps.iter().chain(&denials).filter_map(|its| its["left_out"].as_u64()).sum();
    let closes = denials.iter().filter(|its| its["what"] == "STOCK.CLOSE").count();
    assert!(left_out >= 201 - closes as u64, "{left_out} and {closes}");
}

#[test]
fn the_log_is_read_page_by_page_over_http_and_can_be_off() {
    let server = Server::fresh(&[]);
    let (mut socket, mut http) = (server.socket(), server.http());
    for at in 0..5 {
        assert_eq!(socket.call(&["STOCK.CREATE", &format!("s{at}"), "1"]), "[1 1]");
    }
    let page = |http: &mut support::Http, query: &str| {
        let page = http.get(&format!("/v1/audit?{query}"));
        assert_eq!(page.status, 200, "{}", page.text());
        page.json()
    };
    wait_until("all are recorded", || page(&mut http, "")["records"].as_array().unwrap().len() == 5);
    let first = page(&mut http, "limit=3&what=STOCK.*");
    assert_eq!((first["records"].as_array().unwrap().len(), &first["has_more"]), (3, &json!(true)));
    let cursor = first["cursor"].as_str().unwrap().to_owned();
    let rest = page(&mut http, &format!("cursor={cursor}&resource=s4"));
    assert_eq!(rest["records"][0]["resources"], json!(["s4"]));
    assert_eq!(rest["has_more"], false);
    assert_eq!(page(&mut http, "from=now")["records"], json!([]));
    assert_eq!(page(&mut http, "from=now")["cursor"], rest["cursor"]);
    for query in ["kind=acts", "cursor=x", "since=now", "limit=0", "address=here", "other=1", "from=then"] {
        assert_eq!(http.get(&format!("/v1/audit?{query}")).status, 400, "{query}");
    }
    wait_until("they are counted", || http.get("/metrics").text().contains("scarce_audit_records_total 5"));
    let off = Server::fresh(&["--audit=false"]);
    assert_eq!(off.socket().call(&["STOCK.CREATE", "s", "1"]), "[1 1]");
    let refused = off.http().get("/v1/audit");
    assert_eq!((refused.status, refused.code().as_str()), (503, "UNAVAILABLE"));
}

#[test]
fn a_server_before_redis_records_beside_itself() {
    let (data, redis) = (TempDir::new().unwrap(), redis_server(&[]));
    let server = Server::start(data.path(), &["--engine", "redis", "--redis-url", &redis.url()]);
    let mut socket = server.socket();
    assert_eq!(socket.call(&["STOCK.CREATE", "sku", "9"]), "[1 9]");
    assert_eq!(socket.call(&["STOCK.TAKE", "sku", "1", "u"]), "[1 1 8]");
    let acts = recorded(data.path(), &[], 1);
    assert_eq!(
        fields(&acts[0], &["what", "who", "outcome"]),
        [&json!("STOCK.CREATE"), &json!("anyone"), &json!("APPLIED")]
    );
    assert!(acts[0]["sequence"].is_u64(), "{}", acts[0]);
}

#[test]
fn settings_that_are_read_again_are_an_act() {
    let data = TempDir::new().unwrap();
    let server = Server::start(data.path(), &[]);
    server.signal("HUP");
    let acts = recorded(data.path(), &["--what", "reload"], 1);
    assert_eq!(fields(&acts[0], &["who", "outcome"]), [&json!("server"), &json!("APPLIED")]);
}

/// How long records are kept is a setting of the server, and may be longer than what the command line takes for usual.
#[test]
fn only_the_server_removes_old_records() {
    let data = TempDir::new().unwrap();
    make(data.path(), "first", "read");
    let old = data.path().join("audit/00000001.jsonl");
    let file = std::fs::OpenOptions::new().write(true).open(&old).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_hours(24 * 1_000)).unwrap();
    std::fs::write(data.path().join("audit/00000002.jsonl"), "").unwrap();
    make(data.path(), "second", "read");
    assert!(old.exists());
    let key = make(data.path(), "ops", "*");
    let kept = Server::start(data.path(), &["--audit-retention-days", "2000"]);
    assert_eq!(kept.socket().call(&["AUTH", &key]), "OK");
    assert!(kept.socket().call(&["ACCOUNT.GET", "a"]).starts_with("-NOAUTH"));
    recorded(data.path(), &["--outcome", "NO_KEY"], 1);
    assert!(old.exists());
    kept.stop();
    let server = Server::start(data.path(), &[]);
    assert!(server.socket().call(&["ACCOUNT.GET", "a"]).starts_with("-NOAUTH"));
    wait_until("it is removed", || !old.exists());
}
