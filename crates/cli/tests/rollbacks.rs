//! Credits after a rollback of the engine: nothing is credited twice, and nothing that is owed stays unpaid unnoticed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/consumers.rs"]
mod consumers;
#[path = "support/database.rs"]
mod database;
#[path = "support/stage.rs"]
mod stage;
mod support;

use std::path::PathBuf;

use consumers::{consumer, wait_until_diverged};
use serde_json::json;
use stage::{SETTLING, Stage, apply, balance, claim, plan};
use support::{json_lines, wait_until};

#[test]
fn credits_of_a_lost_history_are_made_again_and_the_others_are_not() {
    for mut stage in Stage::both() {
        let server = stage.start_with_tables(&SETTLING);
        for user in ["kept", "a", "b", "c", "e"] {
            apply(&server, &format!("ACCOUNT.OPEN {user} EUR"));
        }
        plan(&server, &[50, 40, 30, 20, 10]);
        claim(&server, "kept", 50);
        stage.check_paid(&server, &[("kept", 50)]);
        server.wait_until_drained();
        server.stop();
        let server = stage.start(&[]);
        claim(&server, "a", 40);
        server.stop();
        stage.copy();
        // The older state has the claim of a, and not its credit.
        let server = stage.start_with_tables(&SETTLING);
        claim(&server, "b", 30);
        claim(&server, "c", 20);
        stage.check_paid(&server, &[("kept", 50), ("a", 40), ("b", 30), ("c", 20)]);
        server.wait_until_drained();
        server.stop();
        stage.put_back();
        let server = stage.start_with_tables(&SETTLING);
        assert_eq!((balance(&server, "kept"), balance(&server, "a")), (json!(50), json!(0)));
        // The same user claims the same packet again, before the rebase; another one the next, after it.
        claim(&server, "b", 30);
        stage.rebase_all(&server);
        claim(&server, "e", 20);
        claim(&server, "c", 10);
        stage.check_paid(&server, &[("kept", 50), ("a", 40), ("b", 30), ("e", 20), ("c", 10)]);
        server.wait_until_drained();
        let (_, replaced, _) = stage.run(&server, &["settlements", "replaced", "--json"]);
        let [only] = &json_lines(&replaced)[..] else { panic!("{replaced}") };
        let told = [&only["packet"], &only["user"], &only["amount"], &only["decision"]];
        assert_eq!(told, [&json!(4), &json!("c"), &json!(20), &json!("not_paid")]);
        let (_, lost, _) = stage.run(&server, &["settlements", "list", "--lost", "--json"]);
        assert_eq!(lost, "");
        server.stop();
    }
}

#[test]
fn credits_that_an_older_state_did_not_know_of_at_all_are_made_again() {
    for mut stage in Stage::both() {
        let server = stage.start(&[]);
        apply(&server, "ACCOUNT.OPEN u1 EUR");
        plan(&server, &[30, 20, 10]);
        claim(&server, "u1", 30);
        claim(&server, "u2", 20);
        server.stop();
        stage.copy();
        let server = stage.start_with_tables(&SETTLING);
        claim(&server, "u3", 10);
        stage.check_paid(&server, &[("u1", 30), ("u2", 20), ("u3", 10)]);
        server.wait_until_drained();
        server.stop();
        stage.put_back();
        let server = stage.start_with_tables(&SETTLING);
        wait_until_diverged(&server, "settlement");
        let (code, _, advice) = stage.run(&server, &["consumers", "rebase", "settlement"]);
        assert!(code == Some(2) && advice.contains("nothing was changed"), "{advice}");
        stage.rebase_all(&server);
        // u3 has claimed nothing here, and its mark says so.
        wait_until("not all is credited", || {
            balance(&server, "u1") == json!(30) && balance(&server, "u2") == json!(20)
        });
        let lost = || json_lines(&stage.run(&server, &["settlements", "list", "--lost", "--json"]).1);
        wait_until("more is lost", || lost().len() == 1);
        assert_eq!((&lost()[0]["user"], &lost()[0]["state"]), (&json!("u3"), &json!("settled")));
        assert_eq!(server.http().get("/v1/accounts/u3").status, 404);
        claim(&server, "u3", 10);
        stage.check_paid(&server, &[("u1", 30), ("u2", 20), ("u3", 10)]);
        server.stop();
    }
}

#[test]
fn a_mistyped_database_is_neither_made_nor_taken_for_the_one_that_holds_the_lost_history() {
    for mut stage in Stage::both() {
        let server = stage.start_with_tables(&[]);
        apply(&server, "ACCOUNT.OPEN alice EUR");
        server.wait_until_drained();
        server.stop();
        stage.copy();
        let file = PathBuf::from(stage.database.url().strip_prefix("sqlite://").unwrap());
        let other = stage.folder.path().join("other.db");
        std::fs::copy(&file, &other).unwrap();
        let server = stage.start_with_tables(&[]);
        (0..5).for_each(|_| apply(&server, "ACCOUNT.CREDIT alice 1"));
        server.wait_until_drained();
        server.stop();
        stage.put_back();
        let server = stage.start_with_tables(&[]);
        (0..5).for_each(|_| apply(&server, "ACCOUNT.CREDIT alice 7"));
        wait_until_diverged(&server, "sql");
        let keys = stage.folder.path().join("keys");
        std::fs::write(&keys, "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n").unwrap();
        let missing = stage.folder.path().join("missing.db");
        let mistyped = format!("sqlite://{}", missing.display());
        for words in [
            &["consumers", "rebase", "sql", "--yes"][..],
            &["projection", "status"],
            &["projection", "rebuild", "--yes"],
            &["projection", "verify"],
            &["settlements", "list"],
            &["settlements", "replay", "c1"],
            &["webhooks", "list"],
            &["webhooks", "rekey", "--secrets-key-file", keys.to_str().unwrap()],
        ] {
            let (code, _, told) = stage.run_on(&server, &mistyped, words);
            assert!(code == Some(1) && told.contains("has no such "), "{words:?}: {code:?} {told}");
            assert!(!missing.exists(), "{words:?}");
        }
        assert!(consumer(&server, "sql")["diverged"].is_object());
        // A copy from before the rollback is of this log, but not what the server writes into.
        let copied = format!("sqlite://{}", other.display());
        let (_, _, told) = stage.run_on(&server, &copied, &["consumers", "rebase", "sql", "--yes"]);
        wait_until_diverged(&server, "sql");
        assert_ne!(consumer(&server, "sql")["lag_events"], 0, "{told}");
        let (code, _, told) = stage.run(&server, &["consumers", "rebase", "sql", "--yes"]);
        assert_eq!(code, Some(0), "{told}");
        wait_until("the tables are not those of the log", || {
            stage.database.figures("SELECT account_id, balance FROM accounts").get("alice") == Some(&35)
        });
        server.stop();
    }
}
