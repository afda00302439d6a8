//! Consumers that come after the beginning of the log was trimmed, or come back from a backup that is too old.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/consumers.rs"]
mod consumers;
#[path = "support/database.rs"]
mod database;
mod support;

use std::path::PathBuf;

use consumers::consumer;
use database::Database;
use serde_json::{Value, json};
use support::{Server, json_lines, redis_server, said, scarce, wait_until};

/// Segments that are trimmed soon.
const SMALL: [&str; 4] = ["--segment-mib", "1", "--snapshot-mib", "1"];

/// A data directory with a log of small segments, and a database.
struct Stage {
    folder: tempfile::TempDir,
    database: Database,
}

impl Stage {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), database: Database::sqlite() }
    }

    fn start(&self, options: &[&str]) -> Server {
        Server::start(&self.data(), &[&SMALL, options].concat())
    }

    /// The same with tables, and what it logs is kept.
    fn overheard(&self, options: &[&str]) -> Server {
        Server::overheard_at(&self.data(), &[&SMALL[..], &["--sql", self.database.url()], options].concat())
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn start_with_tables(&self, options: &[&str]) -> Server {
        self.start(&[&["--sql", self.database.url()], options].concat())
    }

    fn file(&self) -> PathBuf {
        PathBuf::from(self.database.url().strip_prefix("sqlite://").unwrap())
    }

    /// `scarce`, on the server and the database.
    fn run(&self, server: &Server, words: &[&str]) -> (Option<i32>, String, String) {
        let place = ["--sql", self.database.url(), "--resp", &server.address];
        said(scarce().args(words).args(place))
    }

    /// What the entries of each account come to.
    fn sums(&self) -> Vec<(String, i64)> {
        let sql = "SELECT account_id, SUM(amount) FROM entries GROUP BY account_id";
        self.database.figures(sql).into_iter().collect()
    }

    fn count(&self, what: &str) -> i64 {
        self.database.figures(&format!("SELECT 'n', COUNT(*) FROM {what}"))["n"]
    }
}

fn apply(server: &Server, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let reply = server.connect().call(&words).unwrap();
    assert!(matches!(&reply, redis::Value::Array(_)), "{line}: {reply:?}");
}

/// Writes until the log has lost its beginning, and gives the account's balance.
fn trimmed(server: &Server, account: &str) -> i64 {
    trim(server);
    balance(server, account)
}

/// Writes until the log has lost its beginning.
fn trim(server: &Server) {
    let line = json!({ "command": "ACCOUNT.CREDIT", "arguments": { "account": "alice", "amount": 1 } });
    let batch = json!({ "operations": vec![line; 1_000] });
    let mut http = server.http();
    let mut client = server.connect();
    wait_until("the log was not trimmed", || {
        assert_eq!(http.post("/v1/batch", &batch).status, 200);
        let _ = client.call(&["SNAPSHOT"]).unwrap();
        let said = http.get("/v1/events?limit=1").json();
        said["facts"]["oldest_sequence"].as_u64().is_some_and(|first| first > 1_000)
    });
}

fn wait_until_caught_up(server: &Server, name: &str) {
    wait_until("it did not catch up", || {
        let row = consumer(server, name);
        row["state"] == "running" && row["lag_events"] == 0
    });
}

fn balance(server: &Server, account: &str) -> i64 {
    server.http().get(&format!("/v1/accounts/{account}")).json()["balance"].as_i64().unwrap()
}

#[test]
fn tables_begin_with_the_state_where_the_log_no_longer_has_its_beginning() {
    let redis = redis_server(&[]);
    let address = redis.url();
    let in_redis = ["--engine", "redis", "--redis-url", &address, "--partitions", "1"];
    let at_once = ["--redis-log-retention-ms", "0"];
    for engine in [vec![], [&in_redis[..], &at_once].concat()] {
        check_beginning(&engine);
    }
}

fn check_beginning(engine: &[&str]) {
    let stage = Stage::new();
    let server = stage.start(engine);
    for line in ["ACCOUNT.OPEN alice EUR", "ACCOUNT.OPEN bob EUR OVERDRAFT 50", "ACCOUNT.DEBIT bob 20"] {
        apply(&server, line);
    }
    apply(&server, "STOCK.CREATE s 10");
    apply(&server, "STOCK.TAKE s 3 bob");
    trim(&server);
    server.stop();
    let server = stage.start_with_tables(engine);
    wait_until_caught_up(&server, "sql");
    apply(&server, "ACCOUNT.TRANSFER alice bob 30");
    wait_until_caught_up(&server, "sql");
    let balances = || ["alice", "bob"].map(|name| (name.to_owned(), balance(&server, name)));
    assert_eq!(stage.sums(), balances());
    assert_eq!(stage.count("entries WHERE kind = 'opening'"), 2);
    assert_eq!(stage.count("receipts WHERE sku = 's' AND owner_id = 'bob' AND quantity = 3"), 1);
    let entries = server.http().get("/v1/history/accounts/bob/entries").json();
    let kinds: Vec<&Value> = entries["rows"].as_array().unwrap().iter().map(|row| &row["kind"]).collect();
    assert_eq!(kinds, ["transfer", "opening"], "{entries}");
    let words = ["history", "account-entries", "bob", "--from", "2020-01-01", "--sql", stage.database.url()];
    let (_, statement, _) = said(scarce().args(words));
    assert!(
        statement.starts_with("balance unknown before 2020"),
        "what was then is not in the tables: {statement}"
    );
    let (_, status, _) = stage.run(&server, &["projection", "status", "--json"]);
    assert!(json_lines(&status)[0]["opening_sequence"].as_u64().unwrap() > 1_000, "{status}");
    let (code, _, said) = stage.run(&server, &["projection", "rebuild", "--yes"]);
    assert!(code != Some(0) && said.contains("--from-state"), "{said}");
    let (code, _, said) = stage.run(&server, &["projection", "rebuild", "--yes", "--from-state"]);
    assert_eq!(code, Some(0), "{said}");
    wait_until_caught_up(&server, "sql");
    wait_until("the tables did not begin again", || stage.sums() == balances());
    server.stop();
}

#[test]
fn rows_are_compared_with_the_state_where_the_log_no_longer_has_its_beginning() {
    let redis = redis_server(&[]);
    let address = redis.url();
    let in_redis = ["--engine", "redis", "--redis-url", &address, "--partitions", "1"];
    check_verify(&in_redis, &["--redis-log-retention-ms", "0"]);
    check_verify(&[], &[]);
}

fn check_verify(engine: &[&str], only_served: &[&str]) {
    let stage = Stage::new();
    let server = stage.start_with_tables(&[engine, only_served].concat());
    for line in [
        "ACCOUNT.OPEN alice EUR",
        "ACCOUNT.CREDIT alice 100 ID first",
        "ACCOUNT.HOLD alice h1 5",
        "STOCK.CREATE s 10",
    ] {
        apply(&server, line);
    }
    // A name that was used before counts by its last use.
    for line in ["ACCOUNT.HOLD alice h2 7", "ACCOUNT.VOID alice h2", "STOCK.TAKE s 3 bob"] {
        apply(&server, line);
    }
    trim(&server);
    apply(&server, "ACCOUNT.CREDIT alice 1 ID last");
    wait_until_caught_up(&server, "sql");
    let data = stage.data();
    let place = if engine.is_empty() { vec!["--data", data.to_str().unwrap()] } else { engine.to_vec() };
    let verify = || stage.run(&server, &[&["projection", "verify", "--json"], &place[..]].concat());
    let (code, told, said) = verify();
    assert!(
        code == Some(0) && told.is_empty() && said.contains("as log and state make them"),
        "{told}{said}"
    );
    assert!(said.contains("prove these rows") && said.contains(" in entries"), "{said}");
    // None of this changes a sum.
    for change in
        ["receipts SET owner_id = 'thief' WHERE sku = 's'", "holds SET hold_id = 'h9' WHERE hold_id = 'h1'"]
    {
        assert!(stage.database.pairs(&format!("UPDATE {change}")).is_empty());
    }
    let (code, told, said) = verify();
    assert_eq!(code, Some(5), "{told}{said}");
    let rows = json_lines(&told);
    let found: Vec<_> =
        rows.iter().map(|row| (row["table"].as_str().unwrap(), row["key"].as_str().unwrap())).collect();
    assert_eq!(found, [("holds", "alice h1 1"), ("holds", "alice h9 1"), ("receipts", "s 1")], "{told}");
    let (code, told, said) = stage.run(&server, &["projection", "verify", "--json", "--data", "/nowhere"]);
    assert!(code == Some(0) && told.is_empty() && said.contains("only sums were compared"), "{told}{said}");
    server.stop();
}

#[test]
fn a_backup_of_the_tables_that_is_too_old_is_started_over_on_request() {
    let stage = Stage::new();
    let server = stage.start_with_tables(&[]);
    apply(&server, "ACCOUNT.OPEN alice EUR");
    apply(&server, "ACCOUNT.CREDIT alice 5 ID early");
    wait_until_caught_up(&server, "sql");
    server.stop();
    let backup = stage.folder.path().join("backup.db");
    std::fs::copy(stage.file(), &backup).unwrap();
    let server = stage.start_with_tables(&[]);
    trim(&server);
    wait_until_caught_up(&server, "sql");
    server.stop();
    std::fs::copy(&backup, stage.file()).unwrap();
    let server = stage.start_with_tables(&[]);
    wait_until("it does not say what it misses", || {
        let row = consumer(&server, "sql");
        row["reason"].as_str().is_some_and(|reason| reason.contains("'scarce consumers rebase sql' says"))
    });
    let (code, listed, advice) = stage.run(&server, &["consumers", "rebase", "sql", "--json"]);
    assert!(code == Some(2) && advice.contains("opening balances"), "{advice}");
    let gap = &json_lines(&listed)[0];
    assert!(gap["holds"] == "gap" && gap["detail"].as_str().unwrap().starts_with("sequences 3 to "), "{gap}");
    assert_eq!(stage.count("operations WHERE operation_id = 'early'"), 1, "nothing was changed");
    let (code, _, said) = stage.run(&server, &["consumers", "rebase", "sql", "--yes"]);
    assert!(code == Some(0) && said.contains("the tables begin with opening balances"), "{said}");
    wait_until_caught_up(&server, "sql");
    assert_eq!(stage.sums(), [("alice".to_owned(), balance(&server, "alice"))]);
    assert_eq!((stage.count("openings"), stage.count("operations WHERE operation_id = 'early'")), (1, 0));
    let (code, _, said) = stage.run(&server, &["consumers", "rebase", "sql", "--yes"]);
    assert!(code == Some(1) && said.contains("misses nothing"), "{said}");
    server.stop();
}

#[test]
fn a_history_that_was_left_behind_a_trimmed_log_pays_nothing_and_hides_no_lost_credit() {
    let stage = Stage::new();
    let data = stage.folder.path().join("data");
    let settling =
        ["--settlement", "engine", "--settlement-from-beginning", "--settlement-opens-accounts=false"];
    let claim = |server: &Server, user: &str| {
        let claimed = server.http().post("/v1/packets/c1/claims", &json!({ "user": user }));
        assert_eq!(claimed.status, 201, "{user}");
    };
    let server = stage.start(&[]);
    apply(&server, "ACCOUNT.OPEN alice EUR");
    let plan = json!({ "campaign": "c1", "asset": "EUR", "amounts": [100, 90, 80] });
    assert_eq!(server.http().post("/v1/packets", &plan).status, 201);
    claim(&server, "alice");
    server.stop();
    let copy = stage.folder.path().join("copy");
    consumers::copy(&data, &copy);
    let server = stage.start_with_tables(&settling);
    wait_until("alice was not paid", || balance(&server, "alice") == 100);
    claim(&server, "dan");
    wait_until("dan's claim was not tried", || {
        stage.count("delivery_settlements WHERE user_id = 'dan' AND last_error IS NOT NULL") == 1
    });
    server.wait_until_drained();
    server.stop();
    std::fs::remove_dir_all(&data).unwrap();
    consumers::copy(&copy, &data);
    // Until the log no longer has the place where the histories parted, the database is away.
    let server = stage.start(&[]);
    apply(&server, "ACCOUNT.OPEN dan EUR");
    let credited = trimmed(&server, "alice");
    server.stop();
    let server = stage.start_with_tables(&settling);
    let said = || server.http().get("/readyz?verbose").text();
    wait_until("the worker does not say why it waits", || {
        said().contains("worker of settlement in trouble") || balance(&server, "dan") > 0
    });
    assert_eq!(balance(&server, "dan"), 0, "he has claimed nothing: {}", said());
    assert!(said().contains("'scarce consumers rebase settlement'"), "{}", said());
    let is_troubled = |server: &Server| {
        let metrics = server.http().get("/metrics").text();
        metrics.contains("scarce_deliveries_troubled{queue=\"settlement\"} 1")
    };
    assert!(is_troubled(&server));
    let (code, _, told) = stage.run(&server, &["consumers", "rebase", "settlement", "--yes"]);
    assert_eq!(code, Some(0), "{told}");
    wait_until("alice's credit stays lost", || balance(&server, "alice") == credited + 100);
    assert_eq!(stage.count("delivery_settlements WHERE user_id = 'dan'"), 0, "nobody had paid him");
    wait_until("the worker's trouble stays", || !is_troubled(&server) && !said().contains("worker of"));
    assert_eq!(balance(&server, "dan"), 0);
    server.stop();
}

/// Lets a packet of 5 be claimed, and waits until its claim has left memory because its campaign is over.
fn let_claims_leave(server: &Server) {
    let mut http = server.http();
    let plan = json!({ "campaign": "over", "asset": "EUR", "amounts": [5] });
    assert_eq!(http.post("/v1/packets", &plan).status, 201);
    assert_eq!(http.post("/v1/packets/over/claims", &json!({ "user": "u0" })).status, 201);
    apply(server, "PACKET.CLOSE over");
    wait_until("the claim did not leave", || {
        http.get("/v1/events?limit=1000").text().contains("packets.forgotten")
    });
}

#[test]
fn claims_of_before_are_credited_once_though_the_log_and_the_tables_are_lost() {
    let stage = Stage::new();
    let options = ["--settlement", "engine", "--settlement-from-beginning"];
    let server = stage.start(&["--receipt-retention-ms", "1"]);
    apply(&server, "ACCOUNT.OPEN alice EUR");
    let plan = json!({ "campaign": "c1", "asset": "EUR", "amounts": [30, 20, 10] });
    assert_eq!(server.http().post("/v1/packets", &plan).status, 201);
    for user in ["u1", "u2"] {
        assert_eq!(server.http().post("/v1/packets/c1/claims", &json!({ "user": user })).status, 201);
    }
    let_claims_leave(&server);
    trim(&server);
    server.stop();
    let settled = |count| stage.count("delivery_settlements WHERE state = 'settled'") == count;
    let check = |server: &Server, users: &[(&str, i64)]| {
        wait_until("not all is settled", || settled(i64::try_from(users.len()).unwrap()));
        for (user, amount) in users {
            assert_eq!(balance(server, user), *amount, "{user}");
        }
    };
    let server = stage.overheard(&options);
    wait_until_caught_up(&server, "settlement");
    check(&server, &[("u1", 30), ("u2", 20)]);
    trim(&server);
    let log = server.stop_overheard();
    let warned = log.lines().find(|line| line.contains("whose retention is over")).expect("a warning");
    let told = ["over", "through_packet=1", "amount=5", "find their claims in the history"];
    assert!(told.iter().all(|told| warned.contains(told)), "{warned}");
    // All tables are lost: the engine remembers which claims were credited.
    std::fs::remove_file(stage.file()).unwrap();
    let server = stage.start_with_tables(&[]);
    let (code, _, told) =
        said(scarce().args(["consumers", "forget", "settlement", "--resp", &server.address]));
    assert_eq!(code, Some(0), "{told}");
    server.stop();
    let server = stage.start_with_tables(&options);
    wait_until_caught_up(&server, "settlement");
    assert_eq!(server.http().post("/v1/packets/c1/claims", &json!({ "user": "u3" })).status, 201);
    check(&server, &[("u1", 30), ("u2", 20), ("u3", 10)]);
    server.stop();
}

#[test]
fn settlement_that_finds_its_tables_lost_says_so_and_pays_what_is_owed_once() {
    let stage = Stage::new();
    let settling =
        ["--settlement", "engine", "--settlement-from-beginning", "--settlement-opens-accounts=false"];
    let claim = |server: &Server, user: &str| {
        assert_eq!(server.http().post("/v1/packets/c1/claims", &json!({ "user": user })).status, 201);
    };
    let server = stage.start_with_tables(&settling);
    let plan = json!({ "campaign": "c1", "asset": "EUR", "amounts": [30, 20, 10] });
    assert_eq!(server.http().post("/v1/packets", &plan).status, 201);
    apply(&server, "ACCOUNT.OPEN alice EUR");
    claim(&server, "alice");
    claim(&server, "bob");
    wait_until("alice was not paid", || balance(&server, "alice") == 30);
    wait_until_caught_up(&server, "settlement");
    server.stop();
    std::fs::remove_file(stage.file()).unwrap();

    let server = stage.start_with_tables(&settling);
    for line in ["ACCOUNT.OPEN bob EUR", "ACCOUNT.OPEN carol EUR"] {
        apply(&server, line);
    }
    claim(&server, "carol");
    wait_until("it does not say that its tables are lost", || {
        let row = consumer(&server, "settlement");
        row["reason"].as_str().is_some_and(|reason| reason.contains("'scarce consumers rebase settlement'"))
    });
    let (code, listed, advice) = stage.run(&server, &["consumers", "rebase", "settlement", "--json"]);
    assert!(code == Some(2) && advice.contains("looked up first"), "{advice}");
    assert_eq!(json_lines(&listed)[0]["holds"], "gap", "{listed}");
    assert_eq!(stage.count("delivery_settlements"), 0, "nothing was changed");
    let (code, _, told) = stage.run(&server, &["consumers", "rebase", "settlement", "--yes"]);
    assert!(code == Some(0) && told.contains("'scarce reconcile' names the campaigns"), "{told}");
    wait_until("not all is settled", || stage.count("delivery_settlements WHERE state = 'settled'") == 3);
    for (user, amount) in [("alice", 30), ("bob", 20), ("carol", 10)] {
        assert_eq!(balance(&server, user), amount, "{user}");
    }
    wait_until_caught_up(&server, "settlement");
    let (code, _, told) = stage.run(&server, &["consumers", "rebase", "settlement", "--yes"]);
    assert!(code == Some(1) && told.contains("misses nothing"), "{told}");
    server.stop();
}
