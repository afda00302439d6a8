//! `scarce try`: what it prints works, and nothing of it stays.

#![allow(clippy::unwrap_used, reason = "only tests use it")]

#[path = "support/mod.rs"]
mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use support::{Http, scarce, wait_until};
use tempfile::TempDir;

/// Starts it in a folder for temporary files of its own, and gives the lines up to the last command.
fn start(folder: &TempDir, options: &[&str]) -> (Child, Vec<String>) {
    let mut command = scarce();
    command.arg("try").args(options).env("TMPDIR", folder.path());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut shown = Vec::new();
    for line in lines {
        let is_last = line.starts_with("follow");
        shown.push(line);
        if is_last {
            break;
        }
    }
    (child, shown)
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn a_server_with_sample_data_shows_what_to_do_and_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    let (mut child, shown) = start(&folder, &["--resp", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
    let page = shown.iter().find_map(|line| line.strip_prefix("open")).unwrap().trim();
    let address = page.strip_prefix("http://").unwrap().strip_suffix("/console").unwrap();
    let mut http = Http::connect(address);
    assert_eq!(http.get("/console/").status, 200);
    for path in
        ["/v1/accounts/alice", "/v1/packets/new-year", "/v1/coupons/spring", "/v1/markets/BTC-USDT/ticker"]
    {
        assert_eq!(http.get(path).status, 200, "{path}");
    }
    // The commands that it prints are as they would be typed.
    let buy = shown.iter().find_map(|line| line.strip_prefix("buy")).unwrap().trim();
    let said = Command::new("sh").args(["-c", buy]).output().unwrap();
    assert!(said.status.success(), "{said:?}");
    let look = shown.iter().find_map(|line| line.strip_prefix("look")).unwrap().trim();
    assert!(look.ends_with(&format!("{address}/v1/markets/BTC-USDT/ticker")), "{look}");
    wait_until("the crowd buys", || http.get("/v1/stock/sneaker").json()["sold"].as_u64() > Some(3));
    wait_until("the crowd trades", || http.get("/v1/markets/BTC-USDT").json()["trades"].as_u64() > Some(0));
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "its folder is removed");
}

#[test]
fn ports_that_are_taken_are_said_with_what_to_do() {
    let folder = TempDir::new().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut command = scarce();
    command.args(["try", "--resp", &address, "--http", "127.0.0.1:0"]).env("TMPDIR", folder.path());
    let said = command.output().unwrap();
    assert_eq!(said.status.code(), Some(1));
    let text = String::from_utf8_lossy(&said.stderr);
    assert!(text.contains("choose others: scarce try --resp 127.0.0.1:0"), "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
