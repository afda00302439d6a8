//! Bad lines: the first few on stderr, all of them in a file.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::Problem;
use super::args::Options;
use crate::{Exit, Failed};

/// How many bad lines to show; the file has all.
const SHOWN_MAX: u64 = 20;

/// The bad lines of a run.
pub(super) struct BadLines {
    path: Option<PathBuf>,
    file: Option<BufWriter<File>>,
    goes_on: bool,
    pub(super) count: u64,
}

impl BadLines {
    /// Truncates a file of an earlier run, unless this run continues that one.
    pub(super) fn new(options: &Options, input: &Path) -> Result<Self, Failed> {
        let path = options.report.clone().or_else(|| {
            let mut name = OsString::from(input);
            name.push(".bad-lines.csv");
            (input != Path::new("-")).then(|| PathBuf::from(name))
        });
        let mut lines = Self { path, file: None, goes_on: options.from_line > 1, count: 0 };
        if lines.path.as_ref().is_some_and(|path| path.exists()) && !lines.goes_on {
            lines.open()?;
        }
        Ok(lines)
    }

    /// Adds a bad line, and returns what to show of it.
    pub(super) fn add(&mut self, line: u64, problem: &Problem) -> Result<Option<String>, Failed> {
        self.count += 1;
        if self.file.is_none() {
            self.open()?;
        }
        if let Some(file) = &mut self.file {
            let column = problem.column.as_deref().unwrap_or_default();
            writeln!(file, "{line},{},{}", quoted(column), quoted(&problem.reason))?;
        }
        let place = || self.path.as_ref().map(|path| format!("; all are in {}", path.display()));
        Ok(match self.count {
            count if count <= SHOWN_MAX => Some(format!("line {line} {problem}")),
            count if count == SHOWN_MAX + 1 => {
                Some(format!("more bad lines are not shown{}", place().unwrap_or_default()))
            }
            _ => None,
        })
    }

    /// Writes the rest, and returns the file if it is not empty.
    pub(super) fn finish(&mut self) -> Result<Option<&Path>, Failed> {
        if let Some(file) = &mut self.file {
            file.flush()?;
        }
        Ok(self.path.as_deref().filter(|_| self.count > 0))
    }

    fn open(&mut self) -> Result<(), Failed> {
        let Some(path) = &self.path else { return Ok(()) };
        let mut options = OpenOptions::new();
        options.create(true).write(true).append(self.goes_on).truncate(!self.goes_on);
        let file = options.open(path).map_err(|error| {
            let text =
                format!("cannot write bad lines to {}: {error}; name a file with --report", path.display());
            Failed::text(Exit::Failed, text)
        })?;
        let is_empty = file.metadata().is_ok_and(|metadata| metadata.len() == 0);
        let file = self.file.insert(BufWriter::new(file));
        if is_empty {
            writeln!(file, "line,column,reason")?;
        }
        Ok(())
    }
}

/// A CSV cell that any program reads back as the same text.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
