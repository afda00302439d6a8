//! Subscribers over each transport, and what they have come to see.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

use super::support::{Http, Server, Socket, encoded, frame};

/// The timeout of tests.
const PATIENCE: Duration = Duration::from_secs(180);

/// A subscriber.
pub enum Watcher {
    WebSocket(Box<WebSocket<TcpStream>>),
    Stream(Box<Http>, String),
    Resp(Box<Socket>),
}

/// Opens a WebSocket.
pub fn web_socket(
    server: &Server,
    headers: &[(&'static str, String)],
) -> Result<WebSocket<TcpStream>, String> {
    let stream = TcpStream::connect(&server.http).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let mut request = format!("ws://{}/ws", server.http).into_client_request().expect("a request");
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().expect("a header"));
    }
    match tungstenite::client(request, stream) {
        Ok((socket, _)) => Ok(socket),
        Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
            Err(response.status().as_str().to_owned())
        }
        Err(error) => panic!("{error}"),
    }
}

/// Sends a request over a WebSocket.
pub fn ask(socket: &mut WebSocket<TcpStream>, request: &Value) {
    socket.send(Message::text(request.to_string())).expect("sent");
}

/// The next message.
pub fn next(socket: &mut WebSocket<TcpStream>) -> Value {
    loop {
        if let Message::Text(text) = socket.read().expect("a message") {
            return serde_json::from_str(&text).expect("JSON");
        }
    }
}

impl Watcher {
    /// Subscribes over WebSocket, as server-sent events, in RESP2 and in RESP3.
    pub fn all(server: &Server, channels: &[&str]) -> Vec<(&'static str, Self)> {
        vec![
            ("ws", Self::over_web_socket(server, channels)),
            ("sse", Self::over_stream(server, channels)),
            ("resp2", Self::over_resp(server, 2, channels)),
            ("resp3", Self::over_resp(server, 3, channels)),
        ]
    }

    pub fn over_web_socket(server: &Server, channels: &[&str]) -> Self {
        let mut socket = web_socket(server, &[]).expect("a WebSocket");
        ask(&mut socket, &json!({ "method": "SUBSCRIBE", "params": channels, "id": 1 }));
        Self::WebSocket(socket.into())
    }

    pub fn over_stream(server: &Server, channels: &[&str]) -> Self {
        let mut http = server.http();
        let channels = encoded(&channels.join(","));
        http.send(format!("GET /v1/live?channels={channels} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
        let head = http.head();
        assert_eq!(head.status, 200, "{head:?}");
        Self::Stream(http.into(), String::new())
    }

    pub fn over_resp(server: &Server, protocol: u8, channels: &[&str]) -> Self {
        let mut socket = server.socket();
        if protocol == 3 {
            socket.send(&frame(&["HELLO", "3"]));
            // A map is shown line by line.
            (0..14).for_each(|_| drop(socket.reply()));
            socket.reply();
        }
        let words: Vec<&str> = ["SUBSCRIBE"].into_iter().chain(channels.iter().copied()).collect();
        socket.send(&frame(&words));
        Self::Resp(socket.into())
    }

    /// The next message of a channel.
    pub fn next(&mut self) -> Value {
        loop {
            let message = match self {
                Self::WebSocket(socket) => next(socket),
                Self::Stream(http, text) => next_event(http, text),
                Self::Resp(socket) => match socket.reply().strip_prefix("[message ") {
                    None => continue,
                    Some(rest) => {
                        let (_, json) = rest.split_once(' ').expect("a channel and a message");
                        serde_json::from_str(json.trim_end_matches(']'))
                            .or_else(|_| serde_json::from_str(&json[..json.len() - 1]))
                            .expect("JSON")
                    }
                },
            };
            if message.get("channel").is_some() {
                return message;
            }
        }
    }
}

fn next_event(http: &mut Http, text: &mut String) -> Value {
    loop {
        if let Some((block, rest)) = text.split_once("\n\n") {
            let data = block.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_owned);
            *text = rest.to_owned();
            match data {
                Some(data) => return serde_json::from_str(&data).expect("JSON"),
                None => continue,
            }
        }
        text.push_str(&String::from_utf8(http.chunk().expect("the stream goes on")).expect("text"));
    }
}

/// What a subscriber has come to see of its channels.
#[derive(Default)]
pub struct Seen {
    pub data: BTreeMap<String, Value>,
    /// Epoch and sequence.
    pub last: BTreeMap<String, (u64, u64)>,
    pub trades: Vec<u64>,
}

impl Seen {
    /// Takes a message, as the reference tells clients to.
    pub fn take(&mut self, message: &Value) {
        let number = |name: &str| message[name].as_u64().unwrap_or_else(|| panic!("{name} in {message}"));
        let channel = message["channel"].as_str().expect("a channel").to_owned();
        match message["type"].as_str() {
            Some("snapshot") => {
                self.last.insert(channel.clone(), (number("epoch"), number("sequence")));
                self.note_trades(&message["data"]);
                self.data.insert(channel, message["data"].clone());
            }
            Some("delta") => {
                let (first, last) = (number("first"), number("last"));
                let (epoch, seen) = self.last.get_mut(&channel).expect("a snapshot first");
                assert!(first <= *seen + 1 && last > *seen, "after {seen}: {message}");
                (*epoch, *seen) = (number("epoch"), last);
                self.note_trades(&message["data"]);
                let data = self.data.get_mut(&channel).and_then(Value::as_object_mut).expect("it is there");
                merge(data, message["data"].as_object().expect("changes"));
            }
            _ => panic!("{message}"),
        }
    }

    /// Trades by their numbers: a snapshot has the last first, and some that are known.
    fn note_trades(&mut self, data: &Value) {
        let Some(trades) = data.get("trades").and_then(Value::as_array) else { return };
        let mut numbers: Vec<u64> = trades.iter().filter_map(|trade| trade["trade"].as_u64()).collect();
        numbers.sort_unstable();
        numbers.retain(|number| self.trades.last().is_none_or(|last| number > last));
        self.trades.extend(numbers);
    }

    /// How to go on with a channel.
    pub fn resumed(&self, channel: &str) -> String {
        let (epoch, sequence) = self.last[channel];
        format!("{channel};after={epoch}.{sequence}")
    }
}

fn merge(data: &mut Map<String, Value>, changes: &Map<String, Value>) {
    for (name, change) in changes {
        match (name.as_str(), change) {
            ("bids" | "asks", Value::Array(levels)) => {
                let is_bid = name == "bids";
                let side = data[name].as_array_mut().expect("a side");
                side.retain(|its| levels.iter().all(|level| level["price"] != its["price"]));
                side.extend(levels.iter().filter(|level| level["quantity"] != 0).cloned());
                side.sort_by_key(|level| {
                    let price = level["price"].as_i64().expect("a price");
                    if is_bid { -price } else { price }
                });
            }
            _ => drop(data.insert(name.clone(), change.clone())),
        }
    }
}
