//! Finds for each line its movement: by operation, then by reference, then by amount and day.

mod begin;
mod leftovers;
mod stages;
mod twins;

use std::collections::{BTreeMap, HashSet};

use crate::BookError;
use crate::day::Day;
use crate::index::Index;
use crate::items::{Item, Items};
use crate::keys;
use crate::map::{Kind, Map};
use crate::report::{Finding, Matched, Matter, Pair, Report, Tally};
use crate::state::{Again, Part, Settled, State};
use crate::statement::Statement;
use twins::Twins;

/// How much may be open to be carried on to the next file.
pub const OPEN_MAX: usize = 100_000;

/// One side of a movement of money in Scarce, or what it has of an item.
#[derive(Clone, Copy, Debug)]
pub struct Movement<'t> {
    /// Where it is, such as its partition and sequence.
    pub place: &'t str,
    /// When, in Unix milliseconds.
    pub at_ms: i64,
    /// How much came in; below zero if it went out.
    pub amount: i64,
    /// The operation, or the item.
    pub operation: &'t str,
    /// The hold that was captured; empty if none was.
    pub hold: &'t str,
    /// Of whom it is; empty if that is not known.
    pub party: &'t str,
}

/// How it is compared.
#[derive(Clone, Debug)]
pub struct Comparing {
    /// What the file is called.
    pub file: String,
    /// How many findings of each kind are listed; all are counted.
    pub limit: usize,
    /// What it is if it is about days of the last file.
    pub again: Again,
}

/// What became of a movement before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// It has its line, by more than amount and day, or another amount in it.
    Named,
    /// Something else: another line may name it.
    Other,
}

/// Compares a file with the movements that it is given.
pub struct Matcher<'m> {
    map: &'m Map,
    comparing: Comparing,
    state: State,
    offset_ms: i64,
    statement: Statement,
    /// The lines by their operation.
    by_operation: Index,
    here: Items,
    /// The first day whose movements are wanted.
    here_from: Day,
    /// Movements that were settled, closed or carried on: they are not taken again.
    passed: BTreeMap<u64, Before>,
    settled: Vec<Settled>,
    /// The first day of what is kept as settled for the next file.
    known_from: Day,
    /// The first day that was ever compared.
    since_ever: Day,
    /// The lines of the file, in short.
    lines: Vec<u32>,
    /// The days of the result that this one replaces.
    replaces: Option<(Day, Day)>,
    /// The last day of the file that it goes on from.
    goes_on_from: Option<Day>,
    /// What was settled before, and may be asked for again.
    settled_before: u64,
    /// Amount, day and reference of what was matched, to find what is there once more.
    twins: Twins,
    /// What names those that were matched by more than amount and day.
    named: HashSet<u64>,
    /// Lines that name what is matched already.
    named_again: HashSet<usize>,
    movements: u64,
    matched: Matched,
    by_amount: Vec<Pair>,
    tallies: BTreeMap<Matter, Tally>,
    findings: Vec<Finding>,
    /// What stays open.
    open: Vec<Finding>,
    /// Whether there is more.
    is_overfull: bool,
    /// What was there once more when it was seen first.
    doubled_before: HashSet<u64>,
    /// Since when an item of a count differs.
    since: BTreeMap<String, Day>,
}

impl<'m> Matcher<'m> {
    /// Begins with a file, and with what was open before.
    ///
    /// # Errors
    /// When the file does not go with the state.
    pub fn new(
        map: &'m Map,
        statement: Statement,
        state: State,
        comparing: Comparing,
    ) -> Result<Self, BookError> {
        let lines: Vec<u32> = statement.items.iter().map(|its| keys::short(keys::of_line(&its))).collect();
        let (base, replaces) = state.base((statement.from, statement.through), &lines, comparing.again)?;
        let tolerance = map.tolerance_days();
        let mut matcher = Self {
            map,
            comparing,
            offset_ms: map.offset_ms()?,
            here_from: statement.from.plus(-tolerance),
            known_from: statement.through.plus(1 - State::known_days(map)),
            since_ever: base.as_ref().map_or(statement.from, |base| base.since),
            lines,
            replaces,
            goes_on_from: base.as_ref().map(|base| base.through),
            state,
            statement,
            by_operation: Index::default(),
            here: Items::default(),
            passed: BTreeMap::new(),
            settled: Vec::new(),
            settled_before: 0,
            twins: Twins::default(),
            named: HashSet::new(),
            named_again: HashSet::new(),
            movements: 0,
            matched: Matched::default(),
            by_amount: Vec::new(),
            tallies: BTreeMap::new(),
            findings: Vec::new(),
            open: Vec::new(),
            is_overfull: false,
            doubled_before: HashSet::new(),
            since: BTreeMap::new(),
        };
        if map.kind == Kind::Count {
            matcher.begin_count(base)?;
        } else {
            base.map_or(Ok(()), |base| matcher.go_on(base))?;
            matcher.pass_closed();
        }
        matcher.index();
        Ok(matcher)
    }

    /// The span of time whose movements are wanted, in Unix milliseconds: from, and before.
    #[must_use]
    pub fn span(&self) -> (i64, i64) {
        let end = self.statement.through.plus(self.map.tolerance_days() + 1);
        (self.here_from.start_ms(self.offset_ms), end.start_ms(self.offset_ms))
    }

    /// When the first day begins that no file before was about: all movements since then must be known.
    #[must_use]
    pub fn begins_ms(&self) -> i64 {
        let from = self.statement.from;
        let unseen = self.goes_on_from.map_or(from, |through| from.min(through.plus(1)));
        unseen.start_ms(self.offset_ms)
    }

    /// Says of which deployment the movements are.
    ///
    /// # Errors
    /// When the state is of another one.
    pub fn be_of(&mut self, deployment: &str) -> Result<(), BookError> {
        self.state.be_of(deployment)
    }

    /// How many lines there are.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.statement.items.len()
    }

    /// Takes a movement, in any order.
    ///
    /// # Errors
    /// When there are too many.
    pub fn take(&mut self, its: &Movement<'_>) -> Result<(), BookError> {
        let day = Day::of_ms(its.at_ms, self.offset_ms);
        let last = self.statement.through.plus(self.map.tolerance_days());
        let is_count = self.map.kind == Kind::Count;
        if !is_count && (day < self.here_from || day > last || its.amount == 0) {
            return Ok(());
        }
        let amount = if self.map.here.opposite { its.amount.saturating_neg() } else { its.amount };
        let Movement { place, operation, hold, party, .. } = *its;
        let reference =
            if hold.is_empty() && party.is_empty() { String::new() } else { format!("{hold}\n{party}") };
        let day = if is_count { self.statement.through } else { day };
        let here = Item { line: 0, day, amount, operation, reference: &reference, place, since: None };
        if let Some(before) = self.passed.get(&keys::of_movement(&here)) {
            if *before == Before::Named {
                self.remember(&here);
            }
            return Ok(());
        }
        self.movements += 1;
        match self.line_of(&here) {
            Some(at) => {
                self.matched.operation += 1;
                self.pair(at, &here, false);
                Ok(())
            }
            None => self.here.add(&here),
        }
    }

    /// The line with this operation and amount.
    fn line_of(&mut self, here: &Item<'_>) -> Option<usize> {
        if here.operation.is_empty() {
            return None;
        }
        let (hash, items) = (keys::of_id(here.operation), &self.statement.items);
        let days = self.map.tolerance_days();
        let near = self.by_operation.near((hash, here.amount, here.day), days, items);
        let found = near.or_else(|| self.by_operation.with_amount(hash, here.amount, items))?;
        (items.get(found).operation == here.operation).then_some(found)
    }

    /// A line and its movement have found each other.
    fn pair(&mut self, at: usize, here: &Item<'_>, by_amount: bool) {
        let there = self.statement.items.get(at);
        self.matched.carried += u64::from(there.since.is_some() || here.since.is_some());
        let settled = Settled {
            day: there.day.max(here.day),
            movement: keys::of_movement(here),
            line: keys::of_line(&there),
            operation: if there.operation.is_empty() {
                0
            } else {
                keys::of_operation(there.operation, there.amount)
            },
            by_amount,
        };
        self.twins.add(here);
        self.twins.add(&there);
        self.named.insert(settled.operation);
        let is_far = there.day.distance(here.day) > self.map.tolerance_days().unsigned_abs();
        let tolerated = u64::from(self.map.matching.tolerance_amount);
        let differs =
            there.amount.abs_diff(here.amount) > tolerated || is_far && self.map.kind == Kind::Statement;
        let finding = differs.then(|| self.different(&there, here));
        self.statement.items.close(at);
        match finding {
            Some(finding) => self.note(finding, false),
            None => self.settle(settled),
        }
        if by_amount {
            self.list(at, here);
        } else {
            self.remember(here);
        }
    }

    /// Lists what nothing but amount and day speak for: two operations may be meant.
    fn list(&mut self, at: usize, here: &Item<'_>) {
        let there = self.statement.items.get(at);
        self.matched.both_named += u64::from(!there.operation.is_empty() && !here.operation.is_empty());
        if self.by_amount.len() < self.comparing.limit {
            self.by_amount.push(Pair {
                line: (there.line > 0).then_some(there.line),
                day: there.day,
                here_day: here.day,
                amount: there.amount,
                operation: there.operation.to_owned(),
                here_operation: here.operation.to_owned(),
                place: here.place.to_owned(),
            });
        }
    }

    /// Keeps the names of a movement that has its line: another line with them is there once more.
    fn remember(&mut self, here: &Item<'_>) {
        if !here.operation.is_empty() {
            self.named.insert(keys::of_operation(here.operation, here.amount));
        }
        for name in keys::names(here, &self.map.here.operation_prefixes) {
            self.named.insert(keys::of_word_at(name, here.amount));
        }
    }

    /// Keeps for the next file what it may have again.
    fn settle(&mut self, its: Settled) {
        if its.day >= self.known_from {
            self.settled.push(its);
        }
    }

    fn different(&self, there: &Item<'_>, here: &Item<'_>) -> Finding {
        let since = there.since.or(here.since);
        let finding = self.finding(Matter::Different, there, true);
        let id =
            if self.map.kind == Kind::Count { finding.id } else { finding.id.replace("there:", "pair:") };
        Finding {
            id,
            since: since.unwrap_or_else(|| self.since_of(there.operation)),
            here: Some(here.amount),
            here_day: Some(here.day),
            operation: here.operation.to_owned(),
            place: here.place.to_owned(),
            ..finding
        }
    }

    fn since_of(&self, operation: &str) -> Day {
        self.since.get(operation).copied().unwrap_or(self.statement.through)
    }

    fn finding(&self, matter: Matter, its: &Item<'_>, is_there: bool) -> Finding {
        let id = match (self.map.kind, is_there) {
            (Kind::Count, _) => format!("item:{}", its.operation),
            (_, true) => there_id(its),
            (_, false) => format!("here:{}", its.place),
        };
        let place = match (its.line, is_there) {
            (line @ 1.., true) => format!("{}:{line}", self.comparing.file),
            _ => its.place.to_owned(),
        };
        Finding {
            matter,
            id,
            day: its.day,
            since: its.since.unwrap_or_else(|| self.since_of(its.operation)),
            line: (its.line > 0).then_some(its.line),
            there: is_there.then_some(its.amount),
            here: (!is_there).then_some(its.amount),
            here_day: None,
            operation: its.operation.to_owned(),
            reference: its.reference.to_owned(),
            place,
        }
    }

    /// Counts what is open, lists the first of each kind, and keeps it for the next file.
    fn note(&mut self, its: Finding, is_carried: bool) {
        let tally = self.tallies.entry(its.matter).or_default();
        tally.count += 1;
        tally.carried += u64::from(is_carried);
        tally.sum += i128::from(its.there.unwrap_or(0)) - i128::from(its.here.unwrap_or(0));
        if tally.count <= self.comparing.limit as u64 {
            self.findings.push(its.clone());
        }
        if self.open.len() < OPEN_MAX {
            self.open.push(its);
        } else {
            self.is_overfull = true;
        }
    }

    /// Matches what is left, and says what is open. There is no state for the next file where too much is open: then it is most
    /// likely the wrong file.
    #[must_use]
    pub fn finish(mut self) -> (Report, Option<State>) {
        self.match_rest();
        self.note_rest();
        let Self { statement, mut findings, .. } = self;
        findings.sort_by(|a, b| (a.matter, a.day, a.line, &a.id).cmp(&(b.matter, b.day, b.line, &b.id)));
        let part = Part {
            from: statement.from,
            through: statement.through,
            since: self.since_ever,
            known_from: self.known_from,
            open: self.open,
            settled: self.settled,
            lines: self.lines,
        };
        let carried = statement.items.iter().filter(|its| its.since.is_some()).count();
        let report = Report {
            from: statement.from,
            through: statement.through,
            replaces: self.replaces,
            lines: (statement.items.len() - carried) as u64,
            skipped: statement.skipped,
            foreign: statement.foreign,
            settled: self.settled_before,
            movements: self.movements,
            matched: self.matched,
            by_amount: self.by_amount,
            tallies: self.tallies,
            findings,
            bad_count: statement.bad_count,
            bad: statement.bad,
            numbers: self.map.numbers(),
        };
        (report, (!self.is_overfull).then(|| self.state.after(part, self.replaces.is_some())))
    }
}

fn there_id(its: &Item<'_>) -> String {
    format!("there:{:016x}", keys::of_line(its))
}

#[cfg(test)]
mod tests;
