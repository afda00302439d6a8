//! What someone from outside tries with a key: to be late, to be another script, to write the log, to leave a key behind.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use super::support::{Http, Server, redis_server, said, scarce, scarce_in};
use super::{id_of, json_of, keys, logged_in, make, told};

/// Sends a request but for the last byte of its body, which is returned.
fn begin(http: &mut Http, target: &str, key: Option<&str>, body: &str) -> Vec<u8> {
    let login = key.map_or_else(String::new, |key| format!("Authorization: Bearer {key}\r\n"));
    let length = body.len();
    let head = format!(
        "POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{login}Content-Length: {length}\r\n\r\n"
    );
    let (all_but_one, last) = body.as_bytes().split_at(length - 1);
    http.send(&[head.as_bytes(), all_but_one].concat());
    last.to_vec()
}

/// Sends the rest and gives the status. A body that comes later than bodies may is refused for that, and the connection may be
/// gone.
fn finish(http: &mut Http, last: &[u8]) -> Option<u16> {
    let mut stream = http.sender();
    let mut line = [0; 12];
    let answered = stream.write_all(last).and_then(|()| stream.read_exact(&mut line));
    answered.ok().and_then(|()| std::str::from_utf8(&line[9..]).ok()?.parse().ok())
}

#[test]
fn a_body_that_arrives_after_its_caller_was_locked_out_is_not_executed() {
    let data = TempDir::new().expect("a folder");
    let server = Server::start(data.path(), &[]);
    let (mut stranger, mut open) = (server.http(), server.socket());
    assert_eq!(open.call(&["ACCOUNT.OPEN", "a-1", "EUR"]), "[1 0]");
    let opening = begin(&mut stranger, "/v1/accounts", None, r#"{"account":"evil","asset":"EUR"}"#);
    let bank = make(data.path(), "bank", &["*"], &[]);
    assert_eq!(open.rest(), "", "the server is closed");
    assert_ne!(finish(&mut stranger, &opening), Some(201), "a stranger after the server was closed");
    let brief = make(data.path(), "brief", &["*"], &["--expires", "7d"]);
    let [mut revoked, mut expired] = [server.http(), server.http()];
    let mut bank = logged_in(&server, &bank);
    assert_eq!(bank.call(&["ACCOUNT.CREDIT", "a-1", "100"]), "[1 100 100]");
    let leaked = make(data.path(), "leaked", &["take:account"], &[]);
    let known = [&brief, &leaked].map(|key| logged_in(&server, key));
    let target = "/v1/accounts/a-1/debit";
    let debits = [(&mut revoked, &leaked), (&mut expired, &brief)].map(|(http, key)| {
        let last = begin(http, target, Some(key), r#"{"amount":7}"#);
        (http, last)
    });
    told(keys(data.path(), &["revoke", "leaked"]));
    told(keys(data.path(), &["rotate", "brief", "--overlap", "0s"]));
    for mut known in known {
        assert_eq!(known.rest(), "", "it is known that the key is over");
    }
    for (http, last) in debits {
        assert_ne!(finish(http, &last), Some(200), "a debit by a key that is over");
    }
    assert!(bank.call(&["ACCOUNT.GET", "a-1"]).contains("balance 100"));
    assert!(bank.call(&["ACCOUNT.GET", "evil"]).contains("ACCOUNT_NOT_FOUND"));
}

#[test]
fn a_script_that_is_called_by_its_digest_is_allowed_by_its_name() {
    let (redis, folder) = (redis_server(&[]), TempDir::new().expect("a folder"));
    let url = redis.url();
    // Its digest begins with an a, as a scope does that is about other scripts.
    let digest = "a3d7ac8b61b5b5f31433c8dcd2dd07312612f9a1";
    std::fs::write(folder.path().join("zz.lua"), "return 11").expect("written");
    let loaded = said(&mut scarce_in(folder.path(), &["scripts", "load", "--redis-url", &url, "zz.lua"]));
    assert_eq!(loaded.0, Some(0), "{loaded:?}");
    let create = |name: &str, scope: &str| {
        let words = ["keys", "create", "--redis-url", &url, "--name", name, "--scope", scope];
        told(scarce_in(folder.path(), &words).output().expect("it runs"))
    };
    let [other, own, all] = [("other", "take:script:a*"), ("own", "take:script:z*"), ("all", "take:script")]
        .map(|(name, scope)| create(name, scope));
    let server = Server::fresh(&[
        "--engine",
        "redis",
        "--redis-url",
        &url,
        "--partitions",
        "1",
        "--redis-scripts",
        "run",
    ]);
    let [mut other, mut own, mut all] = [&other, &own, &all].map(|key| logged_in(&server, key));
    let run = ["EVALSHA", digest, "0"];
    assert!(other.call(&run).starts_with("-NOPERM this key lacks the scope take:script:*;"));
    assert_eq!((own.call(&run), all.call(&run)), ("11".to_owned(), "11".to_owned()));
    let unknown = ["EVALSHA", &"a".repeat(40), "0"];
    assert!(own.call(&unknown).starts_with("-NOPERM this key lacks the scope take:script:*;"));
    assert!(!all.call(&unknown).starts_with("-NOPERM"));
    assert!(own.call(&["EVALSHA_RO", digest, "0"]).starts_with("-NOPERM"), "it has another verb");
}

#[test]
fn a_refusal_puts_nothing_of_the_caller_into_the_log() {
    let data = TempDir::new().expect("a folder");
    let key = make(data.path(), "probe", &["take:stock:sku-1", "take:script:x", "read:stock:b"], &[]);
    let server = Server::overheard_at(data.path(), &[]);
    let mut socket = logged_in(&server, &key);
    let bearer = format!("Bearer {key}");
    let call = |method, path: &str| server.http().call(method, path, &[("Authorization", &bearer)], None);
    let forged = call("POST", "/v1/scripts/x%0aFORGED%1b[31m%E2%80%AE/run");
    assert_eq!(forged.status, 403);
    // It names no more than is missing, as the other port does.
    assert_eq!(call("GET", "/v1/stock/sku-1").json()["facts"]["scope"], json!("read:stock:sku-1"));
    assert_eq!(call("GET", "/v1/accounts/sku-1").json()["facts"]["scope"], json!("read:account:sku-1"));
    let said = socket.call(&["STOCK.GET", "customer-4711"]);
    assert!(said.starts_with("-NOPERM this key lacks the scope read:stock:customer-4711;"), "{said}");
    let said = socket.call(&["FCALL", "a\u{202e}b\u{1b}[31m", "0"]);
    assert!(said.starts_with("-NOPERM") && !said.contains(['\u{202e}', '\u{1b}']), "{said}");
    let said = socket.call(&["OPERATION.RESOLVE", "op-1", "ON", "b"]);
    assert!(said.starts_with("-NOPERM this key lacks the scope take:*:b;"), "a scope that there is: {said}");
    let log = server.stop_overheard();
    let refusals: Vec<&str> = log.lines().filter(|line| line.contains("lacks the scope")).collect();
    assert!(!refusals.is_empty(), "{log}");
    assert!(refusals.iter().all(|line| line.contains("name=\"probe\"") && line.contains("untold=")), "{log}");
    for text in ["FORGED", "\u{1b}", "\u{202e}", "4711"] {
        assert!(!log.contains(text), "{text:?}: {log}");
    }
}

/// `scarce keys …` whose standard output is this file.
fn keys_into(data: &Path, words: &[&str], path: &str) -> (bool, String) {
    let out = File::options().write(true).open(path).expect("the file");
    let mut command: Command = scarce();
    command.arg("keys").arg(words[0]).arg("--data").arg(data).args(&words[1..]).stdout(out);
    let output =
        command.stderr(Stdio::piped()).spawn().expect("it runs").wait_with_output().expect("it ends");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_key_that_nobody_saw_is_not_made_and_ends_no_other() {
    let data = TempDir::new().expect("a folder");
    let first = make(data.path(), "shop", &["read"], &[]);
    let before = std::fs::read_to_string(data.path().join("keys.json")).expect("the file");
    for path in ["/dev/full", "/dev/null"] {
        for words in [&["create", "--name", "other", "--scope", "read"][..], &["rotate", "shop"]] {
            for words in [words.to_vec(), [words, &["--json"]].concat()] {
                let (is_done, error) = keys_into(data.path(), &words, path);
                assert!(!is_done && error.contains("not made"), "{words:?} into {path}: {error}");
            }
        }
    }
    let after = std::fs::read_to_string(data.path().join("keys.json")).expect("the file");
    assert_eq!(before, after);
    // Nothing more is lost where nobody reads what is said beside it.
    let full = File::options().write(true).open("/dev/full").expect("the file");
    let mut command = scarce();
    command.args(["keys", "rotate", "shop", "--data"]).arg(data.path()).stderr(full);
    let second = told(command.output().expect("it runs"));
    assert!(second != first && second.starts_with("sk_"), "{second}");
}

#[test]
fn keys_expire_while_nothing_can_be_read_of_them() {
    let data = TempDir::new().expect("a folder");
    let brief = make(data.path(), "brief", &["*"], &[]);
    let server = Server::start(data.path(), &[]);
    let mut known = logged_in(&server, &brief);
    let lasting = told(keys(data.path(), &["rotate", "brief", "--overlap", "3s"]));
    logged_in(&server, &lasting);
    // Who opens it for reading waits for one who writes.
    let file = data.path().join("keys.json");
    std::fs::remove_file(&file).expect("removed");
    let made = Command::new("mkfifo").arg(&file).status().expect("mkfifo runs");
    assert!(made.success());
    assert_eq!(known.rest(), "", "its connection ends");
}

#[test]
fn a_name_means_one_key_and_no_other() {
    let data = TempDir::new().expect("a folder");
    let first = make(data.path(), "shop", &["read"], &[]);
    let id = id_of(&first);
    let refused = |words: &[&str], text: &str| {
        let output = keys(data.path(), words);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && error.contains(text), "{words:?}: {error}");
    };
    let scope = ["--scope", "read"];
    refused(&[&["create", "--name", id][..], &scope].concat(), "ID");
    refused(&[&["create", "--name", "sk_shop"][..], &scope].concat(), "ID");
    refused(&[&["create", "--name", "shop"][..], &scope].concat(), &format!("--namespace '{id}'"));
    let second = told(keys(data.path(), &["rotate", "shop"]));
    refused(&["revoke", "shop"], id);
    refused(&["revoke", "shop"], id_of(&second));
    told(keys(data.path(), &["revoke", "shop", "--all"]));
    for id in [id, id_of(&second)] {
        assert_eq!(json_of(data.path(), &["show", id, "--json"])["standing"], "revoked");
    }
    // What takes the place of a key that is over answers for what it did.
    let third = told(keys(data.path(), &["rotate", "shop"]));
    let third = json_of(data.path(), &["show", id_of(&third), "--json"]);
    assert_eq!((third["namespace"].as_str(), third["standing"].as_str()), (Some(id), Some("active")));
}
