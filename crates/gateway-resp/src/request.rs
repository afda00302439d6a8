//! Parses requests: arrays of bulk strings, or a line of words. Iterative, resumable at any byte, and checks
//! every length before using it.

use std::ops::Range;

/// The size limits of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of words.
    pub words_max: usize,
    /// The maximum number of bytes.
    pub bytes_max: usize,
}

/// The limits before a caller has authenticated.
pub const LIMITS_BEFORE_AUTH: Limits = Limits { words_max: 10, bytes_max: 16 << 10 };

/// The limits afterwards.
pub const LIMITS: Limits = Limits { words_max: 4_096, bytes_max: 1 << 20 };

/// Why the bytes are not a request. The connection is closed after the error is sent, because the start of
/// the next request is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    /// The text of the error.
    Malformed(&'static str),
    /// Another protocol; no answer is sent.
    Foreign,
}

/// The result of parsing the bytes received so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseProgress {
    /// A complete request of this many bytes; its words are in [`Parser::words`].
    Complete(usize),
    /// More bytes are needed.
    Incomplete,
}

/// Remembers how far an incomplete request was parsed, so that a slow sender causes no reparsing.
#[derive(Debug, Default)]
pub struct Parser {
    words: Vec<Range<usize>>,
    /// The number of words still missing; `None` before the array's header was read.
    missing: Option<usize>,
    at: usize,
}

/// The maximum length of a line: a header, or an inline request.
const LINE_BYTES_MAX: usize = 16 << 10;

impl Parser {
    /// The words of the complete request, as ranges in the bytes.
    #[must_use]
    pub fn words(&self) -> &[Range<usize>] {
        &self.words
    }

    /// Starts over after a request was removed from the bytes.
    pub fn reset(&mut self) {
        self.words.clear();
        self.missing = None;
        self.at = 0;
    }

    /// Continues parsing. `bytes` starts at the request and contains everything seen before.
    ///
    /// # Errors
    /// When the bytes are not a request.
    pub fn read(&mut self, bytes: &[u8], limits: Limits) -> Result<ParseProgress, ProtocolError> {
        let missing = match self.missing {
            Some(missing) => missing,
            None => match self.head(bytes, limits)? {
                Head::Array(count) => count,
                Head::Complete => return Ok(ParseProgress::Complete(self.at)),
                Head::Incomplete => return Ok(ParseProgress::Incomplete),
            },
        };
        let mut missing = self.short_words(bytes, missing, limits);
        while missing > 0 {
            self.missing = Some(missing);
            if !self.word(bytes, limits)? {
                return Ok(ParseProgress::Incomplete);
            }
            missing -= 1;
        }
        self.missing = Some(0);
        Ok(ParseProgress::Complete(self.at))
    }

    /// Parses bulk strings of up to 99 bytes that are there whole, as nearly all are. Returns how many words are missing
    /// then: it stops at the first that is anything else.
    #[inline]
    fn short_words(&mut self, bytes: &[u8], mut missing: usize, limits: Limits) -> usize {
        let mut at = self.at;
        while missing > 0 {
            let Some((length, head_bytes)) = bytes.get(at..).and_then(short_word) else { break };
            let start = at + head_bytes;
            let end = start + length;
            let Some([b'\r', b'\n', ..]) = bytes.get(end..).filter(|_| end <= limits.bytes_max) else {
                break;
            };
            self.words.push(start..end);
            at = end + 2;
            missing -= 1;
        }
        self.at = at;
        missing
    }

    fn head(&mut self, bytes: &[u8], limits: Limits) -> Result<Head, ProtocolError> {
        if bytes.first().is_some_and(|first| *first != b'*') {
            return self.line(bytes, limits);
        }
        if let Some((count @ 1.., head_bytes)) =
            short_head(bytes, b'*').filter(|(count, _)| *count <= limits.words_max)
        {
            self.at = head_bytes;
            return Ok(Head::Array(count));
        }
        let Some((line, next)) = take_line(bytes, 0)? else { return Ok(Head::Incomplete) };
        let count = number(&line[1..]).ok_or(ProtocolError::Malformed("invalid multibulk length"))?;
        if count > limits.words_max as i64 {
            return Err(ProtocolError::Malformed("too many arguments"));
        }
        self.at = next;
        // An empty or null array is not a request; it is skipped, as Redis does.
        Ok(usize::try_from(count).ok().filter(|count| *count > 0).map_or(Head::Complete, Head::Array))
    }

    /// Parses one bulk string; false if it is incomplete.
    #[inline]
    fn word(&mut self, bytes: &[u8], limits: Limits) -> Result<bool, ProtocolError> {
        if let Some((length, head_bytes)) = bytes.get(self.at..).and_then(|rest| short_head(rest, b'$')) {
            let start = self.at + head_bytes;
            return self.text(bytes, start, length, limits);
        }
        self.long_word(bytes, limits)
    }

    /// Parses one bulk string, whatever its header.
    #[inline(never)]
    fn long_word(&mut self, bytes: &[u8], limits: Limits) -> Result<bool, ProtocolError> {
        let Some((line, start)) = take_line(bytes, self.at)? else { return Ok(false) };
        if line.first() != Some(&b'$') {
            let nested = line.first() == Some(&b'*');
            let reason = if nested { "nested arrays are no request" } else { "expected '$'" };
            return Err(ProtocolError::Malformed(reason));
        }
        let length = number(&line[1..]).and_then(|length| usize::try_from(length).ok());
        let length = length.ok_or(ProtocolError::Malformed("invalid bulk length"))?;
        self.text(bytes, start, length, limits)
    }

    /// Parses the text of a bulk string, after its header.
    #[inline]
    fn text(
        &mut self,
        bytes: &[u8],
        start: usize,
        length: usize,
        limits: Limits,
    ) -> Result<bool, ProtocolError> {
        if length > limits.bytes_max || start + length > limits.bytes_max {
            return Err(ProtocolError::Malformed("request too large"));
        }
        let end = start + length;
        match bytes.get(end..end + 2) {
            None => Ok(false),
            Some(b"\r\n") => {
                self.words.push(start..end);
                self.at = end + 2;
                Ok(true)
            }
            Some(_) => Err(ProtocolError::Malformed("a bulk string is longer than it says")),
        }
    }

    /// Parses an inline request, as typed into a terminal.
    fn line(&mut self, bytes: &[u8], limits: Limits) -> Result<Head, ProtocolError> {
        let Some(end) = bytes.iter().take(LINE_BYTES_MAX).position(|byte| *byte == b'\n') else {
            let long = bytes.len() >= LINE_BYTES_MAX;
            return if long {
                Err(ProtocolError::Malformed("too big inline request"))
            } else {
                Ok(Head::Incomplete)
            };
        };
        let line = bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]);
        let mut start = 0;
        for word in line.split(|byte| byte.is_ascii_whitespace()) {
            if !word.is_empty() {
                self.words.push(start..start + word.len());
            }
            start += word.len() + 1;
        }
        self.at = end + 1;
        let first = self.words.first().map_or(&b""[..], |word| &bytes[word.clone()]);
        // A browser tricked into posting here must not have its body read as commands.
        if first.eq_ignore_ascii_case(b"POST") || first.eq_ignore_ascii_case(b"Host:") {
            return Err(ProtocolError::Foreign);
        }
        if self.words.len() > limits.words_max {
            return Err(ProtocolError::Malformed("too many arguments"));
        }
        Ok(Head::Complete)
    }
}

enum Head {
    Array(usize),
    Complete,
    Incomplete,
}

/// The length in the header of a bulk string of up to 99 bytes, and how long the header is. Looks at eight bytes at once.
#[inline]
fn short_word(bytes: &[u8]) -> Option<(usize, usize)> {
    const ONE_DIGIT: u64 = u64::from_le_bytes(*b"$\0\r\n\0\0\0\0");
    const TWO_DIGITS: u64 = u64::from_le_bytes(*b"$\0\0\r\n\0\0\0");
    let word = u64::from_le_bytes(*bytes.first_chunk::<8>()?);
    let digit = |at: u32| (((word >> (8 * at)) & 0xff) as usize).wrapping_sub(usize::from(b'0'));
    match () {
        () if word & 0xffff_00ff == ONE_DIGIT && digit(1) < 10 => Some((digit(1), 4)),
        () if word & 0xff_ff00_00ff == TWO_DIGITS && digit(1) < 10 && digit(2) < 10 => {
            Some((10 * digit(1) + digit(2), 5))
        }
        () => None,
    }
}

/// The number in a header of one to three digits, as nearly all are, and how long the header is. Anything else is read by
/// [`take_line`], which also knows what is wrong.
#[inline]
fn short_head(bytes: &[u8], kind: u8) -> Option<(usize, usize)> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| usize::from(byte - b'0'));
    match *bytes {
        [first, a, b'\r', b'\n', ..] if first == kind => Some((digit(a)?, 4)),
        [first, a, b, b'\r', b'\n', ..] if first == kind => Some((10 * digit(a)? + digit(b)?, 5)),
        [first, a, b, c, b'\r', b'\n', ..] if first == kind => {
            Some((100 * digit(a)? + 10 * digit(b)? + digit(c)?, 6))
        }
        _ => None,
    }
}

/// The line from `start` to the next CR LF, and the offset of the line after it.
fn take_line(bytes: &[u8], start: usize) -> Result<Option<(&[u8], usize)>, ProtocolError> {
    const HEAD_BYTES_MAX: usize = 32;
    let rest = bytes.get(start..).unwrap_or_default();
    let head = &rest[..rest.len().min(HEAD_BYTES_MAX)];
    let Some(end) = head.iter().position(|byte| *byte == b'\n') else {
        let long = rest.len() >= HEAD_BYTES_MAX;
        return if long { Err(ProtocolError::Malformed("a length is too long")) } else { Ok(None) };
    };
    let line = rest[..end].strip_suffix(b"\r").ok_or(ProtocolError::Malformed("expected CR LF"))?;
    Ok(Some((line, start + end + 1)))
}

/// Parses decimal digits with an optional minus, by hand because two such numbers precede every word.
fn number(digits: &[u8]) -> Option<i64> {
    let (digits, sign) = match digits {
        [b'-', rest @ ..] => (rest, -1),
        _ => (digits, 1),
    };
    if digits.is_empty() || digits.len() > 17 {
        return None;
    }
    let value = digits
        .iter()
        .try_fold(0_i64, |value, digit| digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0')));
    value.map(|value| sign * value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: &[u8]) -> Result<Option<Vec<String>>, ProtocolError> {
        let mut parser = Parser::default();
        Ok(match parser.read(bytes, LIMITS)? {
            ParseProgress::Incomplete => None,
            ParseProgress::Complete(_) => Some(
                parser
                    .words()
                    .iter()
                    .map(|word| String::from_utf8_lossy(&bytes[word.clone()]).into_owned())
                    .collect(),
            ),
        })
    }

    #[test]
    fn requests_are_read_whole_wherever_they_are_cut() {
        let bytes = b"*3\r\n$4\r\nECHO\r\n$0\r\n\r\n$5\r\na\r\nb\n\r\n";
        let mut parser = Parser::default();
        for cut in 0..bytes.len() {
            assert_eq!(parser.read(&bytes[..cut], LIMITS), Ok(ParseProgress::Incomplete), "{cut}");
        }
        assert_eq!(parser.read(bytes, LIMITS), Ok(ParseProgress::Complete(bytes.len())));
        assert_eq!(words(bytes), Ok(Some(vec!["ECHO".into(), String::new(), "a\r\nb\n".into()])));
        assert_eq!(words(b"PING  x\r\n"), Ok(Some(vec!["PING".into(), "x".into()])));
        assert_eq!(words(b"*0\r\n"), Ok(Some(vec![])));
    }

    #[test]
    fn what_is_no_request_is_refused_before_it_is_believed() {
        for bad in [
            &b"*1\r\n*1\r\n$4\r\nPING\r\n"[..],
            b"*99999999999\r\n",
            b"*5000\r\n",
            b"*1\r\n$99999999\r\n",
            b"*1\r\n$-5\r\n",
            b"*1\r\n$4\r\nPINGPONG\r\n",
            b"*x\r\n",
            b"*1\n$4\r\nPING\r\n",
            b"*1\r\n:4\r\n",
        ] {
            assert!(words(bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
        assert_eq!(words(b"POST / HTTP/1.1\r\n"), Err(ProtocolError::Foreign));
        assert_eq!(words(b"Host: x\r\n"), Err(ProtocolError::Foreign));
        let mut parser = Parser::default();
        assert!(parser.read(b"*11\r\n", LIMITS_BEFORE_AUTH).is_err());
    }

    #[test]
    fn a_short_header_is_read_as_any_other() {
        for kind in [b'$', b'*'] {
            for text in ["0", "7", "12", "999", "007", "-1", "1x", "", "1 ", "+1", "1000"] {
                let bytes = [&[kind], text.as_bytes(), b"\r\n"].concat();
                let (line, next) = take_line(&bytes, 0).expect("a line").expect("whole");
                let long = number(&line[1..]).and_then(|number| usize::try_from(number).ok());
                match short_head(&bytes, kind) {
                    Some((number, length)) => assert_eq!((Some(number), length), (long, next), "{text}"),
                    None => assert!(long.is_none_or(|number| number > 999), "{text}"),
                }
                assert_eq!(short_head(&bytes[..bytes.len() - 1], kind), None, "{text}");
            }
        }
    }

    #[test]
    fn a_short_word_is_read_as_any_other() {
        for text in
            ["0", "7", "12", "99", "007", "-1", "1x", "x1", "", "1 ", "+1", "100", ":", "/", "1:", "1/"]
        {
            for kind in [b'$', b'*'] {
                let bytes = [&[kind], text.as_bytes(), b"\r\n12345678"].concat();
                let expected = short_head(&bytes, b'$').filter(|(length, _)| *length < 100);
                let expected = expected.filter(|(_, head_bytes)| *head_bytes < 6);
                assert_eq!(short_word(&bytes), expected, "{text}");
                assert_eq!(short_word(&bytes[..7]), None, "{text}");
            }
        }
    }

    #[test]
    fn random_bytes_never_panic() {
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..20_000 {
            let mut bytes = Vec::new();
            for _ in 0..24 {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                bytes.push(b"*$:-0123456789\r\nPI"[(seed % 18) as usize]);
            }
            let _ = words(&bytes);
        }
    }
}
