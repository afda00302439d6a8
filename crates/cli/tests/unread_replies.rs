//! Callers that ask for much and read nothing: their replies take bounded memory together, and who writes goes on.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use support::{Server, Socket, frame, wait_until};

/// How many callers there are. Each would hold some two mebibytes.
const DEAF: usize = 40;

/// More than the system keeps for a connection, and as much as a reply that is not sent.
const REQUESTS: usize = 20;

/// How many events there are, of about 350 bytes of a reply each.
const EVENTS: usize = 4_000;

fn metric(server: &Server, name: &str) -> u64 {
    let text = String::from_utf8(server.http().get("/metrics").body).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

fn adjust() -> Vec<u8> {
    frame(&["STOCK.ADJUST", "s", "1", "REASON", &"r".repeat(250)])
}

fn write_events(socket: &mut Socket, count: usize) {
    for _ in 0..count.div_ceil(500) {
        socket.send(&adjust().repeat(500));
        (0..500).for_each(|_| assert!(socket.reply().starts_with("[1 ")));
    }
}

#[test]
fn callers_that_do_not_read_are_closed_the_worst_first_and_writers_go_on() {
    // An eighth of it may be unread, half of that over RESP.
    let server = Server::overheard(&["--memory-max", "128MiB"]);
    let mut writer = server.socket();
    assert_eq!(writer.call(&["STOCK.CREATE", "s", "10"]), "[1 10]");
    write_events(&mut writer, EVENTS);
    assert_eq!(metric(&server, "scarce_connections_unread_total"), 0);

    let before_kib = server.resident_kib();
    let events = frame(&["EVENTS", "0", "0", "0", "COUNT", "10000"]);
    let deaf: Vec<Socket> = (0..DEAF)
        .map(|_| {
            let mut socket = server.socket();
            socket.send(&events.repeat(REQUESTS));
            socket
        })
        .collect();
    // All but those who fit are closed in the end. Until one is, there may be more for a moment.
    wait_until("those who do not read are closed", || {
        let closed = metric(&server, "scarce_connections_unread_total");
        closed >= DEAF as u64 / 2 && metric(&server, "scarce_unread_reply_bytes") <= 8 << 20
    });
    let grown_kib = server.resident_kib().saturating_sub(before_kib);
    // Without the bound, each of them holds two mebibytes and more.
    assert!(grown_kib < (DEAF as u64) << 11, "{DEAF} callers that do not read cost {grown_kib} KiB");

    // Memory is given back a moment after its callers are gone.
    wait_until("changes are taken", || {
        writer.call(&["STOCK.ADJUST", "s", "1", "REASON", "r"]).starts_with("[1 ")
    });
    write_events(&mut writer, 500);
    let read = writer.call(&["EVENTS", "0", "0", "0", "COUNT", "10000"]);
    assert!(read.starts_with("[[0 "), "who reads gets everything");
    drop(deaf);
    wait_until("nothing is unread", || metric(&server, "scarce_unread_reply_bytes") == 0);
    let log = server.stop_overheard();
    assert!(log.contains("its caller does not read"), "{log}");
}

/// How many callers there are of a server with many partitions, and the bytes of a reply that they leave unread.
const DEAF_OF_PARTITIONS: usize = 64;
const REPLY_BYTES: usize = 60_000;

#[test]
fn all_partitions_together_hold_no_more_than_one() {
    // An eighth of it may be unread, half of that over RESP.
    let server = Server::fresh(&["--memory-max", "128MiB", "--partitions", "16"]);
    let pipeline = frame(&["ECHO", &"x".repeat(REPLY_BYTES)]).repeat(60);
    let mut deaf: Vec<(TcpStream, usize)> = (0..DEAF_OF_PARTITIONS)
        .map(|_| {
            let socket = TcpStream::connect(&server.address).unwrap();
            socket.set_nonblocking(true).unwrap();
            (socket, 0)
        })
        .collect();
    wait_until("few are left that are not read", || {
        for (socket, sent) in &mut deaf {
            match socket.write(&pipeline[*sent..]) {
                Ok(count) => *sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // It was closed.
                Err(_) => *sent = pipeline.len(),
            }
        }
        let closed = metric(&server, "scarce_connections_unread_total");
        closed >= DEAF_OF_PARTITIONS as u64 * 3 / 4 && metric(&server, "scarce_unread_reply_bytes") <= 8 << 20
    });
    // Memory is given back a moment after its callers are gone.
    wait_until("a record is taken", || server.socket().call(&["ACCOUNT.OPEN", "a", "EUR"]) == "[1 0]");
}

/// How long a caller may read nothing.
const UNREAD_MAX: Duration = Duration::from_secs(8);

/// Reads about 40 kB a second until so many bytes have come.
fn read_slowly(mut socket: &TcpStream, bytes: usize) {
    let (mut buffer, mut read) = ([0; 4_000], 0);
    while read < bytes {
        let count = socket.read(&mut buffer).unwrap_or_else(|error| panic!("after {read} bytes: {error}"));
        assert!(count > 0, "closed after {read} bytes");
        read += count;
        std::thread::park_timeout(Duration::from_millis(100));
    }
}

#[test]
fn who_reads_slowly_is_served_and_who_stops_reading_is_closed_and_told_of() {
    let unread_max = format!("{}s", UNREAD_MAX.as_secs());
    let server = Server::overheard(&["--event-stream-unread-ms", &unread_max]);
    assert_eq!(server.socket().call(&["STOCK.CREATE", "s", "10"]), "[1 10]");
    write_events(&mut server.socket(), EVENTS);
    let resp = TcpStream::connect(&server.address).unwrap();
    let mut sender = resp.try_clone().unwrap();
    // More than the system takes for both sides together, however far it lets its buffers grow.
    let pipeline = frame(&["ECHO", &"x".repeat(900_000)]).repeat(60);
    // It ends when the connection does.
    let sending = std::thread::spawn(move || sender.write_all(&pipeline).is_ok());
    let mut http = TcpStream::connect(&server.http).unwrap();
    let request = "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
    http.write_all(request.as_bytes()).unwrap();

    // Three times as long as a caller may read nothing.
    let bytes = 40_000 * 3 * usize::try_from(UNREAD_MAX.as_secs()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| read_slowly(&resp, bytes));
        scope.spawn(|| read_slowly(&http, bytes));
    });
    assert_eq!(metric(&server, "scarce_connections_stalled_total"), 0);

    wait_until("both are closed", || metric(&server, "scarce_connections_stalled_total") == 2);
    assert!(!sending.join().unwrap());
    let log = server.stop_overheard();
    assert!(log.contains("its caller has read nothing for too long"), "{log}");
}
