//! Data that released versions wrote, opened by this one: every operation gets its first answer again, every read answers as
//! it did, and the state has the same digest.
//!
//! A release adds its own data: `SCARCE_WRITE_EARLIER_DATA=1 cargo test --release -p scarce --test earlier_data`.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Server, Socket, said, scarce};
use tempfile::TempDir;

/// The time at which everything happened: IDs of that day are still remembered then.
const NOW_MS: &str = "1750000000000";

const FLAGS: &[&str] = &["--manual-clock", "--partitions", "2", "--segment-mib", "1"];

/// What is asked of each version. A digest says that nothing else differs.
const READS: &[&str] = &[
    "ACCOUNT.GET alice",
    "ACCOUNT.GET shop",
    "STOCK.GET sneaker",
    "PACKET.GET gift",
    "COUPON.GET spring",
    "MARKET.GET btc-eur",
    "ORDER.GET btc-eur b2",
    "MARKET.DEPTH btc-eur",
    "DIGEST alice",
    "DIGEST shop",
    "DIGEST sneaker",
    "DIGEST gift",
    "DIGEST spring",
    "DIGEST btc-eur",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/earlier_data")
}

fn start(data: &Path) -> (Server, Socket) {
    let server = Server::start(data, FLAGS);
    let mut socket = server.socket();
    assert_eq!(socket.call(&["DEBUG.CLOCK", NOW_MS]), "OK");
    (server, socket)
}

fn ask(socket: &mut Socket, line: &str) -> String {
    socket.call(&line.split(' ').collect::<Vec<_>>())
}

/// The commands that come before the first snapshot, and those behind it.
fn commands() -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder().join("commands.txt")).unwrap();
    let (_, text) = text.split_once("\n\n").unwrap();
    text.split("\n\n").map(|part| part.lines().map(str::to_owned).collect()).collect()
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Writes the data of this version, and what it answers.
fn write() {
    let data = TempDir::new().unwrap();
    let mut transcript = String::new();
    let (server, mut socket) = start(data.path());
    for (at, part) in commands().into_iter().enumerate() {
        for line in part {
            let answer = ask(&mut socket, &line);
            assert!(!answer.starts_with('-'), "{line}: {answer}");
            writeln!(transcript, "{line}\n{answer}").unwrap();
        }
        if at == 0 {
            run(scarce().args(["snapshot", "create", "--resp", &server.address]));
        }
    }
    for line in READS {
        writeln!(transcript, "{line}\n{}", ask(&mut socket, line)).unwrap();
    }
    server.stop();
    let version = env!("CARGO_PKG_VERSION");
    std::fs::write(folder().join(format!("{version}.txt")), transcript).unwrap();
    let mut tar = Command::new("tar");
    tar.args(["--create", "--gzip", "--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--directory"]);
    run(tar.arg(data.path()).arg("--file").arg(folder().join(format!("{version}.tar.gz"))).arg("."));
}

/// The versions whose data is kept.
fn versions() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let names = entries.map(|name| name.to_string_lossy().into_owned());
    names.filter_map(|name| name.strip_suffix(".tar.gz").map(str::to_owned)).collect()
}

#[test]
fn data_of_every_earlier_version_is_read_and_answers_as_it_did() {
    if std::env::var_os("SCARCE_WRITE_EARLIER_DATA").is_some() {
        write();
    }
    let versions = versions();
    assert!(!versions.is_empty(), "no data of an earlier version is kept");
    for version in versions {
        let data = TempDir::new().unwrap();
        let archive = folder().join(format!("{version}.tar.gz"));
        run(Command::new("tar")
            .arg("--extract")
            .arg("--file")
            .arg(archive)
            .arg("--directory")
            .arg(data.path()));
        check(&version, data.path());
    }
}

fn check(version: &str, data: &Path) {
    let transcript = std::fs::read_to_string(folder().join(format!("{version}.txt"))).unwrap();
    let lines: Vec<_> = transcript.lines().collect();
    assert!(lines.len() > 60, "{version}: the transcript was cut");
    let (server, mut socket) = start(data);
    for pair in lines.chunks(2) {
        assert_eq!(ask(&mut socket, pair[0]), pair[1], "{version}: {}", pair[0]);
    }
    // It goes on where the other version ended.
    assert_eq!(ask(&mut socket, "STOCK.RESTOCK sneaker 1 ID new-version"), "[1 4 6]", "{version}");
    server.stop();
    for words in [["journal", "verify"], ["snapshot", "verify"]] {
        let (code, out, err) = said(scarce().args(words).arg("--data").arg(data));
        assert_eq!(code, Some(0), "{version}: {words:?}: {out}{err}");
    }
}
