//! Starts the real server for a test, and connects to it.

#![allow(dead_code, unused_imports, reason = "shared by tests that each use a part of it")]

mod filled;
mod http;
mod patience;
pub mod playing;
mod redis;
mod shell;
mod socket;
mod terminal;

pub use self::redis::redis_server;
pub use filled::fill;
pub use http::{Http, Response, encoded};
pub use patience::{PATIENCE, wait_until};
pub use shell::{json_lines, said, scarce_in};
pub use socket::{Socket, frame};
pub use terminal::Terminal;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use scarce_client::Client;
use tempfile::{NamedTempFile, TempDir};

/// A running `scarce serve`, killed when dropped.
pub struct Server {
    child: Child,
    pub address: String,
    /// The address of its HTTP port.
    pub http: String,
    data: Option<TempDir>,
    stderr: Option<NamedTempFile>,
}

/// The binary that cargo built for the tests.
pub fn scarce() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scarce"));
    command.stdin(Stdio::null());
    command
}

/// `scarce serve` on a data directory and a free port.
pub fn serve(data: &Path, options: &[&str]) -> Command {
    serve_at(data, "127.0.0.1:0", options)
}

fn serve_at(data: &Path, address: &str, options: &[&str]) -> Command {
    let mut command = scarce();
    command.args(["serve", "--resp", address, "--http", "127.0.0.1:0", "--data"]).arg(data).args(options);
    command
}

impl Server {
    /// Starts on a free port and waits for the line that announces it is ready.
    pub fn start(data: &Path, options: &[&str]) -> Self {
        Self::start_at(data, "127.0.0.1:0", options)
    }

    /// Starts on an address and waits for the line that announces it is ready.
    pub fn start_at(data: &Path, address: &str, options: &[&str]) -> Self {
        Self::spawn(serve_at(data, address, options))
    }

    /// Starts on an empty data directory, and captures stderr.
    pub fn overheard(options: &[&str]) -> Self {
        let data = TempDir::new().expect("a temporary folder");
        let mut server = Self::overheard_at(data.path(), options);
        server.data = Some(data);
        server
    }

    /// Starts on a data directory, and captures stderr.
    pub fn overheard_at(data: &Path, options: &[&str]) -> Self {
        let stderr = NamedTempFile::new().expect("a temporary file");
        let mut command = serve(data, options);
        command.stderr(stderr.reopen().expect("the file"));
        let mut server = Self::spawn(command);
        server.stderr = Some(stderr);
        server
    }

    /// Starts with a limit of open files.
    pub fn start_limited(data: &Path, open_files_max: u32, options: &[&str]) -> Self {
        let server = serve(data, options);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -n {open_files_max} && exec \"$0\" \"$@\"")]);
        command.arg(server.get_program()).args(server.get_args()).stdin(Stdio::null());
        Self::spawn(command)
    }

    /// Starts a command and waits for the line that announces it is ready.
    pub fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output");
        BufReader::new(stdout).read_line(&mut line).expect("its ready line");
        let named = |port: &str| {
            let address = line.split(port).nth(1).and_then(|rest| rest.split(',').next());
            address.unwrap_or_else(|| panic!("no ready line but '{line}'")).to_owned()
        };
        Self { child, address: named("resp "), http: named("http "), data: None, stderr: None }
    }

    /// Starts on an empty data directory that is removed with the server.
    pub fn fresh(options: &[&str]) -> Self {
        let data = TempDir::new().expect("a temporary folder");
        let mut server = Self::start(data.path(), options);
        server.data = Some(data);
        server
    }

    /// Opens a new connection.
    pub fn connect(&self) -> Client {
        Client::connect(&self.address, None).expect("a connection")
    }

    /// Opens a connection without a client library.
    pub fn socket(&self) -> Socket {
        Socket::connect(&self.address)
    }

    /// Opens a connection to the HTTP port.
    pub fn http(&self) -> Http {
        Http::connect(&self.http)
    }

    /// Waits until its consumers have caught up with its log.
    pub fn wait_until_drained(&self) {
        let mut http = self.http();
        wait_until("its consumers have taken everything", || {
            let consumers = http.get("/v1/consumers").json();
            let rows = consumers["consumers"].as_array().expect("a list");
            !rows.is_empty() && rows.iter().all(|row| row["lag_events"] == 0)
        });
    }

    /// The captured stderr.
    pub fn overhead(&self) -> String {
        let stderr = self.stderr.as_ref().expect("stderr is kept");
        std::fs::read_to_string(stderr.path()).expect("the file")
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The resident memory of the process, in KiB.
    pub fn resident_kib(&self) -> u64 {
        self.kernel_status("VmRSS:")
    }

    /// The most that it ever was.
    pub fn peak_resident_kib(&self) -> u64 {
        self.kernel_status("VmHWM:")
    }

    /// A number that the kernel gives of the process.
    pub fn kernel_status(&self, name: &str) -> u64 {
        let path = format!("/proc/{}/status", self.pid());
        let status = std::fs::read_to_string(path).expect("the process's status");
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line of that name");
        line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
    }

    /// Kills it with SIGKILL, like a power failure.
    pub fn kill(&mut self) {
        self.child.kill().expect("the server is killed");
        self.child.wait().expect("the server has ended");
    }

    /// Sends SIGTERM, and waits for a clean end.
    pub fn stop(mut self) {
        self.signal("TERM");
        self.wait_for_end();
    }

    /// Stops it like [`Self::stop`], and gives everything that it logged.
    pub fn stop_overheard(mut self) -> String {
        self.signal("TERM");
        self.wait_for_end();
        self.overhead()
    }

    /// Sends a signal.
    pub fn signal(&self, name: &str) {
        let (signal, pid) = (format!("-{name}"), self.child.id().to_string());
        let sent = Command::new("kill").args([&signal, &pid]).status().expect("kill runs");
        assert!(sent.success());
    }

    /// Waits for the end.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("the server has ended")
    }

    /// Waits for a clean end.
    pub fn wait_for_end(&mut self) {
        let status = self.wait();
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

/// Runs a server that must refuse to start.
pub fn refused_start(command: &mut Command) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = command.output().expect("the server runs");
    assert_eq!(String::from_utf8_lossy(&stdout), "", "nothing on stdout");
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

/// A data directory's first journal segment.
pub fn first_segment(data: &Path) -> PathBuf {
    let mut found = Vec::new();
    let mut open = vec![data.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if name.starts_with("journal-") {
                found.push(path);
            }
        }
    }
    found.sort();
    found.remove(0)
}
