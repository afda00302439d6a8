//! `scarce migrate`: a deployment goes into other files, and callers find everything there.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../support/mod.rs"]
mod support;

mod answers;
mod belongings;
mod beside;
mod beside_kills;
mod kills;
mod load;
mod redis_kills;
mod refusals;
mod to_redis;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use redis::Value as Reply;
use scarce_client::Client;
use serde_json::Value;
use support::{Server, scarce};
use tempfile::TempDir;

/// A folder with the directories of a deployment.
struct Stage {
    folder: TempDir,
    /// What servers are started with besides.
    options: &'static [&'static str],
}

impl Stage {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(options: &'static [&'static str]) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), options }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn serve(&self, name: &str, partitions: u32) -> Server {
        let partitions = partitions.to_string();
        Server::start(&self.path(name), &[&["--partitions", &partitions], self.options].concat())
    }

    fn command(&self, from: &str, to: &str, options: &[&str]) -> Command {
        let mut command = scarce();
        command.args(["migrate", "--json", "--from"]).arg(self.path(from));
        command.arg("--to").arg(self.path(to)).args(options);
        command
    }

    /// A move to another place than a directory.
    fn command_to(&self, from: &str, url: &str, options: &[&str]) -> Command {
        let mut command = scarce();
        command.args(["migrate", "--json", "--from"]).arg(self.path(from)).args(["--to", url]).args(options);
        command
    }

    fn migrate_to(&self, from: &str, url: &str, options: &[&str]) -> Output {
        self.command_to(from, url, options).output().unwrap()
    }

    fn migrate(&self, from: &str, to: &str, options: &[&str]) -> Output {
        self.command(from, to, options).output().unwrap()
    }
}

fn ended(output: &Output, code: i32) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn call(client: &mut Client, line: &str) -> Reply {
    client.call(&line.split(' ').collect::<Vec<_>>()).unwrap()
}

/// Whether a file of a directory is there.
fn has(directory: &Path, name: &str) -> bool {
    directory.join(name).exists()
}
