//! Events of a copy that the log does not have: right where the copy says later that they no longer count.

use scarce_core::event::Position;

use crate::findings::Findings;
use crate::report::Finding;

/// How many stretches are kept apart; more are differences at once.
const STRETCHES_MAX: usize = 10_000;

/// Events of one epoch that follow each other.
#[derive(Debug)]
struct Stretch {
    epoch: u64,
    first: u64,
    last: u64,
}

/// The events of other histories.
#[derive(Debug, Default)]
pub(super) struct Others {
    stretches: Vec<Stretch>,
    /// The first of them, with their sequences.
    listed: Vec<(u64, Finding)>,
    /// How many more there are that cannot be taken back.
    final_count: u64,
}

impl Others {
    pub(super) fn add(&mut self, Position { epoch, sequence }: Position, limit: usize, finding: Finding) {
        let has_room = self.stretches.len() < STRETCHES_MAX;
        match self.stretches.last_mut() {
            Some(its) if its.epoch == epoch && its.last.checked_add(1) == Some(sequence) => {
                its.last = sequence;
            }
            _ if has_room => self.stretches.push(Stretch { epoch, first: sequence, last: sequence }),
            _ => self.final_count += 1,
        }
        if self.listed.len() < limit {
            self.listed.push((sequence, finding));
        }
    }

    /// The copy says that what is behind an event no longer counts.
    pub(super) fn forget_behind(&mut self, sequence: u64) {
        self.stretches.retain_mut(|its| {
            its.last = its.last.min(sequence);
            its.first <= its.last
        });
        self.listed.retain(|(its, _)| *its <= sequence);
    }

    /// What is left is wrong.
    pub(super) fn end(self, findings: &mut Findings) {
        let count: u64 = self.stretches.iter().map(|its| its.last - its.first + 1).sum();
        let listed = self.listed.len() as u64;
        self.listed.into_iter().for_each(|(_, finding)| findings.add(finding));
        findings.add_unlisted((count + self.final_count).saturating_sub(listed));
    }
}
