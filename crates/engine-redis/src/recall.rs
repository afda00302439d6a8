//! What duplicates are answered while nothing new is taken: what became of the first one. Without it, a caller
//! whose command was applied would be told that nothing was done.

use scarce_core::command::{Body, Command, Envelope};
use scarce_core::outcome::Code;
use scarce_engine::engine::{Failure, Request};

use super::call::{self, EncodedRequest};
use super::lane::{Lane, piece};
use super::settle::Answered;

impl Lane {
    /// Replaces failures by which nothing was done with the receipts of operations that are known. `beyond` says which
    /// requests were refused before they were sent.
    pub(super) async fn recall(
        &mut self,
        requests: &[&Request],
        answers: &mut [Answered],
        beyond: &[Option<Failure>],
    ) {
        let mut scratch = Vec::new();
        let mut places = Vec::new();
        let mut asked: Vec<&Request> = Vec::new();
        let mut encoded: Vec<EncodedRequest> = Vec::new();
        for (place, (request, answer)) in requests.iter().zip(answers.iter()).enumerate() {
            if let Request::Write(envelope) = request
                && has_id(envelope)
                && is_refused(answer)
            {
                places.push(place);
                asked.push(request);
                let mut recall = call::encode_recall(envelope, &self.settings, &mut scratch);
                if let Some(moved) = &self.moved {
                    moved.add_place(request, &mut recall);
                }
                encoded.push(recall);
            }
        }
        let decided_from = decided_from(answers);
        let mut first = 0;
        // Another server is not asked: it cannot be reached, or may not have the last word.
        while first < asked.len() && self.serves_reads {
            let count = piece(&asked[first..], &encoded[first..], self.requests_max, false);
            let piece: Vec<&EncodedRequest> = encoded[first..first + count].iter().collect();
            let Ok((reply, node)) = self.call(&piece).await else { return };
            for (place, receipt) in places[first..].iter().zip(reply.receipts) {
                let is_known = receipt.outcome.code != Code::OperationNotFound;
                match &beyond[*place] {
                    // How safe the first one is cannot be learned where its level cannot be had. A copy in the same
                    // batch came later: at the place of this one nothing was done.
                    Some(Failure::Unavailable { reason })
                        if is_known && receipt.sequence_last < decided_from =>
                    {
                        answers[*place] = Failure::Unknown { reason: reason.clone() }.into();
                    }
                    None | Some(Failure::Overloaded { .. }) if is_known => {
                        answers[*place] = Answered::of(receipt, &node);
                    }
                    _ => {}
                }
            }
            first += count;
        }
    }
}

/// The first sequence of what these answers have decided.
fn decided_from(answers: &[Answered]) -> u64 {
    let receipts = answers.iter().filter_map(|answer| answer.result.as_ref().ok());
    let decided = receipts.filter(|receipt| !receipt.replayed && receipt.outcome.is_applied());
    decided.map(|receipt| receipt.sequence_first).min().unwrap_or(u64::MAX)
}

/// Whether an operation of the envelope can be known.
fn has_id(envelope: &Envelope) -> bool {
    let is_resolve = matches!(envelope.body, Body::Single(Command::OperationResolve(_)));
    is_resolve || envelope.common.operation.is_some()
}

/// Whether an answer says that nothing was done.
fn is_refused(answer: &Answered) -> bool {
    matches!(answer.result, Err(Failure::Overloaded { .. } | Failure::Unavailable { .. }))
}
