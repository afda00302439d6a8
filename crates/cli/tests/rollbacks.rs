//! What flows out after a rollback of the engine.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/database.rs"]
mod database;
mod support;

use std::path::{Path, PathBuf};

use database::Database;
use scarce_launch::{Options, Server as RedisServer};
use serde_json::Value;
use support::{Server, said, scarce, wait_until};

/// An engine whose state can be put back, and the database of what flows out.
struct Stage {
    folder: tempfile::TempDir,
    redis: Option<RedisServer>,
    database: Database,
}

impl Stage {
    /// One with the state in a data directory, and one with it in a Redis.
    fn both() -> [Self; 2] {
        [None, Some(RedisServer::start(Options::new()).unwrap())].map(|redis| Self {
            folder: tempfile::tempdir().unwrap(),
            redis,
            database: Database::sqlite(),
        })
    }

    fn start(&self, options: &[&str]) -> Server {
        let redis = self.redis.as_ref().map(RedisServer::url);
        let engine: Vec<&str> =
            redis.iter().flat_map(|url| ["--engine", "redis", "--redis-url", url.as_str()]).collect();
        Server::start(&self.folder.path().join("data"), &[&engine[..], options].concat())
    }

    fn start_with_tables(&self, options: &[&str]) -> Server {
        self.start(&[&["--sql", self.database.url()], options].concat())
    }

    fn state(&self) -> PathBuf {
        match &self.redis {
            Some(redis) => redis.folder().to_owned(),
            None => self.folder.path().join("data"),
        }
    }

    fn copy(&mut self) {
        if let Some(redis) = &mut self.redis {
            redis.kill().unwrap();
        }
        copy(&self.state(), &self.folder.path().join("older"));
        if let Some(redis) = &mut self.redis {
            redis.restart().unwrap();
        }
    }

    /// What a rollback of the machine does.
    fn put_back(&mut self) {
        if let Some(redis) = &mut self.redis {
            redis.kill().unwrap();
        }
        std::fs::remove_dir_all(self.state()).unwrap();
        copy(&self.folder.path().join("older"), &self.state());
        if let Some(redis) = &mut self.redis {
            redis.restart().unwrap();
        }
    }

    /// `scarce`, on the server and the database.
    fn run(&self, server: &Server, words: &[&str]) -> (Option<i32>, String, String) {
        self.run_on(server, self.database.url(), words)
    }

    fn run_on(&self, server: &Server, url: &str, words: &[&str]) -> (Option<i32>, String, String) {
        said(scarce().args(words).args(["--sql", url, "--resp", &server.address]))
    }
}

fn copy(from: &Path, to: &Path) {
    assert!(std::process::Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

fn apply(server: &Server, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let reply = server.connect().call(&words).unwrap();
    assert!(matches!(&reply, redis::Value::Array(_)), "{line}: {reply:?}");
}

/// A consumer's row of partition 0.
fn consumer(server: &Server, name: &str) -> Value {
    let listed = server.http().get("/v1/consumers").json();
    let rows = listed["consumers"].as_array().unwrap().clone();
    rows.into_iter().find(|row| row["name"] == name).unwrap_or_default()
}

fn wait_until_diverged(server: &Server, name: &str) {
    wait_until("it does not say that it holds another history", || {
        let row = consumer(server, name);
        row["state"] == "troubled" && row["diverged"].is_object()
    });
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
        let missing = stage.folder.path().join("missing.db");
        let mistyped = format!("sqlite://{}", missing.display());
        for words in [
            &["consumers", "rebase", "sql", "--yes"][..],
            &["projection", "status"],
            &["projection", "rebuild", "--yes"],
            &["projection", "verify"],
        ] {
            let (code, _, told) = stage.run_on(&server, &mistyped, words);
            assert!(code == Some(1) && told.contains("has no such projection"), "{words:?}: {code:?} {told}");
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
