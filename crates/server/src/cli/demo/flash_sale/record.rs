//! The outside record: every acknowledgement that the crowd got, kept in this process, where the
//! server's crash cannot touch it.

use std::collections::{BTreeMap, BTreeSet};

use redis::Value;

use super::buyers::{Ask, Deed, Noted};
use crate::client::{Reply, integer, text};

/// What a caller was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Done, with the figures of the reply.
    Applied(Vec<i64>),
    /// Refused, with the code.
    Refused(String),
    /// The server could not decide now; the same id is to be sent again.
    Later(String),
    /// The server did not understand.
    Error(String),
}

impl Answer {
    /// Reads the reply to a command.
    pub(super) fn of(deed: Deed, value: Value) -> Self {
        match (deed, Reply::of(value)) {
            (Deed::Pay, Reply::Applied(lines)) => Self::of_batch(lines),
            (_, Reply::Applied(values)) => Self::Applied(values.iter().filter_map(integer).collect()),
            (_, Reply::Refused(code, _)) => Self::Refused(code),
            (_, Reply::Error(text)) => {
                let word = text.split(' ').next().unwrap_or_default();
                match word {
                    "OVERLOADED" | "UNAVAILABLE" | "UNKNOWN" | "LOADING" => Self::Later(word.to_owned()),
                    _ => Self::Error(text),
                }
            }
        }
    }

    /// A batch answers a reply per line: the batch id, the transfer, the sale.
    fn of_batch(lines: Vec<Value>) -> Self {
        let mut figures = Vec::new();
        for line in lines.into_iter().rev().filter(|line| text(line).is_none()) {
            match Reply::of(line) {
                Reply::Applied(values) => figures.extend(values.iter().filter_map(integer)),
                Reply::Refused(code, _) if code == "BATCH_REFUSED" => {}
                Reply::Refused(code, _) => return Self::Refused(code),
                Reply::Error(text) => return Self::Error(text),
            }
        }
        Self::Applied(figures)
    }
}

/// What is known of an operation id from outside.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) ask: Ask,
    /// The first answer that the engine must remember.
    pub(super) binding: Option<Answer>,
    /// In which life of the server it came.
    pub(super) life: u64,
    /// How many answers came.
    pub(super) answers: u64,
}

impl Known {
    /// The serials that the buyer holds by an acknowledgement: the first and how many.
    pub(super) fn sale(&self) -> Option<(u64, u64)> {
        let Some(Answer::Applied(figures)) = &self.binding else { return None };
        let figure = |at: usize| figures.get(at).and_then(|figure| u64::try_from(*figure).ok());
        match self.ask.deed {
            Deed::Take | Deed::Pay => Some((figure(0)?, self.ask.quantity)),
            Deed::Confirm => Some((figure(0)?, figure(1)?)),
            Deed::Reserve | Deed::Release => None,
        }
    }
}

/// Everything that the crowd knows.
#[derive(Default)]
pub(super) struct Record {
    pub(super) known: BTreeMap<String, Known>,
    /// Commands answered.
    pub(super) answers: u64,
    /// Answers by code, of those that were refused.
    pub(super) refusals: BTreeMap<String, u64>,
    /// Units that buyers hold by acknowledgements.
    pub(super) sold: u64,
    /// Units left, as the last answer said.
    pub(super) available: u64,
    /// Ids whose answer was another one later.
    pub(super) changed: BTreeSet<String>,
    /// Commands that were on the way when the server died, by id.
    pub(super) lost: BTreeMap<String, u64>,
    /// Commands sent again although answered, and commands sent twice at once.
    pub(super) repeats: u64,
    pub(super) doubles: u64,
}

impl Record {
    /// Notes that a command is about to be sent. Gives whether its id was answered for good already.
    pub(super) fn note_sent(&mut self, ask: &Ask) -> bool {
        self.repeats += u64::from(ask.is_again);
        let known = self.known.entry(ask.id.clone()).or_insert_with(|| Known {
            ask: ask.clone(),
            binding: None,
            life: 0,
            answers: 0,
        });
        known.binding.is_some()
    }

    /// Notes an answer; `was_told` is what [`Self::note_sent`] gave when the command was sent.
    pub(super) fn note_answer(&mut self, ask: &Ask, was_told: bool, answer: &Answer, life: u64) -> Noted {
        self.answers += 1;
        if let Answer::Refused(code) = answer {
            *self.refusals.entry(code.clone()).or_default() += 1;
        }
        let Some(known) = self.known.get_mut(&ask.id) else { return Noted::default() };
        known.answers += 1;
        let is_applied = matches!(answer, Answer::Applied(_));
        let noted =
            Noted { is_first: known.answers == 1, is_applied_now: is_applied && known.binding.is_none() };
        // Batches with money in them are remembered when refused too; refusals of stock are not.
        let binds = is_applied || ask.deed == Deed::Pay;
        match &known.binding {
            Some(first) if first != answer && (binds || was_told) => {
                self.changed.insert(ask.id.clone());
            }
            None if binds => {
                known.binding = Some(answer.clone());
                known.life = life;
                self.sold += known.sale().map_or(0, |(_, count)| count);
                self.note_available(ask.deed, answer);
            }
            _ => {}
        }
        noted
    }

    fn note_available(&mut self, deed: Deed, answer: &Answer) {
        if let (true, Answer::Applied(figures)) = (deed != Deed::Confirm, answer) {
            let left = figures.get(1).and_then(|left| u64::try_from(*left).ok());
            self.available = left.unwrap_or(self.available);
        }
    }

    /// Notes that the server died before this was answered.
    pub(super) fn note_lost(&mut self, ask: &Ask) {
        *self.lost.entry(ask.id.clone()).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::buyers::Crowd;
    use super::*;

    fn ask(deed: Deed) -> Ask {
        let buyer = Crowd { seed: 1, count: 100, per_owner: 2, ttl_ms: 1 }.buyer(0);
        Ask { id: "take-0".to_owned(), buyer, deed, quantity: 2, is_again: false }
    }

    #[test]
    fn another_answer_for_an_answered_id_is_noticed() {
        let mut record = Record::default();
        let ask = ask(Deed::Take);
        let first = Answer::Applied(vec![1, 8]);
        assert!(!record.note_sent(&ask));
        record.note_answer(&ask, false, &first, 1);
        assert_eq!((record.sold, record.available), (2, 8));
        record.note_answer(&ask, true, &first, 1);
        assert!(record.changed.is_empty());
        record.note_answer(&ask, true, &Answer::Refused("SOLD_OUT".to_owned()), 1);
        assert_eq!(record.changed.len(), 1);
    }

    #[test]
    fn a_refusal_that_overtook_its_twin_is_no_change() {
        let mut record = Record::default();
        let ask = ask(Deed::Take);
        record.note_sent(&ask);
        record.note_answer(&ask, false, &Answer::Applied(vec![1, 8]), 1);
        record.note_answer(&ask, false, &Answer::Refused("SOLD_OUT".to_owned()), 1);
        assert!(record.changed.is_empty());
    }
}
