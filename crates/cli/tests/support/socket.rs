//! A connection without a client library, for input that no library sends.

#![allow(clippy::unwrap_used, reason = "only tests use it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// The timeout of tests.
const PATIENCE: Duration = Duration::from_secs(180);

/// A connection that sends raw bytes.
pub struct Socket {
    stream: BufReader<TcpStream>,
}

impl Socket {
    /// Connects.
    pub fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    /// Sends bytes.
    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    /// A second handle for sending while this one reads.
    pub fn sender(&self) -> TcpStream {
        self.stream.get_ref().try_clone().unwrap()
    }

    /// Announces that nothing more will be sent.
    pub fn end(&mut self) {
        self.stream.get_ref().shutdown(Shutdown::Write).unwrap();
    }

    /// Sends a request as an array and reads its reply.
    pub fn call(&mut self, words: &[&str]) -> String {
        self.send(&frame(words));
        self.reply()
    }

    /// Reads one reply, shown on one line: `[0 SOLD_OUT 0 1]`, `-ERR …`, `(nil)`.
    pub fn reply(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        assert!(line.ends_with("\r\n"), "the connection ended instead of a reply: {line:?}");
        let (kind, rest) = line.trim_end().split_at(1);
        match (kind, rest) {
            ("+" | ":", text) => text.to_owned(),
            ("$" | "*", "-1") => "(nil)".to_owned(),
            ("$", length) => {
                let mut bytes = vec![0; length.parse::<usize>().unwrap() + 2];
                self.stream.read_exact(&mut bytes).unwrap();
                String::from_utf8(bytes).unwrap().trim_end_matches("\r\n").to_owned()
            }
            ("*" | ">", count) => {
                let values: Vec<_> = (0..count.parse::<usize>().unwrap()).map(|_| self.reply()).collect();
                format!("[{}]", values.join(" "))
            }
            _ => line.trim_end().to_owned(),
        }
    }

    /// Everything received until the other end closes the connection.
    pub fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        match self.stream.read_to_end(&mut bytes) {
            Err(error) if error.kind() != std::io::ErrorKind::ConnectionReset => panic!("{error}"),
            _ => String::from_utf8(bytes).unwrap(),
        }
    }
}

/// A request in the format that clients send.
pub fn frame<W: AsRef<[u8]>>(words: &[W]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.as_ref().len()).as_bytes());
        bytes.extend_from_slice(word.as_ref());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}
