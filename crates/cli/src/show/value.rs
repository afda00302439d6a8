//! Formats one value, on one line or as a table.

use redis::Value;
use scarce_core::command::COMMANDS;
use scarce_core::outcome::shape::{Shape, ValueSpec, names};

use scarce_client::text;

use crate::columns::aligned;

/// The fields of a coupon's limit.
const LIMIT: &[&str] = &["limit", "max", "per", "window", "offset_minutes"];

/// The column names of a list's rows, by the list's name in the command table.
fn columns_of(list: &str) -> Vec<&'static str> {
    let of_rows = |value: &ValueSpec| match value.value_type.shape {
        Shape::Rows(row) if value.name == list => Some(names(row.values).collect()),
        Shape::Limits if value.name == list => Some(LIMIT.to_vec()),
        _ => None,
    };
    COMMANDS.iter().flat_map(|spec| spec.reply).find_map(of_rows).unwrap_or_default()
}

/// The names of values that are times in Unix milliseconds.
const TIMES: &[&str] = &["at", "deadline", "now", "starts_at", "ends_at", "resets_at"];

/// Whether it fits on one line.
pub(super) fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Map(_) | Value::Set(_) | Value::ServerError(_))
}

/// A value on one line; times also as a date.
pub(super) fn line_of(name: &str, value: &Value) -> String {
    match value {
        Value::Int(value) => match calendar(*value).filter(|_| TIMES.contains(&name)) {
            Some(time) => format!("{value} ({time})"),
            None => value.to_string(),
        },
        Value::Nil => "-".to_owned(),
        Value::Array(values) if values.is_empty() => "(none)".to_owned(),
        Value::Array(values) => {
            format!("[{}]", values.iter().map(|value| line_of("", value)).collect::<Vec<_>>().join(", "))
        }
        value => text(value).map_or_else(|| safe(&format!("{value:?}")), |text| safe(&text)),
    }
}

/// Unix milliseconds as a date in UTC.
pub(crate) fn calendar(unix_ms: i64) -> Option<String> {
    jiff::Timestamp::from_millisecond(unix_ms).ok().map(|time| time.to_string())
}

/// The lines of a table, if a value is a list of lists.
pub(super) fn rows_of(name: &str, value: &Value) -> Option<Vec<String>> {
    let Value::Array(rows) = value else { return None };
    let rows = rows.iter().map(|row| match row {
        Value::Array(values) => Some(values),
        _ => None,
    });
    let rows: Vec<_> = rows.collect::<Option<_>>()?;
    let columns = columns_of(name);
    let head = (!columns.is_empty() && !rows.is_empty())
        .then(|| columns.iter().map(|column| (*column).to_owned()).collect::<Vec<_>>());
    let cells = rows.iter().map(|values| {
        let named = values.iter().enumerate();
        named.map(|(at, value)| line_of(columns.get(at).unwrap_or(&""), value)).collect::<Vec<_>>()
    });
    Some(aligned(head.into_iter().chain(cells)))
}

/// A text without terminal control characters, since some of it comes from callers.
pub(super) fn safe(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() })
        .collect()
}
