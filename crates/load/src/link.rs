//! A connection for measurements: it reads only the outcome from each reply.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use scarce_client::pack;

use crate::LoadError;

/// The connection timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long an answer may take before the connection counts as broken.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// The name for an applied command.
pub(crate) const APPLIED: &str = "APPLIED";

/// The maximum length of a line in a reply.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// The reading end of a connection.
pub struct Replies<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// The outcome in the last reply: `APPLIED`, a refusal's code, or an error's first word.
    outcome: String,
}

/// Connects, and authenticates if there is a password.
///
/// # Errors
/// When the server cannot be reached, or does not take the password.
pub fn connect(address: &str, password: Option<&str>) -> Result<(TcpStream, Replies<TcpStream>), LoadError> {
    let unreachable = |error: io::Error| LoadError::Unreachable { address: address.to_owned(), error };
    let mut stream = open(address).map_err(unreachable)?;
    let mut replies = Replies::new(stream.try_clone().map_err(unreachable)?);
    if let Some(password) = password {
        let mut packed = Vec::new();
        pack(&["AUTH", password], &mut packed);
        stream.write_all(&packed).map_err(unreachable)?;
        let outcome = replies.next().map_err(unreachable)?;
        if outcome != APPLIED {
            return Err(LoadError::Password { outcome: outcome.to_owned() });
        }
    }
    Ok((stream, replies))
}

fn open(address: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
                stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl<R: Read> Replies<R> {
    pub(crate) fn new(reader: R) -> Self {
        let outcome = String::new();
        Self { reader: BufReader::with_capacity(64 << 10, reader), line: Vec::new(), outcome }
    }

    /// The outcome in the next reply.
    pub(crate) fn next(&mut self) -> io::Result<&str> {
        self.read_line()?;
        self.outcome.clear();
        match self.line.first() {
            Some(b'*') => self.read_list()?,
            Some(b'-') => {
                let word = self.line[1..].split(|byte| *byte == b' ').next().unwrap_or_default();
                self.outcome.push_str(&String::from_utf8_lossy(word));
            }
            Some(b'$') => {
                self.skip_bulk()?;
                self.outcome.push_str(APPLIED);
            }
            Some(b'+' | b':') => self.outcome.push_str(APPLIED),
            _ => return Err(malformed()),
        }
        Ok(&self.outcome)
    }

    fn read_list(&mut self) -> io::Result<()> {
        let count = self.number()?;
        if count < 2 {
            self.outcome.push_str(APPLIED);
            return self.skip(count);
        }
        self.read_line()?;
        if self.line != b":0" {
            self.outcome.push_str(APPLIED);
            self.skip_rest()?;
            return self.skip(count - 1);
        }
        self.read_line()?;
        if self.line.first() != Some(&b'$') {
            return Err(malformed());
        }
        let length = self.number()?;
        self.read_line()?;
        if self.line.len() as u64 != length {
            return Err(malformed());
        }
        self.outcome.push_str(&String::from_utf8_lossy(&self.line));
        self.skip(count - 2)
    }

    /// Skips values with all their elements.
    fn skip(&mut self, count: u64) -> io::Result<()> {
        for _ in 0..count {
            self.read_line()?;
            self.skip_rest()?;
        }
        Ok(())
    }

    /// Skips the rest of the value whose first line was read.
    fn skip_rest(&mut self) -> io::Result<()> {
        match self.line.first() {
            Some(b'*') => {
                let mut left = self.number()?;
                while left > 0 {
                    self.read_line()?;
                    match self.line.first() {
                        Some(b'*') => left += self.number()?,
                        Some(b'$') => self.skip_bulk()?,
                        _ => {}
                    }
                    left -= 1;
                }
                Ok(())
            }
            Some(b'$') => self.skip_bulk(),
            _ => Ok(()),
        }
    }

    fn skip_bulk(&mut self) -> io::Result<()> {
        if self.line == b"$-1" {
            return Ok(());
        }
        let mut left = self.number()? + 2;
        while left > 0 {
            let here = self.reader.fill_buf()?.len() as u64;
            if here == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let taken = here.min(left);
            self.reader.consume(usize::try_from(taken).unwrap_or(usize::MAX));
            left -= taken;
        }
        Ok(())
    }

    /// The number after the first byte of the line; an empty text counts as zero.
    fn number(&self) -> io::Result<u64> {
        match std::str::from_utf8(&self.line[1..]) {
            Ok("-1") => Ok(0),
            Ok(text) => text.parse().map_err(|_| malformed()),
            Err(_) => Err(malformed()),
        }
    }

    fn read_line(&mut self) -> io::Result<()> {
        self.line.clear();
        self.reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut self.line)?;
        match self.line.strip_suffix(b"\r\n").map(<[u8]>::len) {
            Some(length) => {
                self.line.truncate(length);
                Ok(())
            }
            None if self.line.is_empty() => Err(ErrorKind::UnexpectedEof.into()),
            None => Err(malformed()),
        }
    }
}

fn malformed() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "the reply is none of RESP2; is this the RESP port?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_told_apart_and_passed_over_whole() {
        let text = b"*3\r\n:1\r\n:5\r\n:7\r\n+PONG\r\n*2\r\n:0\r\n$8\r\nSOLD_OUT\r\n\
            *4\r\n:0\r\n$13\r\nLIMIT_REACHED\r\n*2\r\n*1\r\n:1\r\n$-1\r\n$2\r\na\n\r\n-OVERLOADED the inbox is full\r\n\
            *5\r\n:1\r\n$4\r\nopen\r\n*0\r\n*-1\r\n*2\r\n*2\r\n:1\r\n:0\r\n$3\r\n\r\n*\r\n:1\r\n$-1\r\n*2\r\n:1\r\n:1\r\n";
        let mut replies = Replies::new(&text[..]);
        let expected =
            [APPLIED, APPLIED, "SOLD_OUT", "LIMIT_REACHED", "OVERLOADED", APPLIED, APPLIED, APPLIED, APPLIED];
        for expected in expected {
            assert_eq!(replies.next().unwrap(), expected);
        }
        assert_eq!(replies.next().unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn what_is_no_reply_is_refused() {
        for text in [&b"HTTP/1.1 400 Bad Request\r\n"[..], b"*x\r\n", b"*2\r\n:0\r\n$3\r\nABCD\r\n", b":1\n"]
        {
            assert_eq!(Replies::new(text).next().unwrap_err().kind(), ErrorKind::InvalidData);
        }
    }
}
