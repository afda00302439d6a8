//! Sends requests to the engine and returns its answers.

use std::sync::Arc;

use scarce_core::command::{Body, Command, Common, Envelope};
use scarce_core::outcome::{Outcome, Receipt};
use scarce_core::packets::count_to_cut;
use scarce_core::types::OperationId;
use scarce_engine::engine::{Answers, partition_of};
use scarce_engine::{Engine, Failure, Request};
use scarce_gateway::lists::ListAsked;
use scarce_gateway::{Acts, Noted};
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};
use tokio::task::JoinSet;

/// Plans with more packets than this are cut on another thread, so that no other request waits for it.
const CUT_INLINE_MAX: u64 = 1_000;

/// A request with its partition, or an answer that needs no engine.
pub(super) type Routed = Result<(u32, Request), Outcome>;

/// Submits a batch to a partition and waits for the answers without blocking a thread.
pub(super) async fn ask(engine: &Arc<dyn Engine>, partition: u32, batch: Vec<Request>) -> Answers {
    let count = batch.len();
    let (sender, receiver) = oneshot::channel();
    let reply = Box::new(move |answers| {
        // The caller may be gone; its request is carried out all the same.
        let _ = sender.send(answers);
    });
    engine.submit(partition, batch, reply);
    receiver.await.unwrap_or_else(|_| {
        let failure = Failure::Unknown { reason: "the engine has stopped".to_owned() };
        vec![Err(failure); count]
    })
}

/// Submits one request.
pub(super) async fn ask_one(engine: &Arc<dyn Engine>, routed: Routed) -> Result<Receipt, Outcome> {
    let (partition, request) = routed?;
    match ask(engine, partition, vec![request]).await.pop() {
        Some(Ok(receipt)) => Ok(receipt),
        Some(Err(failure)) => Err(failure.outcome()),
        None => Err(Failure::Unknown { reason: "the engine gave no answer".to_owned() }.outcome()),
    }
}

/// What is recorded of administrative commands.
pub(super) fn noted(acts: Option<&Acts>, answer: &Result<Receipt, Outcome>) -> Option<Noted> {
    acts.map(|acts| match answer {
        Ok(receipt) => acts.noted_receipt(receipt),
        Err(outcome) => acts.noted_code(outcome.code.word()),
    })
}

/// Records administrative acts, and waits until they are on the disk: the caller is answered only then.
pub(super) async fn record(noted: impl IntoIterator<Item = Noted>) {
    let mut noted: Vec<Noted> = noted.into_iter().collect();
    let Some(last) = noted.pop() else { return };
    noted.into_iter().for_each(Noted::keep);
    let (sender, receiver) = oneshot::channel();
    // The caller may be gone.
    last.then(move || {
        let _ = sender.send(());
    });
    let _ = receiver.await;
}

/// Asks every partition for a list.
pub(super) async fn list(engine: &Arc<dyn Engine>, asked: ListAsked) -> Outcome {
    let requests = asked.requests();
    let mut tasks = JoinSet::new();
    for partition in (0..engine.partitions()).filter(|_| !requests.is_empty()) {
        let (engine, requests) = (engine.clone(), requests.clone());
        tasks.spawn(async move { ask(&engine, partition, requests).await });
    }
    let answers: Result<Vec<Receipt>, Failure> = tasks.join_all().await.into_iter().flatten().collect();
    match answers {
        Ok(receipts) => asked.join(receipts.iter()),
        Err(failure) => failure.outcome(),
    }
}

/// Routes a command that reads.
pub(super) fn read(engine: &Arc<dyn Engine>, namespace: &str, command: Command) -> Routed {
    let commands = std::slice::from_ref(&command);
    let partition = partition_of(commands, engine.partitions()).map_err(|outcome| *outcome)?;
    Ok((partition, Request::Read(namespace.to_owned(), command)))
}

/// Routes a command or a batch that changes state, or its dry run. Red packets are cut here, because that
/// work must not run on the engine's thread.
pub(super) async fn write(
    engine: &Arc<dyn Engine>,
    namespace: &str,
    common: Common,
    body: Body,
    dry_run: bool,
) -> Routed {
    let partition = partition_of(body.commands(), engine.partitions()).map_err(|outcome| *outcome)?;
    let secret = *engine.secret();
    let envelope = if count_to_cut(body.commands()) > CUT_INLINE_MAX {
        let namespace = namespace.to_owned();
        let cut = tokio::task::spawn_blocking(move || Envelope::new(&namespace, common, body, &secret)).await;
        cut.map_err(|_| Failure::Unavailable { reason: "the cut was not finished".to_owned() }.outcome())?
    } else {
        Envelope::new(namespace, common, body, &secret)
    };
    let envelope = envelope.map_err(Outcome::from)?;
    Ok((partition, if dry_run { Request::DryRun(envelope) } else { Request::Write(envelope) }))
}

/// How many requests at a time may have large cuts in memory, until they are answered.
static CUTS: Semaphore = Semaphore::const_new(2);

/// The permit that a request with so many packets to cut needs, until it is answered. The whole request has one: if each of
/// its parts waited for its own, two requests could wait for each other.
pub(super) async fn permit_to_cut(packets: u64) -> Option<SemaphorePermit<'static>> {
    if packets <= CUT_INLINE_MAX {
        return None;
    }
    // It is never closed.
    CUTS.acquire().await.ok()
}

/// An id for a caller that gave none. It contains no time, because it must be valid whatever clock the engine
/// uses.
pub(super) fn made_id() -> Option<OperationId> {
    OperationId::parse(uuid::Uuid::new_v4().hyphenated().to_string().as_bytes(), "ID").ok()
}
