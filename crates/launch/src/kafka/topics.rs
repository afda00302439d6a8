//! Creates a topic with Kafka's protocol: Kafka's own tool would take a second for each.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::{LaunchError, READY_TIMEOUT};

/// `CreateTopics` in the oldest version that brokers accept.
const CREATE_TOPICS: i16 = 19;
const VERSION: i16 = 2;

/// The maximum size of an answer.
const ANSWER_BYTES_MAX: usize = 1_000_000;

/// Creates a topic with one replica of each partition.
pub(super) fn create(port: u16, topic: &str, partitions: u32) -> Result<(), LaunchError> {
    let mut socket = TcpStream::connect(("127.0.0.1", port))?;
    socket.set_read_timeout(Some(READY_TIMEOUT))?;
    let body = request(topic, partitions);
    socket.write_all(&u32::try_from(body.len()).map_err(std::io::Error::other)?.to_be_bytes())?;
    socket.write_all(&body)?;
    let mut size = [0; 4];
    socket.read_exact(&mut size)?;
    let size = usize::try_from(u32::from_be_bytes(size)).unwrap_or(usize::MAX).min(ANSWER_BYTES_MAX);
    let mut answer = vec![0; size];
    socket.read_exact(&mut answer)?;
    let answered = || std::io::Error::other("Kafka's answer to a new topic cannot be read");
    match verdict(&answer).ok_or_else(answered)? {
        (0, _) => Ok(()),
        (code, message) => Err(LaunchError::Topic { topic: topic.to_owned(), code, message }),
    }
}

fn request(topic: &str, partitions: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(CREATE_TOPICS.to_be_bytes());
    bytes.extend(VERSION.to_be_bytes());
    // The correlation id, and no client id.
    bytes.extend(1_i32.to_be_bytes());
    bytes.extend((-1_i16).to_be_bytes());
    // One topic.
    bytes.extend(1_i32.to_be_bytes());
    let length = u16::try_from(topic.len()).unwrap_or(u16::MAX);
    bytes.extend(length.to_be_bytes());
    bytes.extend(&topic.as_bytes()[..usize::from(length)]);
    bytes.extend(partitions.to_be_bytes());
    bytes.extend(1_i16.to_be_bytes());
    // No manual replica assignment, no configuration.
    bytes.extend(0_i32.to_be_bytes());
    bytes.extend(0_i32.to_be_bytes());
    let timeout_ms = i32::try_from(READY_TIMEOUT.as_millis()).unwrap_or(i32::MAX);
    bytes.extend(timeout_ms.to_be_bytes());
    // Not a validation only.
    bytes.push(0);
    bytes
}

/// The error code and message of the only topic in the answer.
fn verdict(answer: &[u8]) -> Option<(i16, String)> {
    // The correlation id, the throttle time, the number of topics.
    let rest = answer.get(12..)?;
    let (name_length, rest) = rest.split_first_chunk()?;
    let rest = rest.get(usize::from(u16::from_be_bytes(*name_length))..)?;
    let (code, rest) = rest.split_first_chunk()?;
    let (message_length, rest) = rest.split_first_chunk()?;
    // `None` if it is -1.
    let message_length = usize::try_from(i16::from_be_bytes(*message_length)).unwrap_or_default();
    let message = String::from_utf8_lossy(rest.get(..message_length)?).into_owned();
    Some((i16::from_be_bytes(*code), message))
}
