//! Runs the real `scarce import` and parses its output.
#![allow(dead_code, reason = "each test program uses a part")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use scarce_client::{Client, integer, text};

/// `scarce import` of a file with options.
pub fn import(address: &str, file: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scarce"));
    command.args(["import", "--resp", address, "--json"]).args(options).arg(file);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The summary on an import's stdout.
pub fn summary(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// The lines of an outcomes file.
pub fn outcomes(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A number in the answer to a query; `None` if it is refused.
pub fn figure(client: &mut Client, words: &[&str], name: &str) -> Option<i64> {
    let redis::Value::Array(values) = client.call(words).unwrap() else { panic!("{words:?}") };
    let mut pairs = values.chunks(2);
    pairs.find(|pair| text(&pair[0]).as_deref() == Some(name)).and_then(|pair| integer(&pair[1]))
}
