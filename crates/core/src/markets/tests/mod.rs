//! Markets from the view of callers: in the words of the RESP port, by outcomes, events and digests.

mod model;
mod orders;
mod plain;
mod random;
mod steps;

pub(super) use crate::machine::bench::{Bench, snapshot};
use crate::state::StateSettings;

impl Bench {
    pub(super) fn with_steps(step_max: usize) -> Self {
        Self::with(StateSettings { step_max, batch_step_max: step_max, ..StateSettings::default() })
    }

    /// A bench with a market `m` of tick, lot and bounds 1.
    pub(super) fn open() -> Self {
        let mut bench = Self::with_steps(128);
        bench.check("MARKET.CREATE m", "APPLIED open");
        bench
    }
}

/// A small generator of numbers that look random, the same on every run.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    pub(super) fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[usize::try_from(self.below(words.len() as u64)).expect("an index")]
    }
}
