//! The lines of a book, kept small: numbers in rows, texts behind each other.

use crate::BookError;
use crate::day::Day;

/// How many lines or movements are compared at once, on each side.
pub const ITEMS_MAX: u32 = 5_000_000;

/// How many bytes of a text count.
const TEXT_BYTES_MAX: usize = 512;

/// A line of a book, or a movement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'t> {
    /// The line in its file; 0 if it is of another one.
    pub line: u32,
    /// When it was booked.
    pub day: Day,
    /// In the smallest unit; below zero if it went out.
    pub amount: i64,
    /// The operation that made it, or the item that was counted; empty if that is not known.
    pub operation: &'t str,
    /// Other texts that may name the operation or who it is of.
    pub reference: &'t str,
    /// Where it is in its book.
    pub place: &'t str,
    /// Since when it is open, if it was last time.
    pub since: Option<Day>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    texts_at: u32,
    line: u32,
    amount: i64,
    day: Day,
    since: Option<Day>,
    operation: u16,
    reference: u16,
    place: u16,
    is_matched: bool,
}

/// Lines of a book.
#[derive(Debug, Default)]
pub struct Items {
    rows: Vec<Row>,
    texts: String,
}

impl Items {
    /// Adds a line.
    ///
    /// # Errors
    /// When there are too many.
    pub fn add(&mut self, item: &Item<'_>) -> Result<(), BookError> {
        let too_many = BookError::TooMany { most: ITEMS_MAX };
        let Ok(texts_at) = u32::try_from(self.texts.len()) else { return Err(too_many) };
        if self.rows.len() >= ITEMS_MAX as usize {
            return Err(too_many);
        }
        let mut keep = |text: &str| {
            let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
            self.texts.push_str(text);
            u16::try_from(text.len()).unwrap_or_default()
        };
        let (operation, reference, place) = (keep(item.operation), keep(item.reference), keep(item.place));
        let Item { line, day, amount, since, .. } = *item;
        self.rows.push(Row {
            texts_at,
            line,
            amount,
            day,
            since,
            operation,
            reference,
            place,
            is_matched: false,
        });
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn get(&self, at: usize) -> Item<'_> {
        let Row { texts_at, line, amount, day, since, operation, reference, place, .. } = self.rows[at];
        let texts = &self.texts[texts_at as usize..];
        let (operation, texts) = texts.split_at(operation.into());
        let (reference, texts) = texts.split_at(reference.into());
        Item { line, day, amount, operation, reference, place: &texts[..place.into()], since }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Item<'_>> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// Those that have no counterpart yet.
    pub(crate) fn open(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|at| !self.rows[*at].is_matched)
    }

    pub(crate) fn is_open(&self, at: usize) -> bool {
        !self.rows[at].is_matched
    }

    pub(crate) fn close(&mut self, at: usize) {
        self.rows[at].is_matched = true;
    }

    pub(crate) fn add_to(&mut self, at: usize, amount: i64) -> Option<()> {
        self.rows[at].amount = self.rows[at].amount.checked_add(amount)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_back_as_they_were_put_in_and_long_texts_are_cut() {
        let mut items = Items::default();
        let long = "ü".repeat(400);
        let item = Item {
            line: 7,
            day: Day(3),
            amount: -5,
            operation: "op",
            reference: &long,
            place: "0/9",
            since: None,
        };
        items.add(&item).unwrap_or_else(|error| panic!("{error}"));
        items
            .add(&Item { reference: "", since: Some(Day(1)), ..item })
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(items.get(0), Item { reference: &"ü".repeat(256), ..item });
        assert_eq!(items.get(1), Item { reference: "", since: Some(Day(1)), ..item });
        items.close(0);
        assert_eq!(items.open().collect::<Vec<_>>(), [1]);
    }
}
