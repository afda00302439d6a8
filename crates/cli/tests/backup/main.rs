//! `scarce backup`, and restores from what it made, on the data of a real server, running or not.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../support/mod.rs"]
mod support;

mod bytes;
mod damage;
mod histories;
mod ids;
mod inside_redis;
mod kills;
mod leftovers;
mod online;
mod partitions;
mod points;
mod refusals;
#[cfg(feature = "s3")]
mod s3;
mod shipping;

use std::path::{Path, PathBuf};
use std::process::Output;

use scarce_client::{Client, pack};
use serde_json::Value;
use support::{Server, scarce};
use tempfile::TempDir;

/// A folder with a data directory and a store.
struct Stage {
    folder: TempDir,
    data: PathBuf,
    store: PathBuf,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (data, store) = (folder.path().join("data"), folder.path().join("store"));
        Self { folder, data, store }
    }

    fn serve(&self, options: &[&str]) -> Server {
        Server::start(&self.data, options)
    }

    /// `scarce backup` with words and the store.
    fn backup(&self, words: &[&str]) -> Output {
        let mut command = scarce();
        command.arg("backup").args(words).args(["--json", "--store"]).arg(&self.store);
        command.output().unwrap()
    }

    fn create(&self, options: &[&str]) -> Vec<Value> {
        let words = [&["create", "--data", self.data.to_str().unwrap()], options].concat();
        ended(&self.backup(&words), 0)
    }

    fn restore(&self, name: &str, options: &[&str]) -> (PathBuf, Output) {
        let to = self.folder.path().join(name);
        let mut command = scarce();
        command.args(["restore", "--json", "--from"]).arg(&self.store).arg("--data").arg(&to).args(options);
        (to.clone(), command.output().unwrap())
    }

    /// All files of the store, by their names in it.
    fn objects(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.store.clone()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { open.push(path) } else { found.push(path) }
            }
        }
        found.sort();
        found
    }
}

fn ended(output: &Output, code: i32) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{output:?}"))).collect()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The sequence and the digest of each partition of a data directory.
fn verified(data: &Path) -> Vec<(u64, String)> {
    let output = scarce().args(["journal", "verify", "--json", "--data"]).arg(data).output().unwrap();
    let row = |row: &Value| (row["sequence"].as_u64().unwrap(), row["digest"].as_str().unwrap().to_owned());
    ended(&output, 0).iter().map(row).collect()
}

fn open_account(client: &mut Client) {
    client.call(&["ACCOUNT.OPEN", "alice", "EUR", "ID", "open-alice"]).unwrap();
}

/// Credits of one cent; a thousand at a time if there are more.
fn credit(client: &mut Client, count: usize) {
    let mut packed = Vec::new();
    let at_once = count.min(1_000);
    (0..at_once).for_each(|_| pack(&["ACCOUNT.CREDIT", "alice", "1"], &mut packed));
    for _ in 0..count / at_once {
        client.send(&packed).unwrap();
        for _ in 0..at_once {
            assert!(matches!(client.receive().unwrap(), redis::Value::Array(_)));
        }
    }
}
