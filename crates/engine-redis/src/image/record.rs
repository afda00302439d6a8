//! Records as the library writes them: fields joined by `|`, nothing where there is none.

use compact_str::CompactString;
use scarce_core::event::FromShown;
use scarce_core::outcome::Value;
use scarce_core::types::Id;

use crate::values::from_json;

/// Text that is no record of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damaged;

/// The fields of a record that have not been read yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    rest: Option<&'a str>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: Some(text) }
    }

    /// The next field.
    pub(super) fn text(&mut self) -> Result<&'a str, Damaged> {
        let rest = self.rest.ok_or(Damaged)?;
        let (field, rest) = rest.split_once('|').map_or((rest, None), |(field, rest)| (field, Some(rest)));
        self.rest = rest;
        Ok(field)
    }

    /// All that is left, which may have a `|` in it.
    pub(super) fn last(&mut self) -> Result<&'a str, Damaged> {
        self.rest.take().ok_or(Damaged)
    }

    /// The next field as a number.
    pub(super) fn number<T: std::str::FromStr>(&mut self) -> Result<T, Damaged> {
        self.text()?.parse().map_err(|_| Damaged)
    }

    /// The next field as a number, where there is one.
    pub(super) fn optional<T: std::str::FromStr>(&mut self) -> Result<Option<T>, Damaged> {
        match self.text()? {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| Damaged),
        }
    }

    /// The next field as an id.
    pub(super) fn id(&mut self) -> Result<Id, Damaged> {
        id(self.text()?)
    }

    /// The next field by what its word stands for.
    pub(super) fn word<T>(&mut self, from_word: impl FnOnce(&[u8]) -> Option<T>) -> Result<T, Damaged> {
        from_word(self.text()?.as_bytes()).ok_or(Damaged)
    }

    /// The next field by what its word stands for, where there is one.
    pub(super) fn optional_word<T>(
        &mut self,
        from_word: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, Damaged> {
        match self.text()? {
            "" => Ok(None),
            word => from_word(word.as_bytes()).map(Some).ok_or(Damaged),
        }
    }

    /// The next field as 32 bytes in hexadecimal digits, where there are any.
    pub(super) fn optional_bytes(&mut self) -> Result<Option<[u8; 32]>, Damaged> {
        match self.text()? {
            "" => Ok(None),
            digits => <[u8; 32]>::from_shown(&Value::from(digits)).map(Some).map_err(|_| Damaged),
        }
    }

    /// The next field as what a value shows, kept as JSON.
    pub(super) fn shown<T: FromShown>(&mut self) -> Result<T, Damaged> {
        let value = from_json(self.text()?).map_err(|_| Damaged)?;
        T::from_shown(&value).map_err(|_| Damaged)
    }

    /// Checks that all fields were read.
    pub(super) fn end(&self) -> Result<(), Damaged> {
        if self.rest.is_none() { Ok(()) } else { Err(Damaged) }
    }
}

/// An id; those of world accounts too, which no caller may give.
pub(super) fn id(text: &str) -> Result<Id, Damaged> {
    let parse = |text: &str| Id::parse(text.as_bytes(), "id").map_err(|_| Damaged);
    match text.strip_prefix("$world:") {
        Some(asset) => parse(asset).map(|asset| Id::world(&asset)),
        None => parse(text),
    }
}

/// A text that is kept as it is.
pub(super) fn text(text: &str) -> CompactString {
    CompactString::from(text)
}
