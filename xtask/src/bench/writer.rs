//! A writer that sends commands at fixed times, its latencies, and what the pages about them have in common.

use std::error::Error;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::{place, process};

/// Latencies in microseconds, in ascending order.
pub struct Latencies(Vec<u64>);

impl Latencies {
    /// Sorts what was measured.
    pub fn of(mut measured: Vec<u64>) -> Self {
        measured.sort_unstable();
        Self(measured)
    }

    /// That of so many hundredths.
    pub fn at(&self, hundredths: usize) -> u64 {
        self.0.get(self.0.len() * hundredths / 100).copied().unwrap_or_default()
    }

    /// The longest.
    pub fn longest(&self) -> u64 {
        self.0.last().copied().unwrap_or_default()
    }
}

/// A connection to the RESP port.
pub struct Writer {
    socket: BufReader<TcpStream>,
}

impl Writer {
    /// Connects.
    pub fn connect(address: &str) -> Result<Self, Box<dyn Error>> {
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(Duration::from_mins(1)))?;
        Ok(Self { socket: BufReader::new(socket) })
    }

    /// Sends a command whose answer is an array of values on a line each, and returns them.
    pub fn call(&mut self, line: &str) -> Result<Vec<String>, Box<dyn Error>> {
        self.send(line)?;
        self.answer()
    }

    /// Sends a command without waiting for its answer.
    pub fn send(&mut self, line: &str) -> Result<(), Box<dyn Error>> {
        let words: Vec<&str> = line.split(' ').collect();
        let mut frame = format!("*{}\r\n", words.len());
        words.iter().for_each(|word| frame.push_str(&format!("${}\r\n{word}\r\n", word.len())));
        Ok(self.socket.get_mut().write_all(frame.as_bytes())?)
    }

    /// Reads the next answer.
    pub fn answer(&mut self) -> Result<Vec<String>, Box<dyn Error>> {
        let head = self.line()?;
        let count = head.strip_prefix('*').ok_or_else(|| format!("answered '{head}'"))?.parse()?;
        let values = (0..count).map(|_: u32| self.value()).collect::<Result<Vec<_>, _>>()?;
        match values.first() {
            Some(first) if first == "0" => Err(format!("refused: {}", values.join(" ")).into()),
            _ => Ok(values),
        }
    }

    /// A number, a text, or nothing.
    fn value(&mut self) -> Result<String, Box<dyn Error>> {
        let line = self.line()?;
        match line.split_at_checked(1) {
            Some(("$", "-1")) => Ok(String::new()),
            Some(("$", _)) => self.line(),
            Some((_, value)) => Ok(value.to_owned()),
            None => Err("answered an empty line".into()),
        }
    }

    fn line(&mut self) -> Result<String, Box<dyn Error>> {
        let mut line = String::new();
        match self.socket.read_line(&mut line) {
            Ok(0) => Err("the server ended".into()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Err("no answer within a minute".into()),
            Err(error) => Err(error.into()),
            Ok(_) => Ok(line.trim_end().to_owned()),
        }
    }

    /// Credits an account at fixed times until `is_over`, which is asked before each with their number and the time since the
    /// first. A latency counts from the time at which its command was due, so that waiting for the one before it is not
    /// left out.
    pub fn credit_until(
        &mut self,
        account: &str,
        interval: Duration,
        mut is_over: impl FnMut(u32, Duration) -> Result<bool, Box<dyn Error>>,
    ) -> Result<Latencies, Box<dyn Error>> {
        let begun = Instant::now();
        let line = format!("ACCOUNT.CREDIT {account} 1");
        let mut measured = Vec::new();
        for at in 0.. {
            if is_over(at, begun.elapsed())? {
                break;
            }
            let due = begun + interval * at;
            while let Some(wait) = due.checked_duration_since(Instant::now()).filter(|wait| !wait.is_zero()) {
                std::thread::park_timeout(wait);
            }
            self.call(&line)?;
            measured.push(u64::try_from(due.elapsed().as_micros())?);
        }
        Ok(Latencies::of(measured))
    }
}

/// The middle of figures.
pub fn median(mut figures: Vec<u64>) -> u64 {
    figures.sort_unstable();
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

/// One figure as a multiple of another, with two decimals.
pub fn ratio(figure: u64, base: u64) -> String {
    let per_cent = figure * 100 / base.max(1);
    format!("{}.{:02}", per_cent / 100, per_cent % 100)
}

/// How many programs wanted a processor during the last minute.
pub fn load_average() -> Result<String, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/loadavg")?;
    Ok(text.split_whitespace().next().unwrap_or("?").to_owned())
}

/// The first words of a page: when, of what and where it was measured.
pub fn measured(flag: &str, load: &str) -> Result<String, Box<dyn Error>> {
    let date = process::must(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    let mut git = Command::new("git");
    let commit = process::must(git.args(["rev-parse", "--short", "HEAD"]).current_dir(place::root()))?;
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let (date, commit) = (date.trim(), commit.trim());
    Ok(format!(
        "Measured on {date} at commit {commit} with `cargo xtask bench {flag} --write`, on a machine of {cores} cores that also \
         ran the load. The machine's load average was {load} before: with more than a few tenths others used it too, and the \
         latencies say little."
    ))
}

/// Rows as a table of a page; the first is its head, and the first column its names.
pub fn page_table(rows: &[Vec<String>]) -> String {
    let mut lines: Vec<String> = rows.iter().map(|row| format!("| {} |\n", row.join(" | "))).collect();
    let columns = rows.first().map_or(0, Vec::len).saturating_sub(1);
    lines.insert(1.min(lines.len()), format!("|---|{}\n", "---:|".repeat(columns)));
    lines.concat()
}
