//! Values and kinds of columns.

use std::sync::Arc;

/// What a column holds. Two kinds suffice: amounts, counts and times are integers, everything else is text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A signed 64-bit integer.
    Integer,
    /// A text.
    Text,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: ColumnKind,
}

impl Column {
    /// A column of integers.
    #[must_use]
    pub const fn integer(name: &'static str) -> Self {
        Self { name, kind: ColumnKind::Integer }
    }

    /// A column of texts.
    #[must_use]
    pub const fn text(name: &'static str) -> Self {
        Self { name, kind: ColumnKind::Text }
    }
}

/// A text in a row. Several rows, and the statements that write them, share it without copying.
pub type Text = Arc<str>;

/// A value in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// No value.
    Null,
    /// A number.
    Integer(i64),
    /// A text.
    Text(Text),
    /// A text from a fixed set.
    Word(&'static str),
}

impl Cell {
    /// The text, if the value is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Word(word) => Some(word),
            Self::Null | Self::Integer(_) => None,
        }
    }

    /// The number, if the value is one.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Null | Self::Text(_) | Self::Word(_) => None,
        }
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self::Text(value.into())
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("-"),
            Self::Integer(value) => value.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Word(word) => f.write_str(word),
        }
    }
}
