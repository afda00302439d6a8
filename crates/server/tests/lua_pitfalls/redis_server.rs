//! A real redis-server on a free port.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A running redis-server, killed when the test lets go of it.
pub struct RedisServer {
    child: Child,
    pub port: u16,
}

impl RedisServer {
    /// Starts one and waits until its log says `ready`.
    pub fn start(folder: &Path, port: u16, settings: &[String], ready: &str) -> Self {
        let mut command = Command::new("redis-server");
        // A replica is sent its copy at once, instead of waiting for others that may come.
        command.args(["--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0", "--port", &port.to_string()]);
        command.arg("--dir").arg(folder).args(settings);
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.unwrap_or_else(|error| {
            panic!("redis-server does not start: {error}; 'cargo xtask test' installs it")
        });
        let mut log = BufReader::new(child.stdout.take().unwrap()).lines();
        let server = Self { child, port };
        let is_ready = log.by_ref().map_while(Result::ok).any(|line| line.contains(ready));
        assert!(is_ready, "redis-server ended before it said '{ready}'");
        // What else it logs must not fill the pipe.
        std::thread::spawn(move || log.map_while(Result::ok).for_each(drop));
        server
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody listens on.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
