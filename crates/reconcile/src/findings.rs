//! Collects what a check finds.

use crate::report::{Check, CheckKind, CheckState, Finding};

/// How many characters of a text are listed. More than the longest id has.
const TEXT_MAX: usize = 300;

impl Finding {
    /// The finding with its texts cut: a row may hold megabytes, and reports are kept in memory.
    fn cut(self) -> Self {
        Self {
            resource: self.resource.map(cut),
            field: cut(self.field),
            expected: self.expected.map(cut),
            found: self.found.map(cut),
            ..self
        }
    }
}

/// A text up to a length, and how long it was.
fn cut(mut text: String) -> String {
    let length = text.len();
    if let Some((end, _)) = text.char_indices().nth(TEXT_MAX) {
        text.truncate(end);
        text += &format!("… ({length} bytes)");
        text.shrink_to_fit();
    }
    text
}

/// A check in progress.
#[derive(Debug)]
pub(crate) struct Findings {
    kind: CheckKind,
    limit: usize,
    compared: u64,
    differences: u64,
    notes: Vec<String>,
    is_skipped: bool,
    pub(crate) listed: Vec<Finding>,
}

impl Findings {
    /// Begins a check that lists up to `limit` differences, and counts all of them.
    pub(crate) fn new(kind: CheckKind, limit: usize) -> Self {
        Self {
            kind,
            limit,
            compared: 0,
            differences: 0,
            notes: Vec::new(),
            is_skipped: false,
            listed: Vec::new(),
        }
    }

    pub(crate) fn kind(&self) -> CheckKind {
        self.kind
    }

    /// How many differences are listed at most.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// How many more differences will be listed.
    pub(crate) fn room(&self) -> u64 {
        (self.limit - self.listed.len().min(self.limit)) as u64
    }

    /// Whether anything differs.
    pub(crate) fn has_any(&self) -> bool {
        self.differences > 0
    }

    /// Notes that so many more were compared.
    pub(crate) fn compare(&mut self, count: u64) {
        self.compared += count;
    }

    /// Notes a difference.
    pub(crate) fn add(&mut self, finding: Finding) {
        self.differences += 1;
        if self.listed.len() < self.limit {
            self.listed.push(finding.cut());
        }
    }

    /// Notes more of a difference that was counted.
    pub(crate) fn add_more(&mut self, finding: Finding) {
        if self.listed.len() < self.limit {
            self.listed.push(finding.cut());
        }
    }

    /// Notes differences that are not listed.
    pub(crate) fn add_unlisted(&mut self, count: u64) {
        self.differences += count;
    }

    /// Notes what one should know.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Notes that the check is not made, or not to its end.
    pub(crate) fn skip(&mut self, why: impl Into<String>) {
        self.is_skipped = true;
        self.note(why);
    }

    /// Ends the check.
    pub(crate) fn end(self) -> (Check, Vec<Finding>) {
        let state = match (self.differences, self.is_skipped) {
            (0, false) => CheckState::Equal,
            (0, true) => CheckState::Skipped,
            _ => CheckState::Different,
        };
        let Self { kind, compared, differences, notes, .. } = self;
        (Check { kind, state, compared, differences, notes }, self.listed)
    }
}
