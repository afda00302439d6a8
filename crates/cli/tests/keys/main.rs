//! Keys of callers: every command and route by every kind of key, on both ports, and what happens while a server runs.

mod lists;
mod outside;
mod over_http;
#[path = "../support/mod.rs"]
mod support;
mod tables;

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use serde_json::{Value, json};
use support::{Server, Socket, redis_server, scarce, wait_until};
use tempfile::TempDir;

/// `scarce keys …` on a data directory.
fn keys(data: &Path, words: &[&str]) -> Output {
    let (first, rest) = words.split_at(1);
    scarce().arg("keys").args(first).arg("--data").arg(data).args(rest).output().expect("it runs")
}

fn told(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

/// Makes a key and gives its text.
fn make(data: &Path, name: &str, scopes: &[&str], more: &[&str]) -> String {
    let scopes = scopes.iter().flat_map(|scope| ["--scope", scope]);
    let words: Vec<&str> =
        ["create", "--name", name].into_iter().chain(scopes).chain(more.iter().copied()).collect();
    told(keys(data, &words))
}

fn json_of(data: &Path, words: &[&str]) -> Value {
    serde_json::from_str(&told(keys(data, words))).expect("JSON")
}

fn id_of(key: &str) -> &str {
    &key[3..15]
}

/// Shows a key until the answer begins so. Keys are noticed a moment after they are made, and wrong ones slow down.
fn show(socket: &mut Socket, key: &str, answer: &str) {
    wait_until(&format!("a key is answered {answer}"), || {
        let is_so = socket.call(&["AUTH", key]).starts_with(answer);
        if !is_so {
            std::thread::park_timeout(Duration::from_millis(200));
        }
        is_so
    });
}

fn logged_in(server: &Server, key: &str) -> Socket {
    let mut socket = server.socket();
    show(&mut socket, key, "OK");
    socket
}

#[test]
fn every_line_of_a_batch_is_checked_before_anything_is_done() {
    let data = TempDir::new().expect("a folder");
    let shop = make(data.path(), "shop", &["create,take,read:stock:sku-*"], &[]);
    let other = make(data.path(), "other", &["*"], &[]);
    let server = Server::start(data.path(), &[]);
    let mut socket = logged_in(&server, &shop);
    assert_eq!(socket.call(&["STOCK.CREATE", "sku-1", "5"]), "[1 5]");
    assert_eq!(socket.call(&["MULTI"]), "OK");
    assert_eq!(socket.call(&["STOCK.TAKE", "sku-1", "1", "u"]), "QUEUED");
    assert!(socket.call(&["STOCK.CLOSE", "sku-1"]).starts_with("-NOPERM"));
    assert!(socket.call(&["EXEC"]).starts_with("-EXECABORT"));
    // Who logs in as someone else in the middle sends none of the lines before.
    assert_eq!(socket.call(&["MULTI"]), "OK");
    assert_eq!(socket.call(&["STOCK.TAKE", "sku-1", "1", "u"]), "QUEUED");
    assert_eq!(socket.call(&["AUTH", &other]), "OK");
    assert!(socket.call(&["EXEC"]).starts_with("-EXECABORT"));
    assert!(socket.call(&["STOCK.GET", "sku-1"]).contains("available 5"));
    let operation = |command: &str, sku: &str| {
        let mut arguments = json!({ "sku": sku });
        if command == "STOCK.TAKE" {
            arguments["quantity"] = 1.into();
            arguments["owner"] = "u".into();
        }
        json!({ "command": command, "arguments": arguments })
    };
    let bearer = format!("Bearer {shop}");
    let mut http = server.http();
    for (is_atomic, second) in [
        (true, operation("STOCK.TAKE", "other")),
        (false, operation("STOCK.TAKE", "other")),
        (true, operation("STOCK.CLOSE", "sku-1")),
        (false, operation("STOCK.GET", "other")),
    ] {
        let body = json!({ "atomic": is_atomic, "operations": [operation("STOCK.TAKE", "sku-1"), second] });
        let response = http.call("POST", "/v1/batch", &[("Authorization", &bearer)], Some(&body));
        assert_eq!(response.status, 403, "{body}");
    }
    assert!(socket.call(&["STOCK.GET", "sku-1"]).contains("available 5"));
    assert_eq!(socket.call(&["RESET"]), "RESET");
    assert!(socket.call(&["STOCK.GET", "sku-1"]).starts_with("-NOAUTH"));
}

#[test]
fn operations_of_two_namespaces_never_meet() {
    let data = TempDir::new().expect("a folder");
    let password = data.path().join("password");
    std::fs::write(&password, "correct horse battery").expect("written");
    let one = make(data.path(), "one", &["*"], &[]);
    let (two, three) = (
        make(data.path(), "two", &["create,take,read"], &["--namespace", "shared"]),
        make(data.path(), "three", &["*"], &["--namespace", "shared"]),
    );
    let four = make(data.path(), "four", &["*"], &["--namespace", ""]);
    let server = Server::start(data.path(), &["--password-file", password.to_str().expect("a path")]);
    let mut sockets: Vec<Socket> = ["correct horse battery", &one, &two, &three, &four]
        .into_iter()
        .map(|shown| logged_in(&server, shown))
        .collect();
    assert_eq!(sockets[0].call(&["STOCK.CREATE", "sku", "100"]), "[1 100]");
    let take = |quantity| ["STOCK.TAKE", "sku", quantity, "u", "ID", "op-1"];
    assert_eq!(sockets[0].call(&take("1")), "[1 1 99]");
    assert_eq!(sockets[1].call(&take("2")), "[1 2 97]", "an id of another namespace is another id");
    assert_eq!(sockets[2].call(&take("3")), "[1 4 94]");
    assert_eq!(sockets[3].call(&take("3")), "[1 4 94]", "who shares a namespace shares its answers");
    assert_eq!(sockets[4].call(&take("1")), "[1 1 99]");
    assert!(sockets[4].call(&take("9")).contains("ID_REUSED"));
    for (socket, serial) in sockets.iter_mut().zip(["1", "2", "4", "4", "1"]) {
        let answer = socket.call(&["OPERATION.GET", "op-1", "ON", "sku"]);
        assert!(
            answer.contains(&format!("[1 {serial} ")) || answer.contains(&format!(" {serial} ")),
            "{answer}"
        );
    }
    assert_eq!(sockets[1].call(&["STOCK.TAKE", "sku", "1", "u", "ID", "op-own"]), "[1 7 93]");
    assert!(sockets[0].call(&["OPERATION.GET", "op-own", "ON", "sku"]).contains("OPERATION_NOT_FOUND"));
    let get = |key: &str| {
        server
            .http()
            .call("GET", "/v1/operations/op-own?on=sku", &[("Authorization", &format!("Bearer {key}"))], None)
            .status
    };
    assert_eq!((get(&one), get(&two), get("correct horse battery")), (200, 404, 404));
}

#[test]
fn keys_are_made_rotated_and_revoked_beside_a_running_server() {
    let data = TempDir::new().expect("a folder");
    let server = Server::start(data.path(), &[]);
    let mut open = server.socket();
    assert_eq!(open.call(&["STOCK.CREATE", "sku", "5"]), "[1 5]");
    let first = make(data.path(), "shop", &["read:stock:sku"], &[]);
    // Who came while nothing had to be shown may not stay.
    assert_eq!(open.rest(), "");
    let mut known = logged_in(&server, &first);
    let second = told(keys(data.path(), &["rotate", "shop", "--overlap", "24h"]));
    logged_in(&server, &second);
    assert!(known.call(&["STOCK.GET", "sku"]).contains("available 5"), "both can be used");
    let mut stream = server.http();
    let operator = make(data.path(), "operator", &["operate"], &[]);
    logged_in(&server, &operator);
    stream.send(format!("GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nAuthorization: Bearer {operator}\r\n\r\n").as_bytes());
    assert_eq!(stream.head().status, 200);
    assert!(stream.chunk().is_some());
    for id in [id_of(&first), id_of(&operator)] {
        assert!(keys(data.path(), &["revoke", id]).status.success());
    }
    assert_eq!(known.rest(), "");
    while stream.chunk().is_some_and(|chunk| !chunk.is_empty()) {}
    show(&mut server.socket(), &first, "-WRONGPASS");
    let mut other = logged_in(&server, &second);
    assert!(other.call(&["HELLO", "2", "AUTH", "any", &second]).contains("scarce"));
    let list = json_of(data.path(), &["show", "shop", "--json"]);
    assert_eq!((list["id"].as_str(), list["standing"].as_str()), (Some(id_of(&second)), Some("active")));
    wait_until("the last use is noted", || {
        json_of(data.path(), &["show", "shop", "--json"])["last_used_ms"].is_u64()
    });
    assert!(
        !std::fs::read_to_string(data.path().join("keys.json")).expect("the file").contains(&second[16..])
    );
    // A server whose last key is gone is not open.
    keys(data.path(), &["revoke", id_of(&second)]);
    assert_eq!(other.rest(), "");
    assert!(server.socket().call(&["STOCK.GET", "sku"]).starts_with("-NOAUTH"));
}

#[test]
fn an_expired_key_ends_and_its_connection_too() {
    let data = TempDir::new().expect("a folder");
    let brief = make(data.path(), "brief", &["*"], &["--expires", "7d"]);
    let server = Server::start(data.path(), &[]);
    let mut known = logged_in(&server, &brief);
    let lasting = told(keys(data.path(), &["rotate", "brief", "--overlap", "1s"]));
    assert_eq!(known.rest(), "", "it is closed when the key expires");
    show(&mut server.socket(), &brief, "-WRONGPASS");
    logged_in(&server, &lasting);
    let bearer = format!("Bearer {brief}");
    assert_eq!(server.http().call("GET", "/v1/stock/sku", &[("Authorization", &bearer)], None).status, 401);
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_opened() {
    let data = TempDir::new().expect("a folder");
    for (words, text) in [
        (&["create", "--name", "a b", "--scope", "read"][..], "letters, digits"),
        (&["create", "--name", "a", "--scope", "steal:stock"], "is no verb"),
        (&["create", "--name", "a", "--scope", "operate:stock"], "about the server"),
        (&["create", "--name", "a", "--scope", "read", "--namespace", "a:b"], "namespace"),
        (&["revoke", "nobody"], "no key is 'nobody'"),
        (&["rotate", "nobody"], "no key is 'nobody'"),
    ] {
        let output = keys(data.path(), words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(text), "{words:?}");
    }
    let wide = keys(data.path(), &["create", "--name", "wide", "--scope", "*"]);
    assert!(String::from_utf8_lossy(&wide.stderr).contains("warning: the scope * allows everything"));
    let file = data.path().join("keys.json");
    let whole = std::fs::read_to_string(&file).expect("the file");
    std::fs::write(&file, &whole[..whole.len() / 2]).expect("written");
    let (code, text) = support::refused_start(&mut support::serve(data.path(), &[]));
    assert!(code != Some(0) && text.contains("keys.json"), "{text}");
}

#[test]
fn keys_protect_a_port_that_can_be_reached_from_outside() {
    let data = TempDir::new().expect("a folder");
    let outside = |data: &Path| {
        let mut command = scarce();
        command.args(["serve", "--resp", "0.0.0.0:0", "--http", "off", "--data"]).arg(data);
        command
    };
    let (code, text) = support::refused_start(&mut outside(data.path()));
    assert!(code != Some(0) && text.contains("scarce keys create"), "{text}");
    make(data.path(), "any", &["read"], &[]);
    let weak = data.path().join("password");
    std::fs::write(&weak, "x").expect("written");
    let mut command = outside(data.path());
    let (code, text) = support::refused_start(command.arg("--password-file").arg(&weak));
    assert!(
        code != Some(0) && text.contains("characters"),
        "a key makes no weak password a strong one: {text}"
    );
    let mut command = outside(data.path());
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().expect("it runs");
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(child.stdout.take().expect("its output")),
        &mut line,
    )
    .expect("a line");
    child.kill().expect("killed");
    child.wait().expect("ended");
    assert!(line.contains("resp 0.0.0.0:"), "{line}");
}

#[test]
fn all_servers_in_front_of_one_redis_have_the_same_keys() {
    let redis = redis_server(&[]);
    let (data, url) = (TempDir::new().expect("a folder"), redis.url());
    let of_redis = |words: &[&str]| {
        let (first, rest) = words.split_at(1);
        told(
            scarce()
                .arg("keys")
                .args(first)
                .args(["--redis-url", &url])
                .args(rest)
                .output()
                .expect("it runs"),
        )
    };
    let shop =
        of_redis(&["create", "--name", "shop", "--scope", "create,take:stock:sku-*", "--namespace", "shop"]);
    let serve =
        || Server::start(data.path(), &["--engine", "redis", "--redis-url", &url, "--partitions", "1"]);
    let servers = [serve(), serve()];
    let mut sockets = servers.each_ref().map(|server| logged_in(server, &shop));
    assert_eq!(sockets[0].call(&["STOCK.CREATE", "sku-1", "5"]), "[1 5]");
    let take = ["STOCK.TAKE", "sku-1", "1", "u", "ID", "op-1"];
    assert_eq!(sockets.each_mut().map(|socket| socket.call(&take)), ["[1 1 4]", "[1 1 4]"], "one namespace");
    assert!(sockets[1].call(&["STOCK.TAKE", "other", "1", "u"]).starts_with("-NOPERM"));
    let other = of_redis(&["create", "--name", "other", "--scope", "*"]);
    let mut elsewhere = logged_in(&servers[1], &other);
    assert_eq!(elsewhere.call(&take), "[1 2 3]", "an id of another namespace is another id");
    of_redis(&["revoke", "shop"]);
    assert_eq!(sockets.each_mut().map(Socket::rest), ["", ""]);
    assert!(servers[0].socket().call(&take).starts_with("-NOAUTH"));
    assert!(of_redis(&["list", "--json"]).contains("\"standing\":\"revoked\""));
}

#[test]
fn movements_of_money_are_checked_whichever_way_they_are_decided() {
    let data = TempDir::new().expect("a folder");
    let bank = make(data.path(), "bank", &["*"], &["--namespace", ""]);
    let (one, other) = ("take,read:account:a-*", "take,create,read:account:a-*");
    let (one, other) = (make(data.path(), "one", &[one], &[]), make(data.path(), "other", &[other], &[]));
    let server = Server::start(data.path(), &[]);
    let [mut bank, mut one, mut other] = [&bank, &one, &other].map(|key| logged_in(&server, key));
    for account in ["a-1", "a-2", "b-1"] {
        assert_eq!(bank.call(&["ACCOUNT.OPEN", account, "EUR"]), "[1 0]");
        assert_eq!(bank.call(&["ACCOUNT.CREDIT", account, "100"]), "[1 100 100]");
    }
    for words in [
        &["ACCOUNT.DEBIT", "b-1", "1"][..],
        &["ACCOUNT.DEBIT", "b-1", "1", "ID", "op-2"],
        &["ACCOUNT.TRANSFER", "a-1", "b-1", "1"],
        &["ACCOUNT.TRANSFER", "b-1", "a-1", "1"],
        &["ACCOUNT.CREDIT", "a-1", "1"],
    ] {
        assert!(one.call(words).starts_with("-NOPERM this key lacks the scope "), "{words:?}");
    }
    let debit = ["ACCOUNT.DEBIT", "a-1", "10", "ID", "op-3"];
    assert_eq!(one.call(&debit), "[1 90 90]");
    assert_eq!(other.call(&debit), "[1 80 80]", "an id of another namespace is another id");
    assert_eq!([&mut one, &mut other].map(|its| its.call(&debit)), ["[1 90 90]", "[1 80 80]"]);
    assert_eq!(bank.call(&debit), "[1 70 70]");
    assert_eq!(one.call(&["ACCOUNT.TRANSFER", "a-1", "a-2", "5"]), "[1 65 105]");
    assert!(bank.call(&["ACCOUNT.GET", "b-1"]).contains("balance 100"));
}
