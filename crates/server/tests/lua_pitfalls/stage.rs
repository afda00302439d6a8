//! Where the page's transcripts are played: a folder with its scripts, a redis-server, a Scarce, and a
//! shell to which their ports and process ids are known under the names that the page uses.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::redis_server::{RedisServer, free_port};
use crate::support::Server;

/// What redis-server logs when it serves, and when a replica has its copy.
const READY: &str = "eady to accept connections";
const COPIED: &str = "MASTER <-> REPLICA sync: Finished with success";

/// Puts in the place of the ports that the page uses those of this run, and prints as on a terminal.
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
    redis: Option<RedisServer>,
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
        for name in ["bin", "redis", "replica", "scarce"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        add_programs(&folder.path().join("bin"));
        let scarce = Server::start(&folder.path().join("scarce"), &[]);
        let redis = RedisServer::start(&folder.path().join("redis"), free_port(), &[], READY);
        let address = scarce.address.clone();
        Self { folder, redis: Some(redis), replica: None, scarce: Some(scarce), address }
    }

    /// Does what the page types, and gives what was printed.
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
        let port = self.redis.take().unwrap().port;
        self.redis = Some(RedisServer::start(&self.folder.path().join("redis"), port, &[], READY));
    }

    fn start_replica(&mut self) {
        let primary = self.redis.as_ref().unwrap().port;
        let settings = ["--replicaof".to_owned(), format!("127.0.0.1 {primary}")];
        let folder = self.folder.path().join("replica");
        self.replica = Some(RedisServer::start(&folder, free_port(), &settings, COPIED));
    }

    fn restart_scarce(&mut self) {
        self.scarce = None;
        self.scarce = Some(Server::start_at(&self.folder.path().join("scarce"), &self.address, &[]));
    }

    fn shell(&self, line: &str) -> String {
        let redis = self.redis.as_ref().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(self.folder.path()).stdin(Stdio::null());
        let outside = std::env::var("PATH").unwrap();
        let inside = format!("{}:{outside}", self.folder.path().join("bin").display());
        command.env("PATH", inside).env("OUTSIDE_PATH", outside);
        command.env("REDIS", redis.pid().to_string()).env("REDIS_PORT", redis.port.to_string());
        if let Some(replica) = &self.replica {
            command.env("REPLICA", replica.pid().to_string()).env("REPLICA_PORT", replica.port.to_string());
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
