//! Where a request or an answer ends, so that it can be passed on byte for byte. RESP2 and RESP3.

/// Bytes that are not of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these bytes are not of Redis' protocol")]
pub(crate) struct Malformed;

/// How long a text or a list may be at most: what Redis takes by default.
const COUNT_MAX: u64 = 512 << 20;

/// How long the first whole answer is; nothing while it is not whole.
pub(crate) fn answer(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    let (mut at, mut left) = (0_usize, 1_u64);
    while left > 0 {
        let Some(end) = line_end(bytes, at) else { return Ok(None) };
        let (kind, number) = (bytes[at], &bytes[at + 1..end]);
        at = end + 2;
        left -= 1;
        match kind {
            b'+' | b'-' | b':' | b'_' | b'#' | b',' | b'(' => {}
            b'$' | b'!' | b'=' => {
                if let Some(length) = count(number)? {
                    at += usize::try_from(length).map_err(|_| Malformed)? + 2;
                    if at > bytes.len() {
                        return Ok(None);
                    }
                }
            }
            b'*' | b'~' | b'>' => left += count(number)?.unwrap_or(0),
            b'%' => left += 2 * count(number)?.unwrap_or(0),
            b'|' => left += 2 * count(number)?.unwrap_or(0) + 1,
            _ => return Err(Malformed),
        }
    }
    Ok(Some(at))
}

/// The same for a request, which may be words on a line.
pub(crate) fn request(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    match bytes.first() {
        None => Ok(None),
        Some(b'*') => answer(bytes),
        Some(_) => Ok(bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1)),
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
