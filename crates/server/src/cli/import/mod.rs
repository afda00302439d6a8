//! `scarce import`: runs a file of operations through the RESP port, in the order of its lines, many
//! on their way at once.
//!
//! Every operation has an id, so repeating it is harmless: after a broken connection whatever was not
//! answered is sent again, and a whole file may be run again. Single refused commands on stock, packets
//! and coupons are the exception, since the server does not remember their refusals: run again, they
//! are decided anew.

mod answer;
mod line;
mod lines;
mod pipe;
mod report;

use std::io::Read;
use std::time::{SystemTime, UNIX_EPOCH};

use self::lines::{Found, LINE_BYTES_MAX, Lines};
use self::pipe::Pipe;
use self::report::Report;
use super::args::Import;
use super::{Ended, Exit, Failed};

pub(super) fn run(options: &Import) -> Ended {
    let (lines, length) = lines::open(&options.file)?;
    let pipe = Pipe::connect(options)?;
    let report = Report::new(options, length)?;
    let own_ids = options.allow_no_id.then(own_ids);
    let mut import = Running { options, lines, line: 0, at_end: false, pipe, report, own_ids };
    let ended = import.all();
    let next = import.pipe.first_line();
    let exit = import.report.finish(options, import.pipe.reconnects)?;
    match (ended, next) {
        (Ok(()), _) => Ok(exit),
        (Err(Failed { exit, message }), Some(next)) => Err(Failed::text(
            exit,
            format!("{message}\nrun the same again, or from where it stopped with --from-line {next}"),
        )),
        (Err(failed), None) => Err(failed),
    }
}

/// What the ids of lines without one begin with: other in each run, so that within a run such a line
/// can be repeated like any other.
fn own_ids() -> String {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("import-{nanos:x}-{:x}", std::process::id())
}

/// An import while it runs.
struct Running<'a, R> {
    options: &'a Import,
    lines: Lines<R>,
    /// The number of the last line that was read.
    line: u64,
    at_end: bool,
    pipe: Pipe<'a>,
    report: Report,
    own_ids: Option<String>,
}

impl<R: Read> Running<'_, R> {
    fn all(&mut self) -> Result<(), Failed> {
        while !self.at_end {
            self.fill()?;
            self.pipe.flush()?;
            // Nothing waits for its answer while this waits for whoever writes the file.
            let everything = self.at_end || !self.lines.is_ready();
            while !self.pipe.is_empty() && (everything || self.pipe.is_above_half()) {
                self.receive()?;
            }
            self.report.progress(self.lines.bytes);
        }
        Ok(())
    }

    /// Puts operations in as long as there is room and the next line is here.
    fn fill(&mut self) -> Result<(), Failed> {
        while self.pipe.has_room() && (self.pipe.is_empty() || self.lines.is_ready()) {
            let found = self.lines.next().map_err(|error| {
                Failed::text(Exit::Failed, format!("cannot read on after line {}: {error}", self.line))
            })?;
            let Some(found) = found else {
                self.at_end = true;
                return Ok(());
            };
            self.line += 1;
            if self.line >= self.options.from_line {
                self.put(&found);
            }
        }
        Ok(())
    }

    fn put(&mut self, found: &Found) {
        let read = match found {
            Found::Line(text) if text.trim_ascii().is_empty() => return,
            Found::Line(text) => {
                let own_id = self.own_ids.as_ref().map(|run| format!("{run}-{}", self.line));
                line::read(self.line, text, own_id)
            }
            Found::TooLong => Err(format!("is longer than {LINE_BYTES_MAX} bytes")),
        };
        match read {
            Ok(operation) => self.pipe.put(operation),
            Err(problem) => self.report.bad(self.line, &problem),
        }
    }

    fn receive(&mut self) -> Result<(), Failed> {
        match self.pipe.receive()? {
            Some((operation, answer)) => self.report.answered(&operation, &answer),
            None => Ok(()),
        }
    }
}
