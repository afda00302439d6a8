//! Subscribers at the edges of what is promised: positions that never were, requests that cost much, connections that last.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use serde_json::json;
use tungstenite::Message;
use tungstenite::error::Error;

use super::call;
use super::support::Server;
use super::watch::{ask, web_socket};

/// The server pings every 15 seconds; with some room for a busy machine.
const PINGED_WITHIN: Duration = Duration::from_secs(40);

#[test]
fn a_caller_is_asked_whether_it_is_there_also_while_much_is_told() {
    let server = Server::fresh(&[]);
    call(&server, &["STOCK.CREATE s 1000"]);
    let mut socket = web_socket(&server, &[]).expect("a WebSocket");
    ask(&mut socket, &json!({ "method": "SUBSCRIBE", "params": ["stock.s"], "id": 1 }));
    let quiet = Duration::from_secs(2);
    socket.get_ref().set_read_timeout(Some(quiet)).expect("a timeout");
    let began_at = Instant::now();
    // A change after every two seconds of silence, so that the connection is never idle for long.
    for at in 0.. {
        match socket.read() {
            Ok(Message::Ping(_)) => return,
            Ok(Message::Text(text)) => assert!(!text.contains("heartbeat"), "it is not idle: {text}"),
            Ok(other) => panic!("{other}"),
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {
                call(&server, &[&format!("STOCK.TAKE s 1 o{at}")]);
            }
            Err(error) => panic!("{error}"),
        }
        assert!(began_at.elapsed() < PINGED_WITHIN, "who is not asked cannot answer, and is taken for gone");
    }
}
