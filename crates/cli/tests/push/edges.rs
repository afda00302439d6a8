//! Subscribers at the edges of what is promised: positions that never were, requests that cost much, connections that last.

use std::io::{ErrorKind, Write as _};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::error::Error;
use tungstenite::{Message, WebSocket};

use super::call;
use super::hostile::{figure, keys, trade_much};
use super::support::{Server, frame, redis_server, wait_until};
use super::watch::{Seen, Watcher, ask, next, web_socket};

/// The server pings every 15 seconds; with some room for a busy machine.
const PINGED_WITHIN: Duration = Duration::from_secs(40);

#[test]
fn a_caller_is_asked_whether_it_is_there_also_while_much_is_told() {
    let server = Server::fresh(&[]);
    call(&server, &["STOCK.CREATE s 1000"]);
    let mut socket = web_socket(&server, &[]).expect("a WebSocket");
    ask(&mut socket, &json!({ "method": "SUBSCRIBE", "params": ["stock.s"], "id": 1 }));
    let quiet = Duration::from_secs(2);
    socket.get_ref().set_read_timeout(Some(quiet)).expect("a timeout");
    let began_at = Instant::now();
    // A change after every two seconds of silence, so that the connection is never idle for long.
    for at in 0.. {
        match socket.read() {
            Ok(Message::Ping(_)) => return,
            Ok(Message::Text(text)) => assert!(!text.contains("heartbeat"), "it is not idle: {text}"),
            Ok(other) => panic!("{other}"),
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {
                call(&server, &[&format!("STOCK.TAKE s 1 o{at}")]);
            }
            Err(error) => panic!("{error}"),
        }
        assert!(began_at.elapsed() < PINGED_WITHIN, "who is not asked cannot answer, and is taken for gone");
    }
}

#[test]
fn a_request_with_too_many_channels_is_refused_and_costs_little() {
    let server = Server::fresh(&[]);
    let mut socket = web_socket(&server, &[]).expect("a WebSocket");
    let before_kib = server.peak_resident_kib();
    for params in [vec![json!(0); 32_000], vec![json!(""); 1_001]] {
        ask(&mut socket, &json!({ "method": "SUBSCRIBE", "params": params, "id": 1 }));
        let told = next(&mut socket);
        assert_eq!((&told["error"]["code"], &told["id"]), (&json!("INVALID"), &json!(1)));
    }
    ask(&mut socket, &json!({ "method": "SUBSCRIBE", "params": vec![json!(0); 1_000], "id": 2 }));
    let told = next(&mut socket);
    assert_eq!(told["result"]["refused"].as_array().map(Vec::len), Some(1_000));
    let grown_kib = server.peak_resident_kib().saturating_sub(before_kib);
    assert!(grown_kib < 30 << 10, "64 KiB took {grown_kib} KiB");
    let deep = "[".repeat(1_000);
    for text in [r#"{"method":"PING","method":"LIST","id":3}"#, &deep] {
        socket.send(Message::text(text)).expect("sent");
        assert_eq!(next(&mut socket)["error"]["code"], "INVALID", "{text}");
    }
}

/// How long a read takes over a connection, of those that are made while `disturb` goes on, at least a few.
fn median_read(server: &Server, mut disturb: impl FnMut()) -> Duration {
    let mut socket = server.socket();
    let mut all: Vec<Duration> = (0..21)
        .map(|_| {
            disturb();
            let began_at = Instant::now();
            assert!(socket.call(&["STOCK.GET", "s"]).contains("total"));
            began_at.elapsed()
        })
        .collect();
    all.sort_unstable();
    all[all.len() / 2]
}

#[test]
fn who_ends_subscriptions_that_it_does_not_have_holds_up_nobody() {
    let server = Server::fresh(&[]);
    call(&server, &["STOCK.CREATE s 1000"]);
    let name = |kind: &str, at: usize| format!("stock.{}{kind}{at}", "a".repeat(40));
    let words = |first: &str, kind: &str, count: usize| {
        std::iter::once(first.to_owned()).chain((0..count).map(|at| name(kind, at))).collect::<Vec<_>>()
    };
    let mut socket = server.socket();
    socket.send(&frame(&["HELLO", "3"]));
    socket.send(&frame(&words("SUBSCRIBE", "-", 1_000)));
    let mut sender = socket.sender();
    std::thread::spawn(move || drop(socket.rest()));
    // Compared with as many words that cost nothing, so that a loaded machine does not matter.
    let (plain, ending) = (frame(&words("PING", "+", 4_000)), frame(&words("UNSUBSCRIBE", "+", 4_000)));
    let mut send = |bytes: &[u8]| sender.write_all(bytes).expect("sent");
    let usual = median_read(&server, || send(&plain));
    let held_up = median_read(&server, || send(&ending));
    eprintln!("a read takes {usual:?}, beside the end of 4000 subscriptions {held_up:?}");
    assert!(held_up < usual * 8 + Duration::from_millis(10), "{held_up:?} instead of {usual:?}");
    sender.shutdown(std::net::Shutdown::Both).expect("an end");
}

#[test]
fn a_subscription_is_ended_by_what_was_written_and_by_the_channel_alone() {
    let server = Server::fresh(&[]);
    let mut socket = server.socket();
    for ended in ["stock.s;conflate", "stock.s"] {
        assert_eq!(socket.call(&["SUBSCRIBE", "stock.s;conflate"]), "[subscribe stock.s;conflate 1]");
        assert!(socket.reply().starts_with("[message stock.s;conflate {"));
        assert_eq!(socket.call(&["UNSUBSCRIBE", "stock.other"]), "[unsubscribe stock.other 1]");
        assert_eq!(socket.call(&["UNSUBSCRIBE", ended]), format!("[unsubscribe {ended} 0]"));
    }
}

#[test]
fn a_position_that_is_not_reached_yet_leads_to_a_snapshot_and_not_to_silence() {
    let redis = redis_server(&[]);
    let url = redis.url();
    for options in [&[][..], &["--engine", "redis", "--redis-url", &url]] {
        let server = Server::fresh(options);
        call(&server, &["STOCK.CREATE s 1000", "MARKET.CREATE m"]);
        for channel in ["stock.s", "market.m.trades"] {
            // One that listens already, and none.
            for listens in [false, true] {
                let mut first = Watcher::over_web_socket(&server, &[channel]);
                let epoch = first.next()["epoch"].as_u64().expect("an epoch");
                let kept = listens.then_some(first);
                let asked = format!("{channel};after={epoch}.1000000");
                let mut socket = web_socket(&server, &[]).expect("a WebSocket");
                ask(&mut socket, &json!({ "method": "SUBSCRIBE", "params": [asked], "id": 1 }));
                assert_eq!(next(&mut socket)["id"], 1);
                call(&server, &["STOCK.TAKE s 1 o"]);
                // Otherwise it is a heartbeat, after a while.
                assert_eq!(next(&mut socket)["type"], "snapshot", "{channel}, {listens}, {options:?}");
                drop(kept);
            }
        }
    }
}

#[test]
fn trades_follow_on_the_list_of_a_market_that_was_just_opened() {
    let server = Server::fresh(&[]);
    for round in 0..20 {
        let channel = format!("market.m{round}.trades");
        let mut watcher = Watcher::over_web_socket(&server, &[&channel]);
        let mut seen = Seen::default();
        seen.take(&watcher.next());
        assert_eq!(seen.data[&channel], Value::Null);
        // All of it comes in one batch.
        let mut bytes = frame(&["MARKET.CREATE", &format!("m{round}")]);
        for at in 0..15 {
            for (side, user) in [("BUY", "alice"), ("SELL", "bob")] {
                let (market, order) = (format!("m{round}"), format!("{side}{at}"));
                bytes.extend(frame(&["ORDER.PLACE", &market, &order, user, side, "LIMIT", "100", "1"]));
            }
        }
        let mut socket = server.socket();
        socket.send(&bytes);
        (0..31).for_each(|_| assert!(socket.reply().starts_with("[1 ")));
        // A delta on what is not there is refused by `Seen`.
        while seen.trades.last() != Some(&15) {
            seen.take(&watcher.next());
        }
        assert_eq!(seen.trades, (1..=15).collect::<Vec<u64>>());
    }
}

/// Reads until the connection ends; the reason, and the last number of an order that was told.
fn read_to_end(socket: &mut WebSocket<std::net::TcpStream>) -> (Option<String>, u64) {
    let mut last = 0;
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => {
                let message: Value = serde_json::from_str(&text).expect("JSON");
                last = message["last"].as_u64().unwrap_or(last);
            }
            Ok(Message::Close(frame)) => return (frame.map(|frame| frame.reason.to_string()), last),
            Ok(_) => {}
            Err(_) => return (None, last),
        }
    }
}

#[test]
fn who_does_not_read_gets_nothing_that_happens_once_its_key_is_revoked() {
    let data = TempDir::new().expect("a folder");
    let admin = keys(&data, &["create", "--name", "admin", "--scope", "*"]);
    let key = keys(&data, &["create", "--name", "screen", "--scope", "read:market:m"]);
    let server = Server::start(data.path(), &["--event-stream-unread-ms", "1h"]);
    let mut socket = server.socket();
    assert_eq!(socket.call(&["AUTH", &admin]), "OK");
    assert_eq!(socket.call(&["MARKET.CREATE", "m"]), "[1 open]");
    let mut slow = web_socket(&server, &[("authorization", format!("Bearer {key}"))]).expect("a WebSocket");
    ask(&mut slow, &json!({ "method": "SUBSCRIBE", "params": ["market.m.trades;conflate"], "id": 1 }));
    next(&mut slow);
    trade_much(&server, Some(&admin), 0..40_000);
    keys(&data, &["revoke", "screen"]);
    // The connection is over although nothing of it was read.
    let bearer = format!("Bearer {admin}");
    let subscribers = || figure(&server, &[("Authorization", &bearer)], "scarce_push_subscribers");
    wait_until("the subscription has ended", || subscribers() == 0);
    let sequence = {
        let shown = socket.call(&["MARKET.TICKER", "m"]);
        let (_, rest) = shown.split_once("sequence ").expect("a sequence");
        rest.split([' ', ']']).next().and_then(|text| text.parse::<u64>().ok()).expect("a number")
    };
    trade_much(&server, Some(&admin), 40_000..40_100);
    let (_, last) = read_to_end(&mut slow);
    assert!(last <= sequence, "{last} was told, but {sequence} was the last when the key was revoked");
}

#[test]
fn a_key_that_takes_all_channels_leaves_some_to_others() {
    let data = TempDir::new().expect("a folder");
    let key = |name: &str| keys(&data, &["create", "--name", name, "--scope", "read"]);
    let (greedy, modest) = (key("greedy"), key("modest"));
    let server = Server::start(data.path(), &[]);
    let connect = |key: &str| {
        let mut socket = server.socket();
        assert_eq!(socket.call(&["AUTH", key]), "OK");
        socket
    };
    let mut refusals = 0;
    let all: Vec<_> = (0..21)
        .map(|at| {
            let names = (0..1_000).map(|number| format!("stock.s-{at}-{number}"));
            let words: Vec<String> = std::iter::once("SUBSCRIBE".to_owned()).chain(names).collect();
            let mut socket = connect(&greedy);
            socket.send(&frame(&words));
            socket.send(&frame(&["PING", "end"]));
            let told: Vec<String> = std::iter::repeat_with(|| socket.reply())
                .take_while(|reply| !reply.ends_with("end]") && reply != "end")
                .collect();
            let refused = told.iter().filter(|reply| reply.starts_with("-OVERLOADED this key has")).count();
            refusals += refused;
            socket
        })
        .collect();
    assert_eq!(refusals, 11_000, "half of 20 000 are left");
    assert_eq!(connect(&modest).call(&["SUBSCRIBE", "stock.x"]), "[subscribe stock.x 1]");
    // A channel that is there already takes no room.
    assert_eq!(connect(&greedy).call(&["SUBSCRIBE", "stock.s-0-0"]), "[subscribe stock.s-0-0 1]");
    drop(all);
    let mut again = connect(&greedy);
    wait_until("what nobody listens to makes room", || {
        again.call(&["SUBSCRIBE", "stock.again"]) == "[subscribe stock.again 1]"
    });
}
