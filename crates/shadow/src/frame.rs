//! Where a request or an answer ends, so that it can be passed on byte for byte. RESP2 and RESP3.

/// Bytes that are not of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these bytes are not of Redis' protocol")]
pub(crate) struct Malformed;

/// How long a text or a list may be at most: what Redis takes by default.
const COUNT_MAX: u64 = 512 << 20;

/// Where the first of some bytes' answers or requests ends. It goes on where it was when more has come, so that a long list that
/// comes in many pieces is looked at once.
#[derive(Debug)]
pub(crate) struct FrameEnd {
    /// How many bytes were looked at.
    at: usize,
    /// How many elements are still to come.
    left: u64,
}

impl Default for FrameEnd {
    fn default() -> Self {
        Self { at: 0, left: 1 }
    }
}

impl FrameEnd {
    /// How long the first whole answer is; nothing while it is not whole. The bytes are those of before, and what has come since.
    pub(crate) fn answer(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        while self.left > 0 {
            let Some(end) = line_end(bytes, self.at) else { return Ok(None) };
            let (kind, number) = (bytes[self.at], &bytes[self.at + 1..end]);
            let mut next = end + 2;
            let more = match kind {
                b'+' | b'-' | b':' | b'_' | b'#' | b',' | b'(' => 0,
                b'$' | b'!' | b'=' => {
                    if let Some(length) = count(number)? {
                        next += usize::try_from(length).map_err(|_| Malformed)? + 2;
                    }
                    0
                }
                b'*' | b'~' | b'>' => count(number)?.unwrap_or(0),
                b'%' => 2 * count(number)?.unwrap_or(0),
                b'|' => 2 * count(number)?.unwrap_or(0) + 1,
                _ => return Err(Malformed),
            };
            if next > bytes.len() {
                return Ok(None);
            }
            self.at = next;
            self.left = self.left - 1 + more;
        }
        Ok(Some(std::mem::take(self).at))
    }

    /// The same for a request, which may be words on a line.
    pub(crate) fn request(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        match bytes.first() {
            None => Ok(None),
            Some(b'*') => self.answer(bytes),
            Some(_) => Ok(bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1)),
        }
    }
}

/// The words of a whole request.
pub(crate) fn words(request: &[u8]) -> Vec<&[u8]> {
    if request.first() != Some(&b'*') {
        let is_blank = |byte: &u8| byte.is_ascii_whitespace();
        return request.split(is_blank).filter(|word| !word.is_empty()).collect();
    }
    let (mut words, mut at) = (Vec::new(), line_end(request, 0).map_or(request.len(), |end| end + 2));
    while let Some(end) = line_end(request, at) {
        let Ok(Some(length)) = count(request.get(at + 1..end).unwrap_or_default()) else { break };
        let begin = end + 2;
        let stop = begin + usize::try_from(length).unwrap_or(usize::MAX - begin);
        let Some(word) = request.get(begin..stop) else { break };
        words.push(word);
        at = stop + 2;
    }
    words
}

fn line_end(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let at = rest.windows(2).position(|pair| pair == b"\r\n")?;
    // A line has at least its first byte.
    (at > 0).then_some(from + at)
}

/// A length; nothing for the one that means nothing.
fn count(text: &[u8]) -> Result<Option<u64>, Malformed> {
    if text == b"-1" {
        return Ok(None);
    }
    let number = str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number.filter(|number| *number <= COUNT_MAX).map(Some).ok_or(Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        FrameEnd::default().answer(bytes)
    }

    fn request(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        FrameEnd::default().request(bytes)
    }

    #[test]
    fn what_was_looked_at_is_not_looked_at_again() {
        let text = format!("*100\r\n{}", "$3\r\nabc\r\n".repeat(100));
        let (bytes, mut frame) = (text.as_bytes(), FrameEnd::default());
        for end in 0..bytes.len() {
            assert_eq!(frame.answer(&bytes[..end]), Ok(None));
            assert!(end < 6 || end - frame.at < 9, "{} of {end} bytes were looked at", frame.at);
        }
        assert_eq!(frame.answer(bytes), Ok(Some(bytes.len())));
        assert_eq!(frame.answer(b"+OK\r\n"), Ok(Some(5)), "the next one begins anew");
    }

    #[test]
    fn every_kind_of_answer_ends_where_it_ends() {
        for text in [
            "+OK\r\n",
            "-ERR no\r\n",
            ":5\r\n",
            "$-1\r\n",
            "$3\r\na\r\n\r\n",
            "$0\r\n\r\n",
            "*-1\r\n",
            "*0\r\n",
            "*2\r\n:1\r\n*1\r\n$1\r\nx\r\n",
            "%1\r\n+a\r\n:1\r\n",
            "|1\r\n+a\r\n:1\r\n+OK\r\n",
            ">2\r\n+message\r\n+x\r\n",
            "_\r\n",
            "#t\r\n",
            ",1.5\r\n",
            "(123\r\n",
            "=5\r\ntxt:x\r\n",
        ] {
            let more = format!("{text}+next\r\n");
            assert_eq!(answer(more.as_bytes()), Ok(Some(text.len())), "{text:?}");
            for end in 0..text.len() {
                assert_eq!(answer(&text.as_bytes()[..end]), Ok(None), "{text:?} up to {end}");
            }
        }
        for text in ["hello\r\n", "$x\r\n", "*99999999999\r\n", "$-2\r\n"] {
            assert_eq!(answer(text.as_bytes()), Err(Malformed), "{text:?}");
        }
    }

    #[test]
    fn words_are_read_in_either_form() {
        for text in ["*2\r\n$3\r\nGET\r\n$1\r\nx\r\n", "GET  x\r\n"] {
            assert_eq!(request(text.as_bytes()), Ok(Some(text.len())));
            assert_eq!(words(text.as_bytes()), [b"GET".as_slice(), b"x"]);
        }
        assert_eq!(words(b"*2\r\n$3\r\nGET\r\n$9\r\nx\r\n"), [b"GET"]);
    }
}
