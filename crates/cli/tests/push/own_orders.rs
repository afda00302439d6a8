//! The channel of an owner's orders: what a client keeps of them by the messages equals the list of the server.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::hostile::keys;
use super::support::{Server, redis_server};
use super::watch::{Watcher, ask, next, web_socket};
use super::{call, read};

const CHANNEL: &str = "market.m.orders.ann";

/// An owner's orders as a client keeps them: price and what remains, of those that rest and of the one on its way.
#[derive(Default)]
struct Orders {
    resting: BTreeMap<String, (u64, u64)>,
    placed: BTreeMap<String, (u64, u64)>,
    /// Epoch and sequence.
    last: Option<(u64, u64)>,
    told: Vec<(u64, String)>,
}

impl Orders {
    fn take(&mut self, message: &Value) {
        let number = |name: &str| message[name].as_u64().unwrap_or_else(|| panic!("{name} in {message}"));
        if message["type"] == "snapshot" {
            self.resting = rows(&message["data"]);
            self.placed.clear();
            self.last = Some((number("epoch"), number("sequence")));
            return;
        }
        let (_, seen) = self.last.expect("a snapshot first");
        assert!(number("first") <= seen + 1 && number("last") > seen, "after {seen}: {message}");
        self.last = Some((number("epoch"), number("last")));
        for change in message["data"]["changes"].as_array().expect("changes") {
            self.change(change);
        }
    }

    fn change(&mut self, change: &Value) {
        let order = change["order"].as_str().expect("an order").to_owned();
        let number = |name: &str| change[name].as_u64().unwrap_or_else(|| panic!("{name} in {change}"));
        let (what, remaining) = (change["change"].as_str().expect("a change"), number("remaining"));
        let sequence = number("sequence");
        assert!(self.told.last().is_none_or(|(last, _)| sequence >= *last), "{change} after {:?}", self.told);
        self.told.push((sequence, format!("{what} {order} {remaining}")));
        match what {
            "placed" => drop(self.placed.insert(order, (change["price"].as_u64().unwrap_or(0), remaining))),
            "rested" => {
                self.placed.remove(&order);
                self.resting.insert(order, (number("price"), remaining));
            }
            "replaced" => {
                let is_kept = change["keeps_priority"] == true;
                let of = if is_kept { &mut self.resting } else { &mut self.placed };
                of.insert(order.clone(), (number("price"), remaining));
                if !is_kept {
                    self.resting.remove(&order);
                }
            }
            "traded" | "reduced" | "cancelled" => {
                for of in [&mut self.placed, &mut self.resting] {
                    of.entry(order.clone()).and_modify(|row| row.1 = remaining);
                    of.retain(|_, (_, remaining)| *remaining > 0);
                }
            }
            _ => panic!("{change}"),
        }
    }
}

fn rows(shown: &Value) -> BTreeMap<String, (u64, u64)> {
    let row = |row: &Value| {
        let number = |name: &str| row[name].as_u64().expect("a number");
        (row["order"].as_str().expect("a name").to_owned(), (number("price"), number("remaining")))
    };
    shown["orders"].as_array().expect("orders").iter().map(row).collect()
}

fn listed(server: &Server) -> BTreeMap<String, (u64, u64)> {
    rows(&read(server, "/v1/markets/m/orders?owner=ann&limit=1000"))
}

/// Orders of ann and others in all ways; the end of each round shows in an order that then rests.
fn trade(server: &Server, round: usize) {
    let lines = [
        format!("ORDER.PLACE m a{round} ann BUY LIMIT {} 9", 50 + round),
        format!("ORDER.PLACE m b{round} ann SELL LIMIT 200 8 STP CANCEL_MAKER"),
        format!("ORDER.PLACE m c{round} bob SELL LIMIT {} 4", 50 + round),
        format!("ORDER.REDUCE m a{round} ann 1"),
        format!("ORDER.REPLACE m b{round} ann 200 3"),
        format!("ORDER.REPLACE m b{round} ann 201 5"),
        format!("ORDER.PLACE m d{round} ann BUY LIMIT 10 7"),
        format!("ORDER.CANCEL m d{round} ann"),
        format!("ORDER.PLACE m e{round} ann SELL LIMIT {} 2", 50 + round),
        format!("ORDER.PLACE m f{round} ann SELL MARKET 100"),
        format!("ORDER.PLACE m g{round} bob BUY LIMIT 201 2"),
        format!("ORDER.PLACE m z{round} ann BUY LIMIT 1 1"),
    ];
    call(server, &lines.each_ref().map(String::as_str));
}

#[test]
fn an_owner_keeps_its_orders_by_the_messages_on_both_engines_and_all_ports() {
    let redis = redis_server(&[]);
    let url = redis.url();
    for options in [&["--partitions=2"][..], &["--engine", "redis", "--redis-url", &url]] {
        let server = Server::fresh(options);
        call(&server, &["MARKET.CREATE m"]);
        trade(&server, 0);
        let mut watchers: Vec<_> = Watcher::all(&server, &[CHANNEL]);
        let mut all: Vec<Orders> = watchers.iter().map(|_| Orders::default()).collect();
        for ((_, watcher), orders) in watchers.iter_mut().zip(&mut all) {
            orders.take(&watcher.next());
            assert_eq!(orders.resting, listed(&server));
        }
        (1..=20).for_each(|round| trade(&server, round));
        let end = listed(&server);
        for ((name, watcher), orders) in watchers.iter_mut().zip(&mut all) {
            while orders.resting != end || !orders.placed.is_empty() {
                orders.take(&watcher.next());
            }
            let of_last = orders.told.iter().filter(|(_, told)| told.contains("20 "));
            let told: Vec<&str> = of_last.map(|(_, told)| told.as_str()).collect();
            let wanted = "placed a20 9|rested a20 9|placed b20 8|rested b20 8|traded a20 5|reduced a20 4|replaced b20 3|replaced b20 5|rested b20 5|placed d20 7|rested d20 7|cancelled d20 0|placed e20 2|traded a20 2|traded e20 0|placed f20 100|traded a20 0";
            assert!(told.join("|").starts_with(wanted), "{name}: {told:?}");
        }
        assert!(all.windows(2).all(|two| two[0].told == two[1].told), "all are told the same");
    }
}

#[test]
fn nothing_is_missed_or_told_twice_across_reconnections_and_a_killed_server() {
    let data = TempDir::new().expect("a folder");
    let mut server = Server::start(data.path(), &[]);
    call(&server, &["MARKET.CREATE m"]);
    let mut orders = Orders::default();
    for round in 0..9 {
        let asked = match orders.last {
            Some((epoch, sequence)) => format!("{CHANNEL};after={epoch}.{sequence}"),
            None => CHANNEL.to_owned(),
        };
        let mut watcher = Watcher::over_web_socket(&server, &[&asked]);
        trade(&server, 3 * round);
        let end = listed(&server);
        let mut count = 0;
        while orders.resting != end || !orders.placed.is_empty() {
            let message = watcher.next();
            assert_eq!(
                message["type"] == "snapshot",
                orders.last.is_none(),
                "it goes on where it was: {message}"
            );
            orders.take(&message);
            count += 1;
        }
        assert!(count > 0);
        drop(watcher);
        trade(&server, 3 * round + 1);
        if round % 3 == 2 {
            server.kill();
            server = Server::start(data.path(), &[]);
            trade(&server, 3 * round + 2);
        }
    }
    let placed = |order: &str| {
        let line = format!("placed {order} ");
        orders.told.iter().filter(|(_, told)| told.starts_with(&line)).count()
    };
    assert!((1..24).filter(|round| round % 3 != 2).all(|round| placed(&format!("z{round}")) == 1));
}

#[test]
fn others_orders_are_not_told_and_only_who_may_read_the_market_listens() {
    let data = TempDir::new().expect("a folder");
    let key = |name: &str, scope: &str| keys(&data, &["create", "--name", name, "--scope", scope]);
    let (admin, screen) = (key("admin", "*"), key("screen", "read:market:m"));
    let server = Server::start(data.path(), &[]);
    let mut socket = server.socket();
    assert_eq!(socket.call(&["AUTH", &admin]), "OK");
    assert_eq!(socket.call(&["MARKET.CREATE", "m"]), "[1 open]");
    let mut listener =
        web_socket(&server, &[("authorization", format!("Bearer {screen}"))]).expect("a WebSocket");
    ask(
        &mut listener,
        &json!({ "method": "SUBSCRIBE", "params": [CHANNEL, "market.n.orders.ann"], "id": 1 }),
    );
    let mut told = [next(&mut listener), next(&mut listener)];
    told.sort_by_key(|message| message.get("result").is_none());
    let refused = &told[0]["result"]["refused"][0];
    assert_eq!(
        (&refused["channel"], &refused["problem"]["code"]),
        (&json!("market.n.orders.ann"), &json!("FORBIDDEN"))
    );
    assert_eq!(told[1]["data"], json!({ "orders": [] }));
    for line in [
        "ORDER.PLACE m b1 bob SELL LIMIT 10 5",
        "ORDER.PLACE m a1 ann BUY LIMIT 10 2",
        "ORDER.CANCELALL m bob",
        "ORDER.PLACE m a2 ann BUY LIMIT 9 1",
    ] {
        assert!(socket.call(&line.split(' ').collect::<Vec<_>>()).starts_with("[1 "), "{line}");
    }
    let mut told = String::new();
    while !told.contains("\"a2\"") {
        told += &next(&mut listener).to_string();
    }
    assert!(told.contains("\"role\":\"taker\"") && !told.contains("bob") && !told.contains("b1"), "{told}");
}
