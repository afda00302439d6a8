//! Servers on a Redis whose slots move and whose primary fails, while callers at both ports take units and
//! retry until they are answered: no unit is sold twice, none is lost, and unknown results are reported as
//! unknown.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::Value;
use scarce_core::placement;
use scarce_core::types::Id;
use scarce_engine_redis::keys::Keys;
use scarce_launch::{Cluster, Options, Sentinels};
use serde_json::json;
use support::{Http, Server};

/// The number of units: more than anyone can take during the test.
const UNITS: &str = "100000000";

/// The number of callers at each port of each server.
const CALLERS: u64 = 2;

/// The timeout for the answer to a command.
const PATIENCE: Duration = Duration::from_secs(180);

/// What the callers were told.
#[derive(Default)]
struct Told {
    /// The caller of each unit.
    units: Mutex<BTreeMap<u64, String>>,
    unknown: AtomicU64,
    unavailable: AtomicU64,
    stop: AtomicBool,
}

impl Told {
    fn give(&self, serial: u64, id: &str) {
        let before = self.units.lock().unwrap().insert(serial, id.to_owned());
        assert_eq!(before, None, "unit {serial} was given twice, now to {id}");
    }

    /// Waits until a hundred more units were taken.
    fn wait_for_more(&self) {
        let count = || self.units.lock().unwrap().len();
        let (begun, wanted) = (Instant::now(), count() + 100);
        while count() < wanted {
            assert!(begun.elapsed() < PATIENCE, "nobody takes anything");
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }

    fn note_failure(&self, code: &str) {
        match code {
            "UNKNOWN" => self.unknown.fetch_add(1, Ordering::Relaxed),
            "UNAVAILABLE" | "OVERLOADED" => self.unavailable.fetch_add(1, Ordering::Relaxed),
            other => panic!("answered {other}"),
        };
        std::thread::park_timeout(Duration::from_millis(10));
    }

    /// Sends requests with new ids, each until `ask` returns an answer: a unit, or the code of a failure.
    fn call(&self, name: &str, mut ask: impl FnMut(&str) -> Result<u64, String>) {
        for at in 0_u64.. {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let (id, begun) = (format!("{name}-{at}"), Instant::now());
            loop {
                match ask(&id) {
                    Ok(serial) => break self.give(serial, &id),
                    Err(code) => self.note_failure(&code),
                }
                assert!(begun.elapsed() < PATIENCE, "{id} was not answered");
            }
        }
    }
}

fn take_by_resp(server: &Server, told: &Told, name: &str) {
    let mut client = server.connect();
    told.call(name, |id| match client.call(&["STOCK.TAKE", "sku", "1", "owner", "ID", id]).unwrap() {
        Value::Array(values) => match values.as_slice() {
            [Value::Int(1), Value::Int(serial), ..] => Ok(serial.unsigned_abs()),
            other => panic!("{id}: {other:?}"),
        },
        Value::ServerError(error) => Err(error.code().to_owned()),
        other => panic!("{id}: {other:?}"),
    });
}

fn take_by_http(server: &Server, told: &Told, name: &str) {
    let mut http = Http::connect(&server.http);
    let body = json!({ "quantity": 1, "owner": "owner" });
    told.call(name, |id| {
        let response = http.call("POST", "/v1/stock/sku/take", &[("Idempotency-Key", id)], Some(&body));
        match response.status {
            200 | 201 => Ok(response.json()["first_serial"].as_u64().unwrap()),
            _ => Err(response.code()),
        }
    });
}

/// Runs callers at both ports of all servers during an action.
fn during(servers: &[Server], act: impl FnOnce(&Told)) -> Told {
    let told = Told::default();
    std::thread::scope(|scope| {
        for (number, server) in servers.iter().enumerate() {
            for caller in 0..CALLERS {
                let told = &told;
                scope.spawn(move || take_by_resp(server, told, &format!("resp-{number}-{caller}")));
                scope.spawn(move || take_by_http(server, told, &format!("http-{number}-{caller}")));
            }
        }
        act(&told);
        told.stop.store(true, Ordering::Relaxed);
    });
    told
}

fn create(server: &Server) {
    let created = server.connect().call(&["STOCK.CREATE", "sku", UNITS, "ID", "create"]).unwrap();
    assert!(matches!(created, Value::Array(_)), "{created:?}");
}

/// The servers count as many units as the callers have, and the receipts agree.
fn check(server: &Server, told: &Told) {
    let taken = told.units.lock().unwrap().len() as u64;
    let shown = Http::connect(&server.http).get("/v1/stock/sku").json();
    assert_eq!(shown["sold"].as_u64(), Some(taken), "{shown}");
}

#[test]
fn callers_at_both_ports_do_not_notice_a_slot_that_moves() {
    let cluster = Cluster::start(&Options::new(), 3, 0).unwrap();
    let url = cluster.url();
    let words = ["--engine", "redis", "--redis-url", &url, "--partitions", "8"];
    let servers = [Server::fresh(&words), Server::fresh(&words)];
    create(&servers[0]);
    let partition = placement::partition(&Id::parse(b"sku", "id").unwrap(), 8);
    let slot = Keys::new("scarce:", partition, 8).slot();
    let from = cluster.owner(0, slot).unwrap();
    let told = during(&servers, |told| {
        told.wait_for_more();
        for (from, to) in [(from, (from + 1) % 3), ((from + 1) % 3, (from + 2) % 3)] {
            let pause = || std::thread::park_timeout(Duration::from_millis(20));
            cluster.move_slot(slot, from, to, 2, pause).unwrap();
            told.wait_for_more();
        }
    });
    let failed = [&told.unknown, &told.unavailable].map(|count| count.load(Ordering::Relaxed));
    assert_eq!(failed, [0, 0], "unknown and unavailable");
    check(&servers[1], &told);
}

#[test]
fn a_failover_loses_nothing_that_replicas_had_to_have() {
    let mut group = Sentinels::start(&Options::new(), 1, None).unwrap();
    let url = group.url();
    let level = ["--redis-durability", "replicated", "--redis-timeout-ms", "1000"];
    let words = [&["--engine", "redis", "--redis-url", &url], &level[..]].concat();
    let servers = [Server::fresh(&words), Server::fresh(&words)];
    create(&servers[0]);
    let former = group.primary().unwrap();
    let told = during(&servers, |told| {
        told.wait_for_more();
        group.servers[former].kill().unwrap();
        group.wait_for_failover(former).unwrap();
        // The former primary returns as the replica that answers must wait for from now on.
        group.servers[former].restart().unwrap();
        let begun = Instant::now();
        let mut client = servers[0].connect();
        let is_answer = |value: &Value| !matches!(value, Value::ServerError(_));
        while !client.call(&["STOCK.GET", "sku"]).is_ok_and(|value| is_answer(&value)) {
            assert!(begun.elapsed() < PATIENCE, "nobody answers after the failover");
            std::thread::park_timeout(Duration::from_millis(50));
        }
        told.wait_for_more();
    });
    assert!(told.unknown.load(Ordering::Relaxed) > 0, "nobody was told that something is unknown");
    check(&servers[1], &told);
}
