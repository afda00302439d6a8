//! The external record: every acknowledgement that the crowd received, kept in this process, where the
//! server's crash cannot affect it.

use std::collections::BTreeMap;

use super::ask::{Ask, CallerAnswer, Deed};
use super::crowd::Crowd;
use super::proof::grouped;

/// How an answer relates to its id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Noted {
    /// The first answer.
    pub(super) is_first: bool,
    /// The first answer that says applied.
    pub(super) is_applied_now: bool,
    /// The life of the server in which it came.
    pub(super) life: u64,
}

/// What is known about an operation id from outside.
#[derive(Clone, Debug)]
pub(super) struct Known<D> {
    pub(super) ask: Ask<D>,
    /// The first answer that the engine must remember.
    pub(super) binding: Option<CallerAnswer>,
    /// The life of the server in which it came.
    pub(super) life: u64,
    /// The first answer of a later life that the engine must remember.
    pub(super) later: Option<CallerAnswer>,
    /// When it was first sent, and when the binding answer came, in the record's order.
    pub(super) sent_at: u64,
    pub(super) told_at: u64,
    /// The number of answers.
    pub(super) answers: u64,
}

impl<D> Known<D> {
    /// Something that was acknowledged, for falsification.
    pub(super) fn acknowledged(ask: Ask<D>, answer: CallerAnswer) -> Self {
        Self { ask, binding: Some(answer), life: 1, later: None, sent_at: 0, told_at: 0, answers: 1 }
    }

    /// The answer when it was applied.
    pub(super) fn applied(&self) -> Option<&CallerAnswer> {
        self.binding.as_ref().filter(|answer| answer.is_applied())
    }
}

/// Everything that the crowd knows.
pub(super) struct Record<C: Crowd> {
    pub(super) known: BTreeMap<String, Known<C::Deed>>,
    /// Commands answered.
    pub(super) answers: u64,
    /// Refusals by code.
    pub(super) refusals: BTreeMap<String, u64>,
    pub(super) tally: C::Tally,
    /// Ids whose answer changed later, with the new code if it was a refusal.
    pub(super) changed: BTreeMap<String, Option<String>>,
    /// Commands in flight when the server died, by id.
    pub(super) lost: BTreeMap<String, u64>,
    /// Commands sent again although answered, and commands sent twice at once.
    pub(super) repeats: u64,
    pub(super) doubles: u64,
    /// The number of recorded questions and answers, which orders them.
    noted: u64,
}

impl<C: Crowd> Default for Record<C> {
    fn default() -> Self {
        Self {
            known: BTreeMap::new(),
            answers: 0,
            refusals: BTreeMap::new(),
            tally: C::Tally::default(),
            changed: BTreeMap::new(),
            lost: BTreeMap::new(),
            repeats: 0,
            doubles: 0,
            noted: 0,
        }
    }
}

impl<C: Crowd> Record<C> {
    /// Records that a command is about to be sent. Returns whether its id already had a final answer.
    pub(super) fn note_sent(&mut self, ask: &Ask<C::Deed>) -> bool {
        self.repeats += u64::from(ask.is_again);
        self.noted += 1;
        let sent_at = self.noted;
        let known = self.known.entry(ask.id.clone()).or_insert_with(|| Known {
            ask: ask.clone(),
            binding: None,
            life: 0,
            later: None,
            sent_at,
            told_at: 0,
            answers: 0,
        });
        known.binding.is_some()
    }

    /// Records an answer; `was_told` is the result of [`Self::note_sent`] for the command.
    pub(super) fn note_answer(
        &mut self,
        crowd: &C,
        ask: &Ask<C::Deed>,
        was_told: bool,
        answer: &CallerAnswer,
        life: u64,
    ) -> Noted {
        self.answers += 1;
        self.noted += 1;
        if let Some(code) = answer.code() {
            *self.refusals.entry(code.to_owned()).or_default() += 1;
        }
        let Some(known) = self.known.get_mut(&ask.id) else { return Noted::default() };
        known.answers += 1;
        let is_applied = answer.is_applied();
        let noted = Noted {
            is_first: known.answers == 1,
            is_applied_now: is_applied && known.binding.is_none(),
            life,
        };
        let binds = is_applied || ask.deed.is_refusal_remembered();
        if binds && known.binding.is_some() && known.life < life && known.later.is_none() {
            known.later = Some(answer.clone());
        }
        match &known.binding {
            Some(first) if first != answer && (binds || was_told) => {
                self.changed.entry(ask.id.clone()).or_insert_with(|| answer.code().map(str::to_owned));
            }
            None if binds => {
                known.binding = Some(answer.clone());
                known.life = life;
                known.told_at = self.noted;
            }
            _ => {}
        }
        crowd.count(&mut self.tally, ask, answer, noted);
        noted
    }

    /// Records that the server died before it answered this.
    pub(super) fn note_lost(&mut self, ask: &Ask<C::Deed>) {
        *self.lost.entry(ask.id.clone()).or_default() += 1;
    }

    /// How often a code was answered.
    pub(super) fn refused(&self, code: &str) -> u64 {
        self.refusals.get(code).copied().unwrap_or(0)
    }

    /// The refusals and their counts, as text.
    pub(super) fn refusals_text(&self) -> String {
        let text = |(code, count): (&String, &u64)| format!("{code} {}", grouped(*count));
        self.refusals.iter().map(text).collect::<Vec<_>>().join(" · ")
    }
}
