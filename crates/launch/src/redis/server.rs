//! A server or a sentinel as a process.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use redis::{Client, Connection, FromRedisValue};
use rustix::process::Signal;
use tempfile::TempDir;

use super::Options;
use crate::process::{AtOwnersEnd, Process};
use crate::{LaunchError, Program, ports, wait_until};

/// The variable that names a program other than `redis-server`, such as Valkey's or an older release.
const PROGRAM_VARIABLE: &str = "SCARCE_REDIS_SERVER";

const PROGRAM: Program = Program { name: "redis-server", package: "redis-server" };

/// What a server prints when it listens, before it loads its data; and what a sentinel prints then.
const LISTENS: [&str; 2] = ["Server initialized", "Sentinel ID is"];

/// A running redis-server or sentinel with its files in a temporary folder; killed when dropped.
#[derive(Debug)]
pub struct Server {
    process: Process,
    folder: TempDir,
    options: Options,
    port: u16,
    bus_port: u16,
}

impl Server {
    /// Starts one and waits until it answers.
    ///
    /// # Errors
    /// When the program is missing or does not answer.
    pub fn start(options: Options) -> Result<Self, LaunchError> {
        let folder = options.place.make("scarce-redis-")?;
        let (process, [port, bus_port]) = ports::with_free(|ports| {
            std::fs::write(folder.path().join("redis.conf"), options.text(ports[0], ports[1]))?;
            Ok((spawn(folder.path(), &options)?, ports))
        })?;
        Ok(Self { process, folder, options, port, bus_port })
    }

    /// Starts a replica of it and waits until it is in sync.
    ///
    /// # Errors
    /// When it does not start or does not follow.
    pub fn start_replica(&self) -> Result<Self, LaunchError> {
        let options = self.options.clone().with("replicaof", &format!("127.0.0.1 {}", self.port));
        let replica = Self::start(options)?;
        wait_until("the replica is not in step", || {
            let state: Option<String> = replica.ask(&["INFO", "replication"]).ok();
            state.is_some_and(|state| state.contains("master_link_status:up"))
        })?;
        Ok(replica)
    }

    /// Keeps its folder when it has ended.
    pub fn keep(&mut self) {
        self.folder.disable_cleanup(true);
        self.process.keep_folders(Signal::KILL);
    }

    /// The port for clients.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The port for other nodes of a cluster.
    pub(super) fn bus_port(&self) -> u16 {
        self.bus_port
    }

    /// `host:port`.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The value for `--redis-url`.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.options.certificates.is_some() { "rediss" } else { "redis" };
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    /// The process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.number()
    }

    /// The folder of its files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Opens a new connection; not if the server accepts only TLS.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn connection(&self) -> Result<Connection, LaunchError> {
        let password = self.options.value("requirepass").map_or_else(String::new, |text| format!(":{text}@"));
        let url = format!("redis://{password}{}", self.address());
        Ok(Client::open(url)?.get_connection()?)
    }

    /// Sends one command on a new connection.
    ///
    /// # Errors
    /// When it does not answer, or refuses.
    pub fn ask<T: FromRedisValue>(&self, words: &[&str]) -> Result<T, LaunchError> {
        let mut command = redis::Cmd::new();
        command.arg(words);
        Ok(command.query(&mut self.connection()?)?)
    }

    /// Kills it, like a crash, including the child processes that rewrite its files.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn kill(&mut self) -> Result<(), LaunchError> {
        self.process.kill()
    }

    /// Starts it from its files; kills it first if it still runs.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn restart(&mut self) -> Result<(), LaunchError> {
        self.kill()?;
        self.process = spawn(self.folder.path(), &self.options)?;
        Ok(())
    }

    /// Starts it from its files as a replica of another server.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn restart_as_replica(&mut self, primary: &Self) -> Result<(), LaunchError> {
        let mut file = File::options().append(true).open(self.folder.path().join("redis.conf"))?;
        // The last line of a name wins.
        writeln!(file, "replicaof 127.0.0.1 {}", primary.port)?;
        self.restart()
    }

    /// Pauses it, which looks to clients like a machine without a network.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn pause(&self) -> Result<(), LaunchError> {
        self.process.pause()
    }

    /// Resumes it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn resume(&self) -> Result<(), LaunchError> {
        self.process.resume()
    }
}

/// Starts it and waits until its own log says that it listens: another process could answer on the port.
fn spawn(folder: &Path, options: &Options) -> Result<Process, LaunchError> {
    let mut command = match std::env::var(PROGRAM_VARIABLE) {
        Ok(other) => Command::new(other),
        Err(_) => PROGRAM.command(&[]),
    };
    command.arg("redis.conf").current_dir(folder);
    if options.kind.is_sentinel {
        command.arg("--sentinel");
    }
    let end = AtOwnersEnd { signal: Signal::KILL, folders: vec![folder.to_owned()] };
    let mut process = Process::spawn(PROGRAM, &mut command, &folder.join("log"), &end)?;
    process.wait_ready(|printed| LISTENS.iter().any(|words| printed.contains(words)))?;
    Ok(process)
}
