//! Waiting rooms: who takes from a guarded resource shows a ticket whose time has come, over both ports, across restarts, with both engines.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::{Http, Response, Server, redis_server, refused_start, serve, wait_until};
use tempfile::TempDir;

/// One in an hour: a second user waits longer than a test takes.
const SLOW: &str = "[[room]]\nname = \"sale\"\nresources = [\"hot-*\"]\nrate = \"1/h\"\n";

fn write(folder: &Path, rooms: &str) -> PathBuf {
    let path = folder.join("rooms.toml");
    std::fs::write(&path, rooms).unwrap();
    path
}

fn start(folder: &TempDir, more: &[&str]) -> Server {
    let file = folder.path().join("rooms.toml");
    let options = ["--waiting-rooms", file.to_str().unwrap()];
    Server::start(&folder.path().join("data"), &[&options, more].concat())
}

fn join(http: &mut Http, user: &str) -> Value {
    let joined = http.post("/v1/waiting-rooms/sale/tickets", &json!({ "user": user }));
    assert_eq!(joined.status, 201, "{}", joined.text());
    joined.json()
}

fn take(http: &mut Http, user: &str, tickets: &str) -> Response {
    let body = json!({ "quantity": 1, "owner": user });
    http.call("POST", "/v1/stock/hot-1/take", &[("Scarce-Ticket", tickets)], Some(&body))
}

#[test]
fn who_takes_from_a_guarded_resource_shows_a_ticket_of_its_own_whose_time_has_come() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), SLOW);
    let server = start(&folder, &[]);
    let (mut socket, mut http) = (server.socket(), server.http());
    for sku in ["hot-1", "cold"] {
        assert_eq!(socket.call(&["STOCK.CREATE", sku, "9"]), "[1 9]");
    }
    assert_eq!(socket.call(&["STOCK.TAKE", "cold", "1", "u1"]), "[1 1 8]");
    assert_eq!(socket.call(&["STOCK.TAKE", "hot-1", "1", "u1"]), "[0 NOT_ADMITTED sale u1 (nil)]");
    let first = join(&mut http, "u1");
    assert_eq!((&first["place"], &first["is_admitted"]), (&json!(0), &json!(true)), "{first}");
    let second = join(&mut http, "u2");
    assert_eq!((&second["place"], &second["is_admitted"]), (&json!(1), &json!(false)), "{second}");
    assert!(second["wait_ms"].as_u64().unwrap() > 3_500_000);
    assert_eq!(join(&mut http, "u2")["ticket"], second["ticket"], "it keeps its place");
    let (one, two) = (first["ticket"].as_str().unwrap(), second["ticket"].as_str().unwrap());
    assert_eq!(take(&mut http, "u1", one).status, 200);
    assert_eq!(take(&mut http, "u1", &format!("{two}, {one}")).status, 200, "it is good for a while");
    let refused = take(&mut http, "u2", two);
    assert_eq!((refused.status, refused.code().as_str()), (409, "NOT_ADMITTED"));
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() > 3_500);
    assert_eq!(refused.json()["facts"]["room"], "sale");
    for (user, ticket) in [("u3", one), ("u1", ""), ("u1", "wr1_AAAA"), ("u1", two)] {
        let refused = take(&mut http, user, ticket);
        assert_eq!((refused.status, refused.header("retry-after")), (409, None), "{user}");
    }
    assert_eq!(
        http.post("/v1/stock/hot-1/take?dry_run=true", &json!({ "quantity": 1, "owner": "u3" })).status,
        200
    );
    let lines =
        json!([{ "command": "STOCK.TAKE", "arguments": { "sku": "hot-1", "quantity": 1, "owner": "u2" } }]);
    assert_eq!(http.post("/v1/batch", &json!({ "operations": lines })).status, 409);
    assert_eq!(
        http.post("/v1/stock/hot-1/restock", &json!({ "quantity": 1 })).status,
        200,
        "it takes nothing"
    );
    let shown = http.get(&format!("/v1/waiting-rooms/sale/tickets/{two}")).json();
    assert_eq!(
        (&shown["user"], &shown["ticket"], &shown["is_admitted"]),
        (&json!("u2"), &json!(two), &json!(false))
    );
    for (path, status) in [("sale/tickets/x", 400), (&*format!("other/tickets/{two}"), 400)] {
        assert_eq!(http.get(&format!("/v1/waiting-rooms/{path}")).status, status, "{path}");
    }
    assert_eq!(http.post("/v1/waiting-rooms/other/tickets", &json!({ "user": "u" })).status, 404);
    for body in [json!({}), json!({ "user": 5 }), json!({ "user": "a b" }), json!({ "user": "u", "x": 1 })] {
        assert_eq!(http.post("/v1/waiting-rooms/sale/tickets", &body).status, 400, "{body}");
    }
    assert!(http.get("/metrics").text().contains("scarce_waiting_room_users{room=\"sale\"} 2"));
}

#[test]
fn over_resp_a_connection_shows_the_tickets_of_those_it_sends_for() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), SLOW);
    let server = start(&folder, &["--partitions", "2"]);
    let mut socket = server.socket();
    assert_eq!(socket.call(&["STOCK.CREATE", "hot-1", "9"]), "[1 9]");
    let joined = socket.call(&["WAITINGROOM", "JOIN", "sale", "u1"]);
    let ticket = joined.trim_start_matches('[').split(' ').next().unwrap().to_owned();
    assert!(ticket.starts_with("wr1_") && joined.contains(" 0 0 1 "), "{joined}");
    assert!(socket.call(&["WAITINGROOM", "GET", &ticket]).starts_with("[0 0 1 "));
    let waits = socket.call(&["WAITINGROOM", "JOIN", "sale", "u2"]);
    let other = waits.trim_start_matches('[').split(' ').next().unwrap().to_owned();
    assert_eq!(socket.call(&["WAITINGROOM", "SHOW", &other, &ticket]), "OK");
    assert_eq!(socket.call(&["STOCK.TAKE", "hot-1", "1", "u1"]), "[1 1 8]");
    let refused = socket.call(&["STOCK.TAKE", "hot-1", "1", "u2"]);
    assert!(refused.starts_with("[0 NOT_ADMITTED sale u2 3"), "{refused}");
    assert_eq!(socket.call(&["MULTI"]), "OK");
    assert_eq!(socket.call(&["STOCK.TAKE", "hot-1", "1", "u1"]), "QUEUED");
    assert!(socket.call(&["STOCK.TAKE", "hot-1", "1", "u3"]).starts_with("-ERR NOT_ADMITTED sale u3"));
    assert!(socket.call(&["EXEC"]).starts_with("-EXECABORT"));
    assert_eq!(socket.call(&["WAITINGROOM", "SHOW"]), "OK");
    assert!(socket.call(&["STOCK.TAKE", "hot-1", "1", "u1"]).starts_with("[0 NOT_ADMITTED"));
    for words in
        [&["WAITINGROOM", "SHOW", "x"][..], &["WAITINGROOM", "JOIN", "x", "u"], &["WAITINGROOM", "LEAVE"]]
    {
        assert!(socket.call(words).starts_with("-ERR "), "{words:?}");
    }
    assert!(socket.call(&["STOCK.GET", "hot-1"]).contains("available 8"));
}

/// What was done is told again to who lost the answer, although the ticket is over or was not shown again.
#[test]
fn a_command_that_was_carried_out_is_answered_without_a_ticket() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), SLOW);
    let redis = redis_server(&[]);
    let url = redis.url();
    for more in [&[][..], &["--partitions", "2"], &["--engine", "redis", "--redis-url", &url]] {
        let file = folder.path().join("rooms.toml");
        let server = Server::fresh(&[&["--waiting-rooms", file.to_str().unwrap()], more].concat());
        let (mut socket, mut http) = (server.socket(), server.http());
        assert_eq!(socket.call(&["STOCK.CREATE", "hot-1", "9"]), "[1 9]");
        let ticket = join(&mut http, "u1")["ticket"].as_str().unwrap().to_owned();
        assert_eq!(socket.call(&["WAITINGROOM", "SHOW", &ticket]), "OK");
        let take = |owner, id| ["STOCK.TAKE", "hot-1", "1", owner, "ID", id];
        assert_eq!(socket.call(&take("u1", "one")), "[1 1 8]");
        let batch = [&["MULTI"][..], &["BATCH.ID", "two"], &["STOCK.TAKE", "hot-1", "1", "u1"], &["EXEC"]];
        assert_eq!(batch.map(|line| socket.call(line))[3], "[OK [1 2 7]]");
        let mut other = server.socket();
        assert_eq!(other.call(&take("u1", "one")), "[1 1 8]");
        assert_eq!(batch.map(|line| other.call(line))[3], "[OK [1 2 7]]");
        assert_eq!(other.call(&take("u1", "three")), "[0 NOT_ADMITTED sale u1 (nil)]");
        let refused = [batch[0], &["BATCH.ID", "four"], batch[2], batch[3]].map(|line| other.call(line));
        assert!(refused[3].starts_with("-EXECABORT NOT_ADMITTED sale u1"), "{refused:?}");
        let body = json!({ "quantity": 1, "owner": "u1" });
        for (id, status, units) in [("one", 200, json!(8)), ("five", 409, Value::Null)] {
            let answer = http.call("POST", "/v1/stock/hot-1/take", &[("Idempotency-Key", id)], Some(&body));
            assert_eq!((answer.status, &answer.json()["remaining"]), (status, &units), "{}", answer.text());
        }
        let line =
            json!({ "command": "STOCK.TAKE", "arguments": { "sku": "hot-1", "quantity": 1, "owner": "u1" } });
        let batch = json!({ "atomic": true, "operations": [line] });
        for (id, status) in [("two", 200), ("six", 409)] {
            let answer = http.call("POST", "/v1/batch", &[("Idempotency-Key", id)], Some(&batch));
            assert_eq!(answer.status, status, "{}", answer.text());
        }
        assert!(socket.call(&["STOCK.GET", "hot-1"]).contains("available 7"));
    }
}

#[test]
fn a_place_survives_a_kill_and_a_room_that_is_read_again_goes_on() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), SLOW);
    let mut server = start(&folder, &[]);
    assert_eq!(server.socket().call(&["STOCK.CREATE", "hot-1", "9"]), "[1 9]");
    let (mut http, kept) = (server.http(), folder.path().join("data/waiting-rooms.json"));
    let first = join(&mut http, "u1");
    let second = join(&mut http, "u2");
    wait_until("the moments are kept", || {
        let kept = std::fs::read(&kept).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        kept.is_some_and(|kept| kept["next_ms"]["sale"].as_u64() > second["expires_ms"].as_u64())
    });
    server.kill();
    let server = start(&folder, &[]);
    let mut http = server.http();
    assert_eq!(take(&mut http, "u1", first["ticket"].as_str().unwrap()).status, 200);
    let ticket = second["ticket"].as_str().unwrap();
    let shown = http.get(&format!("/v1/waiting-rooms/sale/tickets/{ticket}")).json();
    assert_eq!((&shown["place"], &shown["expires_ms"]), (&json!(1), &second["expires_ms"]));
    assert_eq!(join(&mut http, "u3")["place"], 2, "it is behind those before the kill");
    write(folder.path(), "[[room]]\nname = \"sale\"\n");
    server.signal("HUP");
    write(folder.path(), &SLOW.replace("1/h", "100/s"));
    server.signal("HUP");
    wait_until("the room is another", || join(&mut http, "u4")["place"].as_u64() > Some(1_000));
    write(folder.path(), "");
    server.signal("HUP");
    wait_until("there is none", || take(&mut http, "u9", "").status == 200);
    write(folder.path(), &SLOW.replace("1/h", "100/s"));
    server.signal("HUP");
    wait_until("it is back", || take(&mut http, "u9", "").status == 409);
    assert!(join(&mut http, "u5")["place"].as_u64() > Some(1_000), "it is behind those who waited");
}

#[test]
fn any_process_in_front_of_one_redis_takes_a_ticket_and_a_mistake_is_named() {
    let (folder, redis) = (TempDir::new().unwrap(), redis_server(&[]));
    let file = write(folder.path(), SLOW);
    let url = redis.url();
    let options = ["--engine", "redis", "--redis-url", &url, "--waiting-rooms", file.to_str().unwrap()];
    let (one, other) =
        (Server::fresh(&options), Server::fresh(&[&options[..], &["--accept-deployment"]].concat()));
    assert_eq!(one.socket().call(&["STOCK.CREATE", "hot-1", "9"]), "[1 9]");
    let ticket = join(&mut one.http(), "u1");
    assert_eq!(take(&mut other.http(), "u1", "").status, 409);
    assert_eq!(take(&mut other.http(), "u1", ticket["ticket"].as_str().unwrap()).status, 200);
    write(folder.path(), "[[room]]\nname = \"sale\"\nresources = []\nrate = \"1/s\"\n");
    let data = folder.path().join("data");
    let (code, said) = refused_start(&mut serve(&data, &["--waiting-rooms", file.to_str().unwrap()]));
    assert!(code == Some(1) && said.contains("rooms.toml") && said.contains("guards nothing"), "{said}");
}
