//! Ends a server with its owner, even if the owner is killed or keeps the server in a static, which is never
//! dropped.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use super::AtOwnersEnd;
use crate::{LaunchError, Program};

/// Reads until the owner's end of the pipe is closed, explicitly or by its exit. Then it ends the server,
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

/// A shell that waits for the owner to end.
#[derive(Debug)]
pub(super) struct Guard(Child);

impl Guard {
    /// Starts watching.
    pub(super) fn over(pid: u32, at_owners_end: &AtOwnersEnd) -> Result<Self, LaunchError> {
        let mut command = Command::new(SHELL.name);
        command.args(["-c", SCRIPT, "guard", &pid.to_string()]);
        command.arg(at_owners_end.signal.as_raw().to_string()).args(&at_owners_end.folders);
        // A signal to the owner's process group, such as Ctrl-C, must not reach the guard.
        command.process_group(0);
        // The owner's end of the pipe is not inherited by other child processes.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|source| SHELL.not_started(&command, source))?;
        Ok(Self(child))
    }

    /// Stops watching.
    pub(super) fn dismiss(&mut self) {
        // Killed before it notices that the pipe is closed.
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.dismiss();
    }
}
