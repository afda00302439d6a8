//! What a server says of its consumers, and copies of a state that is put back.

#![allow(dead_code, reason = "shared by tests that each use a part of it")]

use std::path::Path;

use serde_json::Value;

use crate::support::{Server, wait_until};

/// Copies a file or a folder as it is, as an operator would.
pub fn copy(from: &Path, to: &Path) {
    assert!(std::process::Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

/// A consumer's row of partition 0.
pub fn consumer(server: &Server, name: &str) -> Value {
    let listed = server.http().get("/v1/consumers").json();
    let rows = listed["consumers"].as_array().unwrap().clone();
    rows.into_iter().find(|row| row["name"] == name).unwrap_or_default()
}

pub fn wait_until_diverged(server: &Server, name: &str) {
    wait_until("it does not say that it holds another history", || {
        let row = consumer(server, name);
        row["state"] == "troubled" && row["diverged"].is_object()
    });
}
