//! Bad and hostile input to the RESP port: the server says what is wrong if it can, changes nothing, and
//! continues to serve everyone else.

mod support;

use support::{Server, Socket, frame};
use tempfile::TempDir;

/// The input, and what the error must contain: the argument and the reason.
const REFUSED: &[(&str, &str)] = &[
    ("STOCK.TAKE", "sku is missing"),
    ("STOCK.TAKE sku", "quantity is missing"),
    ("STOCK.TAKE sku 1", "owner is missing"),
    ("STOCK.TAKE sku 1 u1 more", "option 'more' is not an option of this command"),
    ("STOCK.TAKE sku 1.5 u1", "quantity must be an integer from 1 to 9007199254740991"),
    ("STOCK.TAKE sku 1e3 u1", "quantity must be an integer from 1 to 9007199254740991"),
    ("STOCK.TAKE sku 0x1 u1", "quantity must be an integer from 1 to 9007199254740991"),
    ("STOCK.TAKE sku +1 u1", "quantity must be an integer from 1 to 9007199254740991"),
    ("STOCK.TAKE sku 01 u1", "quantity must be an integer from 1 to 9007199254740991"),
    ("STOCK.TAKE sku 0 u1", "quantity must be an integer from 1 to 9007199254740991"),
    ("STOCK.TAKE sku -1 u1", "quantity must be an integer from 1 to 9007199254740991"),
    ("STOCK.TAKE sku 9007199254740992 u1", "quantity must be an integer from 1 to 9007199254740991"),
    ("STOCK.TAKE sku 18446744073709551617 u1", "quantity must be an integer from 1 to 9007199254740991"),
    ("STOCK.TAKE sku NaN u1", "quantity must be an integer from 1 to 9007199254740991"),
    ("STOCK.TAKE sku _ u1", "quantity must be an integer from 1 to 9007199254740991"),
    ("STOCK.TAKE _ 1 u1", "sku must be"),
    ("STOCK.TAKE sku 1 _", "owner must be"),
    ("STOCK.TAKE s\u{fc}u 1 u1", "sku may hold"),
    ("STOCK.TAKE s\r\nu 1 u1", "sku may hold"),
    ("STOCK.TAKE s\0u 1 u1", "sku may hold"),
    ("STOCK.TAKE {a}{b} 1 u1", "sku may have one hash tag"),
    ("STOCK.TAKE sku 1 u1 ID", "ID is missing"),
    ("STOCK.TAKE sku 1 u1 ID _", "ID must be"),
    ("STOCK.TAKE sku 1 u1 ID a ID b", "ID is given twice"),
    ("STOCK.TAKE sku 1 u1 DEADLINE soon", "DEADLINE must be"),
    ("STOCK.TAKE sku 1 u1 DEADLINE 1 DEADLINE 2", "DEADLINE is given twice"),
    ("STOCK.TAKE sku 1 u1 DURABILITY", "DURABILITY is missing"),
    ("STOCK.TAKE sku 1 u1 DURABILITY disk", "DURABILITY must be memory, replicated or synced"),
    ("STOCK.TAKE sku 1 u1 DURABILITY memory DURABILITY synced", "DURABILITY is given twice"),
    ("STOCK.GET sku ID a", "option 'ID' is not an option of this command"),
    ("STOCK.CREATE new 5 PEROWNER", "per_owner_max is missing"),
    ("STOCK.CREATE new 5 PEROWNER 1 PEROWNER 2", "per_owner_max is given twice"),
    ("STOCK.ADJUST sku 9007199254740992 REASON lost", "delta must be an integer from -9007199254740991"),
    ("ORDER.PLACE m o u HOLD LIMIT 1 1", "side must be one of BUY|SELL"),
    ("ORDER.PLACE m o u BUY STOP 1 1", "pricing must be LIMIT price or MARKET"),
    ("PACKET.CREATE c USD AMOUNTS 3 1 2", "amounts are fewer than n says"),
    ("PACKET.CREATE c USD PLAN 10 3 UNEVEN", "method must be one of EVEN|DOUBLE_MEAN|LINE_CUT"),
];

/// The words of a line; `_` stands for the empty word.
fn words(line: &str) -> Vec<&str> {
    line.split(' ').map(|word| if word == "_" { "" } else { word }).collect()
}

fn stocked() -> (Server, Socket) {
    let server = Server::fresh(&[]);
    let mut socket = server.socket();
    assert_eq!(socket.call(&["STOCK.CREATE", "sku", "10"]), "[1 10]");
    (server, socket)
}

#[test]
fn a_malformed_argument_is_named_with_the_usage() {
    let (_server, mut socket) = stocked();
    let before = socket.call(&["DIGEST"]);
    for (line, problem) in REFUSED {
        let words = words(line);
        let usage = format!("Usage: {} ", words[0]);
        let reply = socket.call(&words);
        assert!(reply.starts_with("-ERR INVALID "), "{line:?}: {reply}");
        assert!(reply.contains(problem) && reply.contains(&usage), "{line:?}: {reply}");
    }
    assert_eq!(socket.call(&["DIGEST"]), before);
}

/// Sends a batch of one line after an option, and returns the answers to the option and to `EXEC`.
fn batch(socket: &mut Socket, option: &str) -> (String, String) {
    assert_eq!(socket.call(&["MULTI"]), "OK");
    let queued = socket.call(&words(option));
    assert_eq!(socket.call(&words("STOCK.TAKE sku 1 u1")), "QUEUED");
    (queued, socket.call(&["EXEC"]))
}

#[test]
fn a_batch_says_before_its_lines_how_safe_it_must_be() {
    let (_server, mut socket) = stocked();
    let done = |taken: &str| ("QUEUED".to_owned(), format!("[OK [1 {taken}]]"));
    assert_eq!(batch(&mut socket, "BATCH.DURABILITY synced"), done("1 9"));
    assert_eq!(batch(&mut socket, "BATCH.ID b1 DURABILITY memory"), done("2 8"));
    assert_eq!(batch(&mut socket, "batch.id b1 durability SYNCED deadline 1"), done("2 8"), "a copy");
    let before = socket.call(&["DIGEST"]);
    for option in
        ["BATCH.DURABILITY replicated", "BATCH.ID b2 DEADLINE 9007199254740991 DURABILITY replicated"]
    {
        let (queued, answer) = batch(&mut socket, option);
        assert_eq!(queued, "QUEUED");
        assert!(answer.starts_with("-UNAVAILABLE this engine has no replicas"), "{option}: {answer}");
    }
    for line in
        ["STOCK.TAKE sku 1 u1 DURABILITY replicated", "DRYRUN STOCK.TAKE sku 1 u1 DURABILITY replicated"]
    {
        let answer = socket.call(&words(line));
        assert!(answer.starts_with("-UNAVAILABLE this engine has no replicas"), "{line}: {answer}");
    }
    assert_eq!(socket.call(&["DIGEST"]), before);
}

#[test]
fn what_is_no_option_of_a_batch_ends_it() {
    let (_server, mut socket) = stocked();
    let before = socket.call(&["DIGEST"]);
    for (option, problem) in [
        ("BATCH.ID", "arguments are not as the usage says"),
        ("BATCH.ID b DURABILITY", "arguments are not as the usage says"),
        ("BATCH.ID b SAFETY synced", "arguments are not as the usage says"),
        ("BATCH.ID b ID c", "arguments name an option twice"),
        ("BATCH.ID b DURABILITY disk", "durability must be memory, replicated or synced"),
        ("BATCH.DEADLINE 5 DURABILITY synced", "arguments are not as the usage says"),
        ("BATCH.DURABILITY", "arguments are not as the usage says"),
        ("BATCH.DURABILITY disk", "durability must be memory, replicated or synced"),
        ("BATCH.DURABILITY synced ID b", "arguments are not as the usage says"),
    ] {
        let usage = format!("Usage: {} ", words(option)[0]);
        let (queued, answer) = batch(&mut socket, option);
        assert!(queued.starts_with("-ERR INVALID ") && queued.contains(&usage), "{option}: {queued}");
        assert!(queued.contains(problem), "{option}: {queued}");
        assert!(answer.starts_with("-EXECABORT "), "{option}: {answer}");
    }
    assert_eq!(socket.call(&["MULTI"]), "OK");
    let line = socket.call(&words("STOCK.TAKE sku 1 u1 DURABILITY synced"));
    assert!(line.starts_with("-ERR lines of a batch carry no ID, DEADLINE or DURABILITY"), "{line}");
    assert!(socket.call(&["EXEC"]).starts_with("-EXECABORT "));
    assert_eq!(socket.call(&["DIGEST"]), before);
}

#[test]
fn ids_are_at_most_64_bytes_and_operation_ids_128() {
    let (_server, mut socket) = stocked();
    let before = socket.call(&["DIGEST"]);
    let (id, operation) = ("i".repeat(65), "o".repeat(129));
    let reply = socket.call(&["STOCK.TAKE", &id, "1", "u1"]);
    assert!(reply.starts_with("-ERR INVALID sku ") && reply.contains("64"), "{reply}");
    let reply = socket.call(&["STOCK.TAKE", "sku", "1", &id]);
    assert!(reply.starts_with("-ERR INVALID owner "), "{reply}");
    let reply = socket.call(&["STOCK.TAKE", "sku", "1", "u1", "ID", &operation]);
    assert!(reply.starts_with("-ERR INVALID ID ") && reply.contains("128"), "{reply}");
    assert_eq!(socket.call(&["DIGEST"]), before);
    assert_eq!(socket.call(&["STOCK.TAKE", "sku", "1", &id[1..], "ID", &operation[1..]]), "[1 1 9]");
}

#[test]
fn no_text_of_a_caller_breaks_a_reply() {
    let (_server, mut socket) = stocked();
    assert_eq!(socket.call(&["ECHO", "a\r\n+OK\r\n"]), "a\r\n+OK");
    for name in ["NO.SUCH", "NO\r\n+OK\r\nSUCH", "", "\u{1b}[31mred"] {
        let reply = socket.call(&[name, "x\r\n:1\r\n"]);
        assert!(reply.starts_with("-ERR unknown command"), "{reply:?}");
        assert!(!reply.contains('\u{1b}'), "{reply:?}");
    }
    assert_eq!(socket.call(&["PING"]), "PONG");
}

#[test]
fn what_is_no_request_is_answered_by_an_error_and_the_end() {
    let (server, mut other) = stocked();
    let before = other.call(&["DIGEST"]);
    let frames: &[&[u8]] = &[
        b"*1\r\n*1\r\n$4\r\nPING\r\n",
        b"*99999999999\r\n",
        b"*4097\r\n",
        b"*1\r\n$1048577\r\n",
        b"*1\r\n$99999999999999999999\r\n",
        b"*1\r\n$-5\r\n",
        b"*1\r\n$4\r\nPINGPONG\r\n",
        b"*one\r\n",
        b"*1\n$4\r\nPING\r\n",
        b"*1\r\n:4\r\n",
        b"*2\r\n$4\r\nECHO\r\n+OK\r\n",
        b"*111111111111111111111111111111111111111111111111",
    ];
    for bytes in frames {
        let mut socket = server.socket();
        socket.send(bytes);
        let reply = socket.rest();
        let shown = String::from_utf8_lossy(bytes);
        assert!(
            reply.starts_with("-ERR Protocol error: ") && reply.ends_with("\r\n"),
            "{shown:?}: {reply:?}"
        );
        assert_eq!(reply.lines().count(), 1, "{shown:?}: {reply:?}");
        assert_eq!(other.call(&["PING"]), "PONG");
    }
    assert_eq!(other.call(&["DIGEST"]), before);
}

#[test]
fn a_line_that_never_ends_is_cut_off() {
    let (server, mut other) = stocked();
    let mut socket = server.socket();
    socket.send(&vec![b'x'; 17 << 10]);
    assert_eq!(socket.rest(), "-ERR Protocol error: too big inline request\r\n");
    assert_eq!(other.call(&["PING"]), "PONG");
}

#[test]
fn a_request_that_is_cut_off_anywhere_changes_nothing() {
    let (server, mut other) = stocked();
    let before = other.call(&["DIGEST"]);
    let bytes = frame(&["STOCK.TAKE", "sku", "1", "u1"]);
    for end in 1..bytes.len() {
        let mut socket = server.socket();
        socket.send(&bytes[..end]);
        socket.end();
        assert_eq!(socket.rest(), "", "cut off after {end} bytes");
    }
    assert_eq!(other.call(&["DIGEST"]), before);
    assert_eq!(other.call(&["STOCK.TAKE", "sku", "1", "u1"]), "[1 1 9]");
}

#[test]
fn who_stops_sending_still_gets_every_answer() {
    let (server, _other) = stocked();
    let mut socket = server.socket();
    socket.send(&frame(&["STOCK.TAKE", "sku", "1", "u1"]).repeat(3));
    socket.end();
    assert_eq!(socket.rest(), "*3\r\n:1\r\n:1\r\n:9\r\n*3\r\n:1\r\n:2\r\n:8\r\n*3\r\n:1\r\n:3\r\n:7\r\n");
}

#[test]
fn a_browser_is_cut_off_without_an_answer() {
    let (server, mut other) = stocked();
    let before = other.call(&["DIGEST"]);
    let body = "STOCK.TAKE sku 1 u1\r\n";
    for head in ["POST / HTTP/1.1\r\n", "post / HTTP/1.1\r\n", "Host: shop.example\r\n"] {
        let mut socket = server.socket();
        socket.send(format!("{head}\r\n{body}").as_bytes());
        assert_eq!(socket.rest(), "", "{head:?}");
    }
    let mut socket = server.socket();
    socket.send(format!("GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n{body}").as_bytes());
    assert!(!socket.rest().contains("[1"), "what follows a Host line is never a command");
    assert_eq!(other.call(&["DIGEST"]), before);
}

#[test]
fn one_byte_at_a_time_works_and_delays_nobody() {
    let (server, mut other) = stocked();
    let mut slow = server.socket();
    for byte in frame(&["STOCK.TAKE", "sku", "1", "u1", "ID", "slow-1"]) {
        slow.send(&[byte]);
        assert_eq!(other.call(&["ECHO", "still here"]), "still here");
    }
    assert_eq!(slow.reply(), "[1 1 9]");
}

#[test]
fn who_does_not_read_costs_no_memory_and_gets_all_in_the_end() {
    let (server, mut other) = stocked();
    let mut length = server.socket();
    length.send(&frame(&["COMMAND", "DOCS"]));
    length.send(&frame(&["QUIT"]));
    let reply_bytes = length.rest().len() - "+OK\r\n".len();
    let count = (100 << 20) / reply_bytes + 1;
    let before = server.resident_kib();
    let mut deaf = server.socket();
    deaf.send(&frame(&["COMMAND", "DOCS"]).repeat(count));
    deaf.send(&frame(&["QUIT"]));
    for _ in 0..1_000 {
        assert_eq!(other.call(&["PING"]), "PONG");
    }
    let grown_kib = server.resident_kib().saturating_sub(before);
    assert!(grown_kib < 32 << 10, "100 MB of unread replies cost {grown_kib} KiB");
    assert_eq!(deaf.rest().len(), count * reply_bytes + "+OK\r\n".len());
}

#[test]
fn before_the_password_little_is_taken() {
    let secret = TempDir::new().unwrap();
    let file = secret.path().join("password");
    std::fs::write(&file, "correct horse\n").unwrap();
    let server = Server::fresh(&["--password-file", file.to_str().unwrap()]);
    for bytes in [&b"*11\r\n"[..], b"*1\r\n$16385\r\n", &vec![b'x'; 17 << 10]] {
        let mut socket = server.socket();
        socket.send(bytes);
        assert!(socket.rest().starts_with("-ERR Protocol error: "));
    }
    let mut socket = server.socket();
    for line in ["PING", "STOCK.CREATE sku 1", "DIGEST", "INFO", "MULTI", "EXEC", "COMMAND DOCS", "NO.SUCH"] {
        let reply = socket.call(&words(line));
        assert!(reply.starts_with("-NOAUTH "), "{line}: {reply}");
    }
    assert!(socket.call(&["HELLO", "3"]).starts_with("-NOAUTH "));
    for wrong in ["", "wrong", "correct horse\n", "correct hors", "correct horsee"] {
        assert!(socket.call(&["AUTH", wrong]).starts_with("-WRONGPASS "), "{wrong:?}");
    }
    assert!(socket.call(&["STOCK.GET", "sku"]).starts_with("-NOAUTH "));
    assert_eq!(socket.call(&["AUTH", "default", "correct horse"]), "OK");
    assert_eq!(socket.call(&["STOCK.CREATE", "sku", "10"]), "[1 10]");
    assert_eq!(socket.call(&["ECHO", &"x".repeat(20_000)]).len(), 20_000);
    assert_eq!(socket.call(&["RESET"]), "RESET");
    assert!(socket.call(&["PING"]).starts_with("-NOAUTH "));
}

#[test]
fn afterwards_a_request_is_at_most_4096_words_and_a_mebibyte() {
    let (_server, mut socket) = stocked();
    let mut words = vec!["PING"; 4_096];
    assert!(socket.call(&words).starts_with("-ERR wrong number of arguments"));
    let text = "x".repeat((1 << 20) - 64);
    assert_eq!(socket.call(&["ECHO", &text]).len(), text.len());
    words.push("PING");
    socket.send(&frame(&words)[..7]);
    assert_eq!(socket.rest(), "-ERR Protocol error: too many arguments\r\n");
}
