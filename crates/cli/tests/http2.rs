//! The HTTP port over HTTP/2: agreed on in TLS, or known beforehand; and what a hostile caller of it achieves.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "tls/authority.rs"]
mod authority;
mod support;

use std::future::Future;
use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use authority::Authority;
use bytes::Bytes;
use h2::client::{self, SendRequest};
use http::{Request, Response};
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use support::{PATIENCE, Server, wait_until};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, test).await.unwrap() })
}

/// A connection whose answers may have so many bytes under way.
async fn open(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    window_bytes: u32,
) -> SendRequest<Bytes> {
    let mut builder = client::Builder::new();
    builder.initial_window_size(window_bytes).initial_connection_window_size(1 << 20);
    let (sender, connection) = builder.handshake(stream).await.unwrap();
    // How it ends is seen by the requests.
    tokio::spawn(async move { drop(connection.await) });
    sender
}

async fn connect(server: &Server) -> SendRequest<Bytes> {
    open(TcpStream::connect(&server.http).await.unwrap(), 1 << 20).await
}

fn request(server: &Server, method: &str, target: &str) -> Request<()> {
    let uri = format!("http://{}{target}", server.http);
    Request::builder().method(method).uri(uri).header("content-type", "application/json").body(()).unwrap()
}

async fn read(response: Response<h2::RecvStream>) -> (Response<()>, Vec<u8>) {
    let (head, mut body) = response.into_parts();
    let mut bytes = Vec::new();
    while let Some(part) = body.data().await {
        let part = part.unwrap();
        body.flow_control().release_capacity(part.len()).unwrap();
        bytes.extend_from_slice(&part);
    }
    (Response::from_parts(head, ()), bytes)
}

async fn call(
    sender: &mut SendRequest<Bytes>,
    request: Request<()>,
    body: Option<&Value>,
) -> (Response<()>, Vec<u8>) {
    let (answer, mut stream) = sender.send_request(request, body.is_none()).unwrap();
    if let Some(body) = body {
        stream.send_data(body.to_string().into(), true).unwrap();
    }
    read(answer.await.unwrap()).await
}

fn json_of(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn commands_reads_and_streams_go_beside_each_other_on_one_connection() {
    let server = Server::fresh(&[]);
    run(async {
        let mut sender = connect(&server).await;
        let (opened, _) = call(
            &mut sender,
            request(&server, "POST", "/v1/accounts"),
            Some(&json!({ "account": "a", "asset": "EUR" })),
        )
        .await;
        assert_eq!(opened.status(), 201);
        assert_eq!(opened.headers()["x-request-id"].len(), 32);
        // A stream of events goes on while others are answered.
        let mut following = request(&server, "GET", "/v1/events");
        following.headers_mut().insert("accept", "text/event-stream".parse().unwrap());
        let (events, _) = sender.send_request(following, true).unwrap();
        let mut events = events.await.unwrap().into_body();
        let mut answers = Vec::new();
        for _ in 0..50 {
            let mut sender = sender.clone().ready().await.unwrap();
            let (answer, mut stream) =
                sender.send_request(request(&server, "POST", "/v1/accounts/a/credit"), false).unwrap();
            stream.send_data(json!({ "amount": 1 }).to_string().into(), true).unwrap();
            answers.push(answer);
        }
        for answer in answers {
            assert_eq!(read(answer.await.unwrap()).await.0.status(), 200);
        }
        let mut seen = String::new();
        while seen.matches("account.credited").count() < 50 {
            let part = events.data().await.unwrap().unwrap();
            events.flow_control().release_capacity(part.len()).unwrap();
            seen.push_str(std::str::from_utf8(&part).unwrap());
        }
        let (got, body) = call(&mut sender, request(&server, "GET", "/v1/accounts/a"), None).await;
        assert_eq!((got.status().as_u16(), json_of(&body)["balance"].as_u64()), (200, Some(50)));
    });
}

#[test]
fn what_guards_the_port_guards_it_in_http_2_as_well() {
    let server = Server::fresh(&[]);
    run(async {
        let mut sender = connect(&server).await;
        let foreign = Request::get("http://evil.example/v1/digest").body(()).unwrap();
        let (refused, body) = call(&mut sender, foreign, None).await;
        assert_eq!((refused.status().as_u16(), json_of(&body)["code"].as_str()), (421, Some("MISDIRECTED")));
        // Nor does a second name help.
        let mut both = Request::get("http://localhost/v1/digest").body(()).unwrap();
        both.headers_mut().insert("host", "evil.example".parse().unwrap());
        assert_eq!(call(&mut sender, both, None).await.0.status(), 421);
        let mut page = request(&server, "GET", "/v1/digest");
        page.headers_mut().insert("origin", "http://evil.example".parse().unwrap());
        let (refused, body) = call(&mut sender, page, None).await;
        assert_eq!((refused.status().as_u16(), json_of(&body)["code"].as_str()), (403, Some("CROSS_ORIGIN")));
        let mut own = request(&server, "GET", "/v1/digest");
        own.headers_mut().insert("origin", format!("http://{}", server.http).parse().unwrap());
        assert_eq!(call(&mut sender, own, None).await.0.status(), 200);
        let mut socket = request(&server, "GET", "/ws");
        socket.headers_mut().insert("sec-websocket-version", "13".parse().unwrap());
        assert!(call(&mut sender, socket, None).await.0.status().is_client_error(), "only in HTTP/1.1");
    });
}

#[test]
fn in_tls_both_agree_on_the_version() {
    let folder = TempDir::new().unwrap();
    let authority = Authority::new();
    authority.sign(folder.path(), "server");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let server = Server::fresh(&["--tls-cert", &at("server.crt"), "--tls-key", &at("server.key")]);
    let shake = async |offered: &[&str], address: &str| {
        let mut config = authority.client();
        config.alpn_protocols = offered.iter().map(|name| name.as_bytes().to_vec()).collect();
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        let name = ServerName::try_from("127.0.0.1").unwrap();
        connector.connect(name, TcpStream::connect(address).await.unwrap()).await.unwrap()
    };
    run(async {
        for (offered, agreed) in
            [(&["h2", "http/1.1"][..], Some("h2")), (&["http/1.1"], Some("http/1.1")), (&[], None)]
        {
            let stream = shake(offered, &server.http).await;
            let protocol = stream.get_ref().1.alpn_protocol().map(|name| std::str::from_utf8(name).unwrap());
            assert_eq!(protocol, agreed);
            if agreed == Some("h2") {
                let mut sender = open(stream, 1 << 20).await;
                let uri = format!("https://{}/livez", server.http);
                let request = Request::get(uri).body(()).unwrap();
                assert_eq!(call(&mut sender, request, None).await.0.status(), 200);
            } else {
                use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
                let mut stream = stream;
                stream.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
                let mut answer = [0; 12];
                stream.read_exact(&mut answer).await.unwrap();
                assert_eq!(&answer, b"HTTP/1.1 200");
            }
        }
        // The other port knows nothing of it.
        let stream = shake(&["h2"], &server.address).await;
        assert_eq!(stream.get_ref().1.alpn_protocol(), None);
    });
}

/// A frame (RFC 9113, section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// `GET /v1/digest` of `http://localhost`, without compression but for the static table (RFC 7541).
fn head() -> Vec<u8> {
    [&[0x82, 0x86, 0x04, 10][..], b"/v1/digest", &[0x01, 9], b"localhost"].concat()
}

/// Sends raw frames, and reads until the server ends the connection.
fn hostile(server: &Server, frames: &[u8]) -> Vec<u8> {
    let mut socket = std::net::TcpStream::connect(&server.http).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let begun = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(SETTINGS, 0, 0, &[]), frames].concat();
    // The server may end the connection before it has read everything.
    let _ = socket.write_all(&begun);
    let mut answer = Vec::new();
    // It may be cut off instead of closed.
    let _ = socket.read_to_end(&mut answer);
    answer
}

fn check_well(server: &Server) {
    run(async {
        let mut sender = connect(server).await;
        assert_eq!(call(&mut sender, request(server, "GET", "/v1/digest"), None).await.0.status(), 200);
    });
}

#[test]
fn a_caller_that_gives_up_each_request_at_once_is_cut_off() {
    let server = Server::fresh(&[]);
    let mut frames = Vec::new();
    for at in 0..20_000 {
        let stream = 2 * at + 1;
        frames.extend(frame(HEADERS, END_STREAM | END_HEADERS, stream, &head()));
        frames.extend(frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes()));
    }
    hostile(&server, &frames);
    check_well(&server);
}

#[test]
fn headers_without_an_end_cut_the_caller_off() {
    let server = Server::fresh(&[]);
    let kib = server.resident_kib();
    let mut frames = frame(HEADERS, END_STREAM, 1, &head());
    let field = [&[0x00, 1][..], b"x", &[0x7f, 0x81, 0x1f], &[b'n'; 4_096]].concat();
    for _ in 0..10_000 {
        frames.extend(frame(CONTINUATION, 0, 1, &field));
    }
    hostile(&server, &frames);
    assert!(server.resident_kib() < kib + (32 << 10), "{} KiB", server.resident_kib());
    check_well(&server);
}

#[test]
fn requests_beyond_the_bound_wait_or_are_refused_and_large_headers_are_told_so() {
    let server = Server::fresh(&[]);
    run(async {
        let sender = connect(&server).await;
        let mut ready = sender.clone().ready().await.unwrap();
        let note = Request::get(format!("http://{}/livez", server.http));
        let large = note.header("x-note", "n".repeat(20 << 10)).body(()).unwrap();
        let (answer, _) = ready.send_request(large, true).unwrap();
        match answer.await {
            Ok(response) => assert_eq!(response.status(), 431),
            Err(error) => assert!(error.is_reset() || error.is_go_away() || error.is_io(), "{error}"),
        }
        let mut sender = connect(&server).await;
        let (digest, _) = call(&mut sender, request(&server, "GET", "/v1/digest"), None).await;
        assert_eq!(digest.status(), 200);
        assert!(sender.current_max_send_streams() <= 100, "{}", sender.current_max_send_streams());
    });
}

/// A metric without labels.
fn metric(server: &Server, name: &str) -> u64 {
    let text = server.http().get("/metrics").text();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned));
    line.unwrap_or_else(|| panic!("{name}: {text}")).parse().unwrap()
}

#[test]
fn answers_that_nobody_takes_have_bounded_memory() {
    // Of 256 MiB, an eighth is for replies that are not read, and half of that for this port.
    const BYTES_MAX: u64 = 16 << 20;
    let server = Server::fresh(&["--memory-max", "256MiB"]);
    let mut client = server.connect();
    client.call(&["ACCOUNT.OPEN", "a", "EUR"]).unwrap();
    for _ in 0..1_000 {
        client.call(&["ACCOUNT.CREDIT", "a", "1"]).unwrap();
    }
    let page = server.http().get("/v1/events?limit=1000").body.len() as u64;
    assert!(page * 60 * 6 > 3 * BYTES_MAX, "{page}");
    run(async {
        let (mut connections, mut heads) = (Vec::new(), Vec::new());
        for _ in 0..6 {
            let sender = open(TcpStream::connect(&server.http).await.unwrap(), 0).await;
            let mut answers = Vec::new();
            for _ in 0..60 {
                let target = request(&server, "GET", "/v1/events?limit=1000");
                // A connection that was cut off takes no more.
                let Ok(mut ready) = sender.clone().ready().await else { break };
                answers.extend(ready.send_request(target, true).map(|(answer, _)| answer));
            }
            connections.push(sender);
            for answer in answers {
                // Their bodies are kept, and not read.
                heads.extend(answer.await);
            }
            let held = metric(&server, "scarce_unread_reply_bytes");
            assert!(held <= BYTES_MAX, "{held}");
        }
        let closed = metric(&server, "scarce_connections_unread_total");
        assert!((1..=6).contains(&closed), "{closed}");
    });
    wait_until("nothing is held for those who left", || metric(&server, "scarce_unread_reply_bytes") == 0);
    check_well(&server);
}

#[test]
fn an_idle_connection_ends_after_the_keep_alive_and_one_with_a_stream_does_not() {
    let server = Server::fresh(&["--http-keep-alive-ms", "5s"]);
    run(async {
        let mut idle = connect(&server).await;
        assert_eq!(call(&mut idle, request(&server, "GET", "/livez"), None).await.0.status(), 200);
        let mut busy = connect(&server).await;
        let mut following = request(&server, "GET", "/v1/events");
        following.headers_mut().insert("accept", "text/event-stream".parse().unwrap());
        let (events, _) = busy.send_request(following, true).unwrap();
        let _events = events.await.unwrap();
        // It is asked until it is over.
        loop {
            match idle.clone().ready().await {
                Err(error) => break assert!(error.is_go_away() || error.is_io(), "{error}"),
                Ok(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
        assert_eq!(call(&mut busy, request(&server, "GET", "/livez"), None).await.0.status(), 200);
    });
}
