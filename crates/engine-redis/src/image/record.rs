//! Records as the library writes them: fields joined by `|`, nothing where there is none.

use compact_str::CompactString;
use scarce_core::event::FromShown;
use scarce_core::outcome::Value;
use scarce_core::types::Id;

use crate::records::RecordSpec;
use crate::values::from_json;

/// Text that is no record of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damaged;

/// A record, whose fields are read by their names.
#[derive(Clone, Debug)]
pub(super) struct Record<'a> {
    spec: &'static RecordSpec,
    fields: Vec<&'a str>,
}

impl<'a> Record<'a> {
    /// Splits a record's text. Its last field may have a `|` in it.
    pub(super) fn new(spec: &'static RecordSpec, text: &'a str) -> Result<Self, Damaged> {
        let mut fields: Vec<_> = text.splitn(spec.fields.len(), '|').collect();
        if fields.len() + spec.added_count() == spec.fields.len() {
            fields.resize(spec.fields.len(), "");
        }
        if fields.len() == spec.fields.len() { Ok(Self { spec, fields }) } else { Err(Damaged) }
    }

    /// A field as it is.
    pub(super) fn text(&self, field: &str) -> Result<&'a str, Damaged> {
        self.spec.place(field).and_then(|place| self.fields.get(place)).copied().ok_or(Damaged)
    }

    /// A field's text, where there is one.
    fn given(&self, field: &str) -> Result<Option<&'a str>, Damaged> {
        self.text(field).map(|text| Some(text).filter(|text| !text.is_empty()))
    }

    /// A field as a number.
    pub(super) fn number<T: std::str::FromStr>(&self, field: &str) -> Result<T, Damaged> {
        number(self.text(field)?)
    }

    /// A field as a number, where there is one.
    pub(super) fn optional<T: std::str::FromStr>(&self, field: &str) -> Result<Option<T>, Damaged> {
        self.given(field)?.map(number).transpose()
    }

    /// A field as a truth value.
    pub(super) fn flag(&self, field: &str) -> Result<bool, Damaged> {
        self.number::<u8>(field).map(|number| number == 1)
    }

    /// A field as an id.
    pub(super) fn id(&self, field: &str) -> Result<Id, Damaged> {
        id(self.text(field)?)
    }

    /// A field by what its word stands for.
    pub(super) fn word<T>(
        &self,
        field: &str,
        from_word: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, Damaged> {
        from_word(self.text(field)?.as_bytes()).ok_or(Damaged)
    }

    /// A field by what its word stands for, where there is one.
    pub(super) fn optional_word<T>(
        &self,
        field: &str,
        from_word: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, Damaged> {
        self.given(field)?.map(|word| from_word(word.as_bytes()).ok_or(Damaged)).transpose()
    }

    /// A field as 32 bytes in hexadecimal digits, where there are any.
    pub(super) fn optional_bytes(&self, field: &str) -> Result<Option<[u8; 32]>, Damaged> {
        let bytes = |digits| <[u8; 32]>::from_shown(&Value::from(digits)).map_err(|_| Damaged);
        self.given(field)?.map(bytes).transpose()
    }

    /// A field as what a value shows, kept as JSON.
    pub(super) fn shown<T: FromShown>(&self, field: &str) -> Result<T, Damaged> {
        let value = from_json(self.text(field)?).map_err(|_| Damaged)?;
        T::from_shown(&value).map_err(|_| Damaged)
    }
}

/// A number in digits.
pub(super) fn number<T: std::str::FromStr>(text: &str) -> Result<T, Damaged> {
    text.parse().map_err(|_| Damaged)
}

/// The two words of the name of a record that belongs to another one.
pub(super) fn words(name: &str) -> Result<(&str, &str), Damaged> {
    name.split_once(' ').ok_or(Damaged)
}

/// An id; those of world accounts too, which no caller may give.
pub(super) fn id(text: &str) -> Result<Id, Damaged> {
    let parse = |text: &str| Id::parse(text.as_bytes(), "id").map_err(|_| Damaged);
    match text.strip_prefix(Id::WORLD_PREFIX) {
        Some(asset) => parse(asset).map(|asset| Id::world(&asset)),
        None => parse(text),
    }
}

/// A text that is kept as it is.
pub(super) fn text(text: &str) -> CompactString {
    CompactString::from(text)
}
