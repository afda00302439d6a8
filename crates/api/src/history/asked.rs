//! Queries of histories, strictly validated.

use scarce_core::types::{Id, Natural, OperationId};

use super::History;
use crate::arguments::{Fields, Misshapen};
use crate::cursor;

/// The default number of rows of a page.
const PAGE_ROWS_DEFAULT: u32 = 100;

/// The maximum number of rows of a page.
pub const PAGE_ROWS_MAX: u32 = 1_000;

/// The value of one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Text(String),
    Number(i64),
}

/// A page of a history.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The kind of history.
    pub history: &'static History,
    said: Vec<(&'static str, Said)>,
    /// The maximum number of rows, from 1 to [`PAGE_ROWS_MAX`].
    pub limit: u32,
    /// The row after which the page begins: the contents of its cursor.
    pub after: Option<String>,
    /// Whether the oldest row comes first.
    pub is_oldest_first: bool,
}

impl Asked {
    /// Reads the parameters of a history, and of the page: `limit`, `cursor`, `sort`.
    ///
    /// # Errors
    /// When a parameter is missing, given twice, unknown or malformed.
    pub fn read(history: &'static History, mut fields: Fields<'_>) -> Result<Self, Misshapen> {
        let mut said = Vec::new();
        for name in history.required() {
            let text = fields.take_text(name)?.ok_or_else(|| Misshapen::new(name, "is missing"))?;
            said.push((name, read(name, text)?));
        }
        for name in history.filters {
            if let Some(text) = fields.take_text(name)? {
                said.push((name, read(name, text)?));
            }
        }
        let limit = match fields.take_text("limit")? {
            Some(text) => read_limit(text)?,
            None => PAGE_ROWS_DEFAULT,
        };
        let after = fields.take_text("cursor")?.map(|text| cursor::row(history.name, text)).transpose()?;
        let is_oldest_first = match fields.take_text("sort")? {
            None | Some("newest_first") => false,
            Some("oldest_first") => true,
            Some(_) => return Err(Misshapen::new("sort", "must be newest_first or oldest_first")),
        };
        fields.check_none()?;
        Ok(Self { history, said, limit, after, is_oldest_first })
    }

    /// The text of a required parameter; empty for any other name.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.text_if_said(name).unwrap_or_default()
    }

    /// The text of a parameter.
    #[must_use]
    pub fn text_if_said(&self, name: &str) -> Option<&str> {
        self.said.iter().find_map(|(its, said)| match said {
            Said::Text(text) if *its == name => Some(text.as_str()),
            _ => None,
        })
    }

    /// The number of a parameter.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<i64> {
        self.said.iter().find_map(|(its, said)| match said {
            Said::Number(number) if *its == name => Some(*number),
            _ => None,
        })
    }

    /// Requests the page after a cursor.
    ///
    /// # Errors
    /// When it is not a cursor of this history.
    pub fn go_on(&mut self, cursor: &str) -> Result<(), Misshapen> {
        self.after = Some(cursor::row(self.history.name, cursor)?);
        Ok(())
    }

    /// The cursor for callers, from the position where the next page begins.
    #[must_use]
    pub fn sealed(&self, place: &str) -> String {
        cursor::after_row(self.history.name, place)
    }
}

/// Reads the value of a parameter.
fn read(name: &'static str, text: &str) -> Result<Said, Misshapen> {
    Ok(match name {
        "serial" | "from_ms" | "to_ms" => {
            Said::Number(Natural::parse(text.as_bytes(), name)?.get().cast_signed())
        }
        "operation" => Said::Text(OperationId::parse(text.as_bytes(), name)?.to_string()),
        _ => Said::Text(Id::parse(text.as_bytes(), name)?.to_string()),
    })
}

fn read_limit(text: &str) -> Result<u32, Misshapen> {
    let limit = u32::try_from(Natural::parse(text.as_bytes(), "limit")?.get()).ok();
    let limit = limit.filter(|limit| (1..=PAGE_ROWS_MAX).contains(limit));
    limit.ok_or_else(|| Misshapen::new("limit", format!("must be 1 to {PAGE_ROWS_MAX}")))
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    fn asked(name: &str, said: &[(&str, &str)]) -> Result<Asked, Misshapen> {
        let mut fields = Fields::default();
        for (name, text) in said {
            fields.add_text(name, text);
        }
        Asked::read(find(name).expect("a history"), fields)
    }

    #[test]
    fn what_is_said_is_read_by_its_name() {
        let said = [("account", "u1"), ("from_ms", "5"), ("limit", "7"), ("sort", "oldest_first")];
        let asked = asked("account-entries", &said).expect("asked");
        assert_eq!(
            (asked.text("account"), asked.number("from_ms"), asked.number("to_ms")),
            ("u1", Some(5), None)
        );
        assert_eq!((asked.limit, asked.is_oldest_first, asked.after), (7, true, None));
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_its_name() {
        for (name, said, field) in [
            ("account-entries", vec![], "account"),
            ("account-entries", vec![("account", "a b")], "account"),
            ("account-entries", vec![("account", "u1"), ("from_ms", "x")], "from_ms"),
            ("account-entries", vec![("account", "u1"), ("to_ms", "-1")], "to_ms"),
            ("account-entries", vec![("account", "u1"), ("limit", "0")], "limit"),
            ("account-entries", vec![("account", "u1"), ("limit", "1001")], "limit"),
            ("account-entries", vec![("account", "u1"), ("sort", "up")], "sort"),
            ("account-entries", vec![("account", "u1"), ("cursor", "!")], "cursor"),
            ("account-entries", vec![("account", "u1"), ("sku", "s")], "sku"),
            ("unit", vec![("sku", "s"), ("serial", "one")], "serial"),
        ] {
            assert_eq!(asked(name, &said).expect_err("refused").field, field);
        }
    }

    #[test]
    fn a_cursor_belongs_to_one_history() {
        let first = asked("trades", &[("market", "m")]).expect("asked");
        let cursor = first.sealed("trades:5");
        let next = asked("trades", &[("market", "m"), ("cursor", &cursor)]).expect("asked");
        assert_eq!(next.after.as_deref(), Some("trades:5"));
        assert!(asked("packet-claims", &[("campaign", "c"), ("cursor", &cursor)]).is_err());
    }
}
