//! Events that a copy left out so far.

/// How many gaps are kept apart; more are counted.
const GAPS_MAX: usize = 10_000;

/// Events that are not in the copy, and before which message they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) offset: i64,
}

/// The gaps of a partition.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    kept: Vec<Gap>,
    /// How many events are missing in gaps that are not kept.
    uncounted: u64,
}

impl Gaps {
    pub(super) fn add(&mut self, gap: Gap) {
        if self.kept.len() < GAPS_MAX {
            self.kept.push(gap);
        } else {
            self.uncounted += gap.last - gap.first + 1;
        }
    }

    /// An event has come after all; whether it was missing.
    pub(super) fn fill(&mut self, sequence: u64) -> bool {
        let Some(at) = self.kept.iter().position(|gap| gap.first <= sequence && sequence <= gap.last) else {
            return false;
        };
        let gap = self.kept.remove(at);
        if sequence < gap.last {
            self.kept.insert(at, Gap { first: sequence + 1, ..gap });
        }
        if gap.first < sequence {
            self.kept.insert(at, Gap { last: sequence - 1, ..gap });
        }
        true
    }

    /// What is behind an event begins anew.
    pub(super) fn forget_behind(&mut self, sequence: u64) {
        self.kept.retain_mut(|gap| {
            gap.last = gap.last.min(sequence);
            gap.first <= gap.last
        });
    }

    /// The gaps, and how many more events are missing.
    pub(super) fn end(self) -> (Vec<Gap>, u64) {
        (self.kept, self.uncounted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_late_is_taken_out() {
        let mut gaps = Gaps::default();
        let gap = |first, last| Gap { first, last, offset: 7 };
        gaps.add(gap(3, 6));
        assert!(gaps.fill(4) && !gaps.fill(4) && !gaps.fill(7));
        gaps.add(gap(9, 12));
        gaps.forget_behind(10);
        assert_eq!(gaps.end(), (vec![gap(3, 3), gap(5, 6), gap(9, 10)], 0));
    }
}
