//! An engine whose state is put back, with the database of what flows out of it.

#![allow(dead_code, reason = "shared by tests that each use a part of it")]

use std::path::PathBuf;

use scarce_launch::{Options, Server as RedisServer};
use serde_json::{Value, json};

use crate::consumers::{copy, wait_until_diverged};
use crate::database::Database;
use crate::support::{Server, json_lines, said, scarce, wait_until};

/// The options of a server that credits claims to accounts.
pub const SETTLING: [&str; 3] = ["--settlement", "engine", "--settlement-from-beginning"];

/// An engine whose state can be put back, and the database of what flows out.
pub struct Stage {
    pub folder: tempfile::TempDir,
    redis: Option<RedisServer>,
    pub database: Database,
}

impl Stage {
    /// One with the state in a data directory, and one with it in a Redis.
    pub fn both() -> [Self; 2] {
        [None, Some(RedisServer::start(Options::new()).unwrap())].map(|redis| Self {
            folder: tempfile::tempdir().unwrap(),
            redis,
            database: Database::sqlite(),
        })
    }

    pub fn start(&self, options: &[&str]) -> Server {
        let redis = self.redis.as_ref().map(RedisServer::url);
        let engine: Vec<&str> =
            redis.iter().flat_map(|url| ["--engine", "redis", "--redis-url", url.as_str()]).collect();
        Server::start(&self.folder.path().join("data"), &[&engine[..], options].concat())
    }

    pub fn start_with_tables(&self, options: &[&str]) -> Server {
        self.start(&[&["--sql", self.database.url()], options].concat())
    }

    fn state(&self) -> PathBuf {
        match &self.redis {
            Some(redis) => redis.folder().to_owned(),
            None => self.folder.path().join("data"),
        }
    }

    pub fn copy(&mut self) {
        self.copy_as("older");
    }

    /// Keeps the state under a name.
    pub fn copy_as(&mut self, name: &str) {
        if let Some(redis) = &mut self.redis {
            redis.kill().unwrap();
        }
        copy(&self.state(), &self.folder.path().join(name));
        if let Some(redis) = &mut self.redis {
            redis.restart().unwrap();
        }
    }

    /// What a rollback of the machine does.
    pub fn put_back(&mut self) {
        self.put_back_from("older");
    }

    pub fn put_back_from(&mut self, name: &str) {
        if let Some(redis) = &mut self.redis {
            redis.kill().unwrap();
        }
        std::fs::remove_dir_all(self.state()).unwrap();
        copy(&self.folder.path().join(name), &self.state());
        if let Some(redis) = &mut self.redis {
            redis.restart().unwrap();
        }
    }

    /// `scarce`, on the server and the database.
    pub fn run(&self, server: &Server, words: &[&str]) -> (Option<i32>, String, String) {
        self.run_on(server, self.database.url(), words)
    }

    pub fn run_on(&self, server: &Server, url: &str, words: &[&str]) -> (Option<i32>, String, String) {
        said(scarce().args(words).args(["--sql", url, "--resp", &server.address]))
    }

    pub fn rebase_all(&self, server: &Server) {
        for name in ["sql", "settlement"] {
            wait_until_diverged(server, name);
            let (code, _, told) = self.run(server, &["consumers", "rebase", name, "--yes"]);
            assert_eq!(code, Some(0), "{told}");
        }
    }

    /// Waits until each user's settlement is done, and nobody else's is; checks the balances.
    pub fn check_paid(&self, server: &Server, wanted: &[(&str, i64)]) {
        let words = ["settlements", "list", "--state", "settled", "--json"];
        let wanted_rows: Vec<(Value, Value)> =
            wanted.iter().map(|(user, amount)| (json!(user), json!(amount))).collect();
        wait_until("not all is settled", || {
            let rows = json_lines(&self.run(server, &words).1);
            let paid = rows.iter().map(|row| (row["user"].clone(), row["amount"].clone()));
            let paid: Vec<(Value, Value)> = paid.collect();
            paid.len() == wanted_rows.len() && wanted_rows.iter().all(|row| paid.contains(row))
        });
        for (user, amount) in wanted {
            assert_eq!(balance(server, user), json!(amount), "{user}");
        }
    }
}

pub fn apply(server: &Server, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let reply = server.connect().call(&words).unwrap();
    assert!(matches!(&reply, redis::Value::Array(_)), "{line}: {reply:?}");
}

pub fn balance(server: &Server, account: &str) -> Value {
    server.http().get(&format!("/v1/accounts/{account}")).json()["balance"].clone()
}

pub fn plan(server: &Server, amounts: &[i64]) {
    let plan = json!({ "campaign": "c1", "asset": "EUR", "amounts": amounts });
    assert_eq!(server.http().post("/v1/packets", &plan).status, 201);
}

pub fn claim(server: &Server, user: &str, amount: i64) {
    let claimed = server.http().post("/v1/packets/c1/claims", &json!({ "user": user }));
    assert_eq!((claimed.status, &claimed.json()["amount"]), (201, &json!(amount)), "{user}");
}
