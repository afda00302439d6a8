//! Statements as SWIFT MT940.
//!
//! A reader of our own: the kept crate for this format takes a file as one text and ends at the first thing that is wrong with
//! it, so that no bad line could be named, and every bank deviates somewhere.

mod details;

use std::io::{BufRead, BufReader, Read};

use crate::BookError;
use crate::balance::Balances;
use crate::day::Day;
use crate::map::Map;
use crate::number::Numbers;
use crate::statement::{Draft, Line};
use crate::text::Utf8;

/// How long a line may be: the standard has 65 characters, banks have more.
const LINE_BYTES_MAX: u64 = 4 << 10;

/// How long the text of a field may be with all its lines.
const FIELD_BYTES_MAX: usize = 16 << 10;

/// Fields that say nothing about movements.
const PASSED_OVER: [&str; 8] = ["20", "21", "28", "28C", "13D", "64", "65", "NS"];

/// A field with all its lines.
#[derive(Debug, Default)]
struct Field {
    line: u32,
    tag: String,
    text: String,
}

/// A movement whose details may follow.
struct Movement {
    line: u32,
    day: Day,
    amount: i64,
    operation: String,
    reference: String,
}

struct Mt940<'d, 'm> {
    draft: &'d mut Draft<'m>,
    numbers: Numbers,
    is_ours: bool,
    has_account: bool,
    balances: Balances,
    movement: Option<Movement>,
    /// Where the statement begins that has no closing balance yet.
    open_since: Option<u32>,
    has_fields: bool,
}

/// Reads a file.
pub(crate) fn read(input: impl Read, map: &Map, draft: &mut Draft<'_>) -> Result<(), BookError> {
    let mut input = BufReader::new(Utf8::new(input, map.csv.encoding.as_deref())?);
    let numbers = map.numbers().plain(',');
    let mut mt940 = Mt940 {
        draft,
        numbers,
        is_ours: true,
        has_account: false,
        balances: Balances::default(),
        movement: None,
        open_since: None,
        has_fields: false,
    };
    let (mut field, mut bytes, mut line) = (Field::default(), Vec::new(), 0_u32);
    loop {
        bytes.clear();
        if input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        line = line.saturating_add(1);
        if !bytes.ends_with(b"\n") && bytes.len() as u64 == LINE_BYTES_MAX {
            return Err(BookError::format(line, "it is too long; this is no MT940"));
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end_matches(['\r', '\n']);
        // What is before the fields and behind them: blocks of SWIFT.
        let text = text.rfind("{4:").map_or(text, |at| &text[at + 3..]);
        if let Some((tag, rest)) = tag(text) {
            mt940.field(&std::mem::take(&mut field))?;
            field = Field { line, tag: tag.to_owned(), text: rest.to_owned() };
        } else if !text.trim().is_empty() && !matches!(text, "-" | "-}") && !text.starts_with("-}") {
            if field.tag.is_empty() {
                return Err(BookError::format(
                    line,
                    "there is text before the first field; this is no MT940",
                ));
            }
            if field.text.len() < FIELD_BYTES_MAX {
                field.text.push('\n');
                field.text.push_str(text);
            }
        }
    }
    mt940.field(&field)?;
    mt940.end()
}

/// A tag such as `:61:` and what is behind it.
fn tag(text: &str) -> Option<(&str, &str)> {
    let (tag, rest) = text.strip_prefix(':')?.split_once(':')?;
    let is_tag = (2..=3).contains(&tag.len())
        && tag.bytes().all(|its| its.is_ascii_digit() || its.is_ascii_uppercase());
    is_tag.then_some((tag, rest))
}

impl Mt940<'_, '_> {
    fn field(&mut self, field: &Field) -> Result<(), BookError> {
        let Field { line, tag, text } = field;
        let line = *line;
        match tag.as_str() {
            "" => return Ok(()),
            "20" => {
                self.take_movement()?;
                self.check_closed()?;
                self.has_account = false;
                (self.open_since, self.is_ours, self.balances) = (Some(line), true, Balances::default());
            }
            "25" => (self.is_ours, self.has_account) = (self.draft.is_ours(line, text.trim()), true),
            "60F" | "60M" => self.balance(line, text, true),
            "61" => {
                self.take_movement()?;
                self.movement(line, text);
            }
            "86" => {
                if let Some(movement) = &mut self.movement {
                    details::add(text, &mut movement.operation, &mut movement.reference);
                }
            }
            "62F" | "62M" => {
                self.take_movement()?;
                self.draft.check_named(self.has_account, line)?;
                self.balance(line, text, false);
                self.open_since = None;
                if let (Some(wrong), true) = (self.balances.wrong(&self.numbers), self.is_ours) {
                    self.draft.bad(line, wrong);
                }
            }
            tag if PASSED_OVER.contains(&tag) => {}
            tag => self.draft.bad(line, format!("the field :{tag}: is not one of MT940")),
        }
        self.has_fields = true;
        Ok(())
    }

    fn check_closed(&self) -> Result<(), BookError> {
        match self.open_since {
            None => Ok(()),
            Some(line) => {
                let what =
                    "the statement that begins here has no closing balance, :62F:; is the file cut off?";
                Err(BookError::format(line, what))
            }
        }
    }

    fn end(&mut self) -> Result<(), BookError> {
        if !self.has_fields {
            return Err(BookError::Empty);
        }
        self.take_movement()?;
        self.check_closed()
    }

    fn take_movement(&mut self) -> Result<(), BookError> {
        let Some(Movement { line, day, amount, operation, reference }) = self.movement.take() else {
            return Ok(());
        };
        self.balances.sum += i128::from(amount);
        if !self.is_ours {
            return Ok(());
        }
        self.draft.take(Line { line, day, amount, operation: &operation, reference: &reference })
    }

    /// `C261130EUR1234,50`
    fn balance(&mut self, line: u32, text: &str, is_opening: bool) {
        let read = || {
            let (mark, rest) = text.split_at_checked(1).ok_or("it is too short")?;
            let (date, rest) = rest.split_at_checked(6).ok_or("it is too short")?;
            let (currency, amount) = rest.split_at_checked(3).ok_or("it is too short")?;
            let day = Day::read(date, "%y%m%d").ok_or_else(|| format!("'{date}' is not a date"))?;
            if let Some(wrong) = self.draft.wrong_currency(currency) {
                return Err(wrong);
            }
            let amount = self.numbers.read(amount)?;
            match mark {
                "C" => Ok((day, amount)),
                "D" => Ok((day, -amount)),
                other => Err(format!("'{other}' is neither C nor D")),
            }
        };
        match read() {
            Err(reason) if self.is_ours => self.draft.bad(line, reason),
            Err(_) => {}
            Ok((_, amount)) if is_opening => self.balances.opening = Some(amount),
            Ok((day, amount)) => {
                self.balances.closing = Some(amount);
                if self.is_ours {
                    self.draft.about(day, day);
                }
            }
        }
    }

    fn movement(&mut self, line: u32, text: &str) {
        match details::movement(text, &self.numbers) {
            Ok(None) => self.draft.skip(),
            Ok(Some((day, amount, operation, reference))) => {
                self.movement = Some(Movement { line, day, amount, operation, reference });
            }
            Err(reason) => {
                self.balances.is_partial = true;
                if self.is_ours {
                    self.draft.bad(line, reason);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
