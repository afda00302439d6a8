//! Answering a batch once it is as safe as was asked for.

use std::sync::Arc;

use scarce_core::outcome::{Code, Durability, Receipt};
use scarce_engine::engine::{Answers, Failure, Reply, Request};

use super::image::{Imager, PendingDigest};
use super::nodes::Node;
use super::waits::{Waits, WantedLevels, level_of};

/// An answer, and which server gave it.
pub(super) struct Answered {
    pub(super) result: Result<Receipt, Failure>,
    pub(super) by: Option<Arc<Node>>,
    /// What is to be done for it beside the lane.
    pub(super) pending: Option<PendingDigest>,
}

impl Answered {
    /// What the library has answered. That it does not know the end of an operation is a failure, not an outcome.
    pub(super) fn of(receipt: Receipt, by: &Arc<Node>) -> Self {
        let result = match (receipt.outcome.code, receipt.outcome.facts.first()) {
            (Code::Unknown, reason) => {
                Err(Failure::Unknown { reason: reason.map(ToString::to_string).unwrap_or_default() })
            }
            _ => Ok(receipt),
        };
        Self { result, by: Some(Arc::clone(by)), pending: None }
    }

    /// That a digest is still to be taken.
    pub(super) fn pending(digest: PendingDigest) -> Self {
        let reason = "the digest was not taken".to_owned();
        Self { result: Err(Failure::Unavailable { reason }), by: None, pending: Some(digest) }
    }
}

impl From<Failure> for Answered {
    fn from(failure: Failure) -> Self {
        Self { result: Err(failure), by: None, pending: None }
    }
}

/// A batch whose answers are known.
pub(super) struct Decided {
    pub(super) levels: Vec<Durability>,
    pub(super) answers: Vec<Answered>,
    pub(super) reply: Reply,
}

/// How safe each request's answer must be; what only looks is as safe as what it may have seen.
pub(super) fn levels(requests: &[&Request], usual: Durability) -> Vec<Durability> {
    let level = |request: &&Request| match request {
        Request::Write(envelope) => envelope.common.durability.unwrap_or(usual),
        Request::Read(..) | Request::DryRun(_) => usual,
        Request::Expire(_) => Durability::Memory,
    };
    requests.iter().map(level).collect()
}

impl Decided {
    /// Whether its answers may leave at once.
    pub(super) fn is_settled(&self) -> bool {
        let is_pending = self.answers.iter().any(|answer| answer.pending.is_some());
        !is_pending && self.levels.iter().all(|level| *level == Durability::Memory)
    }

    /// Answers it at once.
    pub(super) fn answer(self) {
        let answers: Answers = self.answers.into_iter().zip(self.levels).map(leveled).collect();
        (self.reply)(answers);
    }

    /// Answers it when it is safe; what did not become so is unknown.
    pub(super) async fn settle(mut self, waits: &Waits, imager: &Imager) {
        let keys = &imager.keys;
        for answer in &mut self.answers {
            if let Some(digest) = answer.pending.take() {
                *answer = imager.answer(&digest).await;
            }
        }
        let mut nodes: Vec<Arc<Node>> = self.answers.iter().filter_map(|answer| answer.by.clone()).collect();
        nodes.dedup_by(|a, b| Arc::ptr_eq(a, b));
        for node in nodes {
            let is_its = |answer: &Answered| answer.by.as_ref().is_some_and(|by| Arc::ptr_eq(by, &node));
            let mut wanted = WantedLevels::default();
            for (answer, level) in self.answers.iter().zip(&self.levels) {
                if is_its(answer) {
                    wanted.add(*level);
                }
            }
            if let Err(failure) = waits.wait(&node, keys, wanted).await {
                let unsafe_ones = self.answers.iter_mut().zip(&self.levels);
                let unsafe_ones =
                    unsafe_ones.filter(|(answer, level)| is_its(answer) && **level != Durability::Memory);
                for (answer, _) in unsafe_ones.filter(|(answer, _)| answer.result.is_ok()) {
                    answer.result = Err(failure.clone());
                }
            }
        }
        self.answer();
    }
}

/// The answer with the level that it has reached.
fn leveled((answered, level): (Answered, Durability)) -> Result<Receipt, Failure> {
    let mut receipt = answered.result?;
    let natural = answered.by.as_deref().map_or(Durability::Memory, level_of);
    let is_natural = level == Durability::Memory || answered.by.is_none();
    receipt.durability = if is_natural { natural } else { level };
    Ok(receipt)
}
