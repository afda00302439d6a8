//! The lane of a partition: a task that takes what waits for it and makes one call of it, so that the more
//! there is to do, the less each command costs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use scarce_core::command::Command;
use scarce_core::outcome::Receipt;
use scarce_core::state::Settings;
use tokio::sync::mpsc::Receiver;

use super::call::{self, Encoded, Owed};
use super::connection::{Caller, Link};
use super::image;
use super::keys::Keys;
use crate::clock::{Clock, ManualClock};
use crate::engine::{Answers, Failure, Reply, Request};
use crate::metrics::PartitionMetrics;

/// How many requests one call carries at most, which is as many as one takes of those that log an event each; a
/// batch that is larger is cut.
const REQUESTS_MAX: usize = 64;

/// How many bytes of requests one call carries at most, but for a single larger request.
const BYTES_MAX: usize = 256 << 10;

/// A batch that waits for its turn, its requests written already.
pub(super) struct Mail {
    pub(super) batch: Vec<Request>,
    pub(super) encoded: Vec<Encoded>,
    pub(super) reply: Reply,
}

impl Mail {
    pub(super) fn new(batch: Vec<Request>, settings: &Settings, reply: Reply) -> Self {
        let mut scratch = Vec::new();
        let encoded = batch.iter().map(|request| call::encode(request, settings, &mut scratch)).collect();
        Self { batch, encoded, reply }
    }
}

/// What the lane and whoever asks about the partition both know.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The last sequence that a call has seen.
    pub(super) sequence: AtomicU64,
    pub(super) metrics: PartitionMetrics,
    /// Why the last call failed.
    pub(super) failure: std::sync::Mutex<Option<Failure>>,
}

impl Shared {
    /// Whether the last call was answered.
    pub(super) fn check_ready(&self) -> Result<(), Failure> {
        let failure = self.failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        failure.clone().map_or(Ok(()), Err)
    }
}

/// Everything that a partition's task needs.
pub(super) struct Lane {
    pub(super) partition: u32,
    pub(super) keys: Keys,
    pub(super) settings: Settings,
    pub(super) clock: Option<ManualClock>,
    pub(super) link: Link,
    pub(super) caller: Caller,
    pub(super) shared: Arc<Shared>,
}

impl Lane {
    /// Serves batches until nobody can hand one in.
    pub(super) async fn run(mut self, mut inbox: Receiver<Mail>) {
        let mut waiting: Vec<Mail> = Vec::new();
        while inbox.recv_many(&mut waiting, REQUESTS_MAX).await > 0 {
            let encoded: Vec<Encoded> = waiting.iter_mut().flat_map(|mail| mail.encoded.drain(..)).collect();
            let requests: Vec<&Request> = waiting.iter().flat_map(|mail| &mail.batch).collect();
            let mut answers = self.serve(&requests, &encoded).await.into_iter();
            for mail in waiting.drain(..) {
                let its: Answers = answers.by_ref().take(mail.batch.len()).collect();
                (mail.reply)(its);
            }
        }
    }

    /// Answers requests in order, in as many calls as it takes.
    async fn serve(&mut self, requests: &[&Request], encoded: &[Encoded]) -> Answers {
        let mut answers = Answers::with_capacity(requests.len());
        while answers.len() < requests.len() {
            let first = answers.len();
            if let Request::Read(_, Command::Digest(digest)) = requests[first] {
                answers.push(self.digest(digest.resource.0.as_ref()).await);
                continue;
            }
            let count = piece(&requests[first..], &encoded[first..]);
            answers.extend(self.serve_piece(&encoded[first..first + count]).await);
        }
        for (request, answer) in requests.iter().zip(&answers) {
            let code = answer.as_ref().map(|receipt| receipt.outcome.code);
            self.shared.metrics.count(request, code);
        }
        self.note(answers.last());
        answers
    }

    /// Answers the requests of one call; a failure is the answer to all that it left open.
    async fn serve_piece(&mut self, piece: &[Encoded]) -> Answers {
        let mut answers = Answers::with_capacity(piece.len());
        let resume = call::resume();
        let (mut owed, mut open) = (Owed::Nothing, piece);
        loop {
            let mut requests: Vec<&Encoded> = Vec::with_capacity(open.len() + 1);
            if matches!(owed, Owed::NextReceipt | Owed::EarlierOperation) {
                requests.push(&resume);
            }
            requests.extend(open.iter().skip(usize::from(owed == Owed::NextReceipt)));
            let reply = match self.call(&requests).await {
                Ok(reply) => reply,
                Err(failure) => {
                    answers.resize(piece.len(), Err(failure));
                    return answers;
                }
            };
            let receipts = reply.receipts.into_iter().skip(usize::from(owed == Owed::EarlierOperation));
            answers.extend(receipts.map(Ok));
            open = &piece[answers.len().min(piece.len())..];
            owed = match (reply.owed, owed) {
                // What was begun for a request goes on being owed to it.
                (Owed::EarlierOperation, Owed::NextReceipt) => Owed::NextReceipt,
                (reply_owes, _) => reply_owes,
            };
            if owed == Owed::Nothing && open.is_empty() {
                return answers;
            }
            if owed == Owed::Nothing {
                let reason = "the library answered fewer requests than were sent".to_owned();
                answers.resize(piece.len(), Err(Failure::Unknown { reason }));
                return answers;
            }
        }
    }

    async fn call(&mut self, requests: &[&Encoded]) -> Result<call::Reply, Failure> {
        let clock = self.clock.as_mut().and_then(|clock| clock.now().ok());
        let is_read = requests.iter().all(|request| request.is_read);
        let message = call::message(&self.settings, None, clock, requests);
        let answer = self.caller.call(&mut self.link, &self.keys, &message, is_read).await?;
        let reply = call::read_reply(&answer, self.partition)
            .map_err(|error| Failure::Unknown { reason: error.to_string() })?;
        self.shared.sequence.fetch_max(reply.sequence, Ordering::SeqCst);
        Ok(reply)
    }

    async fn digest(&mut self, only: Option<&scarce_core::types::Id>) -> Result<Receipt, Failure> {
        // What a crash left unfinished comes first, as before any other request.
        while image::is_unfinished(&mut self.link, &self.keys).await? {
            self.call(&[&call::resume()]).await?;
        }
        let machine = image::machine(&mut self.link, &self.keys, &self.settings, self.partition).await?;
        Ok(image::digest(&machine, only))
    }

    fn note(&self, last: Option<&Result<Receipt, Failure>>) {
        let failure = last.and_then(|answer| answer.as_ref().err().cloned());
        if let Ok(mut known) = self.shared.failure.lock() {
            *known = failure;
        }
    }
}

/// How many of the requests in front one call carries.
fn piece(requests: &[&Request], encoded: &[Encoded]) -> usize {
    let mut bytes = 0;
    let fitting = requests.iter().zip(encoded).take(REQUESTS_MAX).take_while(|(request, encoded)| {
        let is_first = bytes == 0;
        bytes += encoded.bytes.len();
        !matches!(request, Request::Read(_, Command::Digest(_))) && (is_first || bytes <= BYTES_MAX)
    });
    fitting.count().max(1)
}
