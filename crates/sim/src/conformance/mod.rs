//! The conformance suite: scenario tables of commands and their expected answers, the same for every
//! engine and every port.
//!
//! [`Suite::load`] reads the `conformance/**.txt` tables, [`Suite::run`] plays them against a [`Target`],
//! and [`coverage::missing`] compares them with the command table, so that a refusal, an order of
//! refusals or an event without a row is a failure. `conformance/README.md` explains the format.

pub mod core_target;
pub mod coverage;
mod expand;
mod expected;
mod impossible;
mod parse;
pub mod request;
mod run;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use scarce_core::state::StateSettings;

pub use core_target::CoreTarget;
pub use expected::Expected;
pub use run::Report;

/// What a scenario requires of its deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The state machine's settings.
    pub settings: StateSettings,
    /// The number of partitions.
    pub partitions: u32,
}

impl Default for Setup {
    fn default() -> Self {
        Self { settings: StateSettings::default(), partitions: 1 }
    }
}

/// The options of an atomic batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchHead<'a> {
    /// The operation id.
    pub id: Option<&'a str>,
    /// The deadline.
    pub deadline: Option<&'a str>,
}

/// Something that commands can be sent to: the state machine alone, an engine, a server.
///
/// Every answer is the text form of an outcome: the code's word and its facts, as
/// [`scarce_core::outcome::Outcome`] shows them. A command that cannot be read gets `INVALID argument
/// reason`.
pub trait Target {
    /// Whether the target supports what a scenario `requires`: `settings` if the scenario changes any,
    /// `partitions` if it needs several. A target that generates an id for every command without one
    /// returns true for `makes_ids`; `operation.refused` and `operation.unchanged` are then ignored.
    fn supports(&self, feature: &str) -> bool;

    /// Starts over with an empty deployment.
    ///
    /// # Errors
    /// When that fails; the scenario then fails.
    fn reset(&mut self, setup: &Setup) -> Result<(), String>;

    /// Sets the clock that stamps the next commands, in Unix milliseconds. It may go back.
    fn set_clock(&mut self, now: u64);

    /// Sends a command and returns its answer. `words` begins with the command's name and includes `ID`,
    /// `DEADLINE` and `DURABILITY`; a word may contain blanks or be empty.
    fn command(&mut self, words: &[&str]) -> String;

    /// Sends an atomic batch and returns its answer.
    fn batch(&mut self, id: Option<&str>, deadline: Option<&str>, lines: &[Vec<&str>]) -> String;

    /// The answer that a command or, with an id and a deadline, a batch would get, from a target that
    /// supports dry runs. The runner then asks before each row, and compares.
    fn dry_run(&mut self, _batch: Option<BatchHead<'_>>, _lines: &[Vec<&str>]) -> Option<String> {
        None
    }

    /// Runs the sweeper for up to `limit` due records, and returns how many it ended.
    fn expire(&mut self, limit: usize) -> usize;

    /// Restarts the target; every answered change must survive.
    ///
    /// # Errors
    /// When the state before and after differ, or the restart fails.
    fn restart(&mut self) -> Result<(), String>;

    /// The names of the events since the last call or the reset, in the order of the log.
    fn events(&mut self) -> Vec<String>;

    /// The digest of all partitions as text.
    fn digest(&mut self) -> String;

    /// Everything that the target keeps, byte for byte, from a target that can say. The runner compares it before and
    /// after what must not change anything.
    fn image(&mut self) -> Option<Vec<u8>> {
        None
    }
}

/// The location of a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowLocation {
    /// The table, relative to the suite's folder.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

impl std::fmt::Display for RowLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "conformance/{}:{}", self.file, self.line)
    }
}

/// A deviation from the tables, or a table that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Where.
    pub place: RowLocation,
    /// What was found.
    pub message: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// All tables.
#[derive(Clone, Debug)]
pub struct Suite {
    pub(crate) scenarios: Vec<parse::Scenario>,
    pub(crate) impossible: Vec<impossible::ImpossiblePair>,
}

/// The list of what no row can show.
const IMPOSSIBLE: &str = "impossible.txt";

impl Suite {
    /// Reads every table below `folder`, and its list of what no row can show.
    ///
    /// # Errors
    /// When a file cannot be read or parsed; all mistakes are reported.
    pub fn load(folder: &Path) -> Result<Self, Vec<Failure>> {
        let mut paths = Vec::new();
        collect(folder, &mut paths).map_err(|failure| vec![failure])?;
        paths.sort();
        let mut suite = Self { scenarios: Vec::new(), impossible: Vec::new() };
        let mut failures = Vec::new();
        for path in paths {
            let file = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            match std::fs::read_to_string(&path) {
                Err(error) => failures.push(failure(&file, 0, error)),
                Ok(text) if file == IMPOSSIBLE => {
                    impossible::parse(&file, &text, &mut suite.impossible, &mut failures);
                }
                Ok(text) => parse::parse(&file, &text, &mut suite.scenarios, &mut failures),
            }
        }
        if failures.is_empty() { Ok(suite) } else { Err(failures) }
    }

    /// Plays every scenario that the target supports; failures are collected, and none stops the run.
    pub fn run(&self, target: &mut dyn Target) -> Report {
        run::run(&self.scenarios, target)
    }

    /// The number of scenarios and rows; repetitions count once each.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        (self.scenarios.len(), self.scenarios.iter().map(|scenario| scenario.steps.len()).sum())
    }
}

fn failure(file: &str, line: usize, message: impl std::fmt::Display) -> Failure {
    Failure { place: RowLocation { file: file.to_owned(), line }, message: message.to_string() }
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let shown = folder.display().to_string();
    let entries = std::fs::read_dir(folder).map_err(|error| failure(&shown, 0, error))?;
    for entry in entries {
        let path = entry.map_err(|error| failure(&shown, 0, error))?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            paths.push(path);
        }
    }
    Ok(())
}
