//! Sees to it that a server ends with its owner, also when the owner is killed, or keeps the server in a
//! static, which nobody drops.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use super::AtOwnersEnd;
use crate::{LaunchError, Program};

/// Reads until the owner's end of the pipe is closed, by the owner or by its end. Then it ends the server,
/// gives it a moment, and removes its folders.
const SCRIPT: &str = r#"
pid=$1 signal=$2
shift 2
while read -r _; do :; done
kill "-$signal" "$pid"
kill -CONT "$pid"
looks=0
while kill -0 "$pid" && [ "$looks" -lt 50 ]; do
    sleep 0.1
    looks=$((looks + 1))
done
rm -rf -- "$@"
"#;

const SHELL: Program = Program { name: "sh", package: "dash" };

/// A shell that waits for the owner's end.
#[derive(Debug)]
pub(super) struct Guard(Child);

impl Guard {
    /// Begins to watch.
    pub(super) fn over(pid: u32, at_owners_end: &AtOwnersEnd) -> Result<Self, LaunchError> {
        let mut command = Command::new(SHELL.name);
        command.args(["-c", SCRIPT, "guard", &pid.to_string()]);
        command.arg(at_owners_end.signal.as_raw().to_string()).args(&at_owners_end.folders);
        // Whoever ends the owner's group, or types Ctrl-C, does not mean it.
        command.process_group(0);
        // Its end of the pipe is closed in whatever else is started.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|source| SHELL.not_started(&command, source))?;
        Ok(Self(child))
    }

    /// There is nothing to watch any more.
    pub(super) fn dismiss(&mut self) {
        // Killed, before it sees that the pipe is closed.
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.dismiss();
    }
}
