//! The environment for the page's transcripts: a folder with its scripts, a redis-server, a Scarce server,
//! and a shell that knows their ports and process ids under the names used on the page.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use scarce_launch::{Options, Server as RedisServer};
use tempfile::TempDir;

use crate::support::Server;

/// Replaces the page's ports with those of this run, and prints as on a terminal.
const REDIS_CLI: &str = r#"#!/bin/sh
port=$REDIS_PORT
case "$1 $2" in
  "-p 6380") port=$REPLICA_PORT; shift 2 ;;
  "-p 7379") port=$SCARCE_PORT; shift 2 ;;
esac
PATH=$OUTSIDE_PATH exec redis-cli --no-raw -p "$port" "$@"
"#;

pub struct Stage {
    folder: TempDir,
    redis: RedisServer,
    replica: Option<RedisServer>,
    scarce: Option<Server>,
    address: String,
}

impl Stage {
    /// Starts everything anew.
    pub fn new(scripts: &[(String, String)]) -> Self {
        let folder = TempDir::new().unwrap();
        for (name, script) in scripts {
            std::fs::write(folder.path().join(name), script).unwrap();
        }
        for name in ["bin", "scarce"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        add_programs(&folder.path().join("bin"));
        let scarce = Server::start(&folder.path().join("scarce"), &[]);
        // Default settings, except that a replica is synced at once instead of waiting for others.
        let options = Options::default().with("repl-diskless-sync-delay", "0");
        let redis = RedisServer::start(options).expect("redis-server starts");
        let address = scarce.address.clone();
        Self { folder, redis, replica: None, scarce: Some(scarce), address }
    }

    /// Runs a command of the page and returns its output.
    pub fn run(&mut self, command: &str) -> String {
        match command {
            "redis-server &" => self.restart_redis(),
            "redis-server --port 6380 --replicaof 127.0.0.1 6379 &" => self.start_replica(),
            "scarce serve &" => self.restart_scarce(),
            _ => return self.shell(command),
        }
        String::new()
    }

    fn restart_redis(&mut self) {
        self.redis.restart().expect("redis-server starts again");
        // It listens before it has loaded its data.
        while self.redis.ask::<()>(&["PING"]).is_err() {}
    }

    fn start_replica(&mut self) {
        self.replica = Some(self.redis.start_replica().expect("the replica has its copy"));
    }

    fn restart_scarce(&mut self) {
        self.scarce = None;
        self.scarce = Some(Server::start_at(&self.folder.path().join("scarce"), &self.address, &[]));
    }

    fn shell(&self, line: &str) -> String {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(self.folder.path()).stdin(Stdio::null());
        let outside = std::env::var("PATH").unwrap();
        let inside = format!("{}:{outside}", self.folder.path().join("bin").display());
        command.env("PATH", inside).env("OUTSIDE_PATH", outside);
        let process = |server: &RedisServer| [server.pid().to_string(), server.port().to_string()];
        let [pid, port] = process(&self.redis);
        command.env("REDIS", pid).env("REDIS_PORT", port);
        if let Some(replica) = &self.replica {
            let [pid, port] = process(replica);
            command.env("REPLICA", pid).env("REPLICA_PORT", port);
        }
        if let Some(scarce) = &self.scarce {
            command.env("SCARCE", scarce.pid().to_string());
        }
        let port = self.address.rsplit(':').next().unwrap();
        command.env("SCARCE_PORT", port).env("SCARCE_RESP", &self.address);
        let output = command.output().expect("a shell");
        String::from_utf8(output.stdout).unwrap()
    }
}

fn add_programs(bin: &Path) {
    let redis_cli = bin.join("redis-cli");
    std::fs::write(&redis_cli, REDIS_CLI).unwrap();
    std::fs::set_permissions(&redis_cli, std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink(env!("CARGO_BIN_EXE_scarce"), bin.join("scarce")).unwrap();
}
