//! Starting the real binary for a test, and stopping it again.

#![allow(dead_code, clippy::unwrap_used, reason = "shared by tests that each use a part of it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// No test waits longer for anything.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A running server with a data directory of its own; ended when dropped.
pub struct Server {
    child: Child,
    address: String,
    data: TempDir,
}

/// The binary that cargo built for the tests.
pub fn scarce() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scarce"));
    for name in ["SCARCE_DATA", "SCARCE_RESP", "SCARCE_PASSWORD_FILE"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// `scarce serve` on a data directory and a free port.
pub fn serve(data: &Path, options: &[&str]) -> Command {
    let mut command = scarce();
    command.args(["serve", "--resp", "127.0.0.1:0", "--data"]).arg(data).args(options);
    command
}

impl Server {
    /// Starts on an empty data directory.
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// Starts on an empty data directory with more options.
    pub fn with(options: &[&str]) -> Self {
        Self::on(TempDir::new().unwrap(), options)
    }

    /// Starts on a data directory that exists.
    pub fn on(data: TempDir, options: &[&str]) -> Self {
        let mut child = serve(data.path(), options).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let rest = line.strip_prefix("scarce ready: resp ").unwrap_or_else(|| panic!("not ready: {line:?}"));
        let address = rest.split([',', '\n']).next().unwrap().to_owned();
        Self { child, address, data }
    }

    /// Where the RESP port listens.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Where its data is.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A connection without any library.
    pub fn socket(&self) -> Socket {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Socket { stream: BufReader::new(stream) }
    }

    /// How much memory the process has, in KiB.
    pub fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Ends it with SIGTERM, which must be clean, and gives its data directory.
    pub fn stop(mut self) -> TempDir {
        signal("TERM", self.pid());
        assert!(self.child.wait().unwrap().success(), "SIGTERM ends the server with exit code 0");
        std::mem::replace(&mut self.data, TempDir::new().unwrap())
    }

    /// Ends it as a power loss would, and gives its data directory.
    pub fn kill(mut self) -> TempDir {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::mem::replace(&mut self.data, TempDir::new().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to one process.
pub fn signal(name: &str, pid: u32) {
    assert!(Command::new("sh").args(["-c", &format!("kill -{name} {pid}")]).status().unwrap().success());
}

/// Runs a server that must refuse to start.
pub fn refused_start(command: &mut Command) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&stdout), "", "nothing on stdout");
    (status.code(), String::from_utf8(stderr).unwrap())
}

/// A data directory's first journal segment.
pub fn first_segment(data: &Path) -> PathBuf {
    let mut found = Vec::new();
    let mut open = vec![data.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
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

/// A connection on which bytes are sent as they are.
pub struct Socket {
    stream: BufReader<TcpStream>,
}

impl Socket {
    /// Sends bytes.
    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    /// Says that nothing more will be sent.
    pub fn end(&mut self) {
        self.stream.get_ref().shutdown(Shutdown::Write).unwrap();
    }

    /// Sends a request as an array and reads its reply.
    pub fn call(&mut self, words: &[&str]) -> String {
        self.send(&frame(words));
        self.reply()
    }

    /// Reads one reply, shown on one line: `[0 SOLD_OUT 0 1]`, `-ERR …`, `(nil)`.
    pub fn reply(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        assert!(line.ends_with("\r\n"), "the connection ended instead of a reply: {line:?}");
        let (kind, rest) = line.trim_end().split_at(1);
        match (kind, rest) {
            ("+" | ":", text) => text.to_owned(),
            ("$" | "*", "-1") => "(nil)".to_owned(),
            ("$", length) => {
                let mut bytes = vec![0; length.parse::<usize>().unwrap() + 2];
                self.stream.read_exact(&mut bytes).unwrap();
                String::from_utf8(bytes).unwrap().trim_end_matches("\r\n").to_owned()
            }
            ("*", count) => {
                let values: Vec<_> = (0..count.parse::<usize>().unwrap()).map(|_| self.reply()).collect();
                format!("[{}]", values.join(" "))
            }
            _ => line.trim_end().to_owned(),
        }
    }

    /// All that comes until the other end closes.
    pub fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        match self.stream.read_to_end(&mut bytes) {
            Err(error) if error.kind() != std::io::ErrorKind::ConnectionReset => panic!("{error}"),
            _ => String::from_utf8(bytes).unwrap(),
        }
    }
}

/// A request as clients send it.
pub fn frame<W: AsRef<[u8]>>(words: &[W]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.as_ref().len()).as_bytes());
        bytes.extend_from_slice(word.as_ref());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}
