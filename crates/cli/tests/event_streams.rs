//! Many streams of events at a time on the real server: they share one tail of the log, those that do not read cost
//! little memory, and every event reaches everybody who reads.

mod support;

use std::collections::BTreeSet;

use support::{Http, Server, frame, wait_until};

/// How many streams there are, and how many of them are not read.
const STREAMS: usize = 1_000;
const UNREAD: usize = 300;

/// How many events are written while they are open, of about 600 bytes of JSON each.
const EVENTS: usize = 1_500;

/// The most memory that all streams together may take.
const MEMORY_KIB_MAX: u64 = 200 << 10;

/// A stream, and what was read of it and not used yet.
struct Stream {
    http: Http,
    text: String,
}

impl Stream {
    fn open(server: &Server, query: &str, last_id: Option<&str>) -> Self {
        let mut http = server.http();
        let last = last_id.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        let head =
            format!("GET /v1/events{query} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n");
        http.send(format!("{head}{last}\r\n").as_bytes());
        assert_eq!(http.head().status, 200);
        Self { http, text: String::new() }
    }

    /// The next event as lines; `None` if the stream has ended.
    fn next(&mut self) -> Option<String> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text = rest.to_owned();
                if !block.starts_with(':') {
                    return Some(block);
                }
            }
            self.text.push_str(&String::from_utf8(self.http.chunk()?).expect("text"));
        }
    }

    /// Reads without looking, until the event of a sequence has come.
    fn read_through(&mut self, sequence: u64) {
        let wanted = format!("\"sequence\":{sequence},");
        let mut end = std::mem::take(&mut self.text);
        while !end.contains(&wanted) {
            // What is wanted may be divided between two chunks.
            let keep = end.len().saturating_sub(wanted.len());
            let start = (0..=keep).rev().find(|at| end.is_char_boundary(*at)).unwrap_or_default();
            end.drain(..start);
            end.push_str(&String::from_utf8(self.http.chunk().expect("the stream goes on")).expect("text"));
        }
    }
}

fn field<'a>(block: &'a str, name: &str) -> &'a str {
    block.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name} in {block}"))
}

fn sequence(block: &str) -> u64 {
    let data: serde_json::Value = serde_json::from_str(field(block, "data: ")).expect("JSON");
    data["sequence"].as_u64().expect("a sequence")
}

/// Writes events with long reasons, all in one pipeline.
fn write_events(server: &Server, count: usize) {
    let mut socket = server.socket();
    let reason = "r".repeat(250);
    let mut pipeline = Vec::new();
    (0..count).for_each(|_| pipeline.extend(frame(&["STOCK.ADJUST", "s", "1", "REASON", &reason])));
    let mut sender = socket.sender();
    let sending =
        std::thread::spawn(move || std::io::Write::write_all(&mut sender, &pipeline).expect("sent"));
    (0..count).for_each(|_| assert!(socket.reply().starts_with("[1 ")));
    sending.join().expect("all was sent");
}

/// Reads on to a sequence; a stream that was cut off meanwhile is opened again where it ended. Returns the sequences.
fn read_on(server: &Server, mut stream: Stream, through: u64) -> Vec<u64> {
    let (mut sequences, mut last_id) = (Vec::new(), None);
    while sequences.last() != Some(&through) {
        match stream.next() {
            Some(block) if field(&block, "event: ") == "problem" => {
                assert!(
                    block.contains("\"code\":\"OVERLOADED\"") && block.contains("\"cursor\":"),
                    "{block}"
                );
            }
            Some(block) => {
                last_id = Some(field(&block, "id: ").to_owned());
                sequences.push(sequence(&block));
            }
            None => stream = Stream::open(server, "?from=now", Some(last_id.as_deref().expect("an event"))),
        }
    }
    sequences
}

/// How many connections to the HTTP port the server has.
fn connections(server: &Server) -> usize {
    let port = server.http.rsplit(':').next().and_then(|port| port.parse::<u16>().ok()).expect("a port");
    let local = format!(":{port:04X} ");
    let sockets = std::fs::read_to_string("/proc/net/tcp").expect("the system's sockets");
    let is_open = |line: &&str| {
        let columns: Vec<_> = line.split_whitespace().collect();
        columns.get(1).is_some_and(|its| format!("{its} ").ends_with(&local)) && columns.get(3) == Some(&"01")
    };
    sockets.lines().filter(is_open).count()
}

#[test]
fn a_thousand_streams_of_which_many_are_not_read_take_little_memory_and_lose_nothing() {
    let server = Server::fresh(&[]);
    assert_eq!(server.socket().call(&["STOCK.CREATE", "s", "10"]), "[1 10]");
    // What the first request takes is not the streams'.
    Stream::open(&server, "", None).next().expect("an event");
    let before_kib = server.resident_kib();
    let mut streams: Vec<Stream> = (0..STREAMS).map(|_| Stream::open(&server, "?from=now", None)).collect();
    write_events(&server, EVENTS);
    let (first, last) = (2, 1 + EVENTS as u64);
    let unread = streams.split_off(STREAMS - UNREAD);
    let followed = read_on(&server, streams.remove(0), last);
    assert!(followed.into_iter().eq(first..=last), "every event in its order");
    streams.iter_mut().for_each(|stream| stream.read_through(last));
    let after_kib = server.resident_kib();
    let taken_kib = after_kib.saturating_sub(before_kib);
    eprintln!("{STREAMS} streams took {taken_kib} KiB");
    assert!(taken_kib < MEMORY_KIB_MAX, "{taken_kib} KiB");
    // Who reads again gets the rest, or learns where to go on.
    for stream in unread.into_iter().take(3) {
        assert!(read_on(&server, stream, last).into_iter().eq(first..=last), "nothing is lost");
    }
}

#[test]
fn streams_from_far_behind_get_everything_while_the_log_grows() {
    let server = Server::fresh(&["--partitions=2"]);
    let partitions: BTreeSet<String> = ["a", "b", "c", "d"]
        .iter()
        .map(|sku| {
            assert_eq!(server.socket().call(&["STOCK.CREATE", sku, "1000000"]), "[1 1000000]");
            (*sku).to_owned()
        })
        .collect();
    let take = |count: usize| {
        let mut socket = server.socket();
        for at in 0..count {
            for sku in &partitions {
                let owner = format!("o{at}");
                assert!(socket.call(&["STOCK.TAKE", sku, "1", &owner]).starts_with("[1 "));
            }
        }
    };
    take(300);
    let mut streams: Vec<Stream> = (0..20).map(|_| Stream::open(&server, "", None)).collect();
    take(20);
    let total = 4 * (1 + 320);
    for stream in &mut streams {
        let mut sequences = [0, 0];
        for _ in 0..total {
            let block = stream.next().expect("the stream goes on");
            let data: serde_json::Value = serde_json::from_str(field(&block, "data: ")).expect("JSON");
            let partition = usize::try_from(data["partition"].as_u64().expect("a number")).expect("small");
            sequences[partition] += 1;
            assert_eq!(data["sequence"], sequences[partition], "without a gap in each partition");
        }
    }
}

#[test]
fn who_leaves_a_stream_unread_for_too_long_is_told_or_disconnected() {
    let server = Server::fresh(&["--event-stream-unread-ms=1000"]);
    assert_eq!(server.socket().call(&["STOCK.CREATE", "s", "10"]), "[1 10]");
    let mut stream = Stream::open(&server, "?from=now", None);
    let connected = connections(&server);
    // More than the system buffers for a connection.
    write_events(&server, 20_000);
    wait_until("the stream is cut off", || connections(&server) < connected);
    let mut last_id = None;
    while let Some(block) = stream.next() {
        match field(&block, "event: ") {
            "problem" => assert_tells_why(&block),
            _ => last_id = Some((field(&block, "id: ").to_owned(), sequence(&block))),
        }
    }
    let (id, seen) = last_id.expect("an event");
    assert!(seen < 20_001, "it was cut off before the end");
    let mut resumed = Stream::open(&server, "", Some(&id));
    assert_eq!(sequence(&resumed.next().expect("an event")), seen + 1);
}

fn assert_tells_why(block: &str) {
    let problem: serde_json::Value = serde_json::from_str(field(block, "data: ")).expect("JSON");
    assert_eq!(problem["code"], "OVERLOADED");
    assert_eq!(
        problem["title"], "This stream of events was left unread for too long, so it ends here.",
        "not that a command was refused"
    );
    let advice = problem["advice"].as_str().expect("a text");
    assert!(advice.contains("again with this cursor") && !advice.contains("command"), "{advice}");
    assert!(problem["cursor"].is_string(), "{problem}");
}

/// The latencies of single commands, one after the other, in microseconds.
fn latencies_us(server: &Server, count: usize) -> Vec<u128> {
    let mut socket = server.socket();
    let mut latencies: Vec<_> = (0..count)
        .map(|_| {
            let begun = std::time::Instant::now();
            assert!(socket.call(&["STOCK.ADJUST", "s", "1", "REASON", "found"]).starts_with("[1 "));
            begun.elapsed().as_micros()
        })
        .collect();
    latencies.sort_unstable();
    latencies
}

/// `cargo test --release -p scarce --test event_streams -- --ignored --nocapture`
#[test]
#[ignore = "a measurement, which asserts nothing about time"]
fn a_writer_beside_a_thousand_streams() {
    let server = Server::fresh(&[]);
    assert_eq!(server.socket().call(&["STOCK.CREATE", "s", "10"]), "[1 10]");
    let p99 = |latencies: &[u128]| latencies[latencies.len() * 99 / 100];
    latencies_us(&server, 500);
    let alone = latencies_us(&server, 3_000);
    let streams: Vec<Stream> = (0..STREAMS).map(|_| Stream::open(&server, "?from=now", None)).collect();
    let last = 1 + 500 + 3_000 + 3_000;
    let beside = std::thread::scope(|scope| {
        let mut streams = streams;
        let _unread = streams.split_off(STREAMS - UNREAD);
        let reading = scope.spawn(move || streams.iter_mut().for_each(|stream| stream.read_through(last)));
        let beside = latencies_us(&server, 3_000);
        reading.join().expect("all was read");
        beside
    });
    eprintln!("p99 of a writer: {} us alone, {} us beside {STREAMS} streams", p99(&alone), p99(&beside));
}
