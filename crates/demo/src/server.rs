//! The server of a demonstration: this same executable as a child process, which can be killed and restarted.
//! However the demonstration ends, the child ends too and its folder is removed.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tempfile::TempDir;

use super::backing::{self, Backing};
use super::failure::DemoError;
use super::stage::apply;
use crate::args;
use scarce_client::Client;

/// How long the server may take to become ready or to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// A free port of this machine.
const ANY_PORT: &str = "127.0.0.1:0";

/// How often to check whether the server has ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// What must not outlive the demonstration.
struct Remains {
    child: Option<Child>,
    folder: Option<TempDir>,
    /// Where the engine `redis` keeps its state.
    backing: Option<Backing>,
    /// The server was ready once, so something may have been written.
    has_served: bool,
    is_kept: bool,
    /// Where to say that the first signal came, if that is a usual end and no interruption.
    farewell: Option<mpsc::Sender<()>>,
}

impl Remains {
    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It fails only if the child has already ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn clear(&mut self) {
        self.kill();
        let cleared = self.backing.take().map(|backing| backing.clear(self.is_kept));
        if let Some(Err(reason)) = cleared.filter(|_| self.has_served) {
            // If stderr is gone, there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "scarce: {reason}");
        }
        if let Some(folder) = self.folder.take() {
            if self.is_kept {
                let _ = folder.keep();
            } else {
                // What cannot be removed stays in the system's folder for temporary files.
                let _ = folder.close();
            }
        }
    }
}

impl Drop for Remains {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Where the server listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Doors {
    pub(super) resp: SocketAddr,
    pub(super) http: Option<SocketAddr>,
}

/// A server of this version with its own data directory.
pub(super) struct Server {
    remains: Arc<Mutex<Remains>>,
    folder: PathBuf,
    address: Option<SocketAddr>,
    /// Where it listened last for HTTP.
    http: Option<SocketAddr>,
    /// Whether a page looks at it, which finds it at the same address again.
    is_open: bool,
    /// The time, if the demonstration controls it.
    clock: Option<u64>,
    /// Additional arguments.
    arguments: Vec<String>,
}

impl Server {
    /// Creates the folder, and what the engine needs besides; does not start the server yet. If data is to be
    /// kept, the folder stays at the end.
    ///
    /// # Errors
    /// When a temporary folder cannot be created, or a required Redis is missing.
    pub(super) fn new(options: &args::Stage) -> Result<Self, DemoError> {
        let (is_kept, is_redis) = (options.keep, options.engine.is_redis()?);
        let folder = tempfile::Builder::new().prefix("scarce-demo-").tempdir().map_err(|error| {
            let place = std::env::temp_dir();
            let text = format!(
                "cannot make a folder in {}: {error}; set TMPDIR to one with some room",
                place.display()
            );
            DemoError::failed(text)
        })?;
        let path = folder.path().to_owned();
        let remains = Remains {
            child: None,
            folder: Some(folder),
            backing: None,
            has_served: false,
            is_kept,
            farewell: None,
        };
        let remains = Arc::new(Mutex::new(remains));
        clear_on_signals(remains.clone())?;
        let server = Self {
            remains,
            folder: path,
            address: None,
            http: None,
            is_open: options.open,
            clock: None,
            arguments: Vec::new(),
        };
        if is_redis {
            // Locked while servers start, so that a signal finds all of them or none.
            let mut remains = server.remains();
            let name = server.folder.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            let prefix = format!("{name}:");
            // Printed at once, because some servers take a while. If stderr is gone, there is nobody to tell.
            let what = backing::description(&options.engine, &prefix);
            let _ = writeln!(std::io::stderr(), "{:<12} {what}", "in Redis");
            remains.backing = Some(Backing::start(&options.engine, prefix)?);
        }
        Ok(server)
    }

    /// Queries the Redis, if there is one.
    pub(super) fn backing<T>(&self, ask: impl FnOnce(&mut Backing) -> T) -> Option<T> {
        self.remains().backing.as_mut().map(ask)
    }

    /// Uses a clock that stands at `now`, in milliseconds since the Unix epoch, until it is set.
    pub(super) fn with_clock(mut self, now: u64) -> Self {
        self.clock = Some(now);
        self
    }

    /// Passes additional arguments at every start.
    pub(super) fn with_arguments(mut self, arguments: Vec<String>) -> Self {
        self.arguments = arguments;
        self
    }

    /// The path of a file next to the server's data.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The data directory.
    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Starts the server on the data directory, on a free port, and waits until it is ready. Returns its
    /// addresses and how long recovery and start took.
    ///
    /// # Errors
    /// When it does not become ready; the error includes its output.
    pub(super) fn start(&mut self) -> Result<(Doors, Duration), DemoError> {
        let begun = Instant::now();
        let stdout = self.spawn()?;
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(stdout).lines();
            // The receiver is gone if the server took too long.
            let _ = sender.send(lines.next().and_then(Result::ok));
            lines.for_each(drop);
        });
        let line = receiver.recv_timeout(PATIENCE).ok().flatten();
        let doors = line.as_deref().and_then(doors_of).ok_or_else(|| self.failed("is not ready"))?;
        (self.address, self.http) = (Some(doors.resp), doors.http);
        self.remains().has_served = true;
        let took = begun.elapsed();
        if let Some(now) = self.clock {
            self.set_clock(now)?;
        }
        Ok((doors, took))
    }

    /// Restarts the server after [`Self::crash`]: on the same data, or as soon as another Redis has taken
    /// over. Returns its addresses and how long all of that took.
    ///
    /// # Errors
    /// When no Redis takes over, or the server does not become ready.
    pub(super) fn recover(&mut self) -> Result<(Doors, Duration), DemoError> {
        let begun = Instant::now();
        let fails_over = self.backing(|backing| backing.fails_over()).unwrap_or(false);
        // Not locked while it waits, so that signals are handled.
        while !self.backing(Backing::has_taken_over).transpose()?.unwrap_or(true) {
            if begun.elapsed() > PATIENCE {
                return Err(self.failed("waits for another Redis to take over"));
            }
            std::thread::park_timeout(LOOK_INTERVAL);
        }
        loop {
            match self.start() {
                Ok((doors, _)) => return Ok((doors, begun.elapsed())),
                Err(failed) if !fails_over || begun.elapsed() > PATIENCE => return Err(failed),
                Err(_) => {
                    self.kill();
                    std::thread::park_timeout(LOOK_INTERVAL);
                }
            }
        }
    }

    /// Sets the clock of a server created with one.
    ///
    /// # Errors
    /// When the server does not answer.
    pub(super) fn set_clock(&mut self, now: u64) -> Result<(), DemoError> {
        self.clock = Some(now);
        apply(&mut self.connect()?, &["DEBUG.CLOCK", &now.to_string()]).map(drop)
    }

    fn spawn(&self) -> Result<ChildStdout, DemoError> {
        let log = File::create(self.log())?;
        let mut remains = self.remains();
        let mut command = self.command("serve", remains.backing.as_ref())?;
        let http =
            self.http.filter(|_| self.is_open).map_or_else(|| ANY_PORT.to_owned(), |at| at.to_string());
        command.args(["--resp", ANY_PORT, "--http", &http]);
        command.args(self.clock.map(|_| "--manual-clock"));
        // A separate process group: Ctrl-C reaches the demonstration, which then ends its child.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).process_group(0);
        let mut child = command.spawn()?;
        let stdout = child.stdout.take();
        remains.child = Some(child);
        stdout.ok_or_else(|| DemoError::failed("the server has no output"))
    }

    /// Whether its log is projected into tables.
    pub(super) fn has_tables(&self) -> bool {
        self.arguments.iter().any(|argument| argument == "--sql")
    }

    /// Compares log, engine and tables of the running server, as a reader would; returns the report and how long that
    /// took.
    ///
    /// # Errors
    /// When nothing could be compared; the error says why.
    pub(super) fn reconcile(&self) -> Result<(Value, Duration), DemoError> {
        let begun = Instant::now();
        let address = self.address.ok_or_else(|| self.failed("is not running"))?;
        let mut command = self.command("reconcile", self.remains().backing.as_ref())?;
        command.args(["--json", "--resp", &address.to_string()]).stdin(Stdio::null());
        let output = command.output()?;
        let report = serde_json::from_slice(&output.stdout).map_err(|_| {
            let said = String::from_utf8_lossy(&output.stderr);
            DemoError::failed(format!("'scarce reconcile' could compare nothing: {}", said.trim_end()))
        })?;
        Ok((report, begun.elapsed()))
    }

    /// This executable with a subcommand and the settings of the server.
    fn command(&self, subcommand: &str, backing: Option<&Backing>) -> Result<Command, DemoError> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(subcommand).arg("--data").arg(self.data()).args(&self.arguments);
        let heeds = |name: &str| backing.is_some_and(|backing| backing.heeds(name));
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("SCARCE_") && !heeds(&text) {
                command.env_remove(&name);
            }
        }
        // Nor are the settings of a service on this machine meant for it.
        command.env("SCARCE_CONFIG", "/dev/null");
        if let Some(backing) = backing {
            backing.tell(&mut command);
        }
        Ok(command)
    }

    /// A connection for questions between the rushes.
    ///
    /// # Errors
    /// When the server does not answer.
    pub(super) fn connect(&self) -> Result<Client, DemoError> {
        let address = self.address.ok_or_else(|| self.failed("is not running"))?;
        let client = Client::connect(&address.to_string(), None)?;
        client.set_timeout(PATIENCE)?;
        Ok(client)
    }

    /// Kills the server like a crash: nothing is flushed, nobody is notified. If another Redis can take over,
    /// the one with the state is killed first; returns its address.
    pub(super) fn crash(&mut self) -> Result<Option<String>, DemoError> {
        let mut remains = self.remains();
        let killed = remains.backing.as_mut().map(Backing::kill_primary).transpose();
        remains.kill();
        Ok(killed?.flatten())
    }

    /// Waits for the first signal, which from now on is a usual end and no interruption.
    pub(super) fn wait_for_signal(&self) {
        let (farewell, told) = mpsc::channel();
        self.remains().farewell = Some(farewell);
        // It fails if there will be no signal any more.
        let _ = told.recv();
    }

    /// Kills the server alone.
    pub(super) fn kill(&mut self) {
        self.remains().kill();
    }

    /// Asks the server to stop, and waits until it has.
    ///
    /// # Errors
    /// When it does not stop, or not cleanly.
    pub(super) fn stop(&mut self) -> Result<(), DemoError> {
        if let Some(child) = &self.remains().child {
            // It fails only if the child has already ended; its status then shows that.
            let _ = kill_process(Pid::from_child(child), Signal::TERM);
        }
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let ended = self.remains().child.as_mut().map(Child::try_wait).transpose()?.flatten();
            match ended {
                Some(status) if status.success() => {
                    self.remains().child = None;
                    return Ok(());
                }
                Some(status) => return Err(self.failed(&format!("ended with {status}"))),
                None => std::thread::park_timeout(LOOK_INTERVAL),
            }
        }
        Err(self.failed("does not end on SIGTERM"))
    }

    /// An error about the server, with its output.
    pub(super) fn failed(&self, what: &str) -> DemoError {
        let said = std::fs::read_to_string(self.log()).unwrap_or_default();
        // The first lines say what happened; a panic's backtrace follows them.
        let said: Vec<&str> = said.lines().filter(|line| !line.is_empty()).take(4).collect();
        let said = if said.is_empty() { "nothing".to_owned() } else { said.join("\n  ") };
        let text = format!(
            "the server of the demonstration {what}; it said:\n  {said}\nrun it again with --keep to look at its data"
        );
        DemoError::failed(text)
    }

    fn log(&self) -> PathBuf {
        self.folder.join("server.log")
    }

    fn remains(&self) -> MutexGuard<'_, Remains> {
        self.remains.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.remains().clear();
    }
}

/// The addresses in the line that says the server is ready.
fn doors_of(line: &str) -> Option<Doors> {
    let parts: Vec<&str> = line.strip_prefix("scarce ready: ")?.split(", ").collect();
    let address = |port: &str| parts.iter().find_map(|part| part.strip_prefix(port)?.trim().parse().ok());
    Some(Doors { resp: address("resp ")?, http: address("http ") })
}

/// The first signal cleans up and ends the process.
fn clear_on_signals(remains: Arc<Mutex<Remains>>) -> Result<(), DemoError> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // Locked to the end, so that no other thread reports that the server is suddenly gone.
            let mut remains = remains.lock().unwrap_or_else(PoisonError::into_inner);
            remains.clear();
            let data = if remains.is_kept { "its data is kept" } else { "its data is removed" };
            // If stderr is gone, there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "\nscarce: stopped; its server has ended, {data}");
            match remains.farewell.take() {
                Some(farewell) => drop(farewell.send(())),
                None => std::process::exit(128 + signal),
            }
        }
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ready_line_says_where_the_server_listens() {
        let address = |text: &str| text.parse().expect("an address");
        let doors = doors_of("scarce ready: resp 127.0.0.1:4711, http [::1]:4712, data /tmp/x, pid 1");
        let both = Doors { resp: address("127.0.0.1:4711"), http: Some(address("[::1]:4712")) };
        assert_eq!(doors, Some(both));
        let doors = doors_of("scarce ready: resp 127.0.0.1:4711, data /tmp/x, pid 1");
        assert_eq!(doors, Some(Doors { http: None, ..both }));
        assert_eq!(doors_of("scarce: cannot listen"), None);
    }
}
