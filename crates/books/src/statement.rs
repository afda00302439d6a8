//! An outside book as it was read: its lines, and what is wrong with others.

use std::io::Read;

use crate::day::Day;
use crate::items::{Item, Items};
use crate::map::{Format, Kind, Map};
use crate::text::UNREADABLE;
use crate::{BookError, camt, csv, mt940};

/// References that say that there is none.
const NO_REFERENCE: [&str; 3] = ["NOTPROVIDED", "NONREF", "NOREF"];

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The line.
    pub line: u32,
    /// What is wrong with it.
    pub reason: String,
}

/// How a file is read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// The current day: nothing is booked later.
    pub today: Day,
    /// How many bad lines are listed; all are counted.
    pub limit: usize,
    /// The first day that the file is about, if it is said.
    pub from: Option<Day>,
    /// The last one.
    pub through: Option<Day>,
}

/// An outside book.
#[derive(Debug)]
pub struct Statement {
    pub(crate) items: Items,
    pub(crate) bad: Vec<BadLine>,
    pub(crate) bad_count: u64,
    /// Lines that are not booked yet, or move nothing.
    pub(crate) skipped: u64,
    /// Lines of other accounts.
    pub(crate) foreign: u64,
    pub(crate) from: Day,
    pub(crate) through: Day,
}

impl Statement {
    /// Reads a file.
    ///
    /// # Errors
    /// When nothing can be compared: the file is empty, of another account, or not what the map says. Single bad lines are kept.
    pub fn read(input: impl Read, map: &Map, reading: Reading) -> Result<Self, BookError> {
        let mut draft = Draft::new(map, reading);
        match map.format {
            Format::Csv => csv::read(input, map, &mut draft)?,
            Format::Camt053 => camt::read(input, map, &mut draft)?,
            Format::Mt940 => mt940::read(input, map, &mut draft)?,
        }
        draft.end()
    }
}

/// A statement that is being read.
pub(crate) struct Draft<'m> {
    map: &'m Map,
    reading: Reading,
    items: Items,
    bad: Vec<BadLine>,
    bad_count: u64,
    skipped: u64,
    foreign: u64,
    first_foreign: Option<BookError>,
    days: Option<(Day, Day)>,
    /// The days that the file names itself.
    named: Option<(Day, Day)>,
}

/// What a line says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'t> {
    pub(crate) line: u32,
    pub(crate) day: Day,
    pub(crate) amount: i64,
    pub(crate) operation: &'t str,
    pub(crate) reference: &'t str,
}

impl<'m> Draft<'m> {
    fn new(map: &'m Map, reading: Reading) -> Self {
        Self {
            map,
            reading,
            items: Items::default(),
            bad: Vec::new(),
            bad_count: 0,
            skipped: 0,
            foreign: 0,
            first_foreign: None,
            days: None,
            named: None,
        }
    }

    /// When what has no date was counted.
    pub(crate) fn counted_on(&self) -> Day {
        self.reading.from.unwrap_or(self.reading.today)
    }

    /// Takes a line.
    pub(crate) fn take(&mut self, its: Line<'_>) -> Result<(), BookError> {
        let operation = its.operation.trim();
        let operation = if NO_REFERENCE.contains(&operation) { "" } else { operation };
        // Time zones are at most a day apart.
        if its.day > self.reading.today.plus(1) {
            self.bad(its.line, format!("{} is in the future", its.day));
            return Ok(());
        }
        if [operation, its.reference].iter().any(|text| text.contains(UNREADABLE)) {
            self.bad(
                its.line,
                "it has bytes that are no text; name the file's encoding in the map, csv.encoding",
            );
            return Ok(());
        }
        if its.amount == 0 && self.map.kind == Kind::Statement {
            self.skip();
            return Ok(());
        }
        let Reading { from, through, .. } = self.reading;
        if from.is_some_and(|from| its.day < from) || through.is_some_and(|through| its.day > through) {
            self.skip();
            return Ok(());
        }
        self.seen(its.day, its.day);
        let Line { line, day, amount, reference, .. } = its;
        self.items.add(&Item {
            line,
            day,
            amount,
            operation,
            reference: reference.trim(),
            place: "",
            since: None,
        })
    }

    /// Notes a line that cannot be read.
    pub(crate) fn bad(&mut self, line: u32, reason: impl Into<String>) {
        self.bad_count += 1;
        if self.bad.len() < self.reading.limit.max(1) {
            self.bad.push(BadLine { line, reason: reason.into() });
        }
    }

    /// Notes a line that is not to be compared.
    pub(crate) fn skip(&mut self) {
        self.skipped += 1;
    }

    /// Whether an account is the one of the map; otherwise its lines are passed over.
    pub(crate) fn is_ours(&mut self, line: u32, account: &str) -> bool {
        let Some(expected) = &self.map.there.account else { return true };
        let bare =
            |text: &str| text.chars().filter(|its| !its.is_whitespace()).collect::<String>().to_uppercase();
        if bare(expected) == bare(account) {
            return true;
        }
        self.foreign += 1;
        let (found, expected) = (account.to_owned(), expected.clone());
        self.first_foreign.get_or_insert(BookError::Foreign { line, found, expected });
        false
    }

    /// Refuses a statement that does not say of which account it is, if the map does.
    pub(crate) fn check_named(&self, is_named: bool, line: u32) -> Result<(), BookError> {
        match (&self.map.there.account, is_named) {
            (Some(expected), false) => {
                let what =
                    format!("the statement does not say of which account it is, and the map says {expected}");
                Err(BookError::format(line, what))
            }
            _ => Ok(()),
        }
    }

    /// What is wrong with a currency, if the map names another one.
    pub(crate) fn wrong_currency(&self, currency: &str) -> Option<String> {
        let expected = self.map.there.currency.as_deref()?;
        let is_it = expected.eq_ignore_ascii_case(currency.trim());
        (!is_it).then(|| format!("it is in {}, and the map says {expected}", currency.trim()))
    }

    /// Notes the days that a file says it is about.
    pub(crate) fn about(&mut self, from: Day, through: Day) {
        let (first, last) = self.named.unwrap_or((from, through));
        self.named = Some((first.min(from), last.max(through)));
    }

    fn seen(&mut self, from: Day, through: Day) {
        let (first, last) = self.days.unwrap_or((from, through));
        self.days = Some((first.min(from), last.max(through)));
    }

    fn end(mut self) -> Result<Statement, BookError> {
        if let (0, Some(first)) = (self.items.len(), self.bad.first()) {
            let (count, line, reason) = (self.bad_count, first.line, first.reason.clone());
            return Err(BookError::Unreadable { count, line, reason });
        }
        if let (0, Some(foreign), None) = (self.items.len(), self.first_foreign.take(), self.named) {
            return Err(foreign);
        }
        if let Some((from, through)) = self.named {
            self.seen(from, through);
        }
        let (first, last) = self.days.unzip();
        let from = self.reading.from.or(first).ok_or(BookError::NoDays)?;
        let through = self.reading.through.or(last).ok_or(BookError::NoDays)?;
        let wrong = |what: String| Err(BookError::Days { what });
        if through < from {
            return wrong(format!("the file ends on {through}, before it begins on {from}"));
        }
        // A state that went on to there would refuse the next files.
        if through > self.reading.today.plus(1) {
            return wrong(format!("the file ends on {through}, which is in the future"));
        }
        let Self { items, bad, bad_count, skipped, foreign, .. } = self;
        Ok(Statement { items, bad, bad_count, skipped, foreign, from, through })
    }
}
