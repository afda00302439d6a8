//! `scarce import`: runs a file of operations through the RESP port of a server, or of the Redis engine
//! within this process, in the order of the lines, with many in flight.
//!
//! Every operation has an id, so repeating it is harmless: after a broken connection, unanswered operations
//! are sent again, and a whole file may be run again. The exception is single commands on stock, packets and
//! coupons that are refused: the server does not remember these refusals, so a second run decides them anew.

mod amounts;
mod answer;
mod args;
mod bad;
mod cells;
mod lines;
mod ndjson;
mod operation;
mod operations;
mod pipe;
mod preload;
mod redis;
mod report;
mod rows;
mod way;

pub use args::Import;
pub(crate) use redis::{From as SourceFlags, FromRedis, MomentName, Takeover};

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use self::answer::ImportAnswer;
use self::args::Options;
use self::lines::{AnyLines, Found, Lines};
use self::operation::{Existing, Operation, Role};
use self::pipe::Pipe;
use self::report::Report;
use self::rows::Rows;
use super::{Ended, Exit, Failed, stop_on_signals};

/// What is wrong with a line.
#[derive(Debug)]
struct Problem {
    /// The column at fault, if there is one.
    column: Option<String>,
    reason: String,
}

impl Problem {
    fn of(column: &str, reason: impl Into<String>) -> Self {
        Self { column: Some(column.to_owned()), reason: reason.into() }
    }
}

impl From<String> for Problem {
    fn from(reason: String) -> Self {
        Self { column: None, reason }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(column) = &self.column {
            write!(f, "{column} ")?;
        }
        f.write_str(&self.reason)
    }
}

pub(super) fn run(import: &Import) -> Ended {
    if let Some(args::Preload::Redis(import)) = &import.preload {
        return redis::run(import);
    }
    let options = import.options();
    let rows = Rows::new(import)?;
    let stop = stop_on_signals()?;
    let (lines, length) = lines::open(import.file(), &stop)?;
    let pipe = Pipe::connect(options)?;
    let report = Report::new(options, import.file(), length)?;
    let mut running = Running { options, rows, lines, line: 0, at_end: false, pipe, report, stop };
    let ended = running.all();
    running.finish(ended)
}

/// How many lines of a file are operations, and how many are bad. Nothing is sent.
#[must_use]
pub fn count_operations(import: &Import, text: &[u8]) -> (u64, u64) {
    let (mut good, mut bad) = (0, 0);
    let (Ok(mut rows), mut lines) = (Rows::new(import), Lines::new(text)) else { return (0, 0) };
    for line in 1.. {
        let Ok(Some(found)) = lines.next() else { break };
        match rows.read(line, &found) {
            Ok(operation) => good += u64::from(operation.is_some()),
            Err(_) if rows.needs_header() => return (good, bad + 1),
            Err(_) => bad += 1,
        }
    }
    (good, bad)
}

/// A running import.
struct Running<'a> {
    options: &'a Options,
    rows: Rows,
    lines: AnyLines,
    /// The number of the last line read.
    line: u64,
    at_end: bool,
    pipe: Pipe<'a>,
    report: Report,
    stop: Arc<AtomicBool>,
}

impl Running<'_> {
    fn all(&mut self) -> Result<(), Failed> {
        while !self.at_end {
            self.fill()?;
            self.pipe.flush()?;
            // No answer is left pending while this waits for the writer of the file.
            let everything = self.at_end || !self.lines.is_ready();
            while !self.pipe.is_empty() && (everything || self.pipe.is_above_half()) {
                self.receive()?;
            }
            self.report.progress(self.lines.bytes);
        }
        Ok(())
    }

    /// Adds operations while there is room and the next line is available.
    fn fill(&mut self) -> Result<(), Failed> {
        while self.pipe.has_room() && (self.pipe.is_empty() || self.lines.is_ready()) {
            let found = self.lines.next().map_err(|error| {
                Failed::text(Exit::Failed, format!("cannot read on after line {}: {error}", self.line))
            })?;
            // A stop may leave an incomplete last line.
            let Some(found) = found.filter(|_| !self.stop.load(Ordering::Relaxed)) else {
                self.at_end = true;
                return Ok(());
            };
            self.line += 1;
            self.put(&found)?;
        }
        Ok(())
    }

    fn put(&mut self, found: &Found) -> Result<(), Failed> {
        let is_wanted = self.line >= self.options.from_line;
        if !is_wanted && self.rows.may_skip() {
            return Ok(());
        }
        match self.rows.read(self.line, found) {
            Err(problem) if self.rows.needs_header() => {
                self.at_end = true;
                self.report.bad(self.line, &problem)?;
                let text = format!("line {}, the header, {problem}; nothing was done", self.line);
                Err(Failed::text(Exit::Failed, text))
            }
            Err(problem) if is_wanted => self.report.bad(self.line, &problem),
            Ok(Some(operation)) if is_wanted => {
                self.pipe.put(operation);
                Ok(())
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn receive(&mut self) -> Result<(), Failed> {
        let Some((mut operation, answer)) = self.pipe.receive()? else { return Ok(()) };
        match std::mem::replace(&mut operation.role, Role::Whole) {
            Role::Create(existing) if answer.is_existing() => match existing {
                None => self.report.existing(&operation),
                Some(existing) => self.follow(Operation::look(existing)),
            },
            Role::Look(existing) => self.credit(*existing, &answer),
            Role::Whole | Role::Create(_) => self.report.answered(&operation, &answer),
        }
    }

    /// Credits an existing account if it holds the intended asset.
    fn credit(&mut self, existing: Existing, answer: &ImportAnswer) -> Result<(), Failed> {
        let Existing { account, asset, credit } = existing;
        match answer.named("asset") {
            Some(kept) if kept == asset => self.follow(credit),
            Some(kept) => {
                let reason = format!("is {asset}, but account {account} exists and keeps {kept}");
                self.report.bad(credit.line, &Problem::of("asset", reason))
            }
            None => self.report.answered(&credit, answer),
        }
    }

    fn follow(&mut self, operation: Operation) -> Result<(), Failed> {
        self.pipe.put(operation);
        self.pipe.flush()
    }

    /// Prints the results, and where to continue if the import is incomplete.
    fn finish(mut self, ended: Result<(), Failed>) -> Ended {
        let is_stopped = self.stop.load(Ordering::Relaxed);
        let next = self.pipe.first_line().or_else(|| is_stopped.then_some(self.line + 1));
        let exit = self.report.finish(self.options, &self.rows.amounts, self.pipe.reconnects)?;
        let failed = match ended {
            Ok(()) if !is_stopped => return Ok(exit),
            Ok(()) => Failed::text(Exit::Failed, "interrupted"),
            Err(failed) => failed,
        };
        Err(match next {
            Some(next) => Failed::text(
                failed.exit,
                format!(
                    "{}\nrun the same again, or from where it stopped with --from-line {next}",
                    failed.message
                ),
            ),
            None => failed,
        })
    }
}
