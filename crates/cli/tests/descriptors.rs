//! A server whose file descriptors run out refuses connections and waits; it does not end.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use redis::Value;
use scarce_client::Client;
use support::{PATIENCE, Server, refused_start, serve, wait_until};
use tempfile::TempDir;

/// How many more callers come than there are descriptors for.
const CALLERS: usize = 160;

/// The bytes of a reason, so that few commands fill a segment of 1 MiB.
const REASON_BYTES: usize = 200;

/// An idle connection, or none if it was refused or is not served.
fn idle(address: &str, request: &[u8], answer: &[u8]) -> Option<TcpStream> {
    let mut socket = TcpStream::connect(address).ok()?;
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(request).ok()?;
    let mut heard = vec![0; answer.len()];
    (socket.read_exact(&mut heard).is_ok() && heard == answer).then_some(socket)
}

/// Writes so much that the journal begins another segment.
fn fill_a_segment(client: &mut Client) -> Result<(), String> {
    let reason = "r".repeat(REASON_BYTES);
    for _ in 0..40 {
        let lines = vec![vec!["STOCK.ADJUST", "sku-1", "1", "REASON", &reason]; 100];
        let answers = client.pipeline(&lines).map_err(|error| error.to_string())?;
        if let Some(refused) = answers.iter().find(|answer| !matches!(answer, Value::Array(_))) {
            return Err(format!("{refused:?}"));
        }
    }
    Ok(())
}

fn segments(data: &Path) -> usize {
    let files = std::fs::read_dir(data.join("partition-0000")).unwrap();
    files.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with("journal-")).count()
}

#[test]
fn idle_sockets_do_not_take_the_descriptors_of_operation_ids() {
    let data = TempDir::new().unwrap();
    let options = ["--partitions", "2", "--operations-in-memory-max", "100"];
    let server = Server::start_limited(data.path(), 256, &options);
    let (mut client, mut http) = (server.connect(), server.http());
    for account in ["a", "b"] {
        client.call(&["ACCOUNT.OPEN", account, "EUR"]).unwrap();
    }
    let mut metrics = || String::from_utf8(http.get("/metrics").body).unwrap();
    metrics();
    let callers: Vec<TcpStream> =
        (0..CALLERS * 2).filter_map(|_| idle(&server.address, b"PING\r\n", b"+PONG\r\n")).collect();
    assert!((60..CALLERS * 2).contains(&callers.len()), "{} connections", callers.len());
    for (account, first) in
        ["a", "b"].into_iter().flat_map(|its| (0..60_000).step_by(500).map(move |at| (its, at)))
    {
        let ids: Vec<String> = (first..first + 500).map(|number| format!("{account}{number}")).collect();
        let lines: Vec<_> = ids.iter().map(|id| vec!["ACCOUNT.CREDIT", account, "1", "ID", id]).collect();
        let answers = client.pipeline(&lines).unwrap();
        assert!(answers.iter().all(|answer| matches!(answer, Value::Array(_))), "{answers:?}");
    }
    let is_moved = |text: &str, partition: u32| {
        let name = format!("scarce_operations_in_memory{{partition=\"{partition}\"}} ");
        let count = text.lines().find_map(|line| line.strip_prefix(&name)).unwrap();
        count.parse::<u64>().unwrap() <= 1_000
    };
    wait_until("the others are in files", || {
        let text = metrics();
        (0..2).all(|partition| is_moved(&text, partition))
    });
    let text = metrics();
    assert!(!text.contains("scarce_operation_files_failing{partition=\"0\"} 1"), "{text}");
    assert!(!text.contains("scarce_operation_files_failing{partition=\"1\"} 1"), "{text}");
    drop(callers);
    server.stop();
}

#[test]
fn idle_sockets_do_not_take_the_descriptors_of_the_journal() {
    let data = TempDir::new().unwrap();
    let server = Server::start_limited(data.path(), 128, &["--segment-mib", "1"]);
    let mut client = server.connect();
    client.call(&["STOCK.CREATE", "sku-1", "1"]).unwrap();
    let callers: Vec<TcpStream> = (0..CALLERS)
        .filter_map(|_| idle(&server.address, b"PING\r\n", b"+PONG\r\n"))
        .chain((0..2).filter_map(|_| {
            idle(&server.http, b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", b"HTTP/1.1 200")
        }))
        .collect();
    assert!((20..CALLERS).contains(&callers.len()), "{} connections", callers.len());
    let refused = idle(&server.address, b"PING\r\n", b"-ERR max number of clients reached\r\n");
    assert!(refused.is_some(), "a caller is told why it is refused");
    let refused = idle(&server.http, b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 503 Service Unavailable\r\n");
    assert!(refused.is_some(), "so is one over HTTP");

    let probe = |path: &str| {
        let mut http = server.http();
        http.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
        let answer = http.response();
        (answer.status, String::from_utf8(answer.body).unwrap())
    };
    for _ in 0..10 {
        assert_eq!(probe("/livez"), (200, "ok\n".to_owned()), "the process lives, and must not be restarted");
    }
    // Nor do connections that say nothing keep it from telling so.
    let silent: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(&server.http).unwrap()).collect();
    for _ in 0..10 {
        assert_eq!(probe("/livez"), (200, "ok\n".to_owned()));
    }
    drop(silent);
    let (status, text) = probe("/readyz");
    assert!(status == 503 && text.contains("[-] there is a place for another connection failed"), "{text}");
    assert_eq!(probe("/metrics").0, 503);

    for _ in 0..3 {
        fill_a_segment(&mut client).unwrap();
    }
    assert!(segments(data.path()) > 2);
    drop(callers);
    wait_until("others are served again", || idle(&server.address, b"PING\r\n", b"+PONG\r\n").is_some());
    assert_eq!(probe("/readyz"), (200, "ready\n".to_owned()));
    let text = String::from_utf8(server.http().get("/metrics").body).unwrap();
    let figure = |name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{text}"));
        line.trim().parse().unwrap()
    };
    assert_eq!(figure("process_max_fds "), 128);
    assert!((10..128).contains(&figure("process_open_fds ")), "{text}");
    assert!(figure("scarce_connections_open ") <= figure("scarce_connections_max "));
    assert!(figure("scarce_connections_refused_total ") >= 2);
    server.stop();
}

#[test]
fn a_limit_that_leaves_no_connection_is_refused_at_the_start() {
    let data = TempDir::new().unwrap();
    for limit in ["20", "50"] {
        let server = serve(data.path(), &[]);
        let mut command = Command::new("timeout");
        command.args(["120", "sh", "-c", &format!("ulimit -n {limit} && exec \"$0\" \"$@\"")]);
        command.arg(server.get_program()).args(server.get_args());
        let (code, message) = refused_start(&mut command);
        assert_eq!(code, Some(1), "{message}");
        let expected =
            format!("the limit of open files is {limit}, and a server with these settings needs 60 ");
        assert!(message.contains(&expected), "{message}");
    }
}

#[test]
fn a_journal_without_a_descriptor_waits_for_one() {
    let data = TempDir::new().unwrap();
    let server = Server::overheard_at(data.path(), &["--segment-mib", "1"]);
    let mut client = server.connect();
    client.call(&["STOCK.CREATE", "sku-1", "1"]).unwrap();
    let limit = |files: &str| {
        let pid = server.pid().to_string();
        let set = Command::new("prlimit").args(["--pid", &pid, &format!("--nofile={files}:")]).status();
        assert!(set.expect("prlimit is installed: apt-get install util-linux").success());
    };
    limit("3");
    client.call(&["CONSUMER", "CONFIRM", "audit", "me", "0", "0", "0"]).unwrap();
    wait_until("its position cannot be saved", || server.overhead().contains("cannot be saved"));
    let mut refused = String::new();
    wait_until("changes are refused", || match fill_a_segment(&mut client) {
        Ok(()) => false,
        Err(reason) => {
            refused = reason;
            true
        }
    });
    assert!(refused.contains("no file descriptor for another journal segment"), "{refused}");
    wait_until("that is told", || server.overhead().contains("the partition takes no changes"));
    assert!(
        server.overhead().contains("no file descriptor for another journal segment"),
        "{}",
        server.overhead()
    );

    limit("200");
    wait_until("changes are taken again", || fill_a_segment(&mut client).is_ok());
    assert_eq!(server.http().get("/readyz").status, 200);
    assert!(segments(data.path()) > 1);
    wait_until("that is told", || server.overhead().contains("the partition takes changes again"));
    wait_until("its position is saved", || server.overhead().contains("are saved again"));
    let told = server.overhead().lines().filter(|line| line.contains("cannot be saved")).count();
    assert_eq!(told, 1, "one line is enough: {}", server.overhead());
    server.stop();
}
