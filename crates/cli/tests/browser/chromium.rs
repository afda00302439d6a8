//! Debian's Chromium without a screen.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A running browser, which ends when it is dropped.
pub struct Chromium {
    child: Child,
    _profile: TempDir,
}

impl Chromium {
    /// Opens a page.
    pub fn open(url: &str) -> Self {
        let profile = TempDir::new().unwrap();
        let mut command = Command::new("chromium");
        command
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-component-update"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(url);
        // A group of its own, so that all of its processes end together.
        let started = command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn();
        let child = started.unwrap_or_else(|error| {
            panic!(
                "chromium does not start: {error}; install the package chromium, or run 'cargo xtask test --only libraries'"
            )
        });
        Self { child, _profile: profile }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        // It may have ended already.
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.wait();
    }
}
