//! Answers as words, and whether Scarce's is what the script's means.

use redis::Value;
use scarce_client::Reply;

/// Errors after which a call has not run; what was not run is not compared.
const NOT_RUN: [&str; 13] = [
    "NOSCRIPT",
    "LOADING",
    "BUSY",
    "NOAUTH",
    "WRONGPASS",
    "NOPERM",
    "READONLY",
    "MOVED",
    "ASK",
    "OOM",
    "MISCONF",
    "MASTERDOWN",
    "CLUSTERDOWN",
];

/// The answer of Redis as the map's answers are matched with: its words; `error` for an error. Nothing if the call has
/// not run.
pub(crate) fn of_redis(value: &Value) -> Option<String> {
    match value {
        Value::ServerError(error) => (!NOT_RUN.contains(&error.code())).then(|| "error".to_owned()),
        value => Some(words(value).join(" ")),
    }
}

/// The answer of Scarce: `OK` and values, or a code and its facts.
pub(crate) fn of_scarce(value: Value) -> Vec<String> {
    match Reply::of(value) {
        Reply::Applied(values) => [vec!["OK".to_owned()], values.iter().flat_map(words).collect()].concat(),
        Reply::Refused(code, facts) => [vec![code], facts.iter().flat_map(words).collect()].concat(),
        // An error names its code after ERR.
        Reply::Error(text) => {
            let all: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            all.into_iter().skip_while(|word| word == "ERR").collect()
        }
    }
}

/// Whether an answer begins with what is expected; `_` stands for any word.
pub(crate) fn is_as(expected: &[String], found: &[String]) -> bool {
    let fits = |(expected, found): (&String, &String)| expected == "_" || expected == found;
    found.len() >= expected.len() && expected.iter().zip(found).all(fits)
}

/// Whether Scarce could not decide, so that the same command may be decided later.
pub(crate) fn is_undecided(value: &Value) -> bool {
    let codes = ["OVERLOADED", "UNAVAILABLE", "UNKNOWN", "LOADING", "READONLY", "TRYAGAIN"];
    matches!(value, Value::ServerError(error) if codes.contains(&error.code()))
}

fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Nil => vec!["nil".to_owned()],
        Value::Int(number) => vec![number.to_string()],
        Value::Double(number) => vec![number.to_string()],
        Value::Boolean(yes) => vec![i32::from(*yes).to_string()],
        Value::Array(values) | Value::Set(values) => values.iter().flat_map(words).collect(),
        Value::Map(pairs) => {
            pairs.iter().flat_map(|(name, value)| [words(name), words(value)].concat()).collect()
        }
        value => vec![scarce_client::text(value).unwrap_or_else(|| format!("{value:?}"))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn answers_are_words() {
        let packet = Value::Array(vec![Value::Int(1), Value::BulkString(b"500".to_vec())]);
        assert_eq!(of_redis(&packet), Some("1 500".to_owned()));
        assert_eq!(of_redis(&Value::Nil), Some("nil".to_owned()));
        let error = |line: &str| redis::parse_redis_value(line.as_bytes()).unwrap();
        assert_eq!(of_redis(&error("-NOSCRIPT No matching script.\r\n")), None);
        assert_eq!(of_redis(&error("-WRONGTYPE Operation against a key\r\n")), Some("error".to_owned()));
        assert_eq!(of_scarce(error("-ERR INVALID amount must be\r\n"))[0], "INVALID");
        let refused =
            Value::Array(vec![Value::Int(0), Value::SimpleString("SOLD_OUT".to_owned()), Value::Int(0)]);
        assert_eq!(of_scarce(refused), list(&["SOLD_OUT", "0"]));
        assert_eq!(of_scarce(packet), list(&["OK", "500"]));
    }

    #[test]
    fn an_answer_begins_with_what_is_expected() {
        let found = list(&["OK", "3", "7"]);
        for (expected, is_so) in [
            (vec!["OK"], true),
            (vec!["OK", "_", "7"], true),
            (vec!["OK", "4"], false),
            (vec!["OK", "3", "7", "9"], false),
        ] {
            assert_eq!(is_as(&list(&expected), &found), is_so, "{expected:?}");
        }
    }
}
