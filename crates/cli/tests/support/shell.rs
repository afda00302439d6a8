//! Runs the binary as a user would in a shell, and captures its output.

use std::path::Path;
use std::process::{Command, Output};

use super::scarce;

/// `scarce` in a folder, without settings from this process's environment.
pub fn scarce_in(folder: &Path, words: &[&str]) -> Command {
    let mut command = scarce();
    for name in std::env::vars().map(|(name, _)| name).filter(|name| name.starts_with("SCARCE_")) {
        command.env_remove(name);
    }
    command.args(words).current_dir(folder);
    command
}

/// A command's exit code, stdout and stderr.
pub fn said(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (status.code(), text(stdout), text(stderr))
}

/// The JSON objects on stdout, one per line.
pub fn json_lines(stdout: &str) -> Vec<serde_json::Value> {
    stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}
