//! Scripts of the operator's that clients call: over RESP as in Redis, and over HTTP; on one server and on a cluster.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use redis::Value;
use scarce_launch::{Cluster, Options};
use serde_json::json;
use support::{Http, Server, redis_server, said, scarce_in, wait_until};
use tempfile::TempDir;

const COUNT_UP: &str = "return redis.call('INCRBY', KEYS[1], ARGV[1])";

/// Registers a text under a name; gives its digest.
fn load(folder: &Path, url: &str, words: &[&str], text: &str) -> String {
    let name = words.last().unwrap();
    std::fs::write(folder.join(format!("{name}.lua")), text).unwrap();
    let file = format!("{name}.lua");
    let load = [&["scripts", "load", "--redis-url", url], &words[..words.len() - 1], &[&file]].concat();
    let (code, _, error) = said(&mut scarce_in(folder, &load));
    assert_eq!(code, Some(0), "{error}");
    let (_, out, _) = said(&mut scarce_in(folder, &["scripts", "list", "--redis-url", url]));
    let line = out.lines().find(|line| line.starts_with(&format!("{name}@"))).unwrap();
    line.split_whitespace().last().unwrap().to_owned()
}

fn serve(url: &str, access: &str) -> Server {
    Server::fresh(&["--engine", "redis", "--redis-url", url, "--partitions", "2", "--redis-scripts", access])
}

fn refused(server: &Server, words: &[&str]) -> String {
    match server.connect().call(words) {
        Err(error) => error.to_string(),
        Ok(Value::ServerError(error)) => format!("{} {}", error.code(), error.details().unwrap_or_default()),
        Ok(other) => panic!("{words:?}: {other:?}"),
    }
}

fn text(value: &str) -> Value {
    Value::BulkString(value.as_bytes().to_vec())
}

#[test]
fn a_redis_client_calls_registered_scripts_by_name_version_and_digest() {
    let (redis, folder) = (redis_server(&[]), TempDir::new().unwrap());
    let url = redis.url();
    let digest = load(folder.path(), &url, &["count_up"], COUNT_UP);
    load(
        folder.path(),
        &url,
        &["--read-only", "look"],
        "return {redis.call('GET', KEYS[1]), ARGV[1], false, 7}",
    );
    let (first, second) = (serve(&url, "run"), serve(&url, "run"));
    let (mut client, mut other) = (first.connect(), second.connect());
    assert_eq!(client.call(&["FCALL", "count_up", "1", "{a}x", "2"]).unwrap(), Value::Int(2));
    assert_eq!(other.call(&["EVALSHA", &digest, "1", "{a}x", "3"]).unwrap(), Value::Int(5));
    let seen = Value::Array(vec![text("5"), text("bin"), Value::Nil, Value::Int(7)]);
    assert_eq!(client.call(&["FCALL_RO", "look", "1", "{a}x", "bin"]).unwrap(), seen);
    let exists = client.call(&["SCRIPT", "EXISTS", &digest, &"0".repeat(40)]).unwrap();
    assert_eq!(exists, Value::Array(vec![Value::Int(1), Value::Int(0)]));
    assert_eq!(client.call(&["SCRIPT", "LOAD", COUNT_UP]).unwrap(), text(&digest));
    let kept: String = redis.ask(&["GET", "scarce:~{a}x"]).unwrap();
    assert_eq!(kept, "5", "the key is in the namespace of scripts");

    load(folder.path(), &url, &["count_up"], "return 'two'");
    wait_until("the other version is used", || {
        client.call(&["FCALL", "count_up", "1", "k"]).unwrap() == text("two")
    });
    assert_eq!(client.call(&["FCALL", "count_up@1", "1", "{a}x", "1"]).unwrap(), Value::Int(6));
    see_how_full_it_is(&first, &url, folder.path());
    let lines: Vec<Vec<&str>> = (0..50).map(|_| vec!["FCALL", "count_up@1", "1", "n", "1"]).collect();
    let counts: Vec<Value> = (1..=50).map(Value::Int).collect();
    assert_eq!(client.pipeline(&lines).unwrap(), counts, "in their order");
    let remove = ["scripts", "remove", "--redis-url", &url, "count_up"];
    assert_eq!(said(&mut scarce_in(folder.path(), &remove)).0, Some(0));
    wait_until("it is gone on both", || {
        [&mut client, &mut other].into_iter().all(|client| {
            client
                .call(&["EVALSHA", &digest, "1", "{a}x", "3"])
                .map_or(true, |value| matches!(value, Value::ServerError(_)))
        })
    });
}

/// What a script cannot do no caller can do through it: it reaches no command, also none that a waiting room guards.
#[test]
fn no_script_executes_a_command() {
    let (redis, folder) = (redis_server(&[]), TempDir::new().unwrap());
    let url = redis.url();
    let rooms = folder.path().join("rooms.toml");
    std::fs::write(&rooms, "[[room]]\nname = \"sale\"\nresources = [\"hot\"]\nrate = \"1/h\"\n").unwrap();
    let engine = ["--engine", "redis", "--redis-url", &url, "--redis-scripts", "run"];
    let server = Server::fresh(&[&engine[..], &["--waiting-rooms", rooms.to_str().unwrap()]].concat());
    assert_eq!(server.socket().call(&["STOCK.CREATE", "hot", "5"]), "[1 5]");
    assert!(server.socket().call(&["STOCK.TAKE", "hot", "1", "u"]).contains("NOT_ADMITTED"));
    let functions: Vec<Value> = redis.ask(&["FUNCTION", "LIST"]).unwrap();
    let listed = format!("{functions:?}");
    let function = listed.split('"').find(|word| word.starts_with("scarce")).unwrap().to_owned();
    for (name, text) in [
        ("direct", "return redis.call('STOCK.TAKE', 'hot', '1', 'u')".to_owned()),
        ("through", format!("return redis.call('FCALL', '{function}', '0', 'STOCK.TAKE hot 1 u')")),
        ("digest", format!("return redis.call('EVALSHA', '{}', '0')", "0".repeat(40))),
        ("text", "return redis.call('EVAL', 'return 1', '0')".to_owned()),
    ] {
        load(folder.path(), &url, &[name], &text);
        wait_until("the server knows the script", || {
            !refused(&server, &["FCALL", name, "1", "hot"]).starts_with("NOSCRIPT")
        });
        let said = refused(&server, &["FCALL", name, "1", "hot"]);
        let is_denied = said.contains("not allowed from script") || said.contains("Unknown Redis command");
        assert!(is_denied, "{name}: {said}");
    }
    assert!(server.socket().call(&["STOCK.GET", "hot"]).contains("available 5"), "nothing was taken");
}

/// Three versions of two names, in the metrics and for the doctor.
fn see_how_full_it_is(server: &Server, url: &str, folder: &Path) {
    let figures = ["versions 3", "versions_max 1000", "bytes_max 16777216", "names 2", "names_max 10000"];
    wait_until("the metrics tell", || {
        let text = String::from_utf8(server.http().get("/metrics").body).unwrap();
        figures.iter().all(|figure| text.contains(&format!("\nscarce_script_{figure}\n")))
    });
    let words = ["doctor", "--json", "--engine", "redis", "--redis-url", url, "--partitions", "2"];
    let (_, out, error) = said(&mut scarce_in(folder, &words));
    let line =
        out.lines().find(|line| line.contains("\"redis scripts\"")).unwrap_or_else(|| panic!("{out}{error}"));
    assert!(line.contains("3 versions of 1000 with ") && line.contains("\"names_max\":10000"), "{line}");
}

#[test]
fn what_clients_may_not_do_is_refused_with_what_to_do() {
    let (redis, folder) = (redis_server(&[]), TempDir::new().unwrap());
    let url = redis.url();
    load(folder.path(), &url, &["count_up"], COUNT_UP);
    let failing = "local a = nil\nlocal b = 1\nreturn a.b";
    load(folder.path(), &url, &["failing"], failing);
    let server = serve(&url, "run");
    for (words, said) in [
        (&["FCALL", "nothing", "0"][..], "scarce scripts list"),
        (&["EVALSHA", "0123456789012345678901234567890123456789", "0"], "NOSCRIPT"),
        (&["SCRIPT", "LOAD", "return 1"], "scarce scripts load"),
        (&["FCALL_RO", "count_up", "1", "k", "1"], "may write"),
        (&["FCALL", "count_up", "2", "k", "l"], "same {tag}"),
        (&["FCALL", "count_up", "9", "k"], "numkeys"),
        (&["FCALL", "failing", "0"], "failing:3:"),
        (&["EVAL", "return 1", "0"], "coming-from-redis-lua"),
    ] {
        let error = refused(&server, words);
        assert!(error.contains(said), "{words:?}: {error}");
    }
    let mut http = Http::connect(&server.http);
    let answer = http.post("/v1/scripts/other", &json!({ "body": "return 1" }));
    assert_eq!((answer.status, answer.code()), (403, "SCRIPT_FORBIDDEN".to_owned()));
    let off = serve(&url, "off");
    assert!(refused(&off, &["FCALL", "count_up", "1", "k", "1"]).contains("--redis-scripts run"));
    let embedded = Server::fresh(&[]);
    assert!(refused(&embedded, &["FCALL", "count_up", "1", "k", "1"]).contains("--engine redis"));
    assert_eq!(Http::connect(&embedded.http).get("/v1/scripts").status, 403);
}

#[test]
fn scripts_are_managed_and_run_over_http() {
    let redis = redis_server(&[]);
    let server = serve(&redis.url(), "manage");
    let mut http = Http::connect(&server.http);
    let registered = http.post("/v1/scripts/count_up", &json!({ "body": COUNT_UP }));
    assert_eq!(registered.status, 200, "{}", registered.text());
    let registered = registered.json();
    assert_eq!((&registered["name"], &registered["version"]), (&json!("count_up"), &json!(1)));
    assert!(registered.get("body").is_none(), "who sent it has it: {registered}");
    let run = json!({ "keys": ["k"], "arguments": [4] });
    assert_eq!(http.post("/v1/scripts/count_up/run", &run).json(), json!({ "answer": 4 }));
    let second = json!({ "body": "return {'a', {ok='fine'}, false}", "read_only": true });
    for _ in 0..2 {
        let registered = http.post("/v1/scripts/count_up", &second).json();
        assert_eq!(registered["version"], 2, "the same text again is no new version: {registered}");
    }
    assert_eq!(http.post("/v1/scripts/count_up/run", &run).json(), json!({ "answer": ["a", "fine", null] }));
    assert_eq!(http.post("/v1/scripts/count_up@1/run", &run).json(), json!({ "answer": 8 }));
    let versions = http.get("/v1/scripts/count_up").json();
    let versions = versions["versions"].as_array().unwrap();
    assert_eq!(versions.iter().map(|its| its["version"].as_u64()).collect::<Vec<_>>(), [Some(2), Some(1)]);
    assert!(versions.iter().all(|its| its.get("body").is_none()), "{versions:?}");
    assert_eq!(http.get("/v1/scripts/count_up@1").json()["body"], COUNT_UP);
    assert_eq!(http.get("/v1/scripts/count_up@3").code(), "SCRIPT_NOT_FOUND");
    assert_eq!(http.get("/v1/scripts").json()["scripts"][0]["version"], 2);
    let wrong = http.post("/v1/scripts/wrong", &json!({ "body": "local a\nreturn (" }));
    assert_eq!((wrong.status, wrong.code()), (422, "SCRIPT_FAILED".to_owned()));
    assert!(wrong.text().contains("wrong:2:"), "{}", wrong.text());
    let closing = http.post(
        "/v1/scripts/closing",
        &json!({ "body": "return 1 end } redis.log(1, '') do local a = { f = function()" }),
    );
    assert_eq!(closing.code(), "SCRIPT_FAILED", "a text that closes the function around it");
    assert_eq!(http.post("/v1/scripts/a-b", &json!({ "body": "return 1" })).code(), "INVALID");
    let version = http.call("DELETE", "/v1/scripts/count_up@2", &[], None);
    assert_eq!((version.status, version.code()), (400, "INVALID".to_owned()), "all versions go, or none");
    assert_eq!(http.post("/v1/scripts/count_up@2/run", &run).status, 200);
    let removed = http.call("DELETE", "/v1/scripts/count_up", &[], None);
    assert_eq!(removed.status, 200, "{}", removed.text());
    assert_eq!(http.post("/v1/scripts/count_up/run", &run).code(), "SCRIPT_NOT_FOUND");
}

#[test]
fn a_script_that_runs_too_long_is_ended_and_the_server_goes_on() {
    let redis = redis_server(&[("busy-reply-threshold", "100")]);
    let (url, folder) = (redis.url(), TempDir::new().unwrap());
    load(folder.path(), &url, &["endless"], "while true do end");
    let server = Server::fresh(&[
        "--engine",
        "redis",
        "--redis-url",
        &url,
        "--redis-scripts",
        "run",
        "--redis-timeout-ms",
        "1000",
    ]);
    let begun = Instant::now();
    let error = refused(&server, &["FCALL", "endless", "1", "k"]);
    assert!(error.contains("it was ended, and has done nothing"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(60));
    let mut client = server.connect();
    wait_until("commands are taken again", || {
        matches!(client.call(&["ACCOUNT.OPEN", "alice", "EUR"]), Ok(Value::Array(_)))
    });
}

#[test]
fn where_functions_are_forbidden_scripts_are_called_by_their_digest() {
    let (redis, folder) = (redis_server(&[]), TempDir::new().unwrap());
    let url = redis.url();
    load(folder.path(), &url, &["count_up"], COUNT_UP);
    load(folder.path(), &url, &["failing"], "local a = nil\nreturn a.b");
    let rights = ["~*", "+@all", "-function", "-fcall", "-fcall_ro"];
    redis.ask::<()>(&[&["ACL", "SETUSER", "plain", "on", ">pw"], &rights[..]].concat()).unwrap();
    let password = folder.path().join("password");
    std::fs::write(&password, "pw").unwrap();
    let login = ["--redis-user", "plain", "--redis-password-file", password.to_str().unwrap()];
    let engine = ["--engine", "redis", "--redis-url", &url, "--redis-scripts", "run"];
    let server = Server::fresh(&[&engine[..], &login].concat());
    let mut client = server.connect();
    for count in 1..=3 {
        assert_eq!(client.call(&["FCALL", "count_up", "1", "k", "1"]).unwrap(), Value::Int(count));
        redis.ask::<()>(&["SCRIPT", "FLUSH"]).unwrap();
    }
    let error = refused(&server, &["FCALL", "failing", "0"]);
    assert!(error.contains("failing:2:"), "{error}");
    let stats: String = redis.ask(&["INFO", "commandstats"]).unwrap();
    assert!(stats.contains("cmdstat_evalsha:") && !stats.contains("cmdstat_fcall:"), "{stats}");
}

#[test]
fn on_a_cluster_each_call_goes_where_its_first_key_is() {
    let cluster = Cluster::start(&Options::new(), 3, 0).unwrap();
    let (url, folder) = (cluster.url(), TempDir::new().unwrap());
    load(folder.path(), &url, &["count_up"], COUNT_UP);
    let server = serve(&url, "run");
    let mut client = server.connect();
    for at in 0..60 {
        let key = format!("counter-{}", at % 30);
        let count = client.call(&["FCALL", "count_up", "1", &key, "1"]).unwrap();
        assert_eq!(count, Value::Int(1 + at / 30), "{key}");
    }
    for node in &cluster.nodes {
        node.ask::<()>(&["FUNCTION", "FLUSH"]).unwrap();
    }
    assert_eq!(client.call(&["FCALL", "count_up", "1", "counter-0", "1"]).unwrap(), Value::Int(3));
    assert!(refused(&server, &["FCALL", "count_up", "2", "{a}1", "{b}1", "1"]).contains("same {tag}"));
}
