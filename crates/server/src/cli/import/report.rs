//! What came of an import: progress while it runs, outcomes to a file, a summary in the end.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::answer::Answer;
use super::line::Operation;
use crate::cli::args::Import;
use crate::cli::{Ended, Exit, Failed};

/// Counts, and where they are shown.
pub(super) struct Report {
    started_at: Instant,
    bar: ProgressBar,
    outcomes: Option<BufWriter<File>>,
    applied: u64,
    refused: BTreeMap<String, u64>,
    bad: u64,
}

impl Report {
    pub(super) fn new(options: &Import, length: Option<u64>) -> Result<Self, Failed> {
        let create = |path: &std::path::PathBuf| {
            File::create(path).map(BufWriter::new).map_err(|error| {
                Failed::text(Exit::Usage, format!("cannot write outcomes to {}: {error}", path.display()))
            })
        };
        Ok(Self {
            started_at: Instant::now(),
            bar: progress_bar(length),
            outcomes: options.outcomes.as_ref().map(create).transpose()?,
            applied: 0,
            refused: BTreeMap::new(),
            bad: 0,
        })
    }

    /// How far reading has come.
    pub(super) fn progress(&self, bytes: u64) {
        self.bar.set_position(bytes);
    }

    /// A line that asks for nothing that could be done.
    pub(super) fn bad(&mut self, line: u64, problem: &str) {
        self.bad += 1;
        // Where stderr is gone there is nobody left to tell.
        self.bar.suspend(|| {
            let _ = writeln!(std::io::stderr(), "line {line} {problem}");
        });
    }

    /// The answer to an operation.
    pub(super) fn answered(&mut self, operation: &Operation, answer: &Answer) -> Result<(), Failed> {
        match answer {
            Answer::Applied(_) => self.applied += 1,
            Answer::Refused { reason, .. } => *self.refused.entry(reason.clone()).or_default() += 1,
            Answer::Rejected(text) | Answer::Undecided(text) | Answer::Denied(text) => {
                self.bad(operation.line, &format!("was rejected: {text}"));
            }
        }
        if let Some(outcomes) = &mut self.outcomes {
            writeln!(outcomes, "{}", answer.to_json(operation))?;
        }
        Ok(())
    }

    /// Prints the summary and says how the import ended.
    pub(super) fn finish(mut self, options: &Import, reconnects: u64) -> Ended {
        self.bar.finish_and_clear();
        if let Some(outcomes) = &mut self.outcomes {
            outcomes.flush()?;
        }
        let mut out = std::io::stdout().lock();
        if options.json {
            writeln!(out, "{}", self.to_json(reconnects))?;
        } else {
            writeln!(out, "{}", self.to_text())?;
        }
        if let Some(code) = self.refused.keys().next().filter(|_| !options.json) {
            writeln!(std::io::stderr(), "'scarce explain {code}' says more")?;
        }
        Ok(match (self.bad, self.refused.is_empty() || options.refusals_ok) {
            (0, true) => Exit::Done,
            (0, false) => Exit::Refused,
            _ => Exit::Failed,
        })
    }

    fn to_json(&self, reconnects: u64) -> serde_json::Value {
        serde_json::json!({
            "applied": self.applied,
            "refused": self.refused.values().sum::<u64>(),
            "refused_by_code": self.refused,
            "bad_lines": self.bad,
            "reconnects": reconnects,
            "milliseconds": u64::try_from(self.started_at.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }

    fn to_text(&self) -> String {
        let codes: Vec<String> = self.refused.iter().map(|(code, count)| format!("{code} {count}")).collect();
        let refused = match codes.as_slice() {
            [] => "refused 0".to_owned(),
            codes => format!("refused {} ({})", self.refused.values().sum::<u64>(), codes.join(", ")),
        };
        let seconds = self.started_at.elapsed().as_secs_f64();
        format!("applied {}, {refused}, bad lines {}, {seconds:.2} s", self.applied, self.bad)
    }
}

/// A bar over the bytes of the file, or of what has come so far; indicatif shows it on terminals only.
fn progress_bar(length: Option<u64>) -> ProgressBar {
    let (bar, template) = match length {
        Some(length) => (ProgressBar::new(length), "importing {bar:40} {bytes}/{total_bytes} {eta}"),
        None => (ProgressBar::new_spinner(), "importing {spinner} {bytes} {bytes_per_sec}"),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
