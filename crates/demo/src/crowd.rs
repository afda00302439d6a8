//! What differs between demonstrations: the callers, their requests, and how they react to answers.

use super::ask::{Ask, CallerAnswer, Deed};
use super::record::{Noted, Record};

/// A crowd of callers.
pub(super) trait Crowd: Sized + Sync {
    type Deed: Deed;
    /// Running counts of the answers, for the display.
    type Tally: Default + Send;

    /// Whether a part of the crowd uses HTTP.
    fn speaks_http(&self) -> bool {
        false
    }

    /// The first command of the caller with this number: the same for the same seed.
    fn arrive(&self, number: u64) -> Ask<Self::Deed>;

    /// The commands that follow an answer, besides the repetitions that an ask itself calls for.
    fn follow_ups(&self, ask: &Ask<Self::Deed>, answer: &CallerAnswer, noted: Noted) -> Vec<Ask<Self::Deed>>;

    /// The first command to send if the server died before it answered this one.
    fn after_crash(&self, ask: Ask<Self::Deed>) -> Ask<Self::Deed> {
        ask
    }

    /// Counts an answer.
    fn count(&self, tally: &mut Self::Tally, ask: &Ask<Self::Deed>, answer: &CallerAnswer, noted: Noted);

    /// Whether it is time for the next cue of the act; `given` is the number of earlier cues.
    fn is_due(&self, given: usize, record: &Record<Self>) -> bool;

    /// The position of the gauge, and a line below it.
    fn picture(&self, record: &Record<Self>) -> (u64, String);

    /// The results so far, in a few words.
    fn so_far(&self, record: &Record<Self>) -> String;
}

/// Pseudorandom numbers from a seed (SplitMix64), good enough for a crowd's decisions.
pub(super) struct Draw(u64);

impl Draw {
    /// The numbers for one member of the crowd.
    pub(super) fn of(seed: u64, number: u64) -> Self {
        Self(seed ^ number.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// A number from 0 to below `limit`.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    /// True in `share` of a hundred cases.
    pub(super) fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }
}
