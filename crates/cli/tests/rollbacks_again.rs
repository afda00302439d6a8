//! A history of the engine that is put back for a second time, or with another database: what was read of which history
//! is known all the same, and every claim of the log that is there is paid once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/consumers.rs"]
mod consumers;
#[path = "support/database.rs"]
mod database;
#[path = "support/stage.rs"]
mod stage;
mod support;

use std::path::PathBuf;

use consumers::{consumer, copy, wait_until_diverged};
use serde_json::json;
use stage::{SETTLING, Stage, apply, balance, claim, plan};
use support::{json_lines, wait_until};

/// Settles, and leaves it to others to open accounts.
const WAITING: [&str; 4] =
    ["--settlement", "engine", "--settlement-from-beginning", "--settlement-opens-accounts=false"];

/// Waits until a claim waits for its account.
fn wait_until_tried(stage: &Stage, server: &support::Server, user: &str) {
    wait_until("its claim was not tried", || {
        let (_, rows, _) = stage.run(server, &["settlements", "list", "--state", "pending", "--json"]);
        json_lines(&rows).iter().any(|row| row["user"] == user && row["last_error"].is_string())
    });
}

#[test]
fn a_newer_copy_that_is_put_back_after_a_rebase_has_all_of_its_claims_paid() {
    for mut stage in Stage::both() {
        let server = stage.start_with_tables(&WAITING);
        for user in ["alice", "bob", "carol", "eve"] {
            apply(&server, &format!("ACCOUNT.OPEN {user} EUR"));
        }
        plan(&server, &[100, 90, 80, 70, 60, 50]);
        claim(&server, "alice", 100);
        stage.check_paid(&server, &[("alice", 100)]);
        server.wait_until_drained();
        server.stop();
        stage.copy_as("first");
        let server = stage.start_with_tables(&WAITING);
        claim(&server, "bob", 90);
        claim(&server, "carol", 80);
        claim(&server, "dan", 70);
        stage.check_paid(&server, &[("alice", 100), ("bob", 90), ("carol", 80)]);
        wait_until_tried(&stage, &server, "dan");
        server.wait_until_drained();
        server.stop();
        stage.copy_as("second");

        stage.put_back_from("first");
        let server = stage.start_with_tables(&WAITING);
        stage.rebase_all(&server);
        claim(&server, "eve", 90);
        claim(&server, "carol", 80);
        stage.check_paid(&server, &[("alice", 100), ("eve", 90), ("carol", 80)]);
        server.wait_until_drained();
        server.stop();

        stage.put_back_from("second");
        let server = stage.start_with_tables(&WAITING);
        stage.rebase_all(&server);
        apply(&server, "ACCOUNT.OPEN dan EUR");
        stage.check_paid(&server, &[("alice", 100), ("bob", 90), ("carol", 80), ("dan", 70)]);
        assert_eq!(balance(&server, "eve"), json!(0), "she has no claim in this history");
        let (_, dead, _) = stage.run(&server, &["settlements", "list", "--state", "dead", "--json"]);
        assert_eq!(dead, "");
        server.stop();
    }
}

#[test]
fn a_campaign_that_is_created_again_is_paid_in_its_own_asset() {
    let by_asset = [&SETTLING[..], &["--settlement-account", "{user}:{asset}"]].concat();
    for mut stage in Stage::both() {
        let server = stage.start_with_tables(&by_asset);
        apply(&server, "ACCOUNT.OPEN before EUR");
        server.wait_until_drained();
        server.stop();
        stage.copy();
        let server = stage.start_with_tables(&by_asset);
        apply(&server, "PACKET.CREATE c1 EUR AMOUNTS 2 50 40");
        claim(&server, "alice", 50);
        wait_until("it was not paid", || balance(&server, "alice:EUR") == json!(50));
        server.wait_until_drained();
        server.stop();
        stage.put_back();
        let server = stage.start_with_tables(&by_asset);
        stage.rebase_all(&server);
        apply(&server, "PACKET.CREATE c1 USD AMOUNTS 2 50 40");
        claim(&server, "alice", 50);
        claim(&server, "zoe", 40);
        for account in ["alice:USD", "alice:EUR", "zoe:USD", "zoe:EUR"] {
            let wanted = match account {
                "alice:USD" => json!(50),
                "zoe:USD" => json!(40),
                _ => json!(null),
            };
            wait_until(account, || {
                let rows = json_lines(&stage.run(&server, &["settlements", "list", "--json"]).1);
                rows.len() == 2 && rows.iter().all(|row| row["state"] == "settled")
            });
            assert_eq!(balance(&server, account), wanted, "{account}");
        }
        server.stop();
    }
}

#[test]
fn each_settlement_of_a_campaign_from_before_knows_its_asset() {
    for stage in Stage::both() {
        let server = stage.start(&[]);
        plan(&server, &[100, 90, 80]);
        server.stop();
        let server = stage.start_with_tables(&["--settlement", "engine"]);
        let claims = [("alice", 100), ("bob", 90), ("carol", 80)];
        for (count, (user, amount)) in (1..).zip(claims) {
            claim(&server, user, amount);
            stage.check_paid(&server, &claims[..count]);
        }
        let rows = json_lines(&stage.run(&server, &["settlements", "list", "--json"]).1);
        assert!(rows.len() == 3 && rows.iter().all(|row| row["asset"] == "EUR"), "{rows:?}");
        server.stop();
    }
}

/// A claim that was credited in a history that is lost, and its database from before: `dan` waits there for an account.
fn credited_in_a_lost_history(stage: &mut Stage) -> PathBuf {
    let file = PathBuf::from(stage.database.url().strip_prefix("sqlite://").unwrap());
    let earlier = stage.folder.path().join("earlier.db");
    let server = stage.start_with_tables(&WAITING);
    plan(&server, &[100, 90]);
    claim(&server, "dan", 100);
    wait_until_tried(stage, &server, "dan");
    server.wait_until_drained();
    server.stop();
    stage.copy();
    copy(&file, &earlier);
    let server = stage.start_with_tables(&WAITING);
    apply(&server, "ACCOUNT.OPEN dan EUR");
    stage.check_paid(&server, &[("dan", 100)]);
    server.wait_until_drained();
    server.stop();
    // As if that had been long before what follows.
    for column in ["done_at_ms", "first_tried_at_ms"] {
        let sql = format!("UPDATE delivery_settlements SET {column} = {column} - 1200000");
        assert!(stage.database.pairs(&sql).is_empty());
    }
    stage.put_back();
    earlier
}

#[test]
fn a_rebase_of_another_database_leaves_no_credit_lost() {
    for mut stage in Stage::both() {
        let earlier = credited_in_a_lost_history(&mut stage);
        let server = stage.start_with_tables(&WAITING);
        apply(&server, "ACCOUNT.OPEN dan EUR");
        wait_until_diverged(&server, "settlement");
        let other = format!("sqlite://{}", earlier.display());
        let (code, _, told) = stage.run_on(&server, &other, &["consumers", "rebase", "settlement", "--yes"]);
        assert_eq!(code, Some(0), "{told}");
        stage.rebase_all(&server);
        wait_until("it is not paid", || balance(&server, "dan") == json!(100));
        stage.check_paid(&server, &[("dan", 100)]);
        server.stop();
    }
}

#[test]
fn a_start_with_another_database_leaves_no_credit_lost() {
    for mut stage in Stage::both() {
        credited_in_a_lost_history(&mut stage);
        let other = format!("sqlite://{}", stage.folder.path().join("other.db").display());
        let server = stage.start(&[&["--sql", other.as_str()], &WAITING[..]].concat());
        apply(&server, "ACCOUNT.OPEN another EUR");
        wait_until("it does not say that it is another database", || {
            let reason = consumer(&server, "settlement")["reason"].clone();
            reason.as_str().is_some_and(|reason| reason.contains("is another one"))
        });
        let (code, _, told) = stage.run_on(&server, &other, &["consumers", "rebase", "settlement", "--yes"]);
        assert_eq!(code, Some(0), "{told}");
        wait_until("it did not go on", || consumer(&server, "settlement")["lag_events"] == 0);
        server.wait_until_drained();
        server.stop();
        let server = stage.start_with_tables(&WAITING);
        apply(&server, "ACCOUNT.OPEN dan EUR");
        stage.rebase_all(&server);
        wait_until("it is not paid", || balance(&server, "dan") == json!(100));
        stage.check_paid(&server, &[("dan", 100)]);
        server.stop();
    }
}

#[test]
fn claims_whose_credit_was_begun_in_the_engine_end_there_after_a_switch_to_a_receiver() {
    let [stage, _] = Stage::both();
    let server = stage.start_with_tables(&WAITING);
    plan(&server, &[100]);
    claim(&server, "dan", 100);
    wait_until_tried(&stage, &server, "dan");
    server.stop();
    let secret = stage.folder.path().join("secret");
    std::fs::write(&secret, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
    let server = stage.start_with_tables(&[
        "--settlement",
        "http://127.0.0.1:9/",
        "--settlement-secret-file",
        secret.to_str().unwrap(),
        "--settlement-opens-accounts=false",
    ]);
    apply(&server, "ACCOUNT.OPEN dan EUR");
    stage.check_paid(&server, &[("dan", 100)]);
    server.stop();
}
