//! What duplicates are answered while nothing new is taken: what became of the first one. Without it, a caller
//! whose command was applied would be told that nothing was done.

use std::sync::Arc;

use scarce_core::command::{Body, Command, Envelope};
use scarce_core::outcome::Code;
use scarce_engine::engine::{Failure, Request};

use super::call::{self, EncodedRequest};
use super::lane::{Lane, piece};
use super::settle::Answered;

impl Lane {
    /// Replaces failures by which nothing was done with the receipts of operations that are known, and with what
    /// reads are answered on their own.
    pub(super) async fn recall(&mut self, requests: &[&Request], answers: &mut [Answered]) {
        let mut scratch = Vec::new();
        let mut places = Vec::new();
        let mut asked: Vec<&Request> = Vec::new();
        let mut encoded: Vec<EncodedRequest> = Vec::new();
        for (place, (request, answer)) in requests.iter().zip(answers.iter()).enumerate() {
            if !is_refused(answer) {
                continue;
            }
            encoded.push(match request {
                Request::Write(envelope) if has_id(envelope) => {
                    call::encode_recall(envelope, &self.settings, &mut scratch)
                }
                // It was joined with changes, and refused with them.
                Request::Read(_, command) if !matches!(command, Command::Digest(_)) => {
                    call::encode(request, &self.settings, &mut scratch)
                }
                _ => continue,
            });
            places.push(place);
            asked.push(request);
        }
        let mut first = 0;
        // Another server is not asked: it cannot be reached, or may not have the last word.
        while first < asked.len() && self.serves_reads {
            let count = piece(&asked[first..], &encoded[first..], false);
            let piece: Vec<&EncodedRequest> = encoded[first..first + count].iter().collect();
            let Ok((reply, node)) = self.call(&piece).await else { return };
            for (place, receipt) in places[first..].iter().zip(reply.receipts) {
                let is_read = matches!(requests[*place], Request::Read(..));
                if is_read || receipt.outcome.code != Code::OperationNotFound {
                    answers[*place] = Answered { result: Ok(receipt), by: Some(Arc::clone(&node)) };
                }
            }
            first += count;
        }
    }
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
