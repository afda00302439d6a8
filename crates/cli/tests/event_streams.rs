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

/// The sequences of events in a text, each written `"sequence":n`.
fn sequences(text: &str) -> Vec<u64> {
    let numbers = text.split("\"sequence\":").skip(1);
    numbers.map(|rest| rest.split(',').next().expect("a number").parse().expect("a number")).collect()
}

#[test]
fn events_are_selected_by_kind_resource_and_name_and_the_cursor_moves_past_the_others() {
    let server = Server::fresh(&[]);
    let (mut socket, mut http) = (server.socket(), server.http());
    for words in ["ACCOUNT.OPEN a EUR", "ACCOUNT.OPEN b EUR", "STOCK.CREATE s 5", "ACCOUNT.CREDIT a 9"] {
        assert!(socket.call(&words.split(' ').collect::<Vec<_>>()).starts_with("[1 "), "{words}");
    }
    // 5 and 6.
    socket.call(&["ACCOUNT.TRANSFER", "a", "b", "1"]);
    socket.call(&["STOCK.TAKE", "s", "1", "u"]);
    let mut page = |query: &str| {
        let body = http.get(&format!("/v1/events?{query}")).json();
        let found = body["events"].as_array().expect("events").iter();
        let found: Vec<u64> = found.map(|event| event["sequence"].as_u64().expect("a number")).collect();
        (found, body["cursor"].as_str().expect("a cursor").to_owned())
    };
    assert_eq!(page("kind=account").0, [1, 2, 4, 5]);
    assert_eq!(page("kind=stock&limit=1").0, [3]);
    assert_eq!(page("resource=b").0, [2, 5]);
    assert_eq!(page("resource=s&name=stock.taken").0, [6]);
    let (none, cursor) = page("kind=market");
    assert_eq!((none, page(&format!("cursor={cursor}")).0), (vec![], vec![]));
    let (first, cursor) = page("name=account.opened&limit=1");
    assert_eq!((first, page(&format!("name=account.opened&cursor={cursor}")).0), (vec![1], vec![2]));
    assert_eq!(http.get("/v1/events?kind=accounts").status, 400);

    let mut ask = |words: &str| {
        let words = format!("EVENTS 0 0 {words}");
        let answer = socket.call(&words.split(' ').collect::<Vec<_>>());
        let (_, position) = answer.trim_end_matches(']').rsplit_once(' ').expect("a position");
        (sequences(&answer), position.to_owned())
    };
    assert_eq!(ask("0 KIND account JSON"), (vec![1, 2, 4, 5], "6".to_owned()));
    assert_eq!(ask("0 RESOURCE b COUNT 1 JSON"), (vec![2], "2".to_owned()));
    assert_eq!(ask("2 RESOURCE b COUNT 1 JSON"), (vec![5], "5".to_owned()));
    assert_eq!(ask("0 KIND coupon JSON"), (vec![], "6".to_owned()));
    assert_eq!(ask("6 KIND coupon JSON"), (vec![], "6".to_owned()));
    assert!(socket.call(&["EVENTS", "0", "0", "0", "NAME", "account.open"]).starts_with("-ERR"));
    assert!(socket.call(&["EVENTS", "0", "0", "0", "KIND"]).contains("usage"));

    // What is behind is read from the log, what comes is told as it comes; what is not wanted is passed over.
    let mut stream = Stream::open(&server, "?resource=b", None);
    let mut of_stock = Stream::open(&server, "?kind=stock&from=now", None);
    assert_eq!((0..2).map(|_| sequences(&stream.next().expect("an event"))).collect::<Vec<_>>(), [[2], [5]]);
    for _ in 0..300 {
        socket.call(&["ACCOUNT.CREDIT", "a", "1"]);
    }
    socket.call(&["ACCOUNT.CREDIT", "b", "1"]);
    socket.call(&["STOCK.RESTOCK", "s", "1"]);
    assert_eq!(sequences(&stream.next().expect("an event")), [307]);
    assert_eq!(sequences(&of_stock.next().expect("an event")), [308]);
}
