//! `scarce reconcile` beside a running server, on its data at rest, and inside Redis.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::path::Path;

use serde_json::{Value, json};
use sqlx::Connection;
use support::{Server, fill, redis_server, said, scarce};
use tempfile::TempDir;

fn reconcile(words: &[&str]) -> (Option<i32>, Value, String) {
    let (code, out, err) = said(scarce().args(["reconcile", "--json"]).args(words));
    (code, serde_json::from_str(&out).unwrap_or(Value::Null), err)
}

fn change(url: &str, sql: &'static str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut connection = sqlx::SqliteConnection::connect(url).await.unwrap();
        sqlx::query(sql).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    });
}

fn database(folder: &Path) -> String {
    format!("sqlite://{}", folder.join("shop.db").display())
}

#[test]
fn a_row_changed_by_hand_ends_with_5_and_is_named_in_every_form_of_the_report() {
    let (folder, data) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let url = database(folder.path());
    let server = Server::start(data.path(), &["--sql", &url, "--partitions", "2"]);
    fill(&server);
    let data_text = data.path().to_str().unwrap();
    let words = ["--data", data_text, "--resp", &server.address, "--sql", &url];
    let (code, report, err) = reconcile(&words);
    assert_eq!((code, &report["differences"]), (Some(0), &json!(0)), "{report:#} {err}");
    let states: Vec<_> =
        report["checks"].as_array().unwrap().iter().map(|its| its["state"].clone()).collect();
    assert_eq!(states, vec!["equal"; 6], "{report:#}");

    change(&url, "UPDATE accounts SET balance = 381, available = 381 WHERE account_id = 'u1'");
    let (code, report, err) = reconcile(&words);
    assert_eq!(code, Some(5), "{report:#} {err}");
    let finding = &report["findings"][0];
    let part = &finding["first_event"];
    assert_eq!(
        (&finding["check"], &finding["resource"], &finding["expected"], &finding["found"], &part["event"]),
        (&json!("tables"), &json!("u1"), &json!("380"), &json!("381"), &json!("account.debited")),
        "{report:#}"
    );
    let page = folder.path().join("report.html");
    let (code, table, err) = said(scarce().arg("reconcile").args(words).arg("--html").arg(&page));
    assert_eq!(code, Some(5), "{table} {err}");
    assert!(table.contains("accounts.balance of 'u1'") && table.contains("account.debited"), "{table}");
    change(&url, "UPDATE accounts SET asset = 'EUR' || char(27) || '[31m' WHERE account_id = 'u1'");
    let (code, table, err) = said(scarce().arg("reconcile").args(words));
    assert_eq!(code, Some(5), "{table} {err}");
    assert!(
        table.contains("EUR\\u{1b}[31m") && !table.contains('\u{1b}'),
        "a terminal would obey it: {table}"
    );
    change(&url, "UPDATE accounts SET asset = 'EUR' WHERE account_id = 'u1'");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains("accounts.balance of &#39;u1&#39;") || page.contains("accounts.balance of 'u1'"),
        "{page}"
    );

    // At rest the same is found without an engine.
    server.stop();
    let (code, report, err) = reconcile(&["--data", data_text, "--sql", &url]);
    assert_eq!(code, Some(5), "{report:#}");
    assert!(err.contains("no server runs on this data"), "{err}");
    change(&url, "UPDATE accounts SET balance = 380, available = 380 WHERE account_id = 'u1'");
    let (code, report, _) = reconcile(&["--data", data_text, "--sql", &url]);
    assert_eq!(code, Some(0), "{report:#}");
}

#[test]
fn rows_are_put_right_once_no_server_projects_the_log() {
    let (folder, data) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (url, redis) = (database(folder.path()), redis_server(&[]));
    let redis_url = redis.url();
    let data_text = data.path().to_str().unwrap();
    let at_rest = vec!["--data", data_text];
    let in_redis = vec!["--engine", "redis", "--redis-url", &redis_url];
    for (at, engine) in [at_rest, in_redis].into_iter().enumerate() {
        let url = format!("{url}.{at}");
        let server =
            Server::start(data.path(), &[&engine[2 * usize::from(at == 0)..], &["--sql", &url]].concat());
        fill(&server);
        let repair = |more: &[&str]| reconcile(&[&engine[..], &["--sql", &url, "--repair"], more].concat());
        let resp = server.address.clone();
        let (code, _, err) = repair(&["--yes", "--resp", &resp]);
        assert_eq!((code, err.contains("keeps rows in memory")), (Some(2), true), "{err}");
        server.stop();
        change(&url, "UPDATE accounts SET balance = 381, available = 381 WHERE account_id = 'u1'");
        change(&url, "DELETE FROM receipts");
        let (code, _, err) = repair(&[]);
        assert_eq!((code, err.contains("--dry-run")), (Some(2), true), "{err}");
        for (how, code, done) in [("--dry-run", 5, false), ("--yes", 0, true)] {
            let (its_code, report, err) = repair(&[how]);
            assert_eq!(its_code, Some(code), "{report:#} {err}");
            let told = ["done", "changed", "added", "removed"].map(|name| report["repair"][name].clone());
            assert_eq!(told, [json!(done), json!(1), json!(1), json!(0)], "{report:#}");
        }
        let (code, report, _) = reconcile(&[&engine[..], &["--sql", &url]].concat());
        assert_eq!(code, Some(0), "{report:#}");
    }
}

#[test]
fn settlements_of_another_deployment_are_not_taken_for_none() {
    let (folder, data) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let url = database(folder.path());
    let server = Server::start(data.path(), &["--sql", &url, "--settlement", "engine"]);
    fill(&server);
    let address = server.address.clone();
    let words = ["--data", data.path().to_str().unwrap(), "--resp", &address, "--sql", &url];
    let (code, report, err) = reconcile(&words);
    assert_eq!(code, Some(0), "{report:#} {err}");
    server.stop();
    change(
        &url,
        "UPDATE delivery_meta SET value = 'ffffffffffffffffffffffffffffffff' WHERE name = 'deployment_id'",
    );
    let (code, report, err) = reconcile(&words);
    assert_eq!(code, Some(2), "{report:#} {err}");
    assert!(err.contains("ffffffffffffffffffffffffffffffff"), "{err}");
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let (folder, data, other) = (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let url = database(folder.path());
    let server = Server::start(data.path(), &["--sql", &url]);
    fill(&server);
    let another = Server::start(other.path(), &[]);
    let (data, other) = (data.path().to_str().unwrap(), other.path().to_str().unwrap());
    let missing = database(&folder.path().join("missing"));
    for (words, code, text) in [
        (vec!["--data", other, "--resp", &another.address, "--sql", &url], 2, "holds deployment"),
        (vec!["--data", data, "--resp", &another.address, "--sql", &url], 2, "is another"),
        (vec!["--data", data, "--resp", "127.0.0.1:1"], 4, "cannot reach 127.0.0.1:1"),
        (vec!["--data", data, "--resp", &server.address, "--sql", &missing], 1, "missing"),
        (vec!["--data", "/nowhere"], 1, "holds no deployment"),
    ] {
        let (its_code, report, err) = reconcile(&words);
        assert_eq!(its_code, Some(code), "{words:?}: {report} {err}");
        assert!(err.contains(text), "{words:?}: {err}");
    }
}

#[test]
fn the_engine_inside_redis_is_compared_without_a_server() {
    let (folder, redis) = (TempDir::new().unwrap(), redis_server(&[]));
    let (url, sql) = (redis.url(), database(folder.path()));
    let engine = ["--engine", "redis", "--redis-url", &url, "--partitions", "2", "--sql", &sql];
    let (code, _, err) = reconcile(&engine);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("there is no deployment behind"), "{err}");
    let server = Server::fresh(&engine);
    fill(&server);
    let (code, report, err) = reconcile(&engine);
    assert_eq!(code, Some(0), "{report:#} {err}");
    server.stop();
    change(&sql, "DELETE FROM receipts WHERE sku = 'sku-1'");
    let (code, report, _) = reconcile(&engine);
    assert_eq!(code, Some(5), "{report:#}");
    assert_eq!(report["findings"][0]["first_event"]["event"], json!("stock.taken"), "{report:#}");
    // A partition that has lost keys is damaged, and not a server that is away.
    assert_eq!(redis.ask::<u64>(&["DEL", "scarce:{p1-0}:meta"]).unwrap(), 1);
    let (code, _, err) = reconcile(&engine);
    assert!(code == Some(5) && err.contains("is damaged"), "{code:?} {err}");
}

#[test]
fn an_account_and_an_item_are_adjusted_once_with_author_and_reason() {
    let (folder, data) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let url = database(folder.path());
    let server = Server::start(data.path(), &["--sql", &url]);
    fill(&server);
    let adjust = |words: &[&str]| {
        let place = ["--resp", &server.address, "--json"];
        let (code, out, err) = said(scarce().args(["reconcile", "adjust"]).args(words).args(place));
        (code, serde_json::from_str(&out).unwrap_or(Value::Null), err)
    };
    let fee = ["account", "u1", "--by", "-30", "--reason", "bank fee of November", "--author", "li"];
    let (code, _, err) = adjust(&fee);
    assert!(code == Some(2) && err.contains("--dry-run"), "{err}");
    let unnamed = ["account", "u1", "--by", "-30", "--reason", " ", "--author", "li", "--yes"];
    let (code, _, err) = adjust(&unnamed);
    assert!(code == Some(2) && err.contains("whose cause is not known"), "{err}");
    let (code, _, err) = adjust(&[&fee[..], &["--yes", "--expect", "500"]].concat());
    assert!(code == Some(3) && err.contains("is 380 and not 500"), "{err}");
    let told = |its: &Value| ["before", "by", "after"].map(|name| its[name].as_i64().unwrap_or_default());
    let (code, shown, err) = adjust(&[&fee[..], &["--dry-run"]].concat());
    assert_eq!((code, told(&shown)), (Some(0), [380, -30, 350]), "{shown} {err}");
    assert!(err.contains("ACCOUNT.DEBIT u1 30 ID adjust:li:bank_fee_of_November:"), "{err}");
    for before in [380, 350] {
        let (code, done, err) = adjust(&[&fee[..], &["--yes"]].concat());
        assert_eq!((code, told(&done)), (Some(0), [before, -30, 350]), "it has one effect: {done} {err}");
    }
    let broken = ["stock", "sku-1", "--by", "-20", "--reason", "broken", "--author", "li", "--dry-run"];
    let (code, refused, _) = adjust(&broken);
    assert_eq!((code, &refused["state"]), (Some(3), &json!("refused: INSUFFICIENT_STOCK")), "{refused}");
    let found = ["stock", "sku-1", "--by", "+2", "--reason", "stock count", "--author", "li", "--yes"];
    let (code, done, err) = adjust(&found);
    assert_eq!((code, told(&done)), (Some(0), [10, 2, 12]), "{done} {err}");
    server.wait_until_drained();
    let (_, statement, _) = said(scarce().args(["history", "account-entries", "u1", "--sql", &url]));
    assert!(statement.contains("adjust:li:bank_fee_of_November:"), "{statement}");
    let (_, movements, _) = said(scarce().args(["history", "stock-movements", "sku-1", "--sql", &url]));
    assert!(movements.contains("stock count (li)"), "{movements}");
    let data = data.path().to_str().unwrap();
    let (code, report, err) = reconcile(&["--data", data, "--resp", &server.address, "--sql", &url]);
    assert_eq!(code, Some(0), "{report:#} {err}");
}
