//! Runs programs to their end; starts servers, waits until they are ready, and stops them.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A command as typed in a shell, to repeat it.
pub fn shown(command: &Command) -> String {
    let mut words: Vec<String> = Vec::new();
    if let Some(directory) = command.get_current_dir() {
        words.push(format!("cd {} &&", quoted(&directory.to_string_lossy())));
    }
    for (name, value) in command.get_envs() {
        let value = value.map(|value| quoted(&value.to_string_lossy())).unwrap_or_default();
        words.push(format!("{}={value}", name.to_string_lossy()));
    }
    words.push(quoted(&command.get_program().to_string_lossy()));
    words.extend(command.get_args().map(|word| quoted(&word.to_string_lossy())));
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A program's exit and output.
pub struct Finished {
    /// Whether it exited with 0.
    pub succeeded: bool,
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Everything that it printed.
    pub output: String,
}

/// Runs a program without a terminal and returns its output.
pub fn finish(command: &mut Command) -> Result<Finished, Box<dyn Error>> {
    let (mut reader, writer) = std::io::pipe()?;
    let started = command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).spawn();
    // Closes our copy of the pipe's write end, so that reading ends with the program.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = started.map_err(|error| format!("cannot run '{}': {error}", shown(command)))?;
    let mut output = Vec::new();
    reader.read_to_end(&mut output)?;
    let status = child.wait()?;
    Ok(Finished {
        succeeded: status.success(),
        code: status.code(),
        output: String::from_utf8_lossy(&output).into_owned(),
    })
}

/// Runs a program that must succeed, and returns its output.
pub fn must(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let finished = finish(command)?;
    if finished.succeeded {
        return Ok(finished.output);
    }
    Err(format!("failed: {}\n{}", shown(command), finished.output.trim_end()).into())
}

/// Runs a program with an input, and returns its output.
pub fn feed(command: &mut Command, input: &str) -> Result<Finished, Box<dyn Error>> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    let run = child.wait_with_output()?;
    let output = String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned();
    Ok(Finished { succeeded: run.status.success(), code: run.status.code(), output })
}

/// How long a server may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server. Dropping it stops the server and removes its data.
pub struct Server {
    child: Child,
    /// Its address.
    pub address: String,
    /// Its HTTP address; empty if it has none.
    pub http: String,
    data: PathBuf,
}

impl Server {
    /// Starts a server that keeps its data in `data`, and waits for the line that contains `marker`; returns
    /// that line as well.
    pub fn start(
        command: &mut Command,
        data: PathBuf,
        marker: &'static str,
    ) -> Result<(Self, String), Box<dyn Error>> {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child =
            command.spawn().map_err(|error| format!("cannot run '{}': {error}", shown(command)))?;
        let lines = child.stdout.take().map(read_lines).ok_or("the server has no stdout")?;
        let server = Self { child, address: String::new(), http: String::new(), data };
        let started = Instant::now();
        let mut seen = String::new();
        while let Ok(line) = lines.recv_timeout(PATIENCE.saturating_sub(started.elapsed())) {
            if line.contains(marker) {
                return Ok((server, line));
            }
            seen.push_str(&line);
            seen.push('\n');
        }
        Err(format!("not ready: {}\n{seen}", shown(command)).into())
    }

    /// Starts `scarce serve` on a free port with an empty data directory.
    pub fn scarce(name: &str) -> Result<Self, Box<dyn Error>> {
        Self::scarce_with(name, &[])
    }

    /// The same with additional flags.
    pub fn scarce_with(name: &str, flags: &[&str]) -> Result<Self, Box<dyn Error>> {
        Self::scarce_on(crate::place::fresh(name)?, flags)
    }

    /// The same on data that is there already.
    pub fn scarce_on(data: PathBuf, flags: &[&str]) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(crate::place::scarce());
        command
            .args(["serve", "--resp", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"])
            .arg(&data)
            .args(flags);
        let (mut server, line) = Self::start(&mut command, data, "scarce ready: resp ")?;
        let named = |port: &str| line.split(port).nth(1).and_then(|rest| rest.split(',').next());
        server.address = named("resp ").ok_or("the ready line names no address")?.to_owned();
        server.http = named("http ").ok_or("the ready line names no address for HTTP")?.to_owned();
        Ok(server)
    }

    /// Kills it without notice, and gives its data.
    pub fn kill(mut self) -> std::io::Result<PathBuf> {
        self.child.kill()?;
        Ok(std::mem::take(&mut self.data))
    }

    /// How much memory it takes.
    pub fn resident_kib(&self) -> Result<u64, Box<dyn Error>> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
        Ok(kib.ok_or("the system does not tell")?.trim().parse()?)
    }

    /// The folder of its data.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The port of its address.
    pub fn port(&self) -> &str {
        self.address.rsplit(':').next().unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // First a TERM, so that it can clean up.
        let _ = signal("TERM", self.child.id());
        let pid = self.child.id();
        let (done, ended) = channel::<()>();
        let guard = std::thread::spawn(move || {
            if ended.recv_timeout(PATIENCE).is_err_and(|error| !is_hung_up(error)) {
                let _ = signal("KILL", pid);
            }
        });
        let _ = self.child.wait();
        drop(done);
        let _ = guard.join();
        let _ = std::fs::remove_dir_all(&self.data);
    }
}

fn is_hung_up(error: std::sync::mpsc::RecvTimeoutError) -> bool {
    error == std::sync::mpsc::RecvTimeoutError::Disconnected
}

/// Sends a signal to a child process.
pub fn signal(name: &str, pid: u32) -> std::io::Result<()> {
    Command::new("sh").args(["-c", &format!("kill -{name} {pid}")]).stderr(Stdio::null()).status().map(drop)
}

/// Reads lines until the other end closes, even when they are no longer received, so that the writer never
/// blocks.
fn read_lines(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    lines
}
