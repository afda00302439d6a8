//! Running the binary as somebody at a shell would, and what it says.

use std::path::Path;
use std::process::{Command, Output};

use super::scarce;

/// `scarce` in a folder, without what this process's environment says of settings.
pub fn scarce_in(folder: &Path, words: &[&str]) -> Command {
    let mut command = scarce();
    for name in std::env::vars().map(|(name, _)| name).filter(|name| name.starts_with("SCARCE_")) {
        command.env_remove(name);
    }
    command.args(words).current_dir(folder);
    command
}

/// How a command ended, and what is on its stdout and stderr.
pub fn said(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (status.code(), text(stdout), text(stderr))
}

/// The JSON objects on stdout, one per line.
pub fn json_lines(stdout: &str) -> Vec<serde_json::Value> {
    stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}
