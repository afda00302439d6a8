//! Sends many requests to the engine at once, each to its partition.

use std::sync::Arc;
use std::time::Duration;

use scarce_core::command::Command;
use scarce_core::outcome::{Receipt, Value};
use scarce_core::placement;
use scarce_core::types::Id;
use scarce_engine::engine::Answers;
use scarce_engine::{Engine, Failure, Request};
use tokio::sync::oneshot;

/// A request, with its partition.
pub(super) type Question = (u32, Request);

/// The answer to a request.
pub(super) type Answered = Result<Receipt, Failure>;

/// The partition of a resource.
pub(super) fn partition_of(engine: &dyn Engine, id: &Id) -> u32 {
    placement::partition(id, engine.partitions())
}

/// A request that changes nothing; operation ids are looked up in a namespace.
pub(super) fn read(engine: &dyn Engine, namespace: &str, id: &Id, command: impl Into<Command>) -> Question {
    (partition_of(engine, id), Request::Read(namespace.to_owned(), command.into()))
}

/// Sends all requests, those of one partition together and in order; returns the answers in the order of the
/// requests. A request without an answer in time may or may not have been done.
pub(super) async fn ask(
    engine: &Arc<dyn Engine>,
    questions: Vec<Question>,
    timeout: Duration,
) -> Vec<Answered> {
    let mut answers: Vec<Option<Answered>> = Vec::new();
    answers.resize_with(questions.len(), || None);
    let mut waiting = Vec::new();
    for (partition, places, requests) in by_partition(engine.partitions(), questions) {
        let (sender, receiver) = oneshot::channel::<Answers>();
        // After the timeout nobody receives the answers.
        engine.submit(partition, requests, Box::new(move |answers| drop(sender.send(answers))));
        waiting.push((places, receiver));
    }
    let deadline = tokio::time::Instant::now() + timeout;
    for (places, receiver) in waiting {
        if let Ok(Ok(answered)) = tokio::time::timeout_at(deadline, receiver).await {
            for (place, answer) in places.into_iter().zip(answered) {
                answers[place] = Some(answer);
            }
        }
    }
    let unanswered = || Err(Failure::Unknown { reason: "the engine gave no answer in time".to_owned() });
    answers.into_iter().map(|answer| answer.unwrap_or_else(unanswered)).collect()
}

/// The requests of each partition that has any, with their indexes.
fn by_partition(partitions: u32, questions: Vec<Question>) -> Vec<(u32, Vec<usize>, Vec<Request>)> {
    let mut groups: Vec<_> = (0..partitions).map(|partition| (partition, Vec::new(), Vec::new())).collect();
    for (place, (partition, request)) in questions.into_iter().enumerate() {
        if let Some((_, places, requests)) = groups.iter_mut().find(|(its, ..)| *its == partition) {
            places.push(place);
            requests.push(request);
        }
    }
    groups.retain(|(_, places, _)| !places.is_empty());
    groups
}

/// A text among the values of an answer.
pub(super) fn text_at(receipt: &Receipt, at: usize) -> Option<String> {
    match receipt.outcome.facts.get(at) {
        Some(Value::Text(text)) => Some(text.to_string()),
        _ => None,
    }
}
