//! Values in MessagePack, as Redis' `cmsgpack` writes and reads them. What is nothing is false.

use compact_str::CompactString;
use rmp::Marker;
use rmp::decode::{self, Bytes};
use rmp::encode::{self, ByteBuf};
use scarce_core::outcome::Value;

/// Answers nest a batch's lines, their facts and an order's fills; nothing nests deeper.
const DEPTH_MAX: u8 = 16;

/// Bytes that the library does not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the library's answer cannot be read: {0}; is another version of it loaded under its name?")]
pub struct Unreadable(pub &'static str);

/// Writes MessagePack.
#[derive(Debug, Default)]
pub struct MessageWriter {
    bytes: ByteBuf,
}

impl MessageWriter {
    /// Begins a list of so many values.
    pub fn list(&mut self, count: usize) {
        let Ok(_) = encode::write_array_len(&mut self.bytes, u32::try_from(count).unwrap_or(u32::MAX));
    }

    /// Writes an integer.
    pub fn integer(&mut self, number: i64) {
        let Ok(_) = encode::write_sint(&mut self.bytes, number);
    }

    /// Writes a quantity that is at most 2^53 − 1.
    pub fn quantity(&mut self, number: u64) {
        self.integer(scarce_core::types::signed(number));
    }

    /// Writes a text.
    pub fn text(&mut self, text: &str) {
        let Ok(()) = encode::write_str(&mut self.bytes, text);
    }

    /// Writes bytes as a text, which `cmsgpack` does not tell apart.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let Ok(_) = encode::write_str_len(&mut self.bytes, u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        self.raw(bytes);
    }

    /// Writes that there is nothing.
    pub fn nothing(&mut self) {
        let Ok(()) = encode::write_bool(&mut self.bytes, false);
    }

    /// Writes a quantity, or that there is none.
    pub fn optional(&mut self, number: Option<u64>) {
        match number {
            Some(number) => self.quantity(number),
            None => self.nothing(),
        }
    }

    /// Writes a value.
    pub fn value(&mut self, value: &Value) {
        match value {
            Value::Absent => self.nothing(),
            Value::Integer(number) => self.integer(*number),
            Value::Text(text) => self.text(text),
            Value::List(values) => {
                self.list(values.len());
                values.iter().for_each(|value| self.value(value));
            }
        }
    }

    /// Appends what was written elsewhere.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.as_mut_vec().extend_from_slice(bytes);
    }

    /// What was written.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_vec()
    }
}

/// Reads the values that stand one after the other.
///
/// # Errors
/// When the bytes are no such values.
pub fn read_all(bytes: &[u8]) -> Result<Vec<Value>, Unreadable> {
    let mut rest = Bytes::new(bytes);
    let mut values = Vec::new();
    while !rest.remaining_slice().is_empty() {
        values.push(read(&mut rest, 0)?);
    }
    Ok(values)
}

fn read(rest: &mut Bytes<'_>, depth: u8) -> Result<Value, Unreadable> {
    if depth > DEPTH_MAX {
        return Err(Unreadable("it nests too deep"));
    }
    let marker = rest.remaining_slice().first().copied().map(Marker::from_u8);
    match marker.ok_or(Unreadable("it ends early"))? {
        Marker::Null | Marker::False => skip(rest, Value::Absent),
        Marker::True => skip(rest, Value::Integer(1)),
        Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
            let length = decode::read_str_len(rest).map_err(|_| Unreadable("a text has no length"))?;
            text(rest, length)
        }
        Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => {
            let count = decode::read_array_len(rest).map_err(|_| Unreadable("a list has no length"))?;
            list(rest, count, depth)
        }
        _ => decode::read_int(rest).map(Value::Integer).map_err(|_| Unreadable("a value is no integer")),
    }
}

fn skip(rest: &mut Bytes<'_>, value: Value) -> Result<Value, Unreadable> {
    decode::read_marker(rest).map(|_| value).map_err(|_| Unreadable("it ends early"))
}

fn text(rest: &mut Bytes<'_>, length: u32) -> Result<Value, Unreadable> {
    let bytes = rest.remaining_slice();
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let (taken, after) = bytes.split_at_checked(length).ok_or(Unreadable("a text ends early"))?;
    let text = CompactString::from_utf8(taken).map_err(|_| Unreadable("a text is no UTF-8"))?;
    *rest = Bytes::new(after);
    Ok(Value::Text(text))
}

fn list(rest: &mut Bytes<'_>, count: u32, depth: u8) -> Result<Value, Unreadable> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > rest.remaining_slice().len() {
        return Err(Unreadable("a list ends early"));
    }
    (0..count).map(|_| read(rest, depth + 1)).collect::<Result<_, _>>().map(Value::List)
}

/// Reads a value that is kept as JSON: nothing, an integer, a text, or a list of them.
///
/// # Errors
/// When it is none of these.
pub fn from_json(json: &str) -> Result<Value, Unreadable> {
    serde_json::from_str(json).map_err(|_| Unreadable("it is no JSON")).and_then(of_json)
}

/// The same value as JSON, as the library writes it.
#[must_use]
pub fn to_json(value: &Value) -> String {
    as_json(value).to_string()
}

fn as_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Absent => serde_json::Value::Null,
        Value::Integer(number) => (*number).into(),
        Value::Text(text) => text.as_str().into(),
        Value::List(values) => values.iter().map(as_json).collect(),
    }
}

fn of_json(json: serde_json::Value) -> Result<Value, Unreadable> {
    use serde_json::Value as Json;
    match json {
        Json::Null => Ok(Value::Absent),
        Json::Number(number) => {
            number.as_i64().map(Value::Integer).ok_or(Unreadable("a value is no integer"))
        }
        Json::String(text) => Ok(Value::from(text.as_str())),
        Json::Array(values) => values.into_iter().map(of_json).collect::<Result<_, _>>().map(Value::List),
        Json::Bool(_) | Json::Object(_) => Err(Unreadable("a value is of no kind that there is")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let numbers = [0, 1, -1, 127, 128, -33, 65_536, (1 << 53) - 1, -((1 << 53) - 1)];
        let mut values: Vec<Value> = numbers.iter().map(|number| Value::Integer(*number)).collect();
        values.extend(["", "text", &"x".repeat(70_000)].map(Value::from));
        values.push(Value::List(vec![Value::Absent, Value::List(vec![])]));
        let mut writer = MessageWriter::default();
        values.iter().for_each(|value| writer.value(value));
        assert_eq!(from_json(&to_json(&Value::List(values.clone()))), Ok(Value::List(values.clone())));
        let bytes = writer.into_bytes();
        assert_eq!(read_all(&bytes), Ok(values));
        for end in 0..64 {
            let _ = read_all(&bytes[..end]);
        }
        assert!(read_all(&[0xdd, 0xff, 0xff, 0xff, 0xff]).is_err());
        assert!(read_all(&[0x91; 64]).is_err());
    }
}
