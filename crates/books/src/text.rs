//! A file as UTF-8, whatever it was written in.

use std::io::{self, Read};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8};

use crate::BookError;

const BYTES_AT_ONCE: usize = 64 << 10;

/// What stands for bytes that are no text: a line with it is a bad one.
pub(crate) const UNREADABLE: char = '\u{fffd}';

/// Gives a file as UTF-8. A byte order mark counts more than the encoding that was named, and is left out.
pub(crate) struct Utf8<R> {
    input: R,
    decoder: Decoder,
    raw: Vec<u8>,
    /// What of `raw` is still to be decoded.
    raw_at: usize,
    raw_end: usize,
    is_ended: bool,
    is_done: bool,
}

impl<R: Read> Utf8<R> {
    pub(crate) fn new(input: R, encoding: Option<&str>) -> Result<Self, BookError> {
        let encoding = match encoding {
            None => UTF_8,
            Some(name) => Encoding::for_label(name.as_bytes()).ok_or_else(|| {
                BookError::map(format!("there is no encoding '{name}'; see those of WHATWG"))
            })?,
        };
        let (raw, decoder) = (vec![0; BYTES_AT_ONCE], encoding.new_decoder());
        Ok(Self { input, decoder, raw, raw_at: 0, raw_end: 0, is_ended: false, is_done: false })
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.raw_at == self.raw_end && !self.is_ended {
            (self.raw_at, self.raw_end) = (0, self.input.read(&mut self.raw)?);
            self.is_ended = self.raw_end == 0;
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf8<R> {
    /// The buffer has room for a character: those that read from here have kilobytes.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.is_done {
            self.fill()?;
            let raw = &self.raw[self.raw_at..self.raw_end];
            let (result, read, written, _) = self.decoder.decode_to_utf8(raw, buffer, self.is_ended);
            self.raw_at += read;
            self.is_done = self.is_ended && result == CoderResult::InputEmpty;
            if written > 0 {
                return Ok(written);
            }
            if result == CoderResult::OutputFull {
                return Err(io::Error::other("the buffer has no room for a character"));
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], encoding: Option<&str>) -> String {
        let mut text = Vec::new();
        let mut buffer = [0; 8];
        let mut input = Utf8::new(bytes, encoding).unwrap_or_else(|error| panic!("{error}"));
        loop {
            match input.read(&mut buffer) {
                Ok(0) => return String::from_utf8_lossy(&text).into_owned(),
                Ok(count) => text.extend_from_slice(&buffer[..count]),
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn encodings_and_byte_order_marks_are_understood() {
        assert_eq!(read("Größe".as_bytes(), None), "Größe");
        assert_eq!(read(b"\xef\xbb\xbfa;b", None), "a;b");
        assert_eq!(read(b"Gr\xf6\xdfe \x80", Some("windows-1252")), "Größe €");
        assert_eq!(read(b"\xd5\xcb\xbb\xa7", Some("gbk")), "账户");
        assert_eq!(read(b"\xff\xfea\0\xac\x20", None), "a€");
        assert_eq!(read(b"Gr\xf6ss", None), "Gr\u{fffd}ss");
        assert_eq!(read(b"", None), "");
        assert!(Utf8::new(&b""[..], Some("klingon")).is_err());
    }
}
