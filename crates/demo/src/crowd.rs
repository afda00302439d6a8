//! The part that differs between demonstrations: who comes, what they ask, and what they make of the
//! answers.

use super::ask::{Answer, Ask, Deed};
use super::record::{Noted, Record};

/// Those who come.
pub(super) trait Crowd: Sized + Sync {
    type Deed: Deed;
    /// What is counted of the answers while they come, for the picture.
    type Tally: Default + Send;

    /// Whether a part of the crowd comes over HTTP.
    fn speaks_http(&self) -> bool {
        false
    }

    /// The first command of whoever comes at this place: the same for the same seed.
    fn arrive(&self, number: u64) -> Ask<Self::Deed>;

    /// What is sent after an answer, beside the repetitions that an ask itself calls for.
    fn follow_ups(&self, ask: &Ask<Self::Deed>, answer: &Answer, noted: Noted) -> Vec<Ask<Self::Deed>>;

    /// What is sent first where the server died before it answered.
    fn after_crash(&self, ask: Ask<Self::Deed>) -> Ask<Self::Deed> {
        ask
    }

    /// Counts an answer.
    fn count(&self, tally: &mut Self::Tally, ask: &Ask<Self::Deed>, answer: &Answer, noted: Noted);

    /// Whether the moment for the next cue of the act has come; `given` cues were given before.
    fn is_due(&self, given: usize, record: &Record<Self>) -> bool;

    /// How far the gauge stands, and a line below it.
    fn picture(&self, record: &Record<Self>) -> (u64, String);

    /// What has come of it up to now, in a few words.
    fn so_far(&self, record: &Record<Self>) -> String;
}

/// Numbers from a seed (SplitMix64): enough for a crowd's whims.
pub(super) struct Draw(u64);

impl Draw {
    /// The numbers of one member of the crowd.
    pub(super) fn of(seed: u64, number: u64) -> Self {
        Self(seed ^ number.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// A number from 0 up to, not at, `limit`.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    /// Whether something happens that happens in so many cases of a hundred.
    pub(super) fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }
}
