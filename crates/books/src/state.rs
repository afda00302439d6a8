//! What stays from one file to the next: what is open, and what was settled lately.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::BookError;
use crate::day::Day;
use crate::map::Map;
use crate::report::Finding;

/// The layout of the state.
const VERSION: u32 = 2;

/// How many days more than the tolerance files may overlap.
const OVERLAP_DAYS: i32 = 7;

/// What is open after a file.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Part {
    pub(crate) from: Day,
    pub(crate) through: Day,
    /// The first day that was ever compared: what is before it is not missed.
    pub(crate) since: Day,
    /// The first day of what it still knows to be settled.
    pub(crate) known_from: Day,
    pub(crate) open: Vec<Finding>,
    /// What was matched lately.
    pub(crate) settled: Vec<Settled>,
    /// The lines of its own file, in short: whether another file has them again.
    pub(crate) lines: Vec<u32>,
}

/// What a file is that is about days which the last one was about as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Again {
    /// The last one, if it has all its lines.
    #[default]
    Same,
    /// A correction of the last one, whose result is taken back.
    Correction,
    /// More lines of the same days.
    Further,
}

/// What a file goes on from, and the days of the result that it replaces.
pub(crate) type Base = (Option<Part>, Option<(Day, Day)>);

/// A movement and its line that have found each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "(Day, u64, u64, u64, bool)", into = "(Day, u64, u64, u64, bool)")]
pub(crate) struct Settled {
    /// The later day of both.
    pub(crate) day: Day,
    pub(crate) movement: u64,
    pub(crate) line: u64,
    /// The key of the line's operation.
    pub(crate) operation: u64,
    /// Whether nothing but amount and day spoke for it.
    pub(crate) by_amount: bool,
}

impl From<(Day, u64, u64, u64, bool)> for Settled {
    fn from((day, movement, line, operation, by_amount): (Day, u64, u64, u64, bool)) -> Self {
        Self { day, movement, line, operation, by_amount }
    }
}

impl From<Settled> for (Day, u64, u64, u64, bool) {
    fn from(its: Settled) -> Self {
        (its.day, its.movement, its.line, its.operation, its.by_amount)
    }
}

/// Something that was closed by hand.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Closed {
    /// What.
    pub id: String,
    /// Why.
    pub reason: String,
    /// When.
    pub on: Day,
    /// The keys of the line and of the movement that it was.
    line: Option<u64>,
    movement: Option<u64>,
}

impl Closed {
    pub(crate) fn line(&self) -> Option<u64> {
        self.line
    }

    pub(crate) fn movement(&self) -> Option<u64> {
        self.movement
    }
}

/// What stays from one file to the next.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct State {
    version: u32,
    /// What is compared with what.
    of: String,
    /// The deployment of Scarce, once it is known.
    deployment: Option<String>,
    /// What of the map its amounts and days are made with.
    terms: BTreeMap<String, String>,
    /// After the file before the last one: the last one may be read again.
    before: Option<Part>,
    last: Option<Part>,
    pub(crate) closed: Vec<Closed>,
}

/// What is compared with what.
fn subject(map: &Map) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    format!(
        "{:?} {} {} {}",
        map.kind,
        text(&map.here.account),
        text(&map.here.asset),
        text(&map.there.account)
    )
}

/// What of the map amounts and days are made with.
fn terms(map: &Map) -> BTreeMap<String, String> {
    let offset = map.here.utc_offset.clone().unwrap_or_else(|| "+00:00".to_owned());
    let terms = [
        ("amounts.scale", map.numbers().scale.to_string()),
        ("here.opposite", map.here.opposite.to_string()),
        ("here.utc_offset", offset),
        ("here.units", format!("{:?}", map.here.units).to_lowercase()),
    ];
    terms.map(|(name, value)| (name.to_owned(), value)).into()
}

/// How many lines of one file another one lacks.
fn missing(lines: &[u32], again: &[u32]) -> usize {
    let mut there = Counted::default();
    again.iter().for_each(|line| there.add((*line).into()));
    lines.iter().filter(|line| !there.take((**line).into())).count()
}

impl State {
    /// A state with nothing in it.
    #[must_use]
    pub fn new(map: &Map) -> Self {
        Self {
            version: VERSION,
            of: subject(map),
            deployment: None,
            terms: terms(map),
            before: None,
            last: None,
            closed: Vec::new(),
        }
    }

    /// Reads a state.
    ///
    /// # Errors
    /// When it is unreadable, or is of another map.
    pub fn read(text: &[u8], map: &Map) -> Result<Self, BookError> {
        let wrong = |error: serde_json::Error| BookError::state(format!("the state is unreadable: {error}"));
        let state: Self = serde_json::from_slice(text).map_err(wrong)?;
        if state.version != VERSION {
            return Err(BookError::state(format!(
                "the state has layout {}, and this release {VERSION}",
                state.version
            )));
        }
        if state.of != subject(map) {
            let text = "the state is of another map: it compares other accounts; name another file for it";
            return Err(BookError::state(text));
        }
        let other = terms(map).into_iter().find(|(name, value)| state.terms.get(name) != Some(value));
        if let Some((name, value)) = other {
            let before = state.terms.get(&name).map_or("", String::as_str);
            return Err(BookError::state(format!(
                "the state was made with {name} = {before}, and the map says {value}: what it knows would not be found again; put it \
                 back, or begin a new state"
            )));
        }
        Ok(state)
    }

    /// Says of which deployment of Scarce the movements are.
    pub(crate) fn be_of(&mut self, deployment: &str) -> Result<(), BookError> {
        let known = self.deployment.get_or_insert_with(|| deployment.to_owned());
        if known == deployment {
            return Ok(());
        }
        Err(BookError::state(format!(
            "the state is of deployment {known}, and these movements are of {deployment}"
        )))
    }

    /// The state as it is kept.
    ///
    /// # Errors
    /// Never, as far as is known.
    pub fn write(&self, out: impl std::io::Write) -> Result<(), BookError> {
        serde_json::to_writer(out, self).map_err(|error| BookError::Read(error.into()))
    }

    /// Closes what is open, for a reason.
    ///
    /// # Errors
    /// When nothing of this name is open.
    pub fn close(&mut self, id: &str, reason: &str, on: Day) -> Result<(), BookError> {
        if self.of.starts_with("Count") {
            let text = "a count has nothing to close: put the stock right, or count again";
            return Err(BookError::state(text));
        }
        let take = |part: &mut Option<Part>| {
            let open = &mut part.as_mut()?.open;
            open.iter().position(|its| its.id == id).map(|at| open.remove(at))
        };
        let its = take(&mut self.last)
            .ok_or_else(|| BookError::state(format!("nothing with the id {id} is open")))?;
        take(&mut self.before);
        let (line, movement) = (its.line_key(), its.movement_key());
        self.closed.push(Closed { id: its.id, reason: reason.to_owned(), on, line, movement });
        Ok(())
    }

    /// Whether something with this id is open.
    #[must_use]
    pub fn is_open(&self, id: &str) -> bool {
        self.last.iter().flat_map(|part| &part.open).any(|its| its.id == id)
    }

    #[cfg(test)]
    pub(crate) fn last_open(&self) -> &[Finding] {
        self.last.as_ref().map_or(&[], |part| &part.open)
    }

    /// What a file with these lines goes on from: the last one, or the one before if it replaces that.
    pub(crate) fn base(
        &self,
        (from, through): (Day, Day),
        lines: &[u32],
        again: Again,
    ) -> Result<Base, BookError> {
        let Some(last) = &self.last else {
            return match again {
                Again::Correction => {
                    Err(BookError::state("there is no file yet whose result could be replaced"))
                }
                _ => Ok((None, None)),
            };
        };
        let days = format!(
            "the file is about {from} to {through}, and the last one was about {} to {}",
            last.from, last.through
        );
        let ordered = |is_ordered: bool| {
            is_ordered
                .then_some(())
                .ok_or_else(|| BookError::state(format!("{days}: files are compared in their order")))
        };
        let is_count = self.of.starts_with("Count");
        match again {
            Again::Same if from > last.from => {
                ordered(through >= last.through)?;
                return Ok((self.last.clone(), None));
            }
            Again::Further => {
                ordered(from >= last.from && through >= last.through)?;
                return Ok((self.last.clone(), None));
            }
            Again::Same => ordered(through >= last.through)?,
            Again::Correction => ordered(from <= last.through && through >= last.from)?,
        }
        let missing = missing(&last.lines, lines);
        if again == Again::Same && !is_count && missing > 0 {
            let text = format!(
                "{days}; it lacks {missing} lines of it. Say whether it is a correction, whose result counts instead (--replace), or has \
                 more lines of these days (--further)"
            );
            return Err(BookError::state(text));
        }
        if let Some(before) = &self.before {
            ordered(from > before.from && through >= before.through)?;
        }
        Ok((self.before.clone(), Some((last.from, last.through))))
    }

    /// The state after a file, which may have replaced the last one.
    pub(crate) fn after(mut self, part: Part, replaces: bool) -> Self {
        if let (false, Some(last)) = (replaces, self.last.take()) {
            // Only the last file may come again.
            self.before = Some(Part { lines: Vec::new(), ..last });
        }
        self.last = Some(part);
        self
    }

    /// How many days before its end a part still knows what was settled.
    pub(crate) fn known_days(map: &Map) -> i32 {
        map.tolerance_days() + OVERLAP_DAYS
    }
}

/// How often something is to be passed over.
#[derive(Debug, Default)]
pub(crate) struct Counted(BTreeMap<u64, u32>);

impl Counted {
    pub(crate) fn add(&mut self, key: u64) {
        *self.0.entry(key).or_default() += 1;
    }

    /// Whether it is to be passed over once more.
    pub(crate) fn take(&mut self, key: u64) -> bool {
        match self.0.get_mut(&key) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }
}
