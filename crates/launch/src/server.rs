//! One server, or one sentinel, as a process.

use std::fs::File;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use redis::{Client, Connection, FromRedisValue};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{LaunchError, wait_until};

/// Names another program than `redis-server`, such as Valkey's or an older release.
const PROGRAM_VARIABLE: &str = "SCARCE_REDIS_SERVER";

/// Where Linux keeps files in memory.
const MEMORY_FOLDER: &str = "/dev/shm";

/// How the folders of servers begin.
const FOLDER_PREFIX: &str = "scarce-redis-";

/// What a server says when it listens, before it loads its data; and what a sentinel says then.
const LISTENS: [&str; 2] = ["Server initialized", "Sentinel ID is"];

/// What a server says when somebody else has its port.
const PORT_TAKEN: &str = "Address already in use";

/// How often another port is tried.
const PORTS_MAX: usize = 5;

/// How much of a log is told when a server does not start.
const OUTPUT_BYTES_MAX: usize = 2_000;

/// How a server is to run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub(crate) lines: Vec<(String, String)>,
    /// It keeps a port of its own for other nodes.
    pub(crate) is_cluster: bool,
    /// It watches over others.
    pub(crate) is_sentinel: bool,
    /// It takes TLS connections only, with certificates from this folder.
    pub(crate) certificates: Option<PathBuf>,
    /// Its files are kept in memory.
    pub(crate) is_in_memory: bool,
}

impl Options {
    /// With an append-only file that is left to the system to write out, and no snapshots.
    #[must_use]
    pub fn new() -> Self {
        Self::default().with("save", "").with("appendonly", "yes").with("appendfsync", "no")
    }

    /// Sets an option of the configuration; the last one given counts.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.lines.retain(|(known, _)| known != name);
        self.lines.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Keeps its files in memory, where the system has a place for that, so that syncing costs nothing.
    #[must_use]
    pub fn in_memory(mut self) -> Self {
        self.is_in_memory = true;
        self
    }

    /// Takes TLS connections only, with `server.crt`, `server.key` and `ca.crt` of a folder.
    #[must_use]
    pub fn with_tls(mut self, certificates: &Path) -> Self {
        self.certificates = Some(certificates.to_owned());
        self
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.lines.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn text(&self, port: u16, bus_port: u16) -> String {
        let mut lines = vec![("daemonize", "no".to_owned()), ("bind", "127.0.0.1".to_owned())];
        match &self.certificates {
            None => lines.push(("port", port.to_string())),
            Some(folder) => {
                lines.push(("port", "0".to_owned()));
                lines.push(("tls-port", port.to_string()));
                let names = [("tls-cert-file", "server.crt"), ("tls-key-file", "server.key")];
                for (option, name) in names.into_iter().chain([("tls-ca-cert-file", "ca.crt")]) {
                    lines.push((option, folder.join(name).display().to_string()));
                }
                lines.push(("tls-auth-clients", "no".to_owned()));
            }
        }
        if self.is_cluster {
            lines.push(("cluster-enabled", "yes".to_owned()));
            lines.push(("cluster-port", bus_port.to_string()));
        }
        let own = self.lines.iter().map(|(name, value)| (name.as_str(), quoted(value)));
        lines.into_iter().chain(own).map(|(name, value)| format!("{name} {value}\n")).collect()
    }
}

/// A value as a file of settings has it.
fn quoted(value: &str) -> String {
    if value.is_empty() { "\"\"".to_owned() } else { value.to_owned() }
}

/// A server of this machine, which is killed when it is dropped.
#[derive(Debug)]
pub struct Server {
    folder: TempDir,
    child: Child,
    options: Options,
    port: u16,
    bus_port: u16,
    /// How often it was started.
    starts: usize,
}

impl Server {
    /// Starts one and waits until it answers.
    ///
    /// # Errors
    /// When there is no such program, or it does not answer.
    pub fn start(options: Options) -> Result<Self, LaunchError> {
        for _ in 1..PORTS_MAX {
            match Self::try_start(options.clone()) {
                Err(LaunchError::Ended { output }) if output.contains(PORT_TAKEN) => {}
                started => return started,
            }
        }
        Self::try_start(options)
    }

    fn try_start(options: Options) -> Result<Self, LaunchError> {
        // Held together, so that the system gives two different ones.
        let free = [TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?];
        let (port, bus_port) = (free[0].local_addr()?.port(), free[1].local_addr()?.port());
        drop(free);
        let memory = Path::new(MEMORY_FOLDER);
        let folder = match options.is_in_memory && memory.is_dir() {
            true => TempDir::with_prefix_in(FOLDER_PREFIX, memory)?,
            false => TempDir::with_prefix(FOLDER_PREFIX)?,
        };
        std::fs::write(folder.path().join("redis.conf"), options.text(port, bus_port))?;
        let child = spawn(folder.path(), options.is_sentinel)?;
        let mut server = Self { folder, child, options, port, bus_port, starts: 0 };
        server.wait()?;
        Ok(server)
    }

    /// Starts a replica of it and waits until it is in step.
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

    /// Leaves its folder where it is when it has ended.
    pub fn keep(&mut self) {
        self.folder.disable_cleanup(true);
    }

    /// Where clients connect.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where other nodes of a cluster connect.
    pub(crate) fn bus_port(&self) -> u16 {
        self.bus_port
    }

    /// `host:port`.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// What `--redis-url` takes.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.options.certificates.is_some() { "rediss" } else { "redis" };
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    /// The process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Where it keeps its files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A connection of the caller's own; not where the server takes TLS only.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn connection(&self) -> Result<Connection, LaunchError> {
        let password = self.options.value("requirepass").map_or_else(String::new, |text| format!(":{text}@"));
        let url = format!("redis://{password}{}", self.address());
        Ok(Client::open(url)?.get_connection()?)
    }

    /// Asks for one thing on a connection of its own.
    ///
    /// # Errors
    /// When it does not answer, or refuses.
    pub fn ask<T: FromRedisValue>(&self, words: &[&str]) -> Result<T, LaunchError> {
        let mut command = redis::Cmd::new();
        command.arg(words);
        Ok(command.query(&mut self.connection()?)?)
    }

    /// Ends it as a crash would.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn kill(&mut self) -> Result<(), LaunchError> {
        // One that has ended has no copies, and its number may be somebody else's.
        let copies = if self.child.try_wait()?.is_none() { self.copies() } else { Vec::new() };
        self.child.kill()?;
        for copy in copies {
            // It may just have ended.
            let _ = kill_process(copy, Signal::KILL);
        }
        self.child.wait()?;
        Ok(())
    }

    /// Stops it, and finds the copies of itself that write its files anew; they would outlive it.
    fn copies(&self) -> Vec<Pid> {
        // So that there will be no more of them. It fails only when it ends just now.
        let _ = self.pause();
        let pid = self.pid();
        let listed = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        listed.split_whitespace().filter_map(|number| Pid::from_raw(number.parse().ok()?)).collect()
    }

    /// Starts it from its files; if it still runs, after a crash.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn restart(&mut self) -> Result<(), LaunchError> {
        self.kill()?;
        self.child = spawn(self.folder.path(), self.options.is_sentinel)?;
        self.wait()
    }

    /// Starts it from its files as a replica of another one.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn restart_as_replica(&mut self, primary: &Self) -> Result<(), LaunchError> {
        let mut file = File::options().append(true).open(self.folder.path().join("redis.conf"))?;
        // The last line of a name counts.
        writeln!(file, "replicaof 127.0.0.1 {}", primary.port)?;
        self.restart()
    }

    /// Lets it stand still, as a machine without a network would seem to.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn pause(&self) -> Result<(), LaunchError> {
        self.signal(Signal::STOP)
    }

    /// Lets it go on.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn resume(&self) -> Result<(), LaunchError> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> Result<(), LaunchError> {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).map_err(|error| LaunchError::System(error.into()))
    }

    /// Waits until it listens, as it says itself: whoever answers on the port may be somebody else.
    fn wait(&mut self) -> Result<(), LaunchError> {
        self.starts += 1;
        let log = self.folder.path().join("log");
        let (child, starts, mut ended) = (&mut self.child, self.starts, false);
        wait_until("redis-server does not listen", || {
            ended = matches!(child.try_wait(), Ok(Some(_)));
            let said = std::fs::read(&log).unwrap_or_default();
            let said = String::from_utf8_lossy(&said);
            ended || LISTENS.iter().any(|words| said.matches(words).count() >= starts)
        })?;
        if ended { Err(LaunchError::Ended { output: self.output() }) } else { Ok(()) }
    }

    /// The end of what it printed.
    fn output(&self) -> String {
        let text = std::fs::read(self.folder.path().join("log")).unwrap_or_default();
        let end = text.len().saturating_sub(OUTPUT_BYTES_MAX);
        String::from_utf8_lossy(&text[end..]).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.kill();
    }
}

fn spawn(folder: &Path, is_sentinel: bool) -> Result<Child, LaunchError> {
    let program = std::env::var(PROGRAM_VARIABLE).unwrap_or_else(|_| "redis-server".to_owned());
    let log = File::options().create(true).append(true).open(folder.join("log"))?;
    let mut command = Command::new(&program);
    command.arg("redis.conf").current_dir(folder).stdin(Stdio::null());
    if is_sentinel {
        command.arg("--sentinel");
    }
    command.stdout(log.try_clone()?).stderr(log);
    command.spawn().map_err(|source| LaunchError::Program { program, source })
}
