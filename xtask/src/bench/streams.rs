//! `cargo xtask bench --streams`: the latency of a writer beside a thousand streams of which many are not read, of events and
//! of live channels, in turn with the same writer alone, and the memory that the streams take.

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::writer::{Latencies, Writer, load_average, measured, median, page_table, ratio};
use crate::process::Server;
use crate::{Ended, place, screen};

const STREAMS: usize = 1_000;
const UNREAD: usize = 300;

/// How many commands a part of a round sends, and how often.
const COMMANDS: u32 = 4_000;
const INTERVAL: Duration = Duration::from_millis(4);

/// How long the reader waits after it has looked at every stream.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// A way to be told what happens.
struct Kind {
    name: &'static str,
    request: &'static str,
    /// The status of the answer.
    status: &'static str,
    /// What is sent behind the answer's head.
    subscribes_with: Option<&'static str>,
}

const KINDS: [Kind; 2] = [
    Kind {
        name: "streams of events",
        request: "GET /v1/events?from=now HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n",
        status: "200",
        subscribes_with: None,
    },
    Kind {
        name: "WebSockets",
        request: "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                  Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        status: "101",
        subscribes_with: Some(r#"{"method":"SUBSCRIBE","params":["account.bench"],"id":1}"#),
    },
];

/// A part of a round.
struct Part {
    latencies: Latencies,
    /// What the streams take.
    streams_kib: u64,
}

/// The writer alone, then beside the streams of a kind.
type Round = [Part; 2];

/// Measures, prints a table, and writes the page if asked to.
pub fn run(rounds: u32, is_written: bool) -> Ended {
    let load = load_average()?;
    let mut of_kinds = KINDS.each_ref().map(|kind| (kind, Vec::new()));
    for round in 1..=rounds {
        for (kind, results) in &mut of_kinds {
            let result = measure(kind)?;
            screen::say(&format!(
                "round {round}/{rounds}: p99 {} us alone, {} us beside {STREAMS} {}, which take {} KiB",
                result[0].latencies.at(99),
                result[1].latencies.at(99),
                kind.name,
                result[1].streams_kib
            ));
            results.push(result);
        }
    }
    let head = ["writer", "p50 us", "p99 us", "p99, ratio", "memory of the streams, MiB"].map(str::to_owned);
    let rows = of_kinds.iter().flat_map(|(kind, results)| rows(kind, results));
    let rows: Vec<_> = std::iter::once(head.to_vec()).chain(rows).collect();
    screen::say(&format!("\n{}", screen::table(&rows)));
    if is_written {
        std::fs::write(place::root().join("docs/benchmarks-streams.md"), page(&rows, rounds, &load)?)?;
        screen::say("\nwrote docs/benchmarks-streams.md");
    }
    Ok(true)
}

/// A round on a server of its own.
fn measure(kind: &Kind) -> Result<Round, Box<dyn Error>> {
    let server = Server::scarce("bench-streams")?;
    let mut writer = Writer::connect(&server.address)?;
    writer.call("ACCOUNT.OPEN bench USD")?;
    // What the first stream takes is not the others'.
    drop(kind.open(&server.http)?);
    write_part(&mut writer)?;
    let alone = Part { latencies: write_part(&mut writer)?, streams_kib: 0 };
    let before_kib = server.resident_kib()?;
    let mut streams = (0..STREAMS).map(|_| kind.open(&server.http)).collect::<Result<Vec<_>, _>>()?;
    let _unread = streams.split_off(STREAMS - UNREAD);
    let is_over = AtomicBool::new(false);
    let beside = std::thread::scope(|scope| -> Result<_, Box<dyn Error>> {
        scope.spawn(|| read_on(&mut streams, &is_over));
        let latencies = write_part(&mut writer);
        let streams_kib = server.resident_kib().map(|after_kib| after_kib.saturating_sub(before_kib));
        is_over.store(true, Ordering::Relaxed);
        Ok(Part { latencies: latencies?, streams_kib: streams_kib? })
    })?;
    Ok([alone, beside])
}

fn write_part(writer: &mut Writer) -> Result<Latencies, Box<dyn Error>> {
    writer.credit_until("bench", INTERVAL, |at, _| Ok(at == COMMANDS))
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

impl Kind {
    /// Opens a stream of what happens from now on, which is read without waiting.
    fn open(&self, address: &str) -> Result<TcpStream, Box<dyn Error>> {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(self.request.as_bytes())?;
        let mut head = [0; 12];
        stream.read_exact(&mut head)?;
        if !head.ends_with(self.status.as_bytes()) {
            return Err(format!("no stream: {}", String::from_utf8_lossy(&head)).into());
        }
        if let Some(message) = self.subscribes_with {
            stream.write_all(&frame(message)?)?;
        }
        stream.set_nonblocking(true)?;
        Ok(stream)
    }
}

/// A short text as a frame of WebSocket, under a mask of zeros.
fn frame(text: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let length = u8::try_from(text.len()).ok().filter(|length| *length < 126).ok_or("too long")?;
    Ok([&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat())
}

fn rows(kind: &Kind, results: &[Round]) -> [Vec<String>; 2] {
    let of = |part: usize, at: usize| median(results.iter().map(|its| its[part].latencies.at(at)).collect());
    let kib = median(results.iter().map(|its| its[1].streams_kib).collect());
    let row = |what: String, part: usize, mib: u64| {
        let p99 = of(part, 99);
        vec![what, of(part, 50).to_string(), p99.to_string(), ratio(p99, of(0, 99)), mib.to_string()]
    };
    [
        row("alone".to_owned(), 0, 0),
        row(format!("beside {STREAMS} {}, {UNREAD} of them unread", kind.name), 1, kib >> 10),
    ]
}

fn page(rows: &[Vec<String>], rounds: u32, load: &str) -> Result<String, Box<dyn Error>> {
    let per_second = 1_000 / INTERVAL.as_millis();
    Ok(format!(
        "# A writer beside streams of events\n\n\
         {} {rounds} rounds, each kind on a server of its own: {COMMANDS} credits at {per_second} a second over one \
         connection, alone and then beside {STREAMS} streams of `/v1/events`, or as many WebSockets that are subscribed to the \
         credited account; of {UNREAD} nothing is read. Each latency counts \
         from the time at which its command was due. Figures are medians of the rounds.\n\n{}",
        measured("--streams", load)?,
        page_table(rows),
    ))
}
