//! The results of an import: progress while it runs, outcomes to a file, a summary at the end.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::Problem;
use super::amounts::Amounts;
use super::answer::ImportAnswer;
use super::args::Options;
use super::bad::BadLines;
use super::operation::Operation;
use crate::{Ended, Exit, Failed};

/// Counts, and their display.
pub(super) struct Report {
    started_at: Instant,
    bar: ProgressBar,
    outcomes: Option<BufWriter<File>>,
    applied: u64,
    refused: BTreeMap<String, u64>,
    refused_count: u64,
    existing: u64,
    bad: BadLines,
}

impl Report {
    pub(super) fn new(options: &Options, input: &Path, length: Option<u64>) -> Result<Self, Failed> {
        let goes_on = options.from_line > 1;
        let create = |path: &PathBuf| {
            let mut how = OpenOptions::new();
            how.create(true).write(true).append(goes_on).truncate(!goes_on);
            how.open(path).map(BufWriter::new).map_err(|error| {
                Failed::text(Exit::Usage, format!("cannot write outcomes to {}: {error}", path.display()))
            })
        };
        Ok(Self {
            started_at: Instant::now(),
            bar: progress_bar(length),
            outcomes: options.outcomes.as_ref().map(create).transpose()?,
            applied: 0,
            refused: BTreeMap::new(),
            refused_count: 0,
            existing: 0,
            bad: BadLines::new(options, input)?,
        })
    }

    /// Updates the bytes read and the number of answers.
    pub(super) fn progress(&self, bytes: u64) {
        self.bar.set_position(bytes);
        if self.bar.is_hidden() {
            return;
        }
        let answered = self.applied + self.existing + self.refused_count;
        let rate = answered * 1_000 / self.milliseconds().max(1);
        let (refused, bad) = (self.refused_count, self.bad.count);
        self.bar.set_message(format!("{rate}/s, applied {}, refused {refused}, bad {bad}", self.applied));
    }

    /// Records a line that could not be parsed.
    pub(super) fn bad(&mut self, line: u64, problem: &Problem) -> Result<(), Failed> {
        if let Some(text) = self.bad.add(line, problem)? {
            // If stderr is gone, there is nobody left to tell.
            self.bar.suspend(|| {
                let _ = writeln!(std::io::stderr(), "{text}");
            });
        }
        Ok(())
    }

    /// Records that an operation's resource already existed and was left as it is.
    pub(super) fn existing(&mut self, operation: &Operation) -> Result<(), Failed> {
        self.existing += 1;
        let outcome = serde_json::json!({
            "line": operation.line, "id": operation.id, "outcome": "EXISTING", "values": [],
        });
        self.outcome(&outcome)
    }

    /// Records the answer to an operation.
    pub(super) fn answered(&mut self, operation: &Operation, answer: &ImportAnswer) -> Result<(), Failed> {
        match answer {
            ImportAnswer::Applied(_) => self.applied += 1,
            ImportAnswer::Refused { reason, .. } => {
                self.refused_count += 1;
                *self.refused.entry(reason.clone()).or_default() += 1;
            }
            ImportAnswer::Rejected(text) | ImportAnswer::Undecided(text) | ImportAnswer::Denied(text) => {
                self.bad(operation.line, &Problem::from(format!("was rejected: {text}")))?;
            }
        }
        self.outcome(&answer.to_json(operation))
    }

    fn outcome(&mut self, outcome: &serde_json::Value) -> Result<(), Failed> {
        if let Some(outcomes) = &mut self.outcomes {
            writeln!(outcomes, "{outcome}")?;
        }
        Ok(())
    }

    /// Prints the summary and returns how the import ended.
    pub(super) fn finish(&mut self, options: &Options, amounts: &Amounts, reconnects: u64) -> Ended {
        self.bar.finish_and_clear();
        if let Some(outcomes) = &mut self.outcomes {
            outcomes.flush()?;
        }
        let bad_lines = self.bad.finish()?.map(|path| path.display().to_string());
        let mut out = std::io::stdout().lock();
        if options.json {
            writeln!(out, "{}", self.to_json(amounts, bad_lines.as_deref(), reconnects))?;
        } else {
            writeln!(out, "{}", self.to_text(amounts))?;
            self.hint(bad_lines.as_deref())?;
        }
        Ok(match (self.bad.count, self.refused.is_empty() || options.refusals_ok) {
            (0, true) => Exit::Done,
            (0, false) => Exit::Refused,
            _ => Exit::Failed,
        })
    }

    fn hint(&self, bad_lines: Option<&str>) -> std::io::Result<()> {
        let mut err = std::io::stderr().lock();
        if let Some(path) = bad_lines {
            writeln!(err, "bad lines are in {path}; corrected, the same file may be run again")?;
        }
        if let Some(code) = self.refused.keys().next() {
            writeln!(err, "'scarce explain {code}' says more")?;
        }
        Ok(())
    }

    fn milliseconds(&self) -> u64 {
        u64::try_from(self.started_at.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn to_json(&self, amounts: &Amounts, bad_lines: Option<&str>, reconnects: u64) -> serde_json::Value {
        serde_json::json!({
            "applied": self.applied,
            "existing": self.existing,
            "refused": self.refused_count,
            "refused_by_code": self.refused,
            "bad_lines": self.bad.count,
            "bad_lines_file": bad_lines,
            "amounts": amounts.seen(),
            "reconnects": reconnects,
            "milliseconds": self.milliseconds(),
        })
    }

    fn to_text(&self, amounts: &Amounts) -> String {
        let codes: Vec<String> = self.refused.iter().map(|(code, count)| format!("{code} {count}")).collect();
        let mut text = format!("applied {}, refused {}", self.applied, self.refused_count);
        if !codes.is_empty() {
            text = format!("{text} ({})", codes.join(", "));
        }
        if self.existing > 0 {
            text = format!("{text}, existing and left as they are {}", self.existing);
        }
        text =
            format!("{text}, bad lines {}, {:.2} s", self.bad.count, self.started_at.elapsed().as_secs_f64());
        let seen: Vec<String> = amounts
            .seen()
            .into_iter()
            .map(|(asset, how)| if asset == "*" { how } else { format!("{asset} with {how}") })
            .map(|how| how.replace("with minor units", "in minor units"))
            .collect();
        if !seen.is_empty() {
            text = format!("{text}\namounts were read as {}", seen.join(", "));
        }
        text
    }
}

/// A progress bar over the bytes of the file, or a counter if the length is unknown; indicatif shows it on
/// terminals only.
fn progress_bar(length: Option<u64>) -> ProgressBar {
    let (bar, template) = match length {
        Some(length) => (ProgressBar::new(length), "importing {bar:30} {bytes}/{total_bytes} {eta} {msg}"),
        None => (ProgressBar::new_spinner(), "importing {spinner} {bytes} {msg}"),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
