//! What one caller may consume: no more than its share of time, memory and threads, whatever it sends.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use support::{Server, frame, wait_until};

#[test]
fn a_reader_of_events_gets_past_a_batch_larger_than_a_page() {
    let server = Server::fresh(&[]);
    let mut socket = server.socket();
    let created = socket.call(&["PACKET.CREATE", "c", "EUR", "PLAN", "9007199254740991", "1000000", "EVEN"]);
    assert!(created.starts_with("[1 1000000 "), "{created}");
    assert_eq!(socket.call(&["STOCK.CREATE", "last", "1"]), "[1 1]");
    let digest = socket.call(&["DIGEST"]);
    let last: u64 = digest.split(' ').nth(1).unwrap().parse().unwrap();
    let before = (last - 1).to_string();
    let events = socket.call(&["EVENTS", "0", "0", &before]);
    assert!(events.contains(&format!(" {last} ")) && events.contains("stock.created"), "{events}");
    assert_eq!(socket.call(&["EVENTS", "0", "0", &last.to_string()]), "[]");
}

#[test]
fn a_flood_that_asks_for_nothing_delays_nobody() {
    let server = Server::fresh(&[]);
    let mut flood = TcpStream::connect(&server.address).unwrap();
    let ends = Arc::new(AtomicBool::new(false));
    let flooding = std::thread::spawn({
        let ends = ends.clone();
        let blanks = b"\r\n".repeat(512 << 10);
        move || {
            while !ends.load(Ordering::Relaxed) && flood.write_all(&blanks).is_ok() {}
        }
    });
    let mut other = server.socket();
    // A starved caller runs into its socket timeout.
    for _ in 0..100 {
        assert_eq!(other.call(&["PING"]), "PONG");
    }
    ends.store(true, Ordering::Relaxed);
    drop(server);
    flooding.join().unwrap();
}

#[test]
fn what_lives_in_other_partitions_is_answered_in_order_however_much_is_asked_at_once() {
    let server = Server::fresh(&["--partitions", "4"]);
    let mut socket = server.socket();
    let count = 20_000;
    let bytes: Vec<u8> =
        (0..count).flat_map(|n| frame(&["STOCK.CREATE", &format!("s{n}"), &(n + 1).to_string()])).collect();
    let sending = std::thread::scope(|scope| {
        let mut stream = socket.sender();
        let sending = scope.spawn(move || stream.write_all(&bytes));
        for n in 0..count {
            assert_eq!(socket.reply(), format!("[1 {}]", n + 1));
        }
        sending.join().unwrap()
    });
    sending.unwrap();
}

#[test]
fn a_batch_is_at_most_a_mebibyte() {
    let server = Server::fresh(&[]);
    let mut socket = server.socket();
    assert_eq!(socket.call(&["MULTI"]), "OK");
    let mut words: Vec<String> = ["PACKET.CREATE", "c", "EUR", "AMOUNTS", "4000"].map(String::from).to_vec();
    words.extend((0..4_000).map(|_| "9007199254".to_owned()));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let replies: Vec<String> = (0..40).map(|_| socket.call(&words)).collect();
    assert_eq!(replies[0], "QUEUED");
    assert!(replies.iter().any(|reply| reply.contains("at most 1048576 bytes")), "{replies:?}");
    assert!(socket.call(&["EXEC"]).starts_with("-EXECABORT"));
    assert_eq!(socket.call(&["PACKET.GET", "c"]), "[0 CAMPAIGN_NOT_FOUND c]");
}

#[test]
fn one_snapshot_is_made_at_a_time() {
    let server = Server::fresh(&[]);
    let mut socket = server.socket();
    assert_eq!(socket.call(&["STOCK.CREATE", "s", "1"]), "[1 1]");
    socket.send(&frame(&["SNAPSHOT"]).repeat(50));
    let replies: Vec<String> = (0..50).map(|_| socket.reply()).collect();
    assert!(replies[0].starts_with("[[0 1 "), "{replies:?}");
    assert!(replies.iter().any(|reply| reply.starts_with("-OVERLOADED ")), "{replies:?}");
    assert!(socket.call(&["SNAPSHOT"]).starts_with("[[0 1 "));
}

#[test]
fn a_pipeline_of_long_questions_delays_nobody() {
    let server = Server::fresh(&[]);
    let mut asking = server.socket();
    // Enough records that each digest takes a while.
    for thousand in 0..20 {
        let opened: Vec<u8> =
            (0..1_000).flat_map(|n| frame(&["ACCOUNT.OPEN", &format!("a{thousand}-{n}"), "EUR"])).collect();
        asking.send(&opened);
        for _ in 0..1_000 {
            assert_eq!(asking.reply(), "[1 0]");
        }
    }
    let mut asking = TcpStream::connect(&server.address).unwrap();
    asking.write_all(&frame(&["DIGEST"]).repeat(100)).unwrap();
    assert_eq!(server.socket().call(&["PING"]), "PONG");
    // Each answer has one row of three values. They cannot all have arrived when the other caller was served.
    asking.set_nonblocking(true).unwrap();
    let mut answered = Vec::new();
    let ended = asking.read_to_end(&mut answered);
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::WouldBlock);
    let rows = answered.windows(4).filter(|bytes| bytes == b"*3\r\n").count();
    assert!(rows < 100, "the other caller was served after all of {rows} questions");
}

#[test]
fn who_shows_no_password_takes_nobody_s_place() {
    let secret = tempfile::tempdir().unwrap();
    let file = secret.path().join("password");
    std::fs::write(&file, "correct horse\n").unwrap();
    let server = Server::fresh(&["--password-file", file.to_str().unwrap()]);
    let (mut silent, mut known) = (server.socket(), server.socket());
    assert_eq!(known.call(&["AUTH", "correct horse"]), "OK");
    assert_eq!(silent.rest(), "", "the server ends the conversation by itself");
    assert_eq!(known.call(&["PING"]), "PONG");
}

/// A request of a mebibyte, of which the second half never comes.
fn half_of_a_request() -> Vec<u8> {
    let mut bytes = b"*2\r\n$4\r\nECHO\r\n$1000000\r\n".to_vec();
    bytes.resize(500_000, b'x');
    bytes
}

#[test]
fn half_sent_requests_take_little_memory_and_nobody_s_place() {
    let server = Server::fresh(&[]);
    let mut known = server.socket();
    assert_eq!(known.call(&["PING"]), "PONG");
    let (before, half) = (server.resident_kib(), half_of_a_request());
    let senders: Vec<_> = (0..500)
        .map(|_| {
            let mut sender = TcpStream::connect(&server.address).unwrap();
            sender.set_nonblocking(true).unwrap();
            // What the server does not read stays in the system's buffers.
            let _ = sender.write(&half);
            sender
        })
        .collect();
    let whole = "y".repeat(500_000);
    for _ in 0..10 {
        assert_eq!(known.call(&["ECHO", &whole]), whole);
    }
    let taken_kib = server.resident_kib() - before;
    // 64 KiB each, and as much again for all that is not counted by connections.
    assert!(taken_kib < 64 << 10, "{taken_kib} KiB");
    drop(senders);
    assert_eq!(server.socket().call(&["PING"]), "PONG");
}

#[test]
fn a_request_that_is_never_finished_is_given_up() {
    let server = Server::fresh(&[]);
    let (mut slow, mut known) = (server.socket(), server.socket());
    slow.send(b"*2\r\n$4\r\nECHO\r\n$10\r\nhalf");
    assert_eq!(slow.rest(), "", "the server ends the conversation by itself");
    assert_eq!(known.call(&["PING"]), "PONG", "who only waits keeps its place");
}

#[test]
fn guessing_a_password_takes_long() {
    let secret = tempfile::tempdir().unwrap();
    let file = secret.path().join("password");
    std::fs::write(&file, "correct horse\n").unwrap();
    let server = Server::overheard(&["--password-file", file.to_str().unwrap()]);
    let mut known = server.socket();
    assert_eq!(known.call(&["AUTH", "correct horse"]), "OK");
    let mut guesser = server.socket();
    let guesses: Vec<String> = (0..50).map(|n| guesser.call(&["AUTH", &format!("horse {n}")])).collect();
    let looked_at = guesses.iter().filter(|answer| answer.starts_with("-WRONGPASS ")).count();
    assert!((10..20).contains(&looked_at), "{guesses:?}");
    let said = server.overhead();
    let logged =
        said.lines().filter(|line| line.contains("wrong password") && line.contains("127.0.0.1")).count();
    assert_eq!(logged, looked_at, "{said}");
    assert!(!said.contains("horse"), "{said}");
    let answer = server.socket().call(&["AUTH", "correct horse"]);
    assert!(answer.starts_with("-ERR") && answer.contains("too many wrong passwords"), "{answer}");
    let shown = [("Authorization", "Bearer correct horse")];
    let response = server.http().call("GET", "/v1/digest", &shown, None);
    assert_eq!((response.status, response.code().as_str()), (429, "TOO_MANY_ATTEMPTS"));
    assert_eq!((response.header("retry-after"), &response.json()["retryable"]), (Some("1"), &true.into()));
    assert_eq!(known.call(&["PING"]), "PONG", "who was admitted before goes on");
    wait_until("it may try again", || server.http().call("GET", "/v1/digest", &shown, None).status == 200);
    assert_eq!(server.socket().call(&["AUTH", "correct horse"]), "OK");
}
