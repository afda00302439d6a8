//! Debits over the RESP port whose machine instructions are counted. `cargo xtask bench --instructions` runs
//! `port_instructions CASE` for each case under callgrind, which counts what the owner's thread does and nothing else: from
//! the bytes of a socket to the bytes of its replies, with the hand-over to the committer in between. Without a case it
//! prints the names of all, and how many commands each sends.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use scarce_engine::clock::ManualClock;
use scarce_server::serve::{Options, Server};
use scarce_settings::{Given, Origin, Sources, load};

/// As in the server itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Debits of one kind.
struct Case {
    name: &'static str,
    /// How many are sent.
    count: u64,
    /// How many are sent at once, before their replies are read.
    in_flight: u64,
    has_id: bool,
}

const CASES: &[Case] = &[
    Case { name: "port: debit, 64 in flight", count: 20_480, in_flight: 64, has_id: false },
    Case { name: "port: debit, id, 64 in flight", count: 20_480, in_flight: 64, has_id: true },
    Case { name: "port: debit, id, 1 in flight", count: 1_024, in_flight: 1, has_id: true },
];

/// What a reply to a debit begins with, and how many lines it has.
const REPLY: (&[u8], usize) = (b"*3\r\n:1\r\n", 4);

fn main() -> Result<(), Box<dyn Error>> {
    let Some(name) = std::env::args().nth(1) else {
        let mut out = std::io::stdout().lock();
        return Ok(CASES.iter().try_for_each(|case| writeln!(out, "{} {}", case.name, case.count))?);
    };
    let case = CASES.iter().find(|case| case.name == name).ok_or(format!("there is no case '{name}'"))?;
    let folder = tempfile::tempdir()?;
    let server = start(folder.path())?;
    let stopper = server.stopper();
    let played = play(case, server.resp_address());
    stopper.stop();
    server.join()?;
    played
}

fn start(data: &Path) -> Result<Server, Box<dyn Error>> {
    let given = |key, text: &str| Given {
        key,
        text: text.to_owned(),
        by_file: false,
        origin: Origin::Flag(key.to_owned()),
    };
    let data = data.to_string_lossy();
    let [resp, http] = [given("resp", "127.0.0.1:0"), given("http", "off")];
    // Its clock, too, is one that valgrind hides.
    let flags = vec![given("data", &data), resp, http, given("audit", "false")];
    let loaded = load(&Sources { flags, ..Sources::default() });
    let loaded = loaded.map_err(|problems| scarce_settings::listed(&problems))?;
    // Valgrind hides the page of the kernel from which the clock since the boot is read.
    let options = Options { manual_clock: Some(ManualClock::default()), ..Options::default() };
    Ok(Server::start(&loaded.settings, &options, &mut |_| {})?)
}

fn play(case: &Case, address: SocketAddr) -> Result<(), Box<dyn Error>> {
    let mut socket = TcpStream::connect(address)?;
    socket.set_nodelay(true)?;
    ask(&mut socket, &request(&["ACCOUNT.OPEN", "a", "EUR", "OVERDRAFT", "9007199254740991"]), 1, 3)?;
    for first in (0..case.count).step_by(usize::try_from(case.in_flight)?) {
        let batch: Vec<u8> = (first..first + case.in_flight).flat_map(|at| debit(case, at)).collect();
        let replies = ask(&mut socket, &batch, usize::try_from(case.in_flight)?, REPLY.1)?;
        if !replies.starts_with(REPLY.0) {
            return Err(format!("no debit: {}", String::from_utf8_lossy(&replies)).into());
        }
    }
    Ok(())
}

fn debit(case: &Case, at: u64) -> Vec<u8> {
    let id = format!("op-{at:012}");
    let words = ["ACCOUNT.DEBIT", "a", "1", "ID", &id];
    request(if case.has_id { &words } else { &words[..3] })
}

fn request(words: &[&str]) -> Vec<u8> {
    let words = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len()));
    format!("*{}\r\n{}", words.len(), words.collect::<String>()).into_bytes()
}

/// Sends requests, and reads their replies of so many lines each.
fn ask(socket: &mut TcpStream, requests: &[u8], count: usize, lines: usize) -> std::io::Result<Vec<u8>> {
    socket.write_all(requests)?;
    let (mut replies, mut buffer) = (Vec::new(), [0; 16 << 10]);
    while replies.iter().filter(|byte| **byte == b'\n').count() < count * lines {
        let read = socket.read(&mut buffer)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        replies.extend_from_slice(&buffer[..read]);
    }
    Ok(replies)
}
