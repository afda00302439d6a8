//! The environment for the page's transcripts: a folder with its scripts, a redis-server, a Scarce server,
//! and a shell that knows their ports and process ids under the names used on the page.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use scarce_launch::{Options, Server as RedisServer};
use tempfile::TempDir;

use crate::support::Server;

/// Replaces the page's ports with those of this run, and prints as on a terminal.
const REDIS_CLI: &str = r#"#!/bin/sh
port=$REDIS_PORT
case "$1 $2" in
  "-p 6380") port=$REPLICA_PORT; shift 2 ;;
  "-p 7379") port=$SCARCE_PORT; shift 2 ;;
  "-p 6390") port=$SHADOW_PORT; shift 2 ;;
esac
PATH=$OUTSIDE_PATH exec redis-cli --no-raw -p "$port" "$@"
"#;

/// The source that the page names is the server of this run.
const SCARCE: &str = r#"#!/bin/sh
first=$1
for word; do
  shift
  case "$word" in
    redis://127.0.0.1:6379) set -- "$@" "redis://127.0.0.1:$REDIS_PORT" ;;
    *) set -- "$@" "$word" ;;
  esac
done
[ "$first" = shadow ] && set -- "$@" --listen 127.0.0.1:0
exec "$SCARCE_PROGRAM" "$@"
"#;

pub struct Stage {
    folder: TempDir,
    redis: RedisServer,
    replica: Option<RedisServer>,
    scarce: Option<Server>,
    address: String,
    shadow: Option<Shadow>,
}

/// A running `scarce shadow`.
struct Shadow {
    process: Child,
    output: BufReader<ChildStdout>,
    port: String,
}

impl Drop for Shadow {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
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
        Self { folder, redis, replica: None, scarce: Some(scarce), address, shadow: None }
    }

    /// Runs a command of the page and returns its output.
    pub fn run(&mut self, command: &str) -> String {
        match command {
            "redis-server &" => self.restart_redis(),
            "redis-server --port 6380 --replicaof 127.0.0.1 6379 &" => self.start_replica(),
            "scarce serve &" => self.restart_scarce(),
            "kill $SHADOW" => return self.end_shadow(),
            _ => match command.strip_suffix(" &") {
                Some(command) => return self.start_shadow(command),
                None => return self.shell(command),
            },
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

    /// Starts the proxy and returns the line in which it says that it listens.
    fn start_shadow(&mut self, line: &str) -> String {
        let mut process = self.command(&format!("exec {line}")).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut said = String::new();
        output.read_line(&mut said).unwrap();
        let port = said.split(':').nth(1).and_then(|rest| rest.split(',').next()).unwrap().to_owned();
        self.shadow = Some(Shadow { process, output, port });
        said
    }

    /// Ends the proxy and returns what it says at its end.
    fn end_shadow(&mut self) -> String {
        let mut shadow = self.shadow.take().unwrap();
        let pid = rustix::process::Pid::from_child(&shadow.process);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let mut said = String::new();
        shadow.output.read_to_string(&mut said).unwrap();
        said
    }

    fn shell(&self, line: &str) -> String {
        let output = self.command(line).output().expect("a shell");
        String::from_utf8(output.stdout).unwrap()
    }

    fn command(&self, line: &str) -> Command {
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
        if let Some(shadow) = &self.shadow {
            command.env("SHADOW_PORT", &shadow.port);
        }
        command.env("SCARCE_PROGRAM", env!("CARGO_BIN_EXE_scarce"));
        command
    }
}

fn add_programs(bin: &Path) {
    for (name, text) in [("redis-cli", REDIS_CLI), ("scarce", SCARCE)] {
        let program = bin.join(name);
        std::fs::write(&program, text).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}
