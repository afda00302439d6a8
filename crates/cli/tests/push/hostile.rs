//! Subscribers that may not, do not read, or do not speak the protocol.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Range;
use std::process::Output;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use tungstenite::Message;

use super::support::{Server, frame, scarce, wait_until};
use super::watch::{Watcher, ask, next, web_socket};

pub fn keys(data: &TempDir, words: &[&str]) -> String {
    let (first, rest) = words.split_at(1);
    let Output { status, stdout, stderr } =
        scarce().arg("keys").args(first).arg("--data").arg(data.path()).args(rest).output().expect("it runs");
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).expect("text").trim().to_owned()
}

#[test]
fn a_key_subscribes_to_what_it_may_read_and_to_nothing_once_it_is_revoked() {
    let data = TempDir::new().expect("a folder");
    let key = keys(&data, &["create", "--name", "screen", "--scope", "read:stock:sku-*"]);
    let server = Server::start(data.path(), &[]);
    assert_eq!(web_socket(&server, &[]).err().as_deref(), Some("401"));
    let mut socket = web_socket(&server, &[("authorization", format!("Bearer {key}"))]).expect("a WebSocket");
    let channels = ["stock.sku-1", "stock.other", "account.sku-1", "market.sku-1.trades"];
    ask(&mut socket, &json!({ "method": "SUBSCRIBE", "params": channels, "id": 1 }));
    let told = next(&mut socket);
    assert_eq!(told["result"]["subscribed"], json!(["stock.sku-1"]));
    let refused = told["result"]["refused"].as_array().expect("refused");
    assert!(refused.len() == 3 && refused.iter().all(|its| its["problem"]["code"] == "FORBIDDEN"), "{told}");
    let protocols = format!("scarce, bearer.{key}");
    assert!(web_socket(&server, &[("sec-websocket-protocol", protocols)]).is_ok(), "as a page shows its key");
    let bearer = format!("Bearer {key}");
    for (channel, status) in [("stock.other", 403), ("stock.x,account.a", 403), ("none", 400), ("", 400)] {
        let target = format!("/v1/live?channels={channel}");
        let response = server.http().call("GET", &target, &[("Authorization", &bearer)], None);
        assert_eq!(response.status, status, "{channel}: {}", response.text());
    }
    let mut redis = server.socket();
    assert_eq!(redis.call(&["AUTH", &key]), "OK");
    assert!(redis.call(&["SUBSCRIBE", "stock.other"]).starts_with("-NOPERM this key lacks the scope"));
    assert_eq!(redis.call(&["SUBSCRIBE", "stock.sku-1"]), "[subscribe stock.sku-1 1]");
    keys(&data, &["revoke", "screen"]);
    let reason = loop {
        match socket.read() {
            Ok(Message::Close(Some(frame))) => break frame.reason.to_string(),
            Ok(_) => {}
            Err(error) => panic!("it ends with a reason: {error}"),
        }
    };
    assert!(reason.contains("revoked"), "{reason}");
    redis.rest();
}

#[test]
fn a_page_of_another_origin_opens_no_web_socket() {
    let server = Server::fresh(&[]);
    let origin = |origin: &str| web_socket(&server, &[("origin", origin.to_owned())]).map(drop);
    assert_eq!(origin("https://evil.example"), Err("403".to_owned()));
    assert_eq!(origin(&format!("http://{}", server.http)), Ok(()));
    let mut http = server.http();
    let response = http.call("GET", "/ws", &[("Origin", "null")], None);
    assert_eq!(response.status, 403);
    assert_eq!(server.http().get("/ws").status, 400, "what is no handshake is told so");
}

/// A frame as a client sends it; with `is_masked` by a mask of zeros.
fn raw(head: u8, payload: &[u8], is_masked: bool) -> Vec<u8> {
    let mask = if is_masked { 0x80 } else { 0 };
    let mut bytes = vec![head];
    match payload.len() {
        length @ 0..=125 => bytes.push(mask | u8::try_from(length).expect("small")),
        length => {
            bytes.push(mask | 127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    if is_masked {
        bytes.extend([0; 4]);
    }
    bytes.extend(payload);
    bytes
}

fn handshake(server: &Server) -> TcpStream {
    let mut stream = TcpStream::connect(&server.http).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
    let request = "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n";
    stream.write_all(request.as_bytes()).expect("sent");
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("an answer");
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 101") && !head.contains("permessage-deflate"), "{head}");
    stream
}

#[test]
fn frames_that_no_client_sends_end_the_connection_and_nothing_else() {
    let server = Server::fresh(&[]);
    let ping = br#"{"method":"PING","id":1}"#;
    let huge = vec![b'x'; (64 << 10) + 1];
    let part = vec![b' '; 40 << 10];
    let hostile: [(&str, Vec<u8>); 8] = [
        ("unmasked", raw(0x81, ping, false)),
        ("compressed, which was not agreed on", raw(0xC1, ping, true)),
        ("an unknown kind", raw(0x83, ping, true)),
        ("a control frame in parts", raw(0x09, b"x", true)),
        ("a control frame that is too long", raw(0x89, &huge[..126], true)),
        ("too large", raw(0x81, &huge, true)),
        ("too large in parts", [raw(0x01, &part, true), raw(0x80, &part, true)].concat()),
        ("no text", raw(0x81, &[0xFF, 0xFE], true)),
    ];
    let mut healthy = web_socket(&server, &[]).expect("a WebSocket");
    for (what, bytes) in hostile {
        let mut stream = handshake(&server);
        // The server may end the connection before it has read everything.
        let _ = stream.write_all(&bytes);
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.len() < 200, "{what} is not answered: {}", String::from_utf8_lossy(&rest));
        ask(&mut healthy, &json!({ "method": "PING", "id": what }));
        assert_eq!(next(&mut healthy), json!({ "id": what, "result": "PONG" }));
    }
    // In parts, but as the protocol allows.
    let mut stream = handshake(&server);
    let whole = [raw(0x01, &ping[..9], true), raw(0x89, b"", true), raw(0x80, &ping[9..], true)].concat();
    stream.write_all(&whole).expect("sent");
    let mut answer = vec![0; 2 + 2 + br#"{"id":1,"result":"PONG"}"#.len()];
    stream.read_exact(&mut answer).expect("an answer");
    assert!(String::from_utf8_lossy(&answer).contains("PONG"), "{answer:?}");
    healthy.send(Message::binary(vec![1])).expect("sent");
    assert!(matches!(healthy.read(), Ok(Message::Close(Some(frame))) if frame.reason.contains("JSON")));
}

/// Trades, all in one pipeline.
pub fn trade_much(server: &Server, key: Option<&str>, orders: Range<usize>) {
    let mut socket = server.socket();
    if let Some(key) = key {
        assert_eq!(socket.call(&["AUTH", key]), "OK");
    }
    let (mut pipeline, count) = (Vec::new(), orders.len());
    for at in orders {
        let (buy, sell) = (format!("b{at}"), format!("s{at}"));
        pipeline.extend(frame(&["ORDER.PLACE", "m", &buy, "alice", "BUY", "LIMIT", "100", "1"]));
        pipeline.extend(frame(&["ORDER.PLACE", "m", &sell, "bob", "SELL", "LIMIT", "100", "1"]));
    }
    let mut sender = socket.sender();
    let sending = std::thread::spawn(move || sender.write_all(&pipeline).expect("sent"));
    (0..2 * count).for_each(|_| assert!(socket.reply().starts_with("[1 ")));
    sending.join().expect("all was sent");
}

pub fn figure(server: &Server, headers: &[(&str, &str)], name: &str) -> u64 {
    let text = server.http().call("GET", "/metrics", headers, None).text();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name} in {text}"))
}

#[test]
fn who_reads_too_slowly_is_cut_off_with_the_reason_or_gets_a_snapshot_by_choice() {
    let server = Server::fresh(&[]);
    assert_eq!(server.socket().call(&["MARKET.CREATE", "m"]), "[1 open]");
    let before_kib = server.resident_kib();
    let mut slow = [
        Watcher::over_web_socket(&server, &["market.m.trades"]),
        Watcher::over_web_socket(&server, &["market.m.trades;conflate"]),
        Watcher::over_resp(&server, 2, &["market.m.trades"]),
        Watcher::over_resp(&server, 3, &["market.m.trades;conflate"]),
    ];
    slow.iter_mut().for_each(|watcher| assert_eq!(watcher.next()["type"], "snapshot"));
    assert_eq!(figure(&server, &[], "scarce_push_subscriptions"), 4);
    // More than the system and the channel hold together.
    trade_much(&server, None, 0..150_000);
    let grown_kib = server.resident_kib().saturating_sub(before_kib);
    eprintln!("the server has grown by {grown_kib} KiB");
    for (at, watcher) in slow.iter_mut().enumerate() {
        let is_conflated = at % 2 == 1;
        let end = loop {
            let message = watcher.next();
            if message["type"] != "delta" {
                break message;
            }
        };
        assert_eq!(end["type"], if is_conflated { "snapshot" } else { "end" }, "{at}: {end}");
        if !is_conflated {
            assert!(
                end["code"] == "TOO_SLOW"
                    && end["reason"].as_str().is_some_and(|text| text.contains("conflate"))
            );
        }
    }
    assert!(figure(&server, &[], "scarce_push_cut_offs_total") >= 2);
    drop(slow);
    wait_until("nobody subscribes any more", || figure(&server, &[], "scarce_push_subscribers") == 0);
}
