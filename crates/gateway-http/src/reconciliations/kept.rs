//! The last reconciliations with their reports.

use std::collections::VecDeque;
use std::time::Duration;

use scarce_core::types::TimeMs;
use serde_json::{Value, json};

/// How many are kept.
const KEPT_MAX: usize = 20;

/// How many bytes the kept reports have together at most; the oldest are left out. The last one is kept whatever it has.
const REPORTS_BYTES_MAX: usize = 4 << 20;

/// Why one is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its time had come.
    Interval,
    /// It was asked for.
    Request,
}

impl Cause {
    const fn word(self) -> &'static str {
        match self {
            Self::Interval => "interval",
            Self::Request => "request",
        }
    }
}

/// How one ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// What was compared, and how much of it differs.
    Compared {
        /// How many differences there are.
        differences: u64,
        /// The report.
        report: Value,
    },
    /// Nothing could be compared, or not to the end.
    Failed {
        /// Why.
        reason: String,
    },
}

impl Verdict {
    /// Its name.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Compared { differences: 0, .. } => "equal",
            Self::Compared { .. } => "different",
            Self::Failed { .. } => "failed",
        }
    }
}

/// What metrics and health say of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// How many ended with nothing that differs.
    pub equal: u64,
    /// How many found differences.
    pub different: u64,
    /// How many could not compare.
    pub failed: u64,
    /// The last one that compared: its id, when it ended, how many differences it found, and how long it took.
    pub last: Option<(u64, TimeMs, u64, Duration)>,
    /// How many rows of the tables were put right.
    pub rows_repaired: u64,
    /// When the last one ended that found nothing that differs.
    pub equal_at: Option<TimeMs>,
    /// The last one, where it failed: its id, when it ended, and why.
    pub trouble: Option<(u64, TimeMs, String)>,
}

/// How far one is.
#[derive(Debug)]
enum Phase {
    Waiting,
    Running { doing: &'static str, partition: u32, done: u64 },
    Ended { at: TimeMs, end: End },
}

/// How one ended, without its report.
#[derive(Debug)]
struct End {
    word: &'static str,
    differences: Option<u64>,
    reason: Option<String>,
}

#[derive(Debug)]
struct Reconciliation {
    id: u64,
    cause: Cause,
    started_at: Option<TimeMs>,
    phase: Phase,
    /// Its report as JSON, which has a tenth of the size that its values have.
    report: Option<Box<str>>,
}

/// What is kept.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Whether something makes them.
    pub(super) is_open: bool,
    pub(super) figures: Figures,
    /// The oldest first. At most the last one has not ended.
    all: VecDeque<Reconciliation>,
}

impl Kept {
    /// Whether one was asked for that has not begun.
    pub(super) fn is_asked(&self) -> bool {
        self.all.back().is_some_and(|last| matches!(last.phase, Phase::Waiting))
    }

    /// The one that has not ended.
    fn current(&mut self) -> Option<&mut Reconciliation> {
        self.all.back_mut().filter(|last| !matches!(last.phase, Phase::Ended { .. }))
    }

    fn add(&mut self, cause: Cause, now: TimeMs) -> &mut Reconciliation {
        if self.all.len() == KEPT_MAX {
            self.all.pop_front();
        }
        // The time, so that an id means the same one after a restart.
        let id = self.all.back().map_or(now, |last| now.max(last.id + 1));
        self.all.push_back(Reconciliation {
            id,
            cause,
            started_at: None,
            phase: Phase::Waiting,
            report: None,
        });
        let last = self.all.len() - 1;
        &mut self.all[last]
    }

    pub(super) fn request(&mut self, now: TimeMs) -> Option<(Value, bool)> {
        if !self.is_open {
            return None;
        }
        if let Some(current) = self.current() {
            return Some((current.row(), false));
        }
        Some((self.add(Cause::Request, now).row(), true))
    }

    pub(super) fn begin(&mut self, cause: Cause, now: TimeMs) -> u64 {
        if !self.is_asked() {
            self.add(cause, now);
        }
        let Some(current) = self.current() else { return now };
        current.started_at = Some(now);
        current.phase = Phase::Running { doing: "starting", partition: 0, done: 0 };
        current.id
    }

    pub(super) fn note(&mut self, doing: &'static str, partition: u32, done: u64) {
        if let Some(current) = self.current() {
            current.phase = Phase::Running { doing, partition, done };
        }
    }

    pub(super) fn end(&mut self, verdict: Verdict, now: TimeMs, took: Duration) {
        let Some(current) = self.current() else { return };
        let id = current.id;
        let word = verdict.word();
        let (end, report) = match &verdict {
            Verdict::Compared { differences, report } => {
                let report = report.to_string().into_boxed_str();
                (End { word, differences: Some(*differences), reason: None }, Some(report))
            }
            Verdict::Failed { reason } => {
                (End { word, differences: None, reason: Some(reason.clone()) }, None)
            }
        };
        (current.phase, current.report) = (Phase::Ended { at: now, end }, report);
        self.leave_out();
        self.count(verdict, id, now, took);
    }

    /// Leaves reports out that are too much together.
    fn leave_out(&mut self) {
        let mut left = REPORTS_BYTES_MAX;
        for (age, its) in self.all.iter_mut().rev().enumerate() {
            let bytes = its.report.as_deref().map_or(0, str::len);
            left = left.saturating_sub(bytes);
            if left == 0 && age > 0 {
                its.report = None;
            }
        }
    }

    fn count(&mut self, verdict: Verdict, id: u64, now: TimeMs, took: Duration) {
        let figures = &mut self.figures;
        match verdict {
            Verdict::Failed { reason } => {
                figures.failed += 1;
                figures.trouble = Some((id, now, reason));
            }
            Verdict::Compared { differences, report } => {
                figures.rows_repaired += rows_repaired(&report["repair"]);
                (figures.last, figures.trouble) = (Some((id, now, differences, took)), None);
                if differences == 0 {
                    figures.equal += 1;
                    figures.equal_at = Some(now);
                } else {
                    figures.different += 1;
                }
            }
        }
    }

    /// All of them without their reports, the latest first.
    pub(super) fn list(&self) -> Vec<Value> {
        self.all.iter().rev().map(Reconciliation::row).collect()
    }

    /// One with its report.
    pub(super) fn find(&self, id: u64) -> Option<Value> {
        self.all.iter().find(|its| its.id == id).map(|its| {
            let mut row = its.row();
            let report = its.report.as_deref().and_then(|report| serde_json::from_str(report).ok());
            row["report"] = report.unwrap_or(Value::Null);
            row
        })
    }
}

/// How many rows a report says were put right.
fn rows_repaired(repair: &Value) -> u64 {
    let counts = ["added", "changed", "removed"].map(|name| repair[name].as_u64().unwrap_or(0));
    if repair["done"] == Value::Bool(true) { counts.iter().sum() } else { 0 }
}

impl Reconciliation {
    fn row(&self) -> Value {
        let (mut state, mut progress) = ("waiting", Value::Null);
        let (mut ended_at, mut differences, mut reason) = (None, None, None);
        match &self.phase {
            Phase::Waiting => {}
            Phase::Running { doing, partition, done } => {
                state = "running";
                progress = json!({ "doing": doing, "partition": partition, "done": done });
            }
            Phase::Ended { at, end } => {
                (state, ended_at) = (end.word, Some(*at));
                (differences, reason) = (end.differences, end.reason.as_ref());
            }
        }
        json!({
            "id": self.id, "state": state, "cause": self.cause.word(), "started_at": self.started_at,
            "ended_at": ended_at, "progress": progress, "differences": differences, "reason": reason,
        })
    }
}
