//! Starting the real server for a test.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use scarce::client::Client;

/// A running `scarce serve`, killed when the test lets go of it.
pub struct Server {
    child: Child,
    pub address: String,
}

impl Server {
    /// Starts on a free port and waits for the line that says it is ready.
    pub fn start(data: &Path, options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_scarce"))
            .args(["serve", "--resp", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output");
        BufReader::new(stdout).read_line(&mut line).expect("its ready line");
        let address = line.split("resp ").nth(1).and_then(|rest| rest.split(',').next());
        let address = address.unwrap_or_else(|| panic!("no ready line but '{line}'")).to_owned();
        Self { child, address }
    }

    /// A connection of its own.
    pub fn connect(&self) -> Client {
        Client::connect(&self.address, None).expect("a connection")
    }

    /// SIGKILL, as a power switch would.
    pub fn kill(&mut self) {
        self.child.kill().expect("the server is killed");
        self.child.wait().expect("the server has ended");
    }

    /// SIGTERM, and waits for a clean end.
    #[allow(dead_code, reason = "not every test ends its server cleanly")]
    pub fn stop(mut self) {
        let pid = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &pid]).status().expect("kill runs");
        assert!(asked.success());
        let status = self.child.wait().expect("the server has ended");
        assert!(status.success(), "{status}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
