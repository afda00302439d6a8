//! The map: what a file's columns mean, and what in Scarce it is compared with.

use serde::Deserialize;

use crate::BookError;
use crate::day::Day;
use crate::number::Numbers;

/// The maximum number of decimals of an amount.
const SCALE_MAX: u8 = 18;

/// How many days a booking may be later or earlier than ours, unless the map says so.
const TOLERANCE_DAYS: u8 = 3;

/// How many days it may say.
const TOLERANCE_DAYS_MAX: u8 = 31;

/// What kind of book a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A statement of an account.
    #[default]
    Statement,
    /// A count of a warehouse's stock.
    Count,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Format {
    /// Lines with a heading.
    #[default]
    #[serde(rename = "csv")]
    Csv,
    /// ISO 20022.
    #[serde(rename = "camt.053")]
    Camt053,
    /// SWIFT.
    #[serde(rename = "mt940")]
    Mt940,
}

/// A map.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// What kind of book it is.
    #[serde(default)]
    pub kind: Kind,
    /// How it is written.
    #[serde(default)]
    pub format: Format,
    /// What it is compared with.
    #[serde(default)]
    pub here: Here,
    /// Whose book it is.
    #[serde(default)]
    pub there: There,
    #[serde(default)]
    pub(crate) amounts: Amounts,
    #[serde(default)]
    pub(crate) csv: Csv,
    #[serde(default)]
    pub(crate) columns: Columns,
    #[serde(default, rename = "match")]
    pub(crate) matching: Matching,
}

/// What of Scarce is compared.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Here {
    /// The movements of this account.
    pub account: Option<String>,
    /// All money of this asset that came in from outside or went out.
    pub asset: Option<String>,
    /// Whether what came in there went out here.
    #[serde(default)]
    pub opposite: bool,
    /// Where midnight is: hours and minutes from UTC, such as `+01:00`.
    #[serde(default)]
    pub utc_offset: Option<String>,
    /// What operation ids begin with that the other side does not know.
    #[serde(default)]
    pub operation_prefixes: Vec<String>,
    /// Which units of an item a count counts.
    #[serde(default)]
    pub units: Units,
}

/// Which units of an item a count counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Units {
    /// Those that are not sold: available and reserved.
    #[default]
    Unsold,
    /// Those that are available.
    Available,
}

/// Whose book a file is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct There {
    /// The account, such as an IBAN; lines of others are passed over.
    pub account: Option<String>,
    /// The currency; amounts in others are wrong.
    pub currency: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Amounts {
    #[serde(default)]
    scale: Option<u8>,
    decimal: Option<char>,
    thousands: Option<char>,
    credit_marks: Option<Vec<String>>,
    debit_marks: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Csv {
    delimiter: Option<char>,
    pub(crate) encoding: Option<String>,
    /// How many lines are before the heading.
    #[serde(default)]
    pub(crate) lines_before: u32,
    /// What is around a field that has delimiters in it, or `none`.
    quote: Option<String>,
    /// What the first field begins with where the lines are over.
    pub(crate) ends_at: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Columns {
    pub(crate) date: Option<String>,
    pub(crate) date_format: Option<String>,
    pub(crate) amount: Option<String>,
    pub(crate) credit: Option<String>,
    pub(crate) debit: Option<String>,
    pub(crate) mark: Option<String>,
    pub(crate) operation: Option<String>,
    #[serde(default)]
    pub(crate) references: Vec<String>,
    pub(crate) account: Option<String>,
    pub(crate) currency: Option<String>,
    pub(crate) sku: Option<String>,
    pub(crate) quantity: Option<String>,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Matching {
    tolerance_days: Option<u8>,
    /// By how much an amount may differ where operation or reference are the same, in the smallest unit.
    #[serde(default)]
    pub(crate) tolerance_amount: u32,
    /// Whether amount and day are enough.
    #[serde(default = "yes")]
    pub(crate) amount_and_day: bool,
    /// Whether an item may be counted in several lines, whose quantities are added.
    #[serde(default)]
    pub(crate) adds_lines: bool,
}

impl Default for Matching {
    fn default() -> Self {
        Self { tolerance_days: None, tolerance_amount: 0, amount_and_day: true, adds_lines: false }
    }
}

impl Map {
    /// Reads a map.
    ///
    /// # Errors
    /// When it is not a map, or its parts do not go together.
    pub fn read(text: &str) -> Result<Self, BookError> {
        let map: Self = toml::from_str(text).map_err(|error| BookError::map(error.to_string()))?;
        map.check()?;
        Ok(map)
    }

    fn check(&self) -> Result<(), BookError> {
        let wrong = |what: &str| Err(BookError::map(what));
        self.offset_ms()?;
        if self.amounts.scale.is_some_and(|scale| scale > SCALE_MAX) {
            return wrong("amounts.scale is at most 18");
        }
        if self.tolerance_days() > i32::from(TOLERANCE_DAYS_MAX) {
            return wrong("match.tolerance_days is at most 31");
        }
        if self.amounts.thousands.is_some_and(|its| its == self.numbers().decimal) {
            return wrong("amounts.thousands and amounts.decimal are the same sign");
        }
        self.delimiter()?;
        self.quote()?;
        match self.kind {
            Kind::Count => self.check_count(),
            Kind::Statement => self.check_statement(),
        }
    }

    fn check_statement(&self) -> Result<(), BookError> {
        let wrong = |what: &str| Err(BookError::map(what));
        if self.here.account.is_some() == self.here.asset.is_some() {
            return wrong(
                "here.account or here.asset says what the statement is compared with; name one of them",
            );
        }
        if self.amounts.scale.is_none() {
            return wrong(
                "amounts.scale is missing: how many decimals the amounts of Scarce have, such as 2",
            );
        }
        let columns = &self.columns;
        if self.format != Format::Csv {
            return Ok(());
        }
        if columns.date.is_none() {
            return wrong("columns.date is missing");
        }
        if let Some(format) = &columns.date_format
            && !Day::is_format(format)
        {
            return Err(BookError::map(format!(
                "columns.date_format: '{format}' does not give a day, as %d.%m.%Y does"
            )));
        }
        if self.there.account.is_some() && columns.account.is_none() {
            return wrong("there.account is compared with a column; name it as columns.account");
        }
        if self.there.currency.is_some() && columns.currency.is_none() {
            return wrong("there.currency is compared with a column; name it as columns.currency");
        }
        match (&columns.amount, &columns.credit, &columns.debit) {
            (Some(_), None, None) | (None, Some(_), Some(_)) => Ok(()),
            _ => wrong("name columns.amount, or columns.credit and columns.debit"),
        }
    }

    fn check_count(&self) -> Result<(), BookError> {
        if self.format != Format::Csv {
            return Err(BookError::map("a count is a CSV file"));
        }
        if self.columns.sku.is_none() || self.columns.quantity.is_none() {
            return Err(BookError::map("a count has columns.sku and columns.quantity"));
        }
        Ok(())
    }

    /// How amounts are written.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        let marks = |its: &Option<Vec<String>>, default: &[&str]| {
            its.clone().unwrap_or_else(|| default.iter().map(|mark| (*mark).to_owned()).collect())
        };
        Numbers {
            scale: self.amounts.scale.unwrap_or_default(),
            decimal: self.amounts.decimal.unwrap_or('.'),
            thousands: self.amounts.thousands,
            credit_marks: marks(&self.amounts.credit_marks, &["CR", "C", "CRDT", "+"]),
            debit_marks: marks(&self.amounts.debit_marks, &["DR", "D", "DBIT", "-"]),
        }
    }

    pub(crate) fn tolerance_days(&self) -> i32 {
        self.matching.tolerance_days.unwrap_or(TOLERANCE_DAYS).into()
    }

    pub(crate) fn delimiter(&self) -> Result<u8, BookError> {
        let delimiter = self.csv.delimiter.unwrap_or(',');
        let byte = u8::try_from(delimiter).ok().filter(|byte| byte.is_ascii() && !b"\"\r\n".contains(byte));
        byte.ok_or_else(|| BookError::map(format!("csv.delimiter cannot be '{delimiter}'")))
    }

    /// The quotation mark, if there is one.
    pub(crate) fn quote(&self) -> Result<Option<u8>, BookError> {
        let text = self.csv.quote.as_deref().unwrap_or("\"");
        match text.as_bytes() {
            _ if text == "none" => Ok(None),
            [byte] if byte.is_ascii_punctuation() && Ok(*byte) != self.delimiter().map_err(|_| ()) => {
                Ok(Some(*byte))
            }
            _ => Err(BookError::map(format!("csv.quote cannot be '{text}'; it is a sign, or 'none'"))),
        }
    }

    /// How far local midnight is from that of UTC, in milliseconds.
    ///
    /// # Errors
    /// When the map says it in another way than `+01:00`.
    pub fn offset_ms(&self) -> Result<i64, BookError> {
        let text = self.here.utc_offset.as_deref().unwrap_or("+00:00");
        let number = |digits: &str| digits.parse::<u8>().ok().filter(|_| digits.len() == 2).map(i64::from);
        let minutes = |text: &str| {
            let (hours, minutes) = text.split_once(':')?;
            Some((number(hours)?, number(minutes)?)).filter(|its| its.0 < 15 && its.1 < 60)
        };
        let (sign, rest) = match text.split_at_checked(1) {
            Some(("-", rest)) => (-1, rest),
            Some(("+", rest)) => (1, rest),
            _ => (0, ""),
        };
        let wrong = || BookError::map(format!("here.utc_offset is '{text}', and not such as +01:00"));
        let (hours, minutes) = minutes(rest).ok_or_else(wrong)?;
        Ok(sign * (hours * 60 + minutes) * 60_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "here.account = 'a'\namounts.scale = 2\n[columns]\ndate = 'd'\namount = 'x'\n";

    #[test]
    fn a_map_says_what_is_needed_and_nothing_unknown() {
        let map = Map::read(LEAST).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            (map.offset_ms().ok(), map.tolerance_days(), map.delimiter().ok()),
            (Some(0), 3, Some(b','))
        );
        for (text, said) in [
            ("amounts.scale = 2", "here.account or here.asset"),
            ("here.account = 'a'", "amounts.scale is missing"),
            ("here.account = 'a'\nhere.asset = 'b'\namounts.scale = 2", "name one of them"),
            ("here.acount = 'a'", "unknown field"),
            ("here.account = 'a'\namounts.scale = 2", "columns.date"),
            ("here.account = 'a'\namounts.scale = 19", "at most 18"),
            ("here.utc_offset = '1h'", "+01:00"),
            ("here.utc_offset = '+1:00'", "+01:00"),
            ("match.tolerance_days = 40", "at most 31"),
            ("amounts.thousands = '.'", "same sign"),
            ("csv.delimiter = '\"'", "delimiter"),
            ("csv.quote = 'ab'", "csv.quote"),
            (
                "here.account = 'a'\namounts.scale = 2\n[columns]\ndate = 'd'\ndate_format = '%Q'",
                "date_format",
            ),
            (&format!("there.account = 'x'\n{LEAST}"), "columns.account"),
            (&format!("there.currency = 'x'\n{LEAST}"), "columns.currency"),
            ("kind = 'count'", "columns.sku"),
            ("kind = 'count'\nformat = 'mt940'", "CSV"),
        ] {
            let read = Map::read(text).map(|_| ()).map_err(|error| error.to_string());
            assert!(read.as_ref().is_err_and(|why| why.contains(said)), "{text}: {read:?}");
        }
        let west = format!("here.utc_offset = '-03:30'\n{LEAST}");
        assert_eq!(Map::read(&west).and_then(|map| map.offset_ms()).ok(), Some(-12_600_000));
    }
}
