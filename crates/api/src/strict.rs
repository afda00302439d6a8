//! Strict JSON parsing: a duplicate name in an object is refused, because the intended value is unclear,
//! and so is JSON that nests deeper than any request.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The maximum nesting of a request.
pub const DEPTH_MAX: usize = 32;

/// Reads a JSON text.
///
/// # Errors
/// When it is not JSON, has a duplicate name, or nests too deep; the text says where.
pub fn read(text: &[u8]) -> Result<Value, serde_json::Error> {
    let mut input = serde_json::Deserializer::from_slice(text);
    let value = Strict { depth_left: DEPTH_MAX }.deserialize(&mut input)?;
    input.end()?;
    Ok(value)
}

struct Strict {
    depth_left: usize,
}

impl Strict {
    fn inner<E: serde::de::Error>(&self) -> Result<Self, E> {
        match self.depth_left.checked_sub(1) {
            Some(depth_left) => Ok(Self { depth_left }),
            None => Err(E::custom(format_args!("nests deeper than {DEPTH_MAX}"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut input: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = input.next_element_seed(self.inner()?)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut input: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = input.next_key::<String>()? {
            let value = input.next_value_seed(self.inner()?)?;
            if fields.contains_key(&name) {
                let shown: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
                return Err(A::Error::custom(format_args!("names '{shown}' twice")));
            }
            fields.insert(name, value);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_was_written() {
        let text = r#"{"a": [1, -2, 3.5, "x", true, null], "b": {"c": 9007199254740993}}"#;
        let expected: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(read(text.as_bytes()).expect("JSON"), expected);
    }

    #[test]
    fn names_given_twice_deep_nests_and_rests_are_refused() {
        for bad in [r#"{"a":1,"a":2}"#, r#"{"x":{"a":1,"\u0061":2}}"#, "{} {}", "[1,]", "", "nul"] {
            assert!(read(bad.as_bytes()).is_err(), "{bad}");
        }
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(read(nested(DEPTH_MAX).as_bytes()).is_ok());
        assert!(read(nested(DEPTH_MAX + 1).as_bytes()).is_err());
        assert!(read("[".repeat(1_000_000).as_bytes()).is_err());
    }
}
