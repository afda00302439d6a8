//! Reconciliations that a server makes by itself: now and then, and when it is asked to.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/receiver.rs"]
mod receiver;
mod support;

use receiver::receiver;
use serde_json::{Value, json};
use sqlx::Connection;
use support::{Http, Server, redis_server, said, scarce, wait_until};
use tempfile::TempDir;

/// An account, a sale and the tables of both.
fn fill(server: &Server) {
    let mut http = server.http();
    for (path, body) in [
        ("/v1/accounts", json!({ "account": "u1", "asset": "EUR" })),
        ("/v1/accounts/u1/credit", json!({ "amount": 500 })),
        ("/v1/stock", json!({ "sku": "sku-1", "quantity": 10 })),
        ("/v1/stock/sku-1/take", json!({ "quantity": 3, "owner": "u1" })),
    ] {
        let answer = http.post(path, &body);
        assert!(answer.status < 300, "{path}: {answer:?}");
    }
    server.wait_until_drained();
}

/// Asks for one, waits for its end, and gives it with its report.
fn reconciled(http: &mut Http) -> Value {
    let asked = http.post("/v1/reconciliations", &json!({}));
    assert!([200, 202].contains(&asked.status), "{asked:?}");
    let target = format!("/v1/reconciliations/{}", asked.json()["id"]);
    wait_until("it has ended", || !http.get(&target).json()["ended_at"].is_null());
    http.get(&target).json()
}

fn change(url: &str, sql: &'static str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut connection = sqlx::SqliteConnection::connect(url).await.unwrap();
        sqlx::query(sql).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    });
}

#[test]
fn a_row_changed_by_hand_is_told_by_report_metrics_health_and_log() {
    let folder = TempDir::new().unwrap();
    let url = format!("sqlite://{}", folder.path().join("shop.db").display());
    let redis = redis_server(&[]);
    let redis_url = redis.url();
    let engines = [vec!["--partitions", "2"], vec!["--engine", "redis", "--redis-url", &redis_url]];
    for (at, engine) in engines.iter().enumerate() {
        let url = format!("{url}.{at}");
        let server = Server::overheard(&[&engine[..], &["--sql", &url]].concat());
        fill(&server);
        let mut http = server.http();
        let equal = reconciled(&mut http);
        assert_eq!((&equal["state"], &equal["cause"]), (&json!("equal"), &json!("request")), "{equal:#}");
        let checks = equal["report"]["checks"].as_array().unwrap();
        let compared =
            |name: &str| checks.iter().find(|its| its["check"] == name).unwrap()["compared"].as_u64();
        for name in ["log", "engine", "invariants", "tables"] {
            assert!(compared(name) > Some(0), "{name}: {equal:#}");
        }
        let verbose = http.get("/readyz?verbose").text();
        assert!(verbose.contains("[+] reconciliation of"), "{verbose}");

        change(&url, "UPDATE accounts SET balance = 501, available = 501 WHERE account_id = 'u1'");
        let different = reconciled(&mut http);
        let finding = &different["report"]["findings"][0];
        let told = [&different["state"], &finding["resource"], &finding["expected"], &finding["found"]];
        assert_eq!(told, [&json!("different"), &json!("u1"), &json!("500"), &json!("501")], "{different:#}");
        assert_eq!(finding["first_event"]["event"], "account.credited", "{different:#}");

        let listed = http.get("/v1/reconciliations").json();
        let states: Vec<_> =
            listed["reconciliations"].as_array().unwrap().iter().map(|its| &its["state"]).collect();
        assert_eq!(states, ["different", "equal"], "{listed:#}");
        let metrics = http.get("/metrics").text();
        for line in [
            "scarce_reconciliations_total{result=\"equal\"} 1",
            "scarce_reconciliations_total{result=\"different\"} 1",
            "scarce_reconciliations_total{result=\"failed\"} 0",
            "scarce_reconcile_differences 2",
        ] {
            assert!(metrics.contains(line), "{line}: {metrics}");
        }
        assert!(metrics.contains("scarce_reconcile_equal_timestamp_seconds"), "{metrics}");
        // Health is open to whoever reaches the port, and the log to who runs the server: neither names an account.
        let verbose = http.get("/readyz?verbose");
        assert_eq!(verbose.status, 200, "{}", verbose.text());
        assert!(verbose.text().contains("[!] reconciliation of"), "{}", verbose.text());
        assert!(verbose.text().contains("2 differences"), "{}", verbose.text());
        let log = server.stop_overheard();
        assert!(log.contains("a reconciliation found no difference"), "{log}");
        assert!(log.contains("a reconciliation found differences") && log.contains("tables"), "{log}");
        assert!(!verbose.text().contains("u1") && !log.contains("'u1'"), "{log}");
    }
}

#[test]
fn one_is_made_each_time_that_the_interval_is_over() {
    let server = Server::fresh(&["--reconcile", "100ms"]);
    let mut http = server.http();
    assert_eq!(http.post("/v1/accounts", &json!({ "account": "u1", "asset": "EUR" })).status, 201);
    let mut ended = || {
        let listed = http.get("/v1/reconciliations").json();
        let all = listed["reconciliations"].as_array().unwrap().clone();
        all.into_iter().filter(|its| its["ended_at"].is_u64()).collect::<Vec<_>>()
    };
    wait_until("three have ended", || ended().len() >= 3);
    let all = ended();
    assert!(all.iter().all(|its| its["state"] == "equal" && its["cause"] == "interval"), "{all:#?}");
    server.stop();
}

/// With a hundredth of a core it takes long: meanwhile it is the one that is answered, and it does not keep the server
/// from ending.
#[test]
fn one_runs_at_a_time_and_ends_with_the_server() {
    let server = Server::overheard(&["--reconcile-share", "1"]);
    let mut client = server.connect();
    let accounts: Vec<String> = (0..100_000).map(|number| format!("u{number}")).collect();
    let open: Vec<_> = accounts.iter().map(|account| ["ACCOUNT.OPEN", account, "EUR"]).collect();
    client.pipeline(&open).unwrap();
    let mut http = server.http();
    let asked = http.post("/v1/reconciliations", &json!({}));
    assert_eq!(asked.status, 202, "{asked:?}");
    let target = format!("/v1/reconciliations/{}", asked.json()["id"]);
    wait_until("it runs", || http.get(&target).json()["progress"]["done"].as_u64() > Some(0));
    let again = http.post("/v1/reconciliations", &json!({}));
    assert_eq!((again.status, &again.json()["id"]), (200, &asked.json()["id"]), "{again:?}");
    assert_eq!(http.get("/v1/reconciliations/1").status, 404);
    assert_eq!(http.get("/v1/reconciliations/first").status, 400);
    assert_eq!(http.post("/v1/reconciliations", &json!({ "wait": 1 })).status, 400);
    let log = server.stop_overheard();
    assert!(!log.contains("a reconciliation"), "it was not made to its end: {log}");
}

#[test]
fn tables_of_another_deployment_are_a_failure_with_its_reason() {
    let folder = TempDir::new().unwrap();
    let url = format!("sqlite://{}", folder.path().join("shop.db").display());
    let server = Server::fresh(&["--sql", &url]);
    fill(&server);
    change(&url, "UPDATE meta SET value = 'ffffffffffffffffffffffffffffffff' WHERE name = 'deployment_id'");
    let mut http = server.http();
    let failed = reconciled(&mut http);
    assert_eq!(failed["state"], "failed", "{failed:#}");
    let reason = failed["reason"].as_str().unwrap();
    assert!(reason.contains("ffffffffffffffffffffffffffffffff"), "{reason}");
    let verbose = http.get("/readyz?verbose").text();
    assert!(verbose.contains("could not compare"), "{verbose}");
    let metrics = http.get("/metrics").text();
    assert!(metrics.contains("scarce_reconciliations_total{result=\"failed\"} 1"), "{metrics}");
    assert!(!metrics.contains("scarce_reconcile_differences "), "{metrics}");
}

#[test]
fn endpoints_are_told_once_of_differences_and_once_of_their_end() {
    let folder = TempDir::new().unwrap();
    let url = format!("sqlite://{}", folder.path().join("shop.db").display());
    let server = Server::fresh(&["--sql", &url, "--webhooks", "--reconcile-share", "100"]);
    fill(&server);
    let (hook, came) = receiver(&[]);
    let place = ["--sql", &url, "--resp", &server.address];
    let add = ["webhooks", "add", &hook, "reconciliation.*"];
    let (code, _, err) = said(scarce().args(add).args(place));
    assert_eq!(code, Some(0), "{err}");
    let mut http = server.http();
    assert_eq!(reconciled(&mut http)["state"], "equal", "of which nobody is told who knows of no difference");
    change(&url, "UPDATE accounts SET balance = 501, available = 501 WHERE account_id = 'u1'");
    let first = reconciled(&mut http);
    assert_eq!(reconciled(&mut http)["state"], "different", "which was told");
    change(&url, "UPDATE accounts SET balance = 500, available = 500 WHERE account_id = 'u1'");
    let last = reconciled(&mut http);
    assert_eq!(last["state"], "equal");
    let wanted = [("reconciliation.different", &first), ("reconciliation.equal", &last)];
    for (name, reconciliation) in wanted {
        let its = came.recv_timeout(receiver::PATIENCE).unwrap();
        let body: Value = serde_json::from_slice(&its.body).unwrap();
        let told = (&body["type"], &body["data"]["reconciliation"], &body["data"]["differences"]);
        assert_eq!(told, (&json!(name), &reconciliation["id"], &reconciliation["differences"]), "{body:#}");
        assert!(its.headers["webhook-id"].starts_with("rec_"), "{:?}", its.headers);
        assert!(!body.to_string().contains("u1"), "what differs is data of callers: {body:#}");
    }
    assert!(came.try_recv().is_err(), "each is told once");
}

#[test]
fn rows_are_proposed_or_put_right_as_the_setting_says_while_the_log_is_projected() {
    let folder = TempDir::new().unwrap();
    let url = format!("sqlite://{}", folder.path().join("shop.db").display());
    for (level, state, done) in [("propose", "different", false), ("repair", "equal", true)] {
        let (url, data) = (format!("{url}.{level}"), TempDir::new().unwrap());
        let server = Server::start(data.path(), &["--sql", &url]);
        fill(&server);
        server.stop();
        change(&url, "UPDATE accounts SET overdraft = 3 WHERE account_id = 'u1'");
        change(&url, "DELETE FROM receipts");
        let options = ["--sql", &url, "--reconcile-repair", level, "--reconcile-share", "100"];
        let server = Server::start(data.path(), &options);
        let mut http = server.http();
        let mut credit = || {
            let answer = http.post("/v1/accounts/u1/credit", &json!({ "amount": 7 }));
            assert_eq!(answer.status, 200, "{answer:?}");
            server.wait_until_drained();
        };
        // Now the server has the wrong row in memory.
        credit();
        let its = reconciled(&mut server.http());
        let repair = &its["report"]["repair"];
        let told = [&its["state"], &repair["done"], &repair["added"], &repair["refused"]];
        assert_eq!(told, [&json!(state), &json!(done), &json!(1), &Value::Null], "{its:#}");
        assert!(repair["changed"].as_u64() > Some(0), "{its:#}");
        credit();
        let its = reconciled(&mut server.http());
        assert_eq!(its["state"], state, "what was in memory does not come back: {its:#}");
        assert_eq!(its["report"]["repair"]["changed"] == json!(0), done, "{its:#}");
        let metrics = server.http().get("/metrics").text();
        assert_eq!(metrics.contains("scarce_reconcile_rows_repaired_total 0"), !done, "{metrics}");
    }
}

/// The alarm rules and the dashboard that are shipped name metrics that a server has.
#[test]
fn every_metric_of_the_alarm_rules_and_the_dashboard_exists() {
    let operations = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations");
    let file = |name: &str| std::fs::read_to_string(format!("{operations}/{name}")).unwrap();
    let dashboard = file("grafana/dashboard.json");
    serde_json::from_str::<Value>(&dashboard).expect("JSON");
    let shipped = file("alerts/scarce.rules.yaml") + &dashboard;
    let folder = TempDir::new().unwrap();
    let url = format!("sqlite://{}", folder.path().join("shop.db").display());
    let store = folder.path().join("store");
    let store = store.to_str().unwrap();
    let options = ["--sql", &url, "--webhooks", "--backup", store, "--reconcile-share", "100"];
    let server = Server::fresh(&options);
    fill(&server);
    let mut http = server.http();
    reconciled(&mut http);
    let metrics = http.get("/metrics").text();
    let is_part = |its: char| its.is_ascii_alphanumeric() || its == '_';
    let names = shipped.split(|its| !is_part(its)).filter(|name| name.starts_with("scarce_"));
    let names: std::collections::BTreeSet<&str> = names.collect();
    assert!(names.len() > 25, "{names:?}");
    for name in names {
        // A counter and a histogram are declared without the end of their names.
        let declared = name.strip_suffix("_total").or(name.strip_suffix("_bucket")).unwrap_or(name);
        assert!(metrics.contains(&format!("# TYPE {declared} ")), "{name}: {metrics}");
    }
}
