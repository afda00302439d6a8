//! What was read from a key, under the names that templates of the map call it by.

use serde_json::Value;

use crate::pattern::Captures;

/// Digits that a number with a decimal point may have in JSON, so that none was lost when it was read.
const JSON_DIGITS_MAX: usize = 15;

/// Values by their names.
#[derive(Debug)]
pub(crate) struct Cells<'a> {
    /// What the pattern captured in the key.
    pub(crate) captures: &'a Captures,
    /// What stands in the key: `value`, `field`, `member`, `score`, `hash.…`.
    pub(crate) values: Vec<(String, String)>,
}

impl Cells<'_> {
    /// The value of a place.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn get(&self, name: &str) -> Result<String, String> {
        let mut all = self.values.iter().chain(self.captures);
        if let Some((_, value)) = all.find(|(its, _)| its == name) {
            return Ok(value.clone());
        }
        match name.split_once('.') {
            Some(("hash", field)) => Err(format!("has no field '{field}'")),
            Some((outer, field)) => in_json(&self.get(outer)?, field),
            None => Err(format!("has nothing called '{name}'")),
        }
    }
}

/// The value of a place among captures; `name.field` is a field of its JSON.
///
/// # Errors
/// Why there is none.
pub fn value_of(captures: &Captures, name: &str) -> Result<String, String> {
    Cells { captures, values: Vec::new() }.get(name)
}

/// A field of a JSON object, as text.
fn in_json(text: &str, field: &str) -> Result<String, String> {
    let parsed: Value =
        serde_json::from_str(text).map_err(|error| format!("has a value that is not JSON ({error})"))?;
    match parsed.get(field) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Number(number)) => {
            let text = number.to_string();
            let digits = text.bytes().filter(u8::is_ascii_digit).count();
            if number.is_f64() && (digits > JSON_DIGITS_MAX || text.contains('e')) {
                return Err(format!("has {field} {text} in JSON, which may have lost digits"));
            }
            Ok(text)
        }
        Some(_) => Err(format!("has a {field} in JSON that is neither text nor a number")),
        None => Err(format!("has no '{field}' in its JSON")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_json_is_its_exact_text() {
        for (text, expected) in [
            (r#"{"amount":8.88}"#, Ok("8.88")),
            (r#"{"amount":500}"#, Ok("500")),
            (r#"{"amount":9007199254740993}"#, Ok("9007199254740993")),
            (r#"{"amount":"12.340"}"#, Ok("12.340")),
            (r#"{"amount":1.2345678901235e+15}"#, Err("lost digits")),
            (r#"{"amount":0.12345678901234567}"#, Err("lost digits")),
            (r#"{"amount":null}"#, Err("neither")),
            (r#"{"user":1}"#, Err("no 'amount'")),
            (r#"{"amount":""#, Err("not JSON")),
        ] {
            let read = in_json(text, "amount");
            match expected {
                Ok(value) => assert_eq!(read.as_deref(), Ok(value), "{text}"),
                Err(part) => assert!(read.as_ref().is_err_and(|why| why.contains(part)), "{text}: {read:?}"),
            }
        }
    }
}
