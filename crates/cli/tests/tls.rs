//! Both ports over TLS: who gets in, what others are told, renewed certificates, callers that do not finish.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "tls/authority.rs"]
mod authority;
mod support;

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use authority::Authority;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use support::{Server, frame, said, scarce, wait_until};

type Encrypted = StreamOwned<ClientConnection, TcpStream>;

/// A server whose ports show `server.crt` of the folder.
fn serve(folder: &Path, more: &[&str]) -> Server {
    let at = |name: &str| folder.join(name).display().to_string();
    let (certificate, key) = (at("server.crt"), at("server.key"));
    Server::overheard(&[&["--tls-cert", &certificate, "--tls-key", &key], more].concat())
}

/// A connection that trusts the authority, before its handshake.
fn connect(authority: &Authority, address: &str) -> Encrypted {
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let tls = ClientConnection::new(Arc::new(authority.client()), name).unwrap();
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    StreamOwned::new(tls, socket)
}

fn read(stream: &mut Encrypted, bytes: usize) -> String {
    let mut answer = vec![0; bytes];
    stream.read_exact(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

fn ping(stream: &mut Encrypted) -> std::io::Result<()> {
    stream.write_all(&frame(&["PING"]))?;
    let mut answer = [0; 7];
    stream.read_exact(&mut answer)?;
    assert_eq!(&answer, b"+PONG\r\n");
    Ok(())
}

/// The certificate that the server shows.
fn shown(authority: &Authority, address: &str) -> Vec<u8> {
    let mut stream = connect(authority, address);
    ping(&mut stream).unwrap();
    stream.conn.peer_certificates().unwrap()[0].to_vec()
}

fn call(server: &Server, options: &[&str]) -> (Option<i32>, String, String) {
    said(scarce().args(["call", "--resp", &server.address]).args(options).arg("PING"))
}

#[test]
fn callers_with_tls_are_served_on_both_ports_and_others_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    authority.sign(folder.path(), "server");
    authority.write(folder.path());
    let server = serve(folder.path(), &[]);
    let authorities = folder.path().join("ca.crt").display().to_string();
    assert_eq!(call(&server, &["--tls-ca", &authorities]).1, "PONG\n");
    // The system's authorities do not know it.
    assert_eq!(call(&server, &["--tls"]).0, Some(4));
    let (code, told, _) = call(&server, &[]);
    assert!(code != Some(0) && told.contains("this port speaks TLS"), "{told}");

    let mut http = connect(&authority, &server.http);
    http.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    http.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let plain = server.http().get("/livez");
    assert_eq!((plain.status, plain.text().as_str()), (400, "this port speaks TLS; use https://\n"));
}

#[test]
fn much_at_once_and_slow_readers_get_everything_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    authority.sign(folder.path(), "server");
    let server = serve(folder.path(), &[]);
    let mut stream = connect(&authority, &server.address);
    ping(&mut stream).unwrap();
    // More than sockets and buffers hold, so that both sides wait for each other now and then.
    let text = |at: usize| format!("{at:06}").repeat(2_000);
    let mut writer = stream.sock.try_clone().unwrap();
    let mut requests = Vec::new();
    (0..1_000).for_each(|at| requests.extend(frame(&["ECHO", &text(at)])));
    // What is encrypted here is written by another thread, which waits while nothing is read here.
    stream.conn.set_buffer_limit(None);
    stream.conn.writer().write_all(&requests).unwrap();
    let mut encrypted = Vec::new();
    while stream.conn.wants_write() {
        stream.conn.write_tls(&mut encrypted).unwrap();
    }
    let writing = std::thread::spawn(move || writer.write_all(&encrypted));
    for at in 0..1_000 {
        assert_eq!(read(&mut stream, 8), "$12000\r\n");
        assert_eq!(read(&mut stream, 12_002), text(at) + "\r\n");
    }
    writing.join().unwrap().unwrap();
    stream.write_all(&frame(&["QUIT"])).unwrap();
    let mut rest = Vec::new();
    // It says that nothing follows; a connection that merely breaks would be an error here.
    stream.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"+OK\r\n");
}

/// Writes an authority, certificates of a server and a caller that it signed, and one of a stranger that it did not.
fn certify(folder: &Path) {
    let (authority, other) = (Authority::new(), Authority::new());
    authority.sign(folder, "server");
    authority.sign(folder, "caller");
    other.sign(folder, "stranger");
    authority.write(folder);
}

#[test]
fn callers_show_a_certificate_where_one_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let authorities = at("ca.crt");
    let server = serve(folder.path(), &["--tls-client-ca", &authorities]);
    let call_as = |name: &str| {
        let (certificate, key) = (at(&format!("{name}.crt")), at(&format!("{name}.key")));
        let shown = ["--tls-client-cert", &certificate, "--tls-client-key", &key];
        call(&server, &[&["--tls-ca", &authorities], &shown[..]].concat())
    };
    assert_eq!(call_as("caller").1, "PONG\n");
    assert_ne!(call_as("stranger").0, Some(0));
    assert_ne!(call(&server, &["--tls-ca", &authorities]).0, Some(0));
}

#[test]
fn a_renewed_certificate_is_shown_without_a_restart_and_a_wrong_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    authority.sign(folder.path(), "server");
    let server = serve(folder.path(), &[]);
    let mut before = connect(&authority, &server.address);
    ping(&mut before).unwrap();
    let (first, first_http) = (shown(&authority, &server.address), server.http.clone());
    std::fs::write(folder.path().join("server.key"), "nonsense").unwrap();
    server.signal("HUP");
    wait_until("the wrong key is told", || server.overhead().contains("has no private key"));
    assert_eq!(shown(&authority, &server.address), first);
    authority.sign(folder.path(), "server");
    server.signal("HUP");
    wait_until("the new one is shown", || shown(&authority, &server.address) != first);
    let mut http = connect(&authority, &first_http);
    http.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert_eq!(read(&mut http, 12), "HTTP/1.1 200");
    assert_ne!(http.conn.peer_certificates().unwrap()[0].as_ref(), first);
    ping(&mut before).unwrap();
    // Without a signal it is found as well.
    let second = shown(&authority, &server.address);
    authority.sign(folder.path(), "server");
    wait_until("the next one is shown", || shown(&authority, &server.address) != second);
}

#[test]
fn a_file_that_never_answers_holds_up_no_handshake() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    authority.sign(folder.path(), "server");
    let server = serve(folder.path(), &[]);
    let first = shown(&authority, &server.address);
    let key = folder.path().join("server.key");
    std::fs::remove_file(&key).unwrap();
    // An open of a pipe that nobody writes to does not return.
    assert!(Command::new("mkfifo").arg(&key).status().unwrap().success());
    server.signal("HUP");
    wait_until("the pipe is told", || server.overhead().contains("server.key is no file"));
    assert_eq!(shown(&authority, &server.address), first);
    server.stop();
}

#[test]
fn callers_that_do_not_finish_a_handshake_hold_up_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    authority.sign(folder.path(), "server");
    let server = serve(folder.path(), &[]);
    let mut idle = Vec::new();
    for at in 0..200 {
        let mut socket = TcpStream::connect(&server.address).unwrap();
        // The beginning of a handshake, or nothing.
        socket.write_all(&[0x16, 3, 1, 2, 0, 1][..at % 7]).unwrap();
        idle.push(socket);
    }
    let mut stream = connect(&authority, &server.address);
    ping(&mut stream).unwrap();
    // They are closed after a while, and their places are free again.
    idle.iter_mut().for_each(|socket| {
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let _ = socket.read(&mut [0; 64]);
    });
    ping(&mut stream).unwrap();
}

#[test]
fn health_is_answered_on_a_full_server_whatever_callers_do_that_ask_nothing() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let authority = Authority::new();
    authority.sign(folder.path(), "server");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key) = (at("server.crt"), at("server.key"));
    let server = Server::start_limited(data.path(), 96, &["--tls-cert", &certificate, "--tls-key", &key]);
    let mut callers = Vec::new();
    loop {
        let mut caller = connect(&authority, &server.address);
        if ping(&mut caller).is_err() {
            break;
        }
        callers.push(caller);
    }
    assert!(callers.len() > 10, "{} connections", callers.len());
    // They shake hands, and then ask nothing. Those for whom there is no room are closed before.
    let shaken = (0..16).map(|_| connect(&authority, &server.http));
    let idle = shaken.filter_map(|mut it| it.conn.complete_io(&mut it.sock).is_ok().then_some(it));
    let idle: Vec<_> = idle.collect();
    let is_told = |_| {
        let mut http = connect(&authority, &server.http);
        let asked = http.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let mut answer = [0; 12];
        asked.and_then(|()| http.read_exact(&mut answer)).is_ok() && &answer == b"HTTP/1.1 200"
    };
    // One may take too long on a machine that has much to do.
    assert!((0..10).any(is_told));
    assert!(idle.len() > 1);
}

#[test]
fn records_that_do_not_become_whole_take_bounded_memory() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    authority.sign(folder.path(), "server");
    let server = serve(folder.path(), &[]);
    let mut honest = connect(&authority, &server.address);
    ping(&mut honest).unwrap();
    // A record of 16 KiB and what belongs to it, without its last byte.
    let length = (16 << 10) + 17_u16;
    let mut record = [&[0x17, 3, 3][..], &length.to_be_bytes()].concat();
    record.resize(record.len() + usize::from(length) - 1, 7);
    let mut slow: Vec<_> = (0..600)
        .map(|_| {
            let mut stream = connect(&authority, &server.address);
            ping(&mut stream).unwrap();
            // The server may have closed others, and never this one so early.
            stream.sock.write_all(&record).unwrap();
            stream
        })
        .collect();
    // Who has sent nothing for longest makes room for the others.
    let ended = slow[0].sock.read(&mut [0; 64]);
    assert!(ended.is_ok() || ended.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
    ping(&mut honest).unwrap();
    slow.last_mut().unwrap().sock.set_nonblocking(true).unwrap();
    let waits = slow.last_mut().unwrap().sock.read(&mut [0; 64]);
    assert!(waits.is_err_and(|error| error.kind() == ErrorKind::WouldBlock), "the last one may go on");
}

#[test]
fn callers_are_told_what_is_wrong_with_a_server_that_they_reached() {
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (ca, stranger) = (at("ca.crt"), at("stranger.crt"));
    let server = serve(folder.path(), &["--tls-client-ca", &ca]);
    let told = |options: &[&str]| {
        let (code, _, told) = call(&server, options);
        (code.unwrap(), told)
    };
    let as_caller = |certificate: &str, key: &str| {
        told(&["--tls-ca", &ca, "--tls-client-cert", &at(certificate), "--tls-client-key", &at(key)])
    };
    for ((code, told), expected, part) in [
        (
            told(&["--tls-ca", &stranger]),
            4,
            "was reached: its certificate is of an authority that is not trusted",
        ),
        (told(&["--tls-ca", &ca]), 4, "was reached: it asks for a certificate"),
        (as_caller("stranger.crt", "stranger.key"), 4, "was reached: it refused the certificate"),
        (as_caller("caller.crt", "stranger.key"), 2, "a certificate and its own key"),
        (told(&["--tls-ca", &at("caller.key")]), 2, "--tls-ca must have certificates"),
    ] {
        assert!(code == expected && told.contains(part), "{code} {told}");
    }
    let mut calling = scarce();
    calling.args(["call", "--resp", &server.http, "--tls-ca", &ca, "--tls-client-cert", &at("caller.crt")]);
    let (_, _, told) = said(calling.args(["--tls-client-key", &at("caller.key"), "PING"]));
    assert!(told.contains("was reached: it speaks another protocol"), "{told}");
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = plain.local_addr().unwrap().to_string();
    let answering = std::thread::spawn(move || plain.accept().unwrap().0.write_all(b"-ERR what is that\r\n"));
    let mut calling = scarce();
    let (_, _, told) = said(calling.args(["call", "--resp", &address, "--tls", "PING"]));
    assert!(told.contains("was reached: it does not speak TLS"), "{told}");
    answering.join().unwrap().unwrap();
    // The port is closed again. Variables that are set to nothing ask for no TLS.
    let mut calling = scarce();
    calling.args(["call", "--resp", &address, "PING"]).env("SCARCE_TLS", "").env("SCARCE_TLS_CA", "");
    let (code, _, told) = said(&mut calling);
    assert!(code == Some(4) && told.contains("cannot reach"), "{told}");
}

/// A figure of `/metrics`.
fn figure(authority: &Authority, server: &Server, name: &str) -> i64 {
    let mut http = connect(authority, &server.http);
    http.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    http.read_to_string(&mut text).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{text}"));
    line.trim().parse().unwrap()
}

#[test]
fn a_certificate_that_has_expired_is_named_and_so_are_those_who_refuse_it() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    authority.sign_until(folder.path(), "server", 2024);
    let server = serve(folder.path(), &[]);
    wait_until("it is told", || {
        server.overhead().contains("the certificate has expired hosts=\"127.0.0.1\"")
    });
    let mut refusing = connect(&authority, &server.http);
    assert!(refusing.conn.complete_io(&mut refusing.sock).is_err());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key) = (at("server.crt"), at("server.key"));
    let mut doctor = scarce();
    doctor.args(["doctor", "--data", &at("data"), "--tls-cert", &certificate, "--tls-key", &key]);
    let (code, found, _) = said(&mut doctor);
    assert!(code == Some(1) && found.contains("until 2024-01-01T00:00:00Z"), "{found}");

    authority.sign(folder.path(), "server");
    server.signal("HUP");
    wait_until("the new one is told", || server.overhead().contains("the certificate of the ports is valid"));
    let figure = |name: &str| figure(&authority, &server, name);
    assert_eq!(figure("scarce_tls_not_after_seconds "), 67_090_118_400);
    let refused = "scarce_tls_handshakes_failed_total{reason=\"refused\"} ";
    wait_until("the refusal is counted", || figure(refused) == 1);
    std::fs::write(&key, "nonsense").unwrap();
    wait_until("it is counted", || figure("scarce_tls_reloads_failed_total ") > 0);
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    authority.sign(folder.path(), "server");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key) = (at("server.crt"), at("missing.key"));
    for (options, part) in [
        (&["--tls-cert", certificate.as_str()][..], "tls_cert and tls_key go together"),
        (&["--tls-client-ca", certificate.as_str()][..], "tls_client_ca needs"),
        (&["--tls-cert", certificate.as_str(), "--tls-key", key.as_str()][..], "missing.key"),
    ] {
        let data = tempfile::tempdir().unwrap();
        let (code, told) = support::refused_start(&mut support::serve(data.path(), options));
        assert!(code.is_some_and(|code| code != 0) && told.contains(part), "{options:?}: {told}");
    }
}
