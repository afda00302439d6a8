//! Reading fields back from their shown values, for engines that keep fields in that form.

use compact_str::CompactString;

use crate::codec::Malformed;
use crate::outcome::Value;
use crate::types::{Id, OperationId};

/// Can be read from the value that [`Shown::shown`](super::Shown::shown) returns.
pub trait FromShown: Sized {
    /// Reads the value.
    ///
    /// # Errors
    /// When this type never shows such a value.
    fn from_shown(value: &Value) -> Result<Self, Malformed>;
}

/// The text of a value.
///
/// # Errors
/// When it is of another kind.
pub fn text(value: &Value) -> Result<&CompactString, Malformed> {
    match value {
        Value::Text(text) => Ok(text),
        _ => Err(Malformed),
    }
}

/// The values of a list.
///
/// # Errors
/// When it is of another kind.
pub fn list(value: &Value) -> Result<&[Value], Malformed> {
    match value {
        Value::List(values) => Ok(values),
        _ => Err(Malformed),
    }
}

impl FromShown for i64 {
    fn from_shown(value: &Value) -> Result<Self, Malformed> {
        match value {
            Value::Integer(number) => Ok(*number),
            _ => Err(Malformed),
        }
    }
}

impl FromShown for u64 {
    fn from_shown(value: &Value) -> Result<Self, Malformed> {
        i64::from_shown(value).and_then(|number| Self::try_from(number).map_err(|_| Malformed))
    }
}

impl FromShown for bool {
    fn from_shown(value: &Value) -> Result<Self, Malformed> {
        match value {
            Value::Integer(0) => Ok(false),
            Value::Integer(1) => Ok(true),
            _ => Err(Malformed),
        }
    }
}

impl FromShown for CompactString {
    fn from_shown(value: &Value) -> Result<Self, Malformed> {
        text(value).cloned()
    }
}

impl FromShown for Id {
    fn from_shown(value: &Value) -> Result<Self, Malformed> {
        text(value).cloned().map(Self::trusted)
    }
}

impl FromShown for OperationId {
    fn from_shown(value: &Value) -> Result<Self, Malformed> {
        text(value).cloned().map(Self::trusted)
    }
}

impl<T: FromShown> FromShown for Option<T> {
    fn from_shown(value: &Value) -> Result<Self, Malformed> {
        match value {
            Value::Absent => Ok(None),
            value => T::from_shown(value).map(Some),
        }
    }
}

impl<T: FromShown> FromShown for Vec<T> {
    fn from_shown(value: &Value) -> Result<Self, Malformed> {
        list(value)?.iter().map(T::from_shown).collect()
    }
}

impl FromShown for [u8; 32] {
    fn from_shown(value: &Value) -> Result<Self, Malformed> {
        let digits = text(value)?;
        let mut bytes = [0; 32];
        if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(Malformed);
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            let pair = digits.get(2 * at..2 * at + 2).ok_or(Malformed)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| Malformed)?;
        }
        Ok(bytes)
    }
}
