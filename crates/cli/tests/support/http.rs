//! A simple HTTP/1.1 client for tests: one persistent connection, and nothing hidden.

#![allow(clippy::unwrap_used, reason = "only tests use it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// The timeout of tests.
const PATIENCE: Duration = Duration::from_secs(180);

/// A connection to the HTTP port.
pub struct Http {
    address: String,
    stream: BufReader<TcpStream>,
}

/// A response.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Names in lower case, with values.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Vec<u8>,
}

impl Http {
    /// Connects.
    pub fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { address: address.to_owned(), stream: BufReader::new(stream) }
    }

    /// Sends a request like a JSON client, and reads its response.
    pub fn call(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Response {
        let text = body.map(Value::to_string).unwrap_or_default();
        let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {}\r\n", self.address);
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if body.is_some() || ["POST", "PATCH"].contains(&method) {
            head.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", text.len()));
        }
        self.send(format!("{head}\r\n{text}").as_bytes());
        if method == "HEAD" { self.head() } else { self.response() }
    }

    /// A GET without headers.
    pub fn get(&mut self, target: &str) -> Response {
        self.call("GET", target, &[], None)
    }

    /// A POST of JSON without headers.
    pub fn post(&mut self, target: &str, body: &Value) -> Response {
        self.call("POST", target, &[], Some(body))
    }

    /// Sends raw bytes.
    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    /// A second handle for sending while this one reads.
    pub fn sender(&self) -> TcpStream {
        self.stream.get_ref().try_clone().unwrap()
    }

    /// Reads a line without its line break; empty if the connection has ended.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line.trim_end_matches(['\r', '\n']).to_owned()
    }

    /// Reads a response with its body.
    pub fn response(&mut self) -> Response {
        let mut response = self.head();
        if response.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk() {
                response.body.extend(chunk);
            }
        } else if let Some(length) = response.header("content-length") {
            response.body = vec![0; length.parse().unwrap()];
            self.stream.read_exact(&mut response.body).unwrap();
        }
        response
    }

    /// Reads status and headers.
    pub fn head(&mut self) -> Response {
        let line = self.line();
        let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
        let status = status.unwrap_or_else(|| panic!("the connection ended instead of a response: {line:?}"));
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Response { status, headers, body: Vec::new() }
    }

    /// Reads a chunk of a chunked body; `None` at its end, or if the connection ends.
    pub fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = usize::from_str_radix(&self.line(), 16).ok()?;
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk).ok()?;
        chunk.truncate(size);
        (size > 0).then_some(chunk)
    }

    /// Whether the other end closes the connection without sending more.
    pub fn has_ended(&mut self) -> bool {
        match self.stream.fill_buf() {
            Ok(bytes) => bytes.is_empty(),
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

impl Response {
    /// A header's first value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(its, _)| its == name).map(|(_, value)| value.as_str())
    }

    /// The content type without its parameters.
    pub fn media_type(&self) -> &str {
        self.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default()
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// The code of a problem document.
    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// Percent-encodes a text as a path segment or a query value.
pub fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    let shown = |byte: u8| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(shown).collect()
}
