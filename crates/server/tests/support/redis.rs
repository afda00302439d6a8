//! A redis-server for tests.

#![allow(clippy::unwrap_used, reason = "only tests use it")]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A redis-server on a socket in a folder of its own, ended with the test.
pub struct RedisServer {
    child: Child,
    folder: TempDir,
}

impl RedisServer {
    /// Starts one, and waits until it can be reached.
    pub fn start(options: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let socket = folder.path().join("redis.sock");
        let mut command = Command::new("redis-server");
        command.args(["--port", "0", "--save", "", "--appendonly", "yes", "--unixsocket"]).arg(&socket);
        command.arg("--dir").arg(folder.path()).args(options).stdout(Stdio::null()).stdin(Stdio::null());
        let child = command.spawn().expect("redis-server is installed: apt-get install redis-server");
        let begun = Instant::now();
        while std::os::unix::net::UnixStream::connect(&socket).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(30), "redis-server is not ready");
            std::thread::yield_now();
        }
        Self { child, folder }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("redis+unix://{}/redis.sock", self.folder.path().display())
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
