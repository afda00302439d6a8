//! The demonstrations on Redis: with their own servers, whose primary is killed too if another one can take
//! over, and on a user's Redis, which is left as it was.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use scarce_core::event::epoch;
use scarce_launch::{Options, Server};
use tempfile::TempDir;

use super::coupons::COUPONS;
use super::exchange::EXCHANGE;
use super::flash_sale::SALE;
use super::red_packets::PARTY;
use super::wallet::WALLET;
use super::{Demo, Proof};

const REDIS: [&str; 2] = ["--engine", "redis"];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    [&REDIS[..], more].concat()
}

/// Runs it in a setup in which nothing may be lost, whatever is killed.
fn loses_nothing(demo: &Demo, more: &[&'static str]) {
    let proof = demo.holds_with(&with(more));
    assert_eq!(proof.notes(), ["what was promised"], "{proof:?}");
    let missing = ["missing_before_kill", "missing_after_kill"];
    assert_eq!(missing.map(|name| proof.figure("acknowledged is durable", name)), [0, 0]);
}

/// Runs it with a replica that takes over without having been waited for; losses are reported, and everything
/// else holds.
fn tells_losses(demo: &Demo, more: &[&'static str]) -> Proof {
    let proof = demo.holds_with(&with(more));
    assert!(proof.notes().starts_with(&["what was promised", "lost in the failover"]), "{proof:?}");
    let lost = &proof.0["notes"][1]["figures"];
    let told = lost["operations"].as_array().expect("ids").len() as u64;
    assert_eq!(told, lost["lost"].as_u64().expect("a number").min(20), "{proof:?}");
    proof
}

#[test]
fn every_demonstration_holds_on_one_server() {
    for demo in [&SALE, &PARTY, &WALLET, &COUPONS, &EXCHANGE] {
        loses_nothing(demo, &[]);
    }
}

#[test]
fn what_waited_for_the_disk_or_a_replica_is_there() {
    loses_nothing(&SALE, &["--durability", "synced"]);
    loses_nothing(&SALE, &["--durability", "replicated"]);
}

#[test]
fn a_replica_takes_over_behind_sentinels() {
    let proof = tells_losses(&SALE, &["--topology", "sentinel"]);
    assert_eq!(proof.0["facts"]["topology"], "sentinel");
    // The log continues in another epoch.
    let its = proof.0["notes"][1]["figures"]["epoch"].as_u64();
    assert_eq!(its.map(epoch::count), Some(2), "{proof:?}");
    loses_nothing(&SALE, &["--topology", "sentinel", "--durability", "replicated"]);
}

#[test]
fn a_replica_takes_over_in_a_cluster() {
    for demo in [&SALE, &PARTY] {
        tells_losses(demo, &["--topology", "cluster"]);
    }
}

#[test]
fn a_lie_is_found() {
    SALE.breaks_with(&REDIS, "double-sale", &["never oversold", "one id, one effect"]);
    EXCHANGE.breaks_with(&REDIS, "lost-fill", &["acknowledged is durable"]);
    // Everything reported as lost was acknowledged long before the end of what remains.
    let sentinel = with(&["--topology", "sentinel"]);
    SALE.breaks_with(&sentinel, "lost-sale", &["acknowledged is durable"]);
}

/// The servers with state that a demonstration started: process id and port.
fn servers_of(demo: u32) -> Vec<(String, u16)> {
    let read = |pid: &str, file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).ok();
    let server = |pid: String| {
        let state = read(&pid, "stat")?;
        let parent = state.rsplit(')').next()?.split_whitespace().nth(1)?.parse::<u32>().ok()?;
        let title = read(&pid, "cmdline")?;
        let is_ours = parent == demo && !title.contains("sentinel");
        let port = title.split("redis-server 127.0.0.1:").nth(1).filter(|_| is_ours)?;
        let digits: String = port.chars().take_while(char::is_ascii_digit).collect();
        Some((pid, digits.parse().ok()?))
    };
    let all = std::fs::read_dir("/proc").expect("processes");
    all.filter_map(|entry| server(entry.ok()?.file_name().into_string().ok()?)).collect()
}

fn signal(pid: &str, name: &str) {
    assert!(Command::new("kill").args([name, pid]).status().is_ok_and(|status| status.success()));
}

/// Pauses the replica so that it falls behind for good. Returns its process id.
fn fall_behind(demo: u32) -> String {
    let ask = |port: u16, words: &[&str]| -> redis::Value {
        let client = redis::Client::open(format!("redis://127.0.0.1:{port}")).expect("an address");
        let mut connection = client.get_connection().expect("a connection");
        redis::Cmd::new().arg(words).query(&mut connection).expect("an answer")
    };
    let is_replica = |(_, port): &(String, u16)| {
        let info: String = redis::from_redis_value(ask(*port, &["INFO", "replication"])).expect("a text");
        info.contains("role:slave")
    };
    let (replicas, primaries): (Vec<_>, Vec<_>) = servers_of(demo).into_iter().partition(is_replica);
    signal(&replicas[0].0, "-STOP");
    ask(primaries[0].1, &["CLIENT", "KILL", "TYPE", "replica"]);
    replicas[0].0.clone()
}

#[test]
fn what_a_replica_had_not_is_told_and_everything_else_holds() {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_scarce"));
    demo.args(["demo", "exchange", "--commands", "12000", "--json", "--topology", "sentinel"]).args(REDIS);
    let mut child = demo.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
    let (pid, mut replica) = (child.id(), String::new());
    for line in lines.map_while(Result::ok) {
        if line.starts_with("markets") {
            replica = fall_behind(pid);
        } else if line.contains("which had the state") {
            signal(&replica, "-CONT");
        }
    }
    let output = child.wait_with_output().expect("it ends");
    let proof: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a proof");
    assert_eq!(output.status.code(), Some(0), "{proof:#}");
    let told = &proof["notes"][1];
    let lost = told["figures"]["lost"].as_u64().expect("a number");
    assert!(lost > 0, "{proof:#}");
    assert!(told["text"].as_str().is_some_and(|text| text.contains("acknowledged operations are gone: c-")));
}

/// A user's server with existing data.
fn somebodys() -> Server {
    let server = Server::start(Options::new()).expect("redis-server is installed");
    server.ask::<()>(&["SET", "scarce:mine", "1"]).expect("written");
    server
}

fn keys(server: &Server) -> Vec<String> {
    server.ask(&["KEYS", "*"]).expect("keys")
}

#[test]
fn a_redis_of_ones_own_is_left_as_it_was() {
    let server = somebodys();
    let url = server.url();
    for demo in [&SALE, &COUPONS] {
        let proof = demo.holds_with(&["--engine", "redis", "--redis-url", &url]);
        assert_eq!(proof.0["facts"]["topology"], "your own Redis");
        assert_eq!(keys(&server), ["scarce:mine"]);
    }
    let folder = TempDir::new().expect("a folder");
    let mut keeping = Command::new(env!("CARGO_BIN_EXE_scarce"));
    keeping.arg("demo").args(SALE.arguments).args(["--engine", "redis", "--redis-url", &url, "--keep"]);
    let kept = keeping.env("TMPDIR", folder.path()).output().expect("it runs");
    assert!(String::from_utf8_lossy(&kept.stderr).contains("keys behind 'scarce-demo-"), "{kept:?}");
    assert!(keys(&server).len() > 2, "the demonstration's are there too");
}

/// A demonstration with its own folder for temporary files, ended by a signal during the rush.
fn interrupted(folder: &Path, more: &[&str]) -> Option<i32> {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_scarce"));
    demo.args(["demo", "exchange", "--commands", "200000", "--engine", "redis"]).args(more);
    demo.env("TMPDIR", folder).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = demo.spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
    let is_begun = |line: std::io::Result<String>| line.is_ok_and(|line| line.starts_with("markets"));
    assert!(lines.any(is_begun), "the crowd is let in");
    signal(&child.id().to_string(), "-TERM");
    lines.for_each(drop);
    child.wait().expect("it ends").code()
}

#[test]
fn a_signal_leaves_nothing_behind() {
    let (folder, server) = (TempDir::new().expect("a folder"), somebodys());
    let left = || std::fs::read_dir(folder.path()).expect("the folder").count();
    assert_eq!(interrupted(folder.path(), &["--redis-url", &server.url()]), Some(143));
    assert_eq!((left(), keys(&server)), (0, vec!["scarce:mine".to_owned()]));
    assert_eq!(interrupted(folder.path(), &["--topology", "sentinel"]), Some(143));
    assert_eq!(left(), 0, "folders of servers that were started");
}

#[test]
fn what_cannot_be_is_said() {
    let said = |more: &[&str], exit: i32| {
        let mut demo = Command::new(env!("CARGO_BIN_EXE_scarce"));
        demo.args(["demo", "wallet"]).args(more).env("SCARCE_REDIS_SERVER", "/nowhere/redis-server");
        let output = demo.output().expect("it runs");
        assert_eq!(output.status.code(), Some(exit), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let missing = said(&REDIS, 1);
    assert!(missing.contains("apt-get install redis-server") && missing.contains("--redis-url"), "{missing}");
    assert!(said(&["--topology", "cluster"], 2).contains("--engine redis"));
    assert!(said(&["--engine", "redis", "--redis-url", "there"], 2).contains("must be redis://"));
    let away = said(&["--engine", "redis", "--redis-url", "redis://127.0.0.1:1"], 1);
    assert!(away.contains("cannot be reached") && !away.contains("cannot delete"), "{away}");
}
