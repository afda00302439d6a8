//! A data directory that is put back to an older state, with everything that flows out of it, and what the reference
//! says to do then (docs/reference/backup.md).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/consumers.rs"]
mod consumers;
#[path = "support/database.rs"]
mod database;
#[path = "support/receiver.rs"]
mod receiver;
mod support;

use std::path::PathBuf;

use consumers::{consumer, copy, wait_until_diverged};
use database::Database;
use receiver::{Came, PATIENCE, receiver};
use scarce_client::Client;
use serde_json::{Value, json};
use support::{Server, json_lines, said, scarce, wait_until};

/// A data directory, a copy of it, and the database of what flows out.
struct Stage {
    folder: tempfile::TempDir,
    database: Database,
    options: Vec<String>,
}

impl Stage {
    fn new(options: &[&str]) -> Self {
        let database = Database::sqlite();
        let options = [&["--sql", database.url()], options].concat();
        let options = options.into_iter().map(str::to_owned).collect();
        Self { folder: tempfile::tempdir().unwrap(), database, options }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn start(&self) -> Server {
        Server::start(&self.data(), &self.options.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn copy(&self) {
        copy(&self.data(), &self.folder.path().join("older"));
    }

    /// What a rollback of the machine does.
    fn put_back(&self) {
        std::fs::remove_dir_all(self.data()).unwrap();
        copy(&self.folder.path().join("older"), &self.data());
    }

    /// `scarce consumers rebase`.
    fn rebase(&self, server: &Server, name: &str, more: &[&str]) -> (Option<i32>, String, String) {
        let place = ["--sql", self.database.url(), "--resp", &server.address];
        said(scarce().args(["consumers", "rebase", name, "--json"]).args(place).args(more))
    }
}

fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

fn call(client: &mut Client, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let reply = client.call(&words).unwrap();
    assert!(matches!(&reply, redis::Value::Array(_)), "{line}: {reply:?}");
}

#[test]
fn tables_of_a_lost_history_are_listed_and_written_anew() {
    let stage = Stage::new(&[]);
    let server = stage.start();
    let mut client = server.connect();
    call(&mut client, "ACCOUNT.OPEN alice EUR ID open");
    call(&mut client, "ACCOUNT.CREDIT alice 1000 ID pay");
    server.wait_until_drained();
    server.stop();
    stage.copy();
    let server = stage.start();
    let mut client = server.connect();
    (0..5).for_each(|at| call(&mut client, &format!("ACCOUNT.DEBIT alice 100 ID lost-{at}")));
    server.wait_until_drained();
    server.stop();
    stage.put_back();
    let server = stage.start();
    let mut client = server.connect();
    (0..9).for_each(|at| call(&mut client, &format!("ACCOUNT.DEBIT alice 1 ID new-{at}")));
    wait_until_diverged(&server, "sql");
    check_told(&server);
    // It stays so after a restart.
    server.stop();
    let server = stage.start();
    wait_until_diverged(&server, "sql");
    let (code, listed, advice) = stage.rebase(&server, "sql", &[]);
    assert_eq!(code, Some(2), "{advice}");
    assert!(advice.contains("nothing was changed") && advice.contains("--yes"), "{advice}");
    let lost: Vec<Value> =
        json_lines(&listed).into_iter().filter(|row| row["holds"] == "operation").collect();
    let ids: Vec<&str> = lost.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["lost-0", "lost-1", "lost-2", "lost-3", "lost-4"]);
    // By then the consumer tries again after seconds only.
    let is_told = |held: &str| server.http().get("/readyz?verbose").text().contains(held);
    let since = || consumer(&server, "sql")["troubled_since"].as_u64().unwrap_or(u64::MAX);
    wait_until("its trouble is new", || since().saturating_add(6_000) < now_ms());
    let (code, _, said) = stage.rebase(&server, "sql", &["--yes"]);
    assert_eq!(code, Some(0), "{said}");
    // It may be told once more by an attempt that was under way.
    assert!((0..20).any(|_| !is_told("consumers rebase sql")), "a rebase ends it at once");
    wait_until("the tables are not those of the log", || {
        consumer(&server, "sql")["state"] == "running" && consumer(&server, "sql")["lag_events"] == 0
    });
    let balances =
        stage.database.figures("SELECT account_id, balance FROM accounts WHERE account_id = 'alice'");
    assert_eq!(balances["alice"], 991);
    let operations = stage.database.pairs("SELECT operation_id, outcome FROM operations");
    assert!(operations.iter().all(|(id, _)| !id.starts_with("lost")), "{operations:?}");
    assert_eq!(operations.len(), 11);
    let (code, _, said) = stage.rebase(&server, "sql", &["--yes"]);
    assert!(code == Some(1) && said.contains("holds nothing of another history"), "{said}");
    server.stop();
}

/// Everything that shows consumers shows this one.
fn check_told(server: &Server) {
    let ready = server.http().get("/readyz?verbose");
    assert!(
        ready.text().contains("consumer sql of partition 0 in trouble") && ready.status == 200,
        "{}",
        ready.text()
    );
    let metrics = server.http().get("/metrics").text();
    assert!(metrics.contains(r#"scarce_consumer_troubled{sink="sql",partition="0"} 1"#), "{metrics}");
    let listed = said(scarce().args(["consumers", "list", "--json", "--resp", &server.address])).1;
    assert!(json_lines(&listed)[0]["diverged"].is_string(), "{listed}");
    let reason = consumer(server, "sql")["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("scarce consumers rebase sql"), "{reason}");
}

#[test]
fn packets_of_a_lost_history_are_credited_once_in_the_one_that_is_there() {
    let stage = Stage::new(&["--settlement", "engine", "--settlement-from-beginning"]);
    let server = stage.start();
    let plan = json!({ "campaign": "c1", "asset": "EUR", "amounts": [30, 20, 10] });
    assert_eq!(server.http().post("/v1/packets", &plan).status, 201);
    server.wait_until_drained();
    server.stop();
    stage.copy();
    let claim_all = |server: &Server, users: [&str; 3]| {
        for user in users {
            assert_eq!(server.http().post("/v1/packets/c1/claims", &json!({ "user": user })).status, 201);
        }
    };
    let settled = |users: [&str; 3]| {
        let sql = "SELECT user_id, packet FROM delivery_settlements WHERE state = 'settled'";
        let rows = stage.database.figures(sql);
        rows.len() == 3 && users.iter().all(|user| rows.contains_key(*user))
    };
    let server = stage.start();
    claim_all(&server, ["u1", "u2", "u3"]);
    wait_until("not all is settled", || settled(["u1", "u2", "u3"]));
    server.wait_until_drained();
    server.stop();
    stage.put_back();
    let server = stage.start();
    // Another user takes the first packet, and the others come in another order.
    claim_all(&server, ["u4", "u3", "u2"]);
    for name in ["sql", "settlement"] {
        wait_until_diverged(&server, name);
        let (code, listed, _) = stage.rebase(&server, name, &[]);
        assert_eq!(code, Some(2));
        assert!(listed.contains(if name == "sql" { "settle:c1:1" } else { "30 EUR to u1" }), "{listed}");
        let (code, _, said) = stage.rebase(&server, name, &["--yes"]);
        assert_eq!(code, Some(0), "{said}");
    }
    wait_until("not all is settled", || settled(["u4", "u3", "u2"]));
    for (user, balance) in [("u4", json!(30)), ("u3", json!(20)), ("u2", json!(10))] {
        assert_eq!(server.http().get(&format!("/v1/accounts/{user}")).json()["balance"], balance, "{user}");
    }
    assert_eq!(server.http().get("/v1/accounts/u1").status, 404, "this one claimed nothing");
    server.stop();
}

#[test]
fn receivers_get_the_events_of_the_log_that_is_there_under_ids_of_their_own() {
    let stage = Stage::new(&["--webhooks"]);
    let server = stage.start();
    let (hook, came) = receiver(&[]);
    let place = ["--sql", stage.database.url(), "--resp", &server.address];
    let (code, _, added) = said(scarce().args(["webhooks", "add", &hook, "account.*"]).args(place));
    assert_eq!(code, Some(0), "{added}");
    let mut client = server.connect();
    call(&mut client, "ACCOUNT.OPEN alice EUR ID open");
    let next = || came.recv_timeout(PATIENCE).expect("a request");
    let id = |came: &Came| came.headers["webhook-id"].clone();
    let account = |came: &Came| {
        let body: Value = serde_json::from_slice(&came.body).unwrap();
        body["data"]["fields"]["account"].as_str().unwrap().to_owned()
    };
    assert_eq!(account(&next()), "alice");
    server.wait_until_drained();
    server.stop();
    stage.copy();
    let server = stage.start();
    call(&mut server.connect(), "ACCOUNT.OPEN lost EUR ID lost");
    let lost = next();
    assert_eq!(account(&lost), "lost");
    server.wait_until_drained();
    server.stop();
    stage.put_back();
    let server = stage.start();
    call(&mut server.connect(), "ACCOUNT.OPEN bob EUR ID bob");
    wait_until_diverged(&server, "webhooks");
    let (code, listed, _) = stage.rebase(&server, "webhooks", &[]);
    let rows = json_lines(&listed);
    assert!(code == Some(2) && rows.iter().any(|row| row["id"] == id(&lost).as_str()), "{listed}");
    let (code, _, told) = stage.rebase(&server, "webhooks", &["--yes"]);
    assert_eq!(code, Some(0), "{told}");
    let bob = next();
    assert_eq!(account(&bob), "bob");
    assert_ne!(id(&bob), id(&lost), "the same sequence of another history is another event");
    server.stop();
}
