//! Histories over HTTP and with `scarce history`: read from the database into which the log is projected.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use serde_json::{Value, json};
use sqlx::Connection;
use support::{Server, json_lines, redis_server, scarce};

fn history(url: &str, words: &[&str]) -> (Option<i32>, String, String) {
    let output = scarce().arg("history").args(["--sql", url]).args(words).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_statement_adds_up_while_the_server_runs_and_after_it_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("shop.db").display());
    let server = Server::fresh(&["--sql", &url]);
    let mut http = server.http();
    http.post("/v1/accounts", &json!({ "account": "u1", "asset": "EUR" }));
    for amount in 1..=25 {
        http.post("/v1/accounts/u1/credit", &json!({ "amount": amount }));
    }
    server.wait_until_drained();
    let (mut balance, mut target) =
        (0, "/v1/history/accounts/u1/entries?sort=oldest_first&limit=10".to_owned());
    let mut pages = 0;
    loop {
        let page = http.get(&target);
        assert_eq!(page.status, 200, "{page:?}");
        let page = page.json();
        for row in page["rows"].as_array().unwrap() {
            balance += row["amount"].as_i64().unwrap();
            assert_eq!(row["balance"], json!(balance));
        }
        pages += 1;
        let Some(cursor) = page["cursor"].as_str() else { break };
        target = format!("/v1/history/accounts/u1/entries?sort=oldest_first&limit=10&cursor={cursor}");
    }
    assert_eq!((balance, pages), (325, 3));
    server.stop();
    let (code, told, _) = history(&url, &["account-entries", "u1", "limit=10", "--all", "--json"]);
    assert_eq!(code, Some(0));
    let rows: Vec<Value> = json_lines(&told);
    assert_eq!(rows.len(), 25);
    assert_eq!(rows[0]["balance"], json!(325));
    let (_, table, said) = history(&url, &["account-entries", "account=u1", "limit=2"]);
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(said.contains("there is more"), "{said}");
}

#[test]
fn what_cannot_be_answered_is_refused_with_what_to_do() {
    let server = Server::fresh(&[]);
    let mut http = server.http();
    let refused = http.get("/v1/history/markets/m1/trades");
    assert_eq!(refused.status, 503);
    assert!(refused.json().to_string().contains("start it with --sql"), "{refused:?}");
    for target in ["/v1/history/markets/m1/trades?limit=0", "/v1/history/markets/m1/trades?cursor=AAAA"] {
        assert_eq!(http.get(target).status, 400, "{target}");
    }
    let folder = tempfile::tempdir().unwrap();
    let missing = format!("sqlite://{}", folder.path().join("missing.db").display());
    for (words, code, said) in [
        (&["trades", "m1"][..], 1, "has no such projection"),
        (&["trades"], 2, "market is missing; trades <market>"),
        (&["trades", "m1", "m2"], 2, "m2"),
        (&["profits"], 2, "'scarce history' lists all"),
    ] {
        let (its_code, _, told) = history(&missing, words);
        assert_eq!(its_code, Some(code), "{words:?}: {told}");
        assert!(told.contains(said), "{words:?}: {told}");
    }
    let (code, listed, _) = history(&missing, &[]);
    assert_eq!(code, Some(0));
    assert!(listed.contains("account-entries <account> [from_ms=…] [to_ms=…]"), "{listed}");
    assert!(!folder.path().join("missing.db").exists());
}

#[test]
fn a_statement_shows_dates_and_begins_with_the_balance() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("shop.db").display());
    let server = Server::fresh(&["--sql", &url]);
    let mut http = server.http();
    http.post("/v1/accounts", &json!({ "account": "u1", "asset": "EUR" }));
    for amount in [100, 20] {
        http.post("/v1/accounts/u1/credit", &json!({ "amount": amount }));
    }
    server.wait_until_drained();
    let (_, told, _) = history(&url, &["account-entries", "u1", "--json", "sort=oldest_first"]);
    let at_ms = json_lines(&told)[0]["at_ms"].as_i64().unwrap();
    let time = |at_ms: i64| jiff::Timestamp::from_millisecond(at_ms).unwrap().to_string();
    let (code, table, said) = history(&url, &["account-entries", "u1"]);
    assert!(
        code == Some(0) && table.contains(&time(at_ms)) && table.contains(&at_ms.to_string()),
        "{table}{said}"
    );
    assert!(!table.contains("balance 0"), "{table}");
    // The first movement is before the span, unless both came within a millisecond.
    let (_, table, said) = history(&url, &["account-entries", "u1", "--from", &time(at_ms + 1)]);
    assert!(table.starts_with("balance 1"), "{table}{said}");
    let (_, table, _) =
        history(&url, &["account-entries", "u1", "--from", "2001-01-01", "--to", "2001-02-01"]);
    assert_eq!(table.lines().next(), Some("balance 0 before 2001-01-01T00:00:00Z"), "{table}");
    assert!(!table.contains("credit"), "{table}");
    let (code, _, said) = history(&url, &["account-entries", "u1", "--from", "yesterday"]);
    assert!(code == Some(2) && said.contains("2026-11-01"), "{said}");
}

#[test]
fn tables_are_compared_with_the_log_while_the_server_runs() {
    let redis = redis_server(&[]);
    let address = redis.url();
    for engine in [&[][..], &["--engine", "redis", "--redis-url", &address]] {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("shop.db").display());
        let server = Server::fresh(&[engine, &["--sql", &url]].concat());
        let mut http = server.http();
        http.post("/v1/stock", &json!({ "sku": "s1", "quantity": 50 }));
        for buyer in 0..20 {
            http.post("/v1/stock/s1/take", &json!({ "quantity": 1, "owner": format!("u{buyer}") }));
        }
        server.wait_until_drained();
        let verify = || verify(&url, &server);
        let (code, told, said) = verify();
        assert!(code == Some(0) && told.is_empty() && said.contains("as the log makes them"), "{told}{said}");
        change(&url, "UPDATE receipts SET quantity = 2 WHERE first_serial = 7");
        change(&url, "DELETE FROM receipts WHERE first_serial = 9");
        let (code, told, said) = verify();
        assert_eq!(code, Some(5), "{told}{said}");
        let rows = json_lines(&told);
        assert_eq!(rows.len(), 2, "{told}");
        let changed = [&rows[0]["key"], &rows[0]["column"], &rows[0]["tables"], &rows[0]["log"]];
        assert_eq!(changed, [&json!("s1 7"), &json!("quantity"), &json!("2"), &json!("1")]);
        assert_eq!([&rows[1]["table"], &rows[1]["key"]], [&json!("receipts"), &json!("s1 9")]);
        assert!(said.contains("2 rows are missing"), "{said}");
    }
}

fn verify(url: &str, server: &Server) -> (Option<i32>, String, String) {
    let words = ["projection", "verify", "--json", "--sql", url, "--resp", &server.address];
    let output = scarce().args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn tables_of_a_trimmed_log_are_compared_by_their_sums() {
    let redis = redis_server(&[]);
    let address = redis.url();
    let engine = ["--engine", "redis", "--redis-url", &address, "--redis-log-retention-ms", "1"];
    let server = Server::fresh(&engine);
    let mut http = server.http();
    http.post("/v1/stock", &json!({ "sku": "s1", "quantity": 50 }));
    support::wait_until("the log is trimmed", || {
        http.post("/v1/stock/s1/take", &json!({ "quantity": 1, "owner": "u1" }));
        let info = scarce_client::Info::ask(&mut server.connect()).unwrap();
        info.partitions.values().any(|extent| extent.first > 1)
    });
    server.stop();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("shop.db").display());
    let server = Server::fresh(&[&engine[..], &["--sql", &url]].concat());
    server.wait_until_drained();
    let (code, told, said) = verify(&url, &server);
    assert!(code == Some(0) && told.is_empty() && said.contains("only sums were compared"), "{told}{said}");
    change(&url, "DELETE FROM receipts WHERE first_serial = 1");
    let (code, told, said) = verify(&url, &server);
    assert_eq!(code, Some(5), "{told}{said}");
    let rows = json_lines(&told);
    assert_eq!(
        [&rows[0]["table"], &rows[0]["key"], &rows[0]["column"]],
        [&json!("stock"), &json!("s1"), &json!("sold")]
    );
}

/// Changes the tables by hand.
fn change(url: &str, sql: &'static str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut connection = sqlx::SqliteConnection::connect(url).await.unwrap();
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    });
}
