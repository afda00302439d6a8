//! Subscriptions on the real server: over WebSocket, as server-sent events and over RESP, with either engine.

mod edges;
mod hostile;
mod own_orders;
#[path = "../support/mod.rs"]
mod support;
mod watch;

use serde_json::{Value, json};
use support::{Server, redis_server};
use tempfile::TempDir;
use watch::{Seen, Watcher, ask, next, web_socket};

/// The channels, with the reads that they show.
const CHANNELS: [(&str, &str); 6] = [
    ("stock.sku-1", "/v1/stock/sku-1"),
    ("account.u1", "/v1/accounts/u1"),
    ("packets.c1", "/v1/packets/c1"),
    ("coupon.k1", "/v1/coupons/k1"),
    ("market.m.depth", "/v1/markets/m/depth"),
    ("market.m.ticker", "/v1/markets/m/ticker"),
];

fn call(server: &Server, lines: &[&str]) {
    let mut socket = server.socket();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let answer = socket.call(&words);
        assert!(answer.starts_with("[1"), "{line}: {answer}");
    }
}

fn create_all(server: &Server) {
    call(
        server,
        &[
            "STOCK.CREATE sku-1 100",
            "ACCOUNT.OPEN u1 USD",
            "ACCOUNT.OPEN u2 USD",
            "ACCOUNT.CREDIT u2 1000",
            "PACKET.CREATE c1 USD PLAN 100 10 EVEN",
            "COUPON.CREATE k1 LIMIT all 10 PER - WINDOW none",
            "MARKET.CREATE m",
        ],
    );
}

/// Changes each resource several times.
fn change_all(server: &Server, round: usize) {
    let lines = [
        format!("STOCK.TAKE sku-1 1 o{round}"),
        format!("STOCK.RESERVE sku-1 r{round} 1 o{round} 600000"),
        "ACCOUNT.TRANSFER u2 u1 5".to_owned(),
        format!("PACKET.CLAIM c1 p{round}"),
        format!("COUPON.CLAIM k1 USER p{round}"),
        format!("ORDER.PLACE m b{round} alice BUY LIMIT {} 5", 90 + round),
        format!("ORDER.PLACE m s{round} bob SELL LIMIT {} 7", 110 - round),
        format!("ORDER.PLACE m t{round} carol SELL LIMIT {} 2", 90 + round),
        format!("ORDER.CANCEL m s{round} bob"),
    ];
    call(server, &lines.each_ref().map(String::as_str));
}

/// What a read shows, without the sequence, which each message has by itself.
fn read(server: &Server, path: &str) -> Value {
    let mut shown = server.http().get(path).json();
    if let Some(shown) = shown.as_object_mut() {
        shown.remove("sequence");
    }
    shown
}

fn watch_until_equal(name: &str, watcher: &mut Watcher, seen: &mut Seen, wanted: &[(&str, Value)]) {
    while !wanted.iter().all(|(channel, shown)| seen.data.get(*channel) == Some(shown)) {
        seen.take(&watcher.next());
    }
    eprintln!("{name}: {:?}", seen.last);
}

#[test]
fn each_channel_tells_all_first_and_then_each_change_until_it_equals_the_read() {
    let redis = redis_server(&[]);
    let url = redis.url();
    for options in [&[][..], &["--engine", "redis", "--redis-url", &url]] {
        let server = Server::fresh(options);
        create_all(&server);
        change_all(&server, 0);
        let names = CHANNELS.map(|(name, _)| name);
        let mut watchers = Watcher::all(&server, &names);
        let mut all: Vec<Seen> = watchers.iter().map(|_| Seen::default()).collect();
        let wanted = || CHANNELS.map(|(name, path)| (name, read(&server, path)));
        for round in 1..=3 {
            let before = wanted();
            for ((name, watcher), seen) in watchers.iter_mut().zip(&mut all) {
                watch_until_equal(name, watcher, seen, &before);
            }
            change_all(&server, round);
        }
        let end = wanted();
        for ((name, watcher), seen) in watchers.iter_mut().zip(&mut all) {
            watch_until_equal(name, watcher, seen, &end);
        }
    }
}

#[test]
fn each_trade_comes_once_also_across_reconnections_and_a_killed_server() {
    let data = TempDir::new().expect("a folder");
    let mut server = Server::start(data.path(), &["--partitions=2"]);
    call(&server, &["MARKET.CREATE m"]);
    let channel = "market.m.trades";
    let trade = |server: &Server, from: usize, count: usize| {
        for at in from..from + count {
            let orders = [
                format!("ORDER.PLACE m b{at} alice BUY LIMIT 100 1"),
                format!("ORDER.PLACE m s{at} bob SELL LIMIT 100 1"),
            ];
            call(server, &orders.each_ref().map(String::as_str));
        }
    };
    trade(&server, 0, 15);
    let mut seen = Seen::default();
    let watch = |server: &Server, seen: &mut Seen, through: u64| {
        let asked = if seen.last.is_empty() { channel.to_owned() } else { seen.resumed(channel) };
        let mut watcher = Watcher::over_web_socket(server, &[&asked]);
        while seen.trades.last() != Some(&through) {
            let message = watcher.next();
            let is_first = seen.last.is_empty();
            assert_eq!(message["type"] == "snapshot", is_first, "it goes on where it was: {message}");
            seen.take(&message);
        }
    };
    watch(&server, &mut seen, 15);
    assert_eq!(seen.trades, (6..=15).collect::<Vec<_>>(), "the last ten first");
    trade(&server, 15, 20);
    watch(&server, &mut seen, 35);
    trade(&server, 35, 20);
    server.kill();
    server = Server::start(data.path(), &["--partitions=2"]);
    trade(&server, 55, 5);
    watch(&server, &mut seen, 60);
    assert_eq!(seen.trades, (6..=60).collect::<Vec<_>>());
    // A position that this log never had leads nowhere.
    let mut other = Watcher::over_web_socket(&server, &["market.m.trades;after=123.50"]);
    assert_eq!(other.next()["type"], "snapshot");
}

#[test]
fn what_comes_into_being_is_told_and_what_is_not_there_is_said() {
    let server = Server::fresh(&[]);
    let mut watchers = Watcher::all(&server, &["stock.later", "market.later.trades"]);
    for (name, watcher) in &mut watchers {
        for _ in 0..2 {
            let message = watcher.next();
            assert_eq!((&message["type"], &message["data"]), (&json!("snapshot"), &Value::Null), "{name}");
        }
    }
    call(&server, &["STOCK.CREATE later 5", "MARKET.CREATE later"]);
    for (name, watcher) in &mut watchers {
        let mut told = [watcher.next(), watcher.next()];
        told.sort_by_key(|message| message["channel"].to_string());
        assert_eq!(
            (&told[0]["type"], &told[0]["data"]["trades"]),
            (&json!("snapshot"), &json!([])),
            "{name}"
        );
        assert_eq!(
            (&told[1]["type"], &told[1]["data"]["available"]),
            (&json!("snapshot"), &json!(5)),
            "{name}"
        );
    }
}

#[test]
fn requests_over_a_web_socket_are_answered_by_their_ids_and_refused_with_the_reason() {
    let server = Server::fresh(&[]);
    let mut socket = web_socket(&server, &[]).expect("a WebSocket");
    let mut answer = |request: Value| {
        ask(&mut socket, &request);
        loop {
            let message = next(&mut socket);
            if message.get("channel").is_none() {
                return message;
            }
        }
    };
    let params = json!(["stock.a", "stock.b;conflate", "stock", { "channel": "stock.c", "conflate": true }]);
    let told = answer(json!({ "method": "SUBSCRIBE", "params": params, "id": "x" }));
    assert_eq!(
        (&told["id"], &told["result"]["subscribed"]),
        (&json!("x"), &json!(["stock.a", "stock.b", "stock.c"]))
    );
    let refused = &told["result"]["refused"][0];
    assert_eq!((&refused["channel"], &refused["problem"]["code"]), (&json!("stock"), &json!("INVALID")));
    let told = answer(json!({ "method": "UNSUBSCRIBE", "params": ["stock.b", "stock.z"], "id": 2 }));
    assert_eq!(told["result"]["unsubscribed"], json!(["stock.b"]));
    let told = answer(json!({ "method": "LIST", "id": 3 }));
    assert_eq!(told["result"]["channels"], json!(["stock.a", "stock.c"]));
    assert_eq!(answer(json!({ "method": "PING", "id": 4 }))["result"], "PONG");
    for wrong in [
        json!({ "method": "GO", "id": 5 }),
        json!({ "method": "PING", "id": 5, "more": 1 }),
        json!({ "method": "SUBSCRIBE", "params": "stock.a", "id": 5 }),
        json!({ "method": "PING", "id": [5] }),
        json!([1]),
    ] {
        let told = answer(wrong.clone());
        assert_eq!(told["error"]["code"], "INVALID", "{wrong}: {told}");
    }
    let many: Vec<String> = (0..1_000).map(|at| format!("stock.many-{at}")).collect();
    let told = answer(json!({ "method": "SUBSCRIBE", "params": many, "id": 6 }));
    assert_eq!(told["result"]["refused"][0]["problem"]["code"], "OVERLOADED", "there is an end to it");
}

#[test]
fn redis_clients_subscribe_as_they_do_elsewhere() {
    let server = Server::fresh(&[]);
    call(&server, &["STOCK.CREATE s 5"]);
    let mut socket = server.socket();
    assert_eq!(socket.call(&["SUBSCRIBE", "stock.s"]), "[subscribe stock.s 1]");
    let snapshot = socket.reply();
    assert!(snapshot.starts_with("[message stock.s {") && snapshot.contains("\"available\":5"), "{snapshot}");
    assert_eq!(socket.call(&["PING"]), "[pong ]");
    assert_eq!(socket.call(&["PING", "x"]), "[pong x]");
    assert!(socket.call(&["STOCK.GET", "s"]).starts_with("-ERR Can't execute 'STOCK.GET'"));
    assert!(socket.call(&["SUBSCRIBE", "nonsense"]).starts_with("-ERR there is no channel"));
    assert_eq!(socket.call(&["UNSUBSCRIBE", "stock.s"]), "[unsubscribe stock.s 0]");
    assert_eq!(socket.call(&["UNSUBSCRIBE"]), "[unsubscribe (nil) 0]");
    assert!(socket.call(&["STOCK.GET", "s"]).contains("available 5"), "it is an ordinary connection again");
    assert_eq!(socket.call(&["SUBSCRIBE", "stock.s"]), "[subscribe stock.s 1]");
    socket.reply();
    assert_eq!(socket.call(&["RESET"]), "RESET");
    call(&server, &["STOCK.TAKE s 1 o"]);
    assert!(socket.call(&["STOCK.GET", "s"]).contains("available 4"), "and hears nothing more");
}
