//! `cargo xtask bench --streams`: the latency of a writer beside a thousand streams of events of which many are not read,
//! in turn with the same writer alone, and the memory that the streams take.

use std::error::Error;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::process::{self, Server};
use crate::{Ended, place, screen};

const STREAMS: usize = 1_000;
const UNREAD: usize = 300;

/// How many commands a part of a round sends, and how often.
const COMMANDS: u32 = 4_000;
const INTERVAL: Duration = Duration::from_millis(4);

/// How long the reader waits after it has looked at every stream.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// Latencies of a part of a round in microseconds, in ascending order.
struct Part(Vec<u64>);

impl Part {
    fn at(&self, hundredths: usize) -> u64 {
        self.0.get(self.0.len() * hundredths / 100).copied().unwrap_or_default()
    }
}

struct Round {
    alone: Part,
    beside: Part,
    streams_kib: u64,
}

/// Measures, prints a table, and writes the page if asked to.
pub fn run(rounds: u32, is_written: bool) -> Ended {
    let load = load_average()?;
    let mut measured = Vec::new();
    for round in 1..=rounds {
        let result = measure()?;
        screen::say(&format!(
            "round {round}/{rounds}: p99 {} us alone, {} us beside {STREAMS} streams, which take {} KiB",
            result.alone.at(99),
            result.beside.at(99),
            result.streams_kib
        ));
        measured.push(result);
    }
    let rows = rows(&measured);
    screen::say(&format!("\n{}", screen::table(&rows)));
    if is_written {
        std::fs::write(place::root().join("docs/benchmarks-streams.md"), page(&rows, rounds, &load)?)?;
        screen::say("\nwrote docs/benchmarks-streams.md");
    }
    Ok(true)
}

/// A round on a server of its own.
fn measure() -> Result<Round, Box<dyn Error>> {
    let server = Server::scarce("bench-streams")?;
    let mut writer = Writer::connect(&server.address)?;
    writer.call(&["ACCOUNT.OPEN", "bench", "USD"])?;
    // What the first stream takes is not the others'.
    drop(stream(&server.http)?);
    write_part(&mut writer)?;
    let (alone, before_kib) = (write_part(&mut writer)?, server.resident_kib()?);
    let mut streams = (0..STREAMS).map(|_| stream(&server.http)).collect::<Result<Vec<_>, _>>()?;
    let _unread = streams.split_off(STREAMS - UNREAD);
    let is_over = AtomicBool::new(false);
    let (beside, streams_kib) = std::thread::scope(|scope| -> Result<_, Box<dyn Error>> {
        scope.spawn(|| read_on(&mut streams, &is_over));
        let beside = write_part(&mut writer);
        let streams_kib = server.resident_kib().map(|after_kib| after_kib.saturating_sub(before_kib));
        is_over.store(true, Ordering::Relaxed);
        Ok((beside?, streams_kib?))
    })?;
    Ok(Round { alone, beside, streams_kib })
}

/// Reads what comes on all streams until it is over.
fn read_on(streams: &mut [TcpStream], is_over: &AtomicBool) {
    let mut buffer = vec![0; 256 << 10];
    while !is_over.load(Ordering::Relaxed) {
        for stream in &mut *streams {
            while stream.read(&mut buffer).is_ok_and(|bytes| bytes == buffer.len()) {}
        }
        std::thread::park_timeout(LOOK_INTERVAL);
    }
}

/// Opens a stream of what happens from now on, which is read without waiting.
fn stream(address: &str) -> Result<TcpStream, Box<dyn Error>> {
    let mut stream = TcpStream::connect(address)?;
    let request = "GET /v1/events?from=now HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
    stream.write_all(request.as_bytes())?;
    let mut head = [0; 12];
    stream.read_exact(&mut head)?;
    if !head.ends_with(b"200") {
        return Err(format!("no stream: {}", String::from_utf8_lossy(&head)).into());
    }
    stream.set_nonblocking(true)?;
    Ok(stream)
}

/// Sends commands at fixed times. A latency counts from the time at which its command was due, so that waiting for the
/// one before it is not left out.
fn write_part(writer: &mut Writer) -> Result<Part, Box<dyn Error>> {
    let begun = Instant::now();
    let mut latencies = Vec::new();
    for at in 0..COMMANDS {
        let due = begun + INTERVAL * at;
        while let Some(wait) = due.checked_duration_since(Instant::now()).filter(|wait| !wait.is_zero()) {
            std::thread::park_timeout(wait);
        }
        writer.call(&["ACCOUNT.CREDIT", "bench", "1"])?;
        latencies.push(u64::try_from(due.elapsed().as_micros())?);
    }
    latencies.sort_unstable();
    Ok(Part(latencies))
}

/// A connection to the RESP port.
struct Writer {
    socket: BufReader<TcpStream>,
}

impl Writer {
    fn connect(address: &str) -> Result<Self, Box<dyn Error>> {
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(Duration::from_mins(1)))?;
        Ok(Self { socket: BufReader::new(socket) })
    }

    /// Sends a command whose answer is an array of integers.
    fn call(&mut self, words: &[&str]) -> Result<(), Box<dyn Error>> {
        let mut frame = format!("*{}\r\n", words.len());
        words.iter().for_each(|word| frame.push_str(&format!("${}\r\n{word}\r\n", word.len())));
        self.socket.get_mut().write_all(frame.as_bytes())?;
        let head = self.line()?;
        let count = head.strip_prefix('*').ok_or_else(|| format!("answered '{head}'"))?.parse()?;
        (0..count).try_for_each(|_: u32| self.line().map(drop))
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
}

fn median(mut figures: Vec<u64>) -> u64 {
    figures.sort_unstable();
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

/// One of a round's parts.
type PartOf = fn(&Round) -> &Part;

fn rows(measured: &[Round]) -> Vec<Vec<String>> {
    let of = |part: PartOf, at: usize| median(measured.iter().map(|its| part(its).at(at)).collect());
    let (alone, beside): (PartOf, PartOf) = (|its| &its.alone, |its| &its.beside);
    let kib = median(measured.iter().map(|its| its.streams_kib).collect());
    let row = |what: &str, part, ratio: String, memory: String| {
        let figures = [50, 99].map(|at| of(part, at).to_string());
        let [p50, p99] = figures;
        vec![what.to_owned(), p50, p99, ratio, memory]
    };
    let per_cent = of(beside, 99) * 100 / of(alone, 99).max(1);
    let ratio = format!("{}.{:02}", per_cent / 100, per_cent % 100);
    let head = ["writer", "p50 us", "p99 us", "p99, ratio", "memory of the streams, MiB"]
        .map(str::to_owned)
        .to_vec();
    vec![
        head,
        row("alone", alone, "1.00".to_owned(), "0".to_owned()),
        row(
            &format!("beside {STREAMS} streams, {UNREAD} of them unread"),
            beside,
            ratio,
            (kib >> 10).to_string(),
        ),
    ]
}

/// How many programs wanted a processor during the last minute.
fn load_average() -> Result<String, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/loadavg")?;
    Ok(text.split_whitespace().next().unwrap_or("?").to_owned())
}

fn page(rows: &[Vec<String>], rounds: u32, load: &str) -> Result<String, Box<dyn Error>> {
    let shown: Vec<String> = rows.iter().map(|row| format!("| {} |", row.join(" | "))).collect();
    let date = process::must(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    let mut git = Command::new("git");
    let commit = process::must(git.args(["rev-parse", "--short", "HEAD"]).current_dir(place::root()))?;
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let (date, commit) = (date.trim(), commit.trim());
    let per_second = 1_000 / INTERVAL.as_millis();
    Ok(format!(
        "# A writer beside streams of events\n\n\
         Measured on {date} at commit {commit} with `cargo xtask bench --streams --write`, on a machine of {cores} cores that also \
         ran the load. {rounds} rounds, each on a server of its own: {COMMANDS} credits at {per_second} a second over one \
         connection, alone and then beside {STREAMS} streams of `/v1/events`, {UNREAD} of which nobody reads. Each latency counts \
         from the time at which its command was due. Figures are medians of the rounds. The machine's load average was {load} before: with more than a \
         few tenths others used it too, and the latencies say little.\n\n\
         {}\n|---|---:|---:|---:|---:|\n{}\n",
        shown.first().map_or("", String::as_str),
        shown.get(1..).unwrap_or_default().join("\n"),
    ))
}
