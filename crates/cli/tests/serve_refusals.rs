//! When `scarce serve` must refuse to start, and its error messages.

mod support;

use std::io::{Seek, SeekFrom, Write};

use support::{Server, first_segment, refused_start, scarce, serve};
use tempfile::TempDir;

#[test]
fn a_second_server_on_the_same_data_is_refused_with_the_first_ones_pid() {
    let data = TempDir::new().unwrap();
    let server = Server::start(data.path(), &[]);
    let (code, message) = refused_start(&mut serve(data.path(), &[]));
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains(&format!("process {}", server.pid())), "{message}");
    assert_eq!(server.socket().call(&["PING"]), "PONG");
}

#[test]
fn a_journal_of_a_newer_version_is_refused_with_the_version_found() {
    let data = TempDir::new().unwrap();
    let server = Server::start(data.path(), &[]);
    server.socket().call(&["STOCK.CREATE", "sku", "10"]);
    server.stop();
    let path = first_segment(data.path());
    // Bytes 8 to 11 of a segment are the version, in every version.
    let mut segment = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    segment.seek(SeekFrom::Start(8)).unwrap();
    segment.write_all(&7_u32.to_le_bytes()).unwrap();
    drop(segment);
    let before = std::fs::read(&path).unwrap();
    let (code, message) = refused_start(&mut serve(data.path(), &[]));
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("version 7"), "{message}");
    assert!(message.contains(&*path.file_name().unwrap().to_string_lossy()), "{message}");
    assert_eq!(std::fs::read(&path).unwrap(), before, "a refused journal is left as it is");
}

#[test]
fn off_loopback_a_password_is_needed() {
    let data = TempDir::new().unwrap();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let (code, message) = refused_start(
            scarce().args(["serve", "--resp", address, "--http", "off", "--data"]).arg(data.path()),
        );
        assert_eq!(code, Some(2), "{message}");
        assert!(message.contains("no password") && message.contains("--password-file"), "{message}");
    }
}

#[test]
fn off_loopback_a_password_is_long_unless_somebody_insists() {
    let data = TempDir::new().unwrap();
    let file = data.path().join("password");
    std::fs::write(&file, "x\n").unwrap();
    let serve = |resp: &str, more: &[&str]| {
        let mut command = scarce();
        command.args(["serve", "--resp", resp, "--http", "off", "--data"]).arg(data.path().join("data"));
        command.arg("--password-file").arg(&file).args(more);
        command
    };
    let (code, message) = refused_start(&mut serve("0.0.0.0:0", &[]));
    assert_eq!(code, Some(2), "{message}");
    assert!(
        message.contains("only 1 of at least 12") && message.contains("--accept-weak-password"),
        "{message}"
    );
    for (resp, more) in [("127.0.0.1:0", &[][..]), ("0.0.0.0:0", &["--accept-weak-password"])] {
        let mut server = serve(resp, more).stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let stdout = server.stdout.take().unwrap();
        let read = std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line);
        server.kill().unwrap();
        server.wait().unwrap();
        assert!(read.is_ok() && line.contains("resp "), "{resp} {more:?}: {line}");
    }
}

#[test]
fn an_address_that_is_taken_is_named() {
    let server = Server::fresh(&[]);
    let data = TempDir::new().unwrap();
    let (code, message) = refused_start(
        scarce().args(["serve", "--resp", &server.address, "--http", "off", "--data"]).arg(data.path()),
    );
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains(&server.address) && message.contains("--resp"), "{message}");
}

#[test]
fn a_wrong_command_line_is_refused_with_the_usage() {
    for words in [&["serve", "--resp", "nowhere"][..], &["serve", "--partitions", "0"], &["no-such"]] {
        let (code, message) = refused_start(scarce().args(words));
        assert_eq!(code, Some(2), "{message}");
        assert!(message.contains("--help"), "{message}");
    }
}

#[test]
fn a_clean_end_and_a_kill_leave_the_same_state() {
    let data = TempDir::new().unwrap();
    let server = Server::start(data.path(), &[]);
    let mut socket = server.socket();
    socket.call(&["STOCK.CREATE", "sku", "10"]);
    socket.call(&["STOCK.TAKE", "sku", "3", "u1"]);
    let shown = socket.call(&["STOCK.GET", "sku"]);
    let digest = socket.call(&["DIGEST", "sku"]);
    server.stop();
    let mut server = Server::start(data.path(), &[]);
    assert_eq!(server.socket().call(&["STOCK.GET", "sku"]), shown);
    server.kill();
    let server = Server::start(data.path(), &[]);
    assert_eq!(server.socket().call(&["STOCK.GET", "sku"]), shown);
    assert_eq!(server.socket().call(&["DIGEST", "sku"]), digest);
}
