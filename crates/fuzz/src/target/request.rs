//! Requests on the RESP port.

use scarce_gateway_resp::request::{
    LIMITS, LIMITS_BEFORE_AUTH, Limits, ParseProgress, Parser, ProtocolError,
};

use super::{Target, commands};

pub(super) const TARGET: Target = Target {
    name: "request",
    about: "requests on the RESP port: arrays of bulk strings, and lines of words",
    examples,
    check,
    weight: 1_000,
};

fn examples() -> Vec<Vec<u8>> {
    let inline = [b"PING\r\n".to_vec(), b"*0\r\n*-1\r\nECHO \x01\n".to_vec()];
    let scripts = commands::scripts();
    let packed = scripts.iter().map(|script| script.lines().take(3).flat_map(packed).collect());
    inline.into_iter().chain(packed).collect()
}

fn packed(line: &str) -> Vec<u8> {
    let words: Vec<&str> = line.split(' ').collect();
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n{word}\r\n", word.len()).as_bytes());
    }
    bytes
}

/// The requests at the front of a stream, and how it ends.
#[derive(Debug, Default, PartialEq, Eq)]
struct Stream {
    requests: Vec<Vec<Vec<u8>>>,
    error: Option<ProtocolError>,
    rest: usize,
}

/// Reads what arrives in pieces that end at `ends`.
fn read(bytes: &[u8], ends: impl Iterator<Item = usize>, limits: Limits) -> Stream {
    let (mut stream, mut parser, mut start) = (Stream::default(), Parser::default(), 0);
    for end in ends {
        loop {
            match parser.read(&bytes[start..end], limits) {
                Err(error) => return Stream { error: Some(error), ..stream },
                Ok(ParseProgress::Incomplete) => break,
                Ok(ParseProgress::Complete(count)) => {
                    assert!(0 < count && count <= end - start, "a request has bytes, and no more than came");
                    let words = parser.words().iter().map(|word| bytes[start..][word.clone()].to_vec());
                    stream.requests.push(words.collect());
                    assert!(parser.words().len() <= limits.words_max);
                    start += count;
                    parser.reset();
                }
            }
        }
    }
    Stream { rest: bytes.len() - start, ..stream }
}

fn check(bytes: &[u8]) {
    for limits in [LIMITS, LIMITS_BEFORE_AUTH] {
        let whole = read(bytes, std::iter::once(bytes.len()), limits);
        let in_bytes = read(bytes, 1..=bytes.len(), limits);
        assert_eq!(in_bytes.requests, whole.requests, "in pieces the same requests");
        assert_eq!(in_bytes.error, whole.error, "in pieces the same error");
    }
}
