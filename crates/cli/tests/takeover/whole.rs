//! A whole shop is taken over, on either engine, once; a killed run goes on.

use std::process::Stdio;

use scarce_client::Client;
use scarce_launch::{Options, Server as Redis};
use serde_json::json;

use crate::shop::{Desk, KEYS, MAP, check, fill, value};
use crate::support::{Server, redis_server, wait_until};

/// What Scarce has of the shop.
const MADE: &str = "ACCOUNT.GET alice -> balance 1234 asset EUR
ACCOUNT.GET bob -> balance 0
ACCOUNT.GET carol -> balance 10000
ACCOUNT.GET wallet-alice -> balance -250 asset USD overdraft 1000
STOCK.GET shoe -> total 10 available 7 sold 3 per_owner_max 3
STOCK.GET hat -> total 0 available 0
PACKET.GET gift -> count 4 total 1495 claimed_count 2 claimed_amount 988
PACKET.CLAIMED gift alice -> packet 1 amount 100
PACKET.CLAIMED gift bob -> packet 2 amount 888
PACKET.GET gone -> count 1 claimed_count 1 claimed_amount 330
COUPON.GET spring -> claimed 2
COUPON.CLAIMED spring 1 -> user bob
COUPON.CLAIMED spring 2 -> user alice";

fn digest(client: &mut Client) -> redis::Value {
    client.call(&["DIGEST"]).unwrap()
}

#[test]
fn a_shop_is_taken_over_once() {
    let (redis, desk) = (redis_server(&[]), Desk::new(MAP));
    fill(&redis, KEYS);
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]);
    let mut client = server.connect();
    let before = digest(&mut client);
    let target = ["--resp", server.address.as_str()];
    let dry = desk.json(&redis.url(), &[&target[..], &["--dry-run"]].concat(), 0);
    assert_eq!(dry["read"]["unmatched"], json!({ "count": 1, "examples": ["other"] }), "{dry}");
    assert_eq!(dry["read"]["ignored"]["count"], 1, "{dry}");
    let euros = json!({ "kind": "account EUR", "count": 3, "sums": { "balance": 11_234 } });
    assert_eq!(dry["makes"][0], euros, "{dry}");
    assert_eq!(digest(&mut client), before, "a dry run changes nothing");
    assert_eq!(std::fs::read_dir(desk.path()).unwrap().count(), 1, "and leaves nothing behind");

    let run = [&target[..], &["--run", "monday"]].concat();
    let first = desk.json(&redis.url(), &run, 0);
    assert_eq!(first["differences"], json!([]), "{first}");
    check(&mut client, MADE);
    assert_eq!(value(&mut client, &["COUPON.CHECK", "spring", "USER", "erin"], "x"), None);
    let made = digest(&mut client);
    // The same run again is told what the first was, whatever the source has become.
    fill(&redis, "SET balance:alice 99");
    let again = desk.json(&redis.url(), &run, 0);
    assert_eq!(
        (&again["goes_on"], &again["differences"]),
        (&json!("monday.plan.ndjson"), &json!([])),
        "{again}"
    );
    assert_eq!(digest(&mut client), made);
    // Another run finds what is there, and makes nothing.
    let other = desk.json(&redis.url(), &[&target[..], &["--run", "tuesday"]].concat(), 3);
    assert_eq!(other["existing"].as_array().unwrap().len(), 9, "{other}");
    assert_eq!(digest(&mut client), made);
    // What has changed in the source since is found.
    let compared = desk.json(&redis.url(), &[&target[..], &["--compare"]].concat(), 5);
    let difference = json!([{ "resource": "account alice", "key": "balance:alice", "value": "balance", "source": 9_900, "scarce": 1_234 }]);
    assert_eq!(compared["differences"], difference, "{compared}");
    // A plan is of one map.
    std::fs::write(desk.path().join("map.toml"), format!("{MAP}\n")).unwrap();
    let said = String::from_utf8(desk.run(&redis.url(), &run, 2).stderr).unwrap();
    assert!(said.contains("another map"), "{said}");
}

#[test]
fn a_shop_is_taken_over_into_the_engine_inside_redis() {
    let (redis, desk) = (redis_server(&[]), Desk::new(MAP));
    let home = Redis::start(Options::new()).unwrap();
    fill(&redis, KEYS);
    let url = home.url();
    let engine = ["--engine", "redis", "--redis-url", &url, "--partitions", "4", "--run", "monday"];
    let made = desk.json(&redis.url(), &engine, 0);
    assert_eq!(made["differences"], json!([]), "{made}");
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &["--engine", "redis", "--redis-url", &url, "--partitions", "4"]);
    check(&mut server.connect(), MADE);
}

#[test]
fn a_killed_run_goes_on_with_what_it_had_read() {
    let (redis, desk) = (redis_server(&[]), Desk::new(MAP));
    let accounts = 20_000;
    let script = "for n = 1, tonumber(ARGV[1]) do redis.call('SET', 'balance:u' .. n, n) end \
                  for n = 1, 1600 do redis.call('HSET', 'taken:gift', 'u' .. n, '{\"amount\":' .. n .. '}') end";
    redis.ask::<redis::Value>(&["EVAL", script, "0", &accounts.to_string()]).unwrap();
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]);
    let mut client = server.connect();
    let options = ["--resp", server.address.as_str(), "--run", "monday", "--window", "4"];
    let mut kills = 0;
    for wanted in ["u1", "u5000", "u9000"] {
        let mut import = desk.import(&redis.url(), &options);
        let mut child = import.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until("the import has come so far", || {
            let is_over = child.try_wait().unwrap().is_some();
            is_over || value(&mut client, &["ACCOUNT.GET", wanted], "balance").is_some()
        });
        kills += i32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        // Callers of the source go on.
        fill(&redis, "SET balance:u1 777777\nDEL balance:u2\nHSET taken:gift zoe {\"amount\":1}");
    }
    assert!(kills > 0, "no run was killed on its way");
    let made = desk.json(&redis.url(), &options, 0);
    assert_eq!(made["differences"], json!([]), "{made}");
    let last = format!("ACCOUNT.GET u{accounts} -> balance {}", accounts * 100);
    let rows = "ACCOUNT.GET u1 -> balance 100\nACCOUNT.GET u2 -> balance 200\nPACKET.GET gift -> claimed_count 1600\n\
                PACKET.CLAIMED gift u1600 -> amount 160000";
    check(&mut client, &format!("{rows}\n{last}"));
    assert_eq!(value(&mut client, &["PACKET.CLAIMED", "gift", "zoe"], "amount"), None);
}
