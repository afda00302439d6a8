//! Callers that ask for much and read nothing: their replies take bounded memory together, and who writes goes on.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

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
    // All but those who fit are closed in the end.
    wait_until("those who do not read are closed", || {
        metric(&server, "scarce_connections_unread_total") >= DEAF as u64 / 2
    });
    assert!(metric(&server, "scarce_unread_reply_bytes") <= 8 << 20);
    let grown_kib = server.resident_kib().saturating_sub(before_kib);
    // Without the bound, each of them holds two mebibytes and more.
    assert!(grown_kib < (DEAF as u64) << 11, "{DEAF} callers that do not read cost {grown_kib} KiB");

    write_events(&mut writer, 500);
    let read = writer.call(&["EVENTS", "0", "0", "0", "COUNT", "10000"]);
    assert!(read.starts_with("[[0 "), "who reads gets everything");
    drop(deaf);
    wait_until("nothing is unread", || metric(&server, "scarce_unread_reply_bytes") == 0);
    let log = server.stop_overheard();
    assert!(log.contains("its caller does not read"), "{log}");
}
