//! A real Redis server for a test, on a socket in a temporary folder.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take until it answers.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// A server that ends with the test.
pub struct Server {
    folder: tempfile::TempDir,
    process: Child,
}

impl Server {
    /// Starts a server that keeps an append-only file.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let process = spawn(&folder.path().to_owned());
        let server = Self { folder, process };
        server.wait();
        server
    }

    /// Ends the server as a crash would, and starts it from its append-only file.
    pub fn restart(&mut self) {
        self.stop();
        self.process = spawn(&self.folder.path().to_owned());
        self.wait();
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }

    /// A connection of the test's own.
    pub fn connection(&self) -> redis::Connection {
        redis::Client::open(self.url()).and_then(|client| client.get_connection()).expect("the server")
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("redis.sock")
    }

    fn wait(&self) {
        let begun = Instant::now();
        while !self.answers() {
            assert!(begun.elapsed() < START_TIMEOUT, "redis-server does not answer");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    fn answers(&self) -> bool {
        let connected = redis::Client::open(self.url()).and_then(|client| client.get_connection());
        connected.and_then(|mut connection| redis::cmd("PING").query::<String>(&mut connection)).is_ok()
    }

    /// Ends the server as a crash would.
    pub fn stop(&mut self) {
        let _ = self.process.kill();
        self.process.wait().expect("the server's end");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn spawn(folder: &PathBuf) -> Child {
    let options = ["--port", "0", "--save", "", "--appendonly", "yes", "--appendfsync", "no"];
    Command::new("redis-server")
        .args(options)
        .args(["--unixsocket", "redis.sock"])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("redis-server must be installed (cargo xtask test does it)")
}
