//! The lane of a partition: a task that takes what waits for it and makes one call of it, so that the more
//! there is to do, the less each command costs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_core::command::Command;
use scarce_core::outcome::Durability;
use scarce_core::state::StateSettings;
use scarce_engine::clock::Clock;
use scarce_engine::consumers;
use scarce_engine::engine::{Failure, Reply, Request};
use scarce_engine::slow::{SlowLog, name_of};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::Receiver;

use super::call::{self, Begun, EncodedRequest, Heading, Owed};
use super::caller::Caller;
use super::connection::{Link, Refused};
use super::image::{self, Imager};
use super::keys::Keys;
use super::moved::MovedIds;
use super::nodes::Node;
use super::preparing::Campaigns;
use super::program::Rights;
use super::settle::{Answered, Decided, levels};
use super::status::PartitionStatus;
use super::waits::Waits;
use super::wholeness::Verifier;

/// How many requests one call carries at most, which is as many as one takes of common commands that log an event each;
/// a batch that is larger is cut.
pub(super) const REQUESTS_MAX: usize = 128;

/// How many one call carries after one that has left some to the next, and how many more each time after one that has
/// not: what is left was read for nothing.
const REQUESTS_MIN: usize = 64;
const REQUESTS_MORE: usize = 8;

/// How many bytes of requests one call carries at most, but for a single larger request.
const BYTES_MAX: usize = 256 << 10;

/// How much work the requests of one call ask for, but for a single one that asks for more: some 20 ms of Redis' time,
/// in which it serves nobody else. Logged events bound a call as well, and what only reads logs none.
const WORK_MAX: u64 = 20_000;

/// How many turns of a lane may wait for replicas or the disk at a time.
const UNSETTLED_MAX: u32 = 64;

/// A batch that waits for its turn, its requests written already.
pub(super) struct Mail {
    pub(super) batch: Vec<Request>,
    pub(super) encoded: Vec<EncodedRequest>,
    pub(super) reply: Reply,
}

impl Mail {
    pub(super) fn new(
        batch: Vec<Request>,
        (settings, moved): (&StateSettings, Option<&MovedIds>),
        reply: Reply,
    ) -> Self {
        let mut scratch = Vec::new();
        let encode = |request: &Request| {
            let mut encoded = call::encode(request, settings, &mut scratch);
            if let Some(moved) = moved {
                moved.add_place(request, &mut encoded);
            }
            encoded
        };
        let encoded = batch.iter().map(encode).collect();
        Self { batch, encoded, reply }
    }
}

/// Everything that a partition's task needs.
pub(super) struct Lane {
    pub(super) partition: u32,
    pub(super) keys: Keys,
    pub(super) settings: StateSettings,
    /// The IDs that came with a move, if the deployment has moved here.
    pub(super) moved: Option<Arc<MovedIds>>,
    /// What the server's clock is judged by, or a test's clock instead of it.
    pub(super) clock: Box<dyn Clock + Sync>,
    pub(super) link: Link,
    /// For a look whether something has to come before a digest.
    pub(super) reading: Link,
    /// Takes digests beside the lane.
    pub(super) imager: Arc<Imager>,
    /// Looks whether the partition has lost anything.
    pub(super) verifier: Arc<Verifier>,
    pub(super) caller: Caller,
    /// How safe a change must be before it is answered, where it does not say itself.
    pub(super) durability: Durability,
    pub(super) waits: Arc<Waits>,
    /// Whether the server has refused for want of memory.
    pub(super) is_full: bool,
    /// How many requests a call carries, by what the last ones have answered.
    pub(super) requests_max: usize,
    pub(super) slow: SlowLog,
    /// Why nothing is served any more: a change stands there in part, and nothing in Redis says so.
    pub(super) unmended: Option<Failure>,
    /// Whether the last call found a primary that serves reads, be it that it refuses writes.
    pub(super) serves_reads: bool,
    pub(super) status: Arc<PartitionStatus>,
}

impl Lane {
    /// Serves batches until the engine is dropped.
    pub(super) async fn run(mut self, mut inbox: Receiver<Mail>) {
        let unsettled = Arc::new(Semaphore::new(UNSETTLED_MAX as usize));
        let (mut waiting, mut campaigns) = (Vec::<Mail>::new(), Campaigns::default());
        while self.receive(&mut inbox, &mut waiting, campaigns.is_empty()).await {
            campaigns.set_aside(&mut waiting, self.settings.packets_per_step_max);
            let mut decided = self.serve_all(&mut waiting).await;
            decided.extend(self.serve_campaigns(&mut campaigns).await);
            let (settled, late): (Vec<_>, Vec<_>) = decided.into_iter().partition(Decided::is_settled);
            settled.into_iter().for_each(Decided::answer);
            if !late.is_empty() {
                self.settle(late, &unsettled).await;
            }
        }
        // What waits for replicas or the disk is still answered.
        let _all = unsettled.acquire_many(UNSETTLED_MAX).await;
    }

    /// Takes what waits; waits for it where nothing else is to be done. Whether the lane goes on.
    async fn receive(&self, inbox: &mut Receiver<Mail>, waiting: &mut Vec<Mail>, is_idle: bool) -> bool {
        let is_left = self.status.unprepared().is_some() && !inbox.is_closed();
        if is_idle && !is_left {
            return inbox.recv_many(waiting, REQUESTS_MAX).await > 0;
        }
        waiting.extend(std::iter::from_fn(|| inbox.try_recv().ok()).take(REQUESTS_MAX));
        true
    }

    /// Serves all that waits.
    async fn serve_all(&mut self, waiting: &mut Vec<Mail>) -> Vec<Decided> {
        if waiting.is_empty() {
            return Vec::new();
        }
        let encoded: Vec<EncodedRequest> =
            waiting.iter_mut().flat_map(|mail| mail.encoded.drain(..)).collect();
        let requests: Vec<&Request> = waiting.iter().flat_map(|mail| &mail.batch).collect();
        let mut levels = levels(&requests, self.durability).into_iter();
        let mut answers = self.decide(&requests, &encoded).await.into_iter();
        let decide = |mail: Mail| {
            let levels = levels.by_ref().take(mail.batch.len()).collect();
            let answers = answers.by_ref().take(mail.batch.len()).collect();
            Decided { levels, answers, reply: mail.reply }
        };
        waiting.drain(..).map(decide).collect()
    }

    /// Answers requests in order, but for those that cannot be served now.
    pub(super) async fn decide(
        &mut self,
        requests: &[&Request],
        encoded: &[EncodedRequest],
    ) -> Vec<Answered> {
        let mut beyond = self.beyond(&levels(requests, self.durability)).await;
        self.hold_back(requests, &mut beyond);
        self.serve(requests, encoded, &beyond).await
    }

    /// Which requests ask for a level that the server cannot give at all, and why; they are not even begun. What
    /// the deployment promises was checked at the start.
    async fn beyond(&self, levels: &[Durability]) -> Vec<Option<Failure>> {
        let is_special = |level: &Durability| *level != self.durability && *level != Durability::Memory;
        let mut beyond = vec![None; levels.len()];
        for level in Durability::ALL.iter().filter(|level| levels.contains(level) && is_special(level)) {
            if let Some(failure) = self.waits.lack(&self.link, *level).await {
                let its = beyond.iter_mut().zip(levels).filter(|(_, its)| *its == level);
                its.for_each(|(place, _)| *place = Some(failure.clone()));
            }
        }
        beyond
    }

    /// Refuses changes while more events wait for consumers than memory should hold.
    fn hold_back(&self, requests: &[&Request], beyond: &mut [Option<Failure>]) {
        if !self.status.is_overrun() {
            return;
        }
        let writes = requests.iter().zip(beyond).filter(|(its, _)| matches!(its, Request::Write(_)));
        writes.for_each(|(_, place)| *place = Some(Failure::Overloaded { queue: consumers::QUEUE }));
    }

    /// Lets batches wait aside, while the lane goes on; not without bound.
    async fn settle(&self, late: Vec<Decided>, unsettled: &Arc<Semaphore>) {
        let Ok(permit) = Arc::clone(unsettled).acquire_owned().await else { return };
        let (waits, imager) = (Arc::clone(&self.waits), Arc::clone(&self.imager));
        tokio::spawn(async move {
            futures_util::future::join_all(late.into_iter().map(|decided| decided.settle(&waits, &imager)))
                .await;
            drop(permit);
        });
    }

    /// Answers requests in order, in as many calls as it takes.
    async fn serve(
        &mut self,
        requests: &[&Request],
        encoded: &[EncodedRequest],
        beyond: &[Option<Failure>],
    ) -> Vec<Answered> {
        let mut answers = Vec::with_capacity(requests.len());
        while answers.len() < requests.len() {
            let first = answers.len();
            if matches!(requests[first], Request::Read(_, Command::Digest(_))) {
                answers.push(self.begin_digest(requests[first]).await.unwrap_or_else(Answered::from));
                continue;
            }
            if let Some(failure) = &beyond[first] {
                answers.push(failure.clone().into());
                continue;
            }
            let sent = beyond[first..].iter().take_while(|failure| failure.is_none()).count();
            let end = first + sent;
            let count = piece(&requests[first..end], &encoded[first..end], self.requests_max, self.is_full);
            let last = first + count;
            let begun = Instant::now();
            answers.extend(self.serve_piece(&requests[first..last], &encoded[first..last]).await);
            self.note_slow(&requests[first..last], begun.elapsed());
        }
        self.note(answers.last());
        self.recall(requests, &mut answers, beyond).await;
        for (request, answer) in requests.iter().zip(&answers).filter(|(_, answer)| answer.pending.is_none())
        {
            let code = answer.result.as_ref().map(|receipt| receipt.outcome.code);
            self.status.metrics.count(request, code);
        }
        answers
    }

    /// Remembers the commands of a call that took long.
    fn note_slow(&self, requests: &[&Request], took: Duration) {
        if self.slow.is_slow(took) {
            let names = requests.iter().filter_map(|request| name_of(request));
            self.status.metrics.slow_commands.note(took, requests.len() as u64, names);
        }
    }

    /// Answers the requests of one call; a failure is the answer to all that it left open. None are answered
    /// where memory turns out to be full, and some of them could be served all the same.
    async fn serve_piece(&mut self, asked: &[&Request], piece: &[EncodedRequest]) -> Vec<Answered> {
        let mut answers: Vec<Answered> = Vec::with_capacity(piece.len());
        let mut resume = call::resume();
        let (mut owed, mut open) = (Owed::Nothing, piece);
        let mut look: Option<EncodedRequest> = None;
        loop {
            let mut requests: Vec<&EncodedRequest> = Vec::with_capacity(open.len() + 1);
            if matches!(owed, Owed::NextReceipt | Owed::EarlierOperation) {
                requests.push(&resume);
            }
            requests.extend(look.as_ref());
            requests.extend(open.iter().skip(usize::from(owed == Owed::NextReceipt)));
            let (reply, node) = match self.call(&requests).await {
                Ok(replied) => replied,
                Err(refused) => {
                    let was_full = self.is_full;
                    self.is_full |= refused.is_full();
                    self.status.note_full(self.is_full);
                    let is_begun = owed == Owed::NextReceipt;
                    if self.is_full && !was_full && !is_begun && answers.is_empty() && is_mixed(piece) {
                        return answers;
                    }
                    let failure = Failure::from(refused);
                    if is_begun {
                        let reason = format!("it was begun and has further steps to take: {failure}");
                        answers.push(Failure::Unknown { reason }.into());
                    }
                    return filled(answers, piece.len(), &failure);
                }
            };
            self.note_answered(requests.len(), reply.owed);
            look = reply.look.as_deref().map(call::look);
            let begun = Begun { epoch: reply.epoch, sequence: reply.sequence };
            let receipts = reply.receipts.into_iter().skip(usize::from(owed == Owed::EarlierOperation));
            answers.extend(receipts.map(|receipt| Answered::of(receipt, &node)));
            open = &piece[answers.len().min(piece.len())..];
            resume = match (reply.owed, asked.get(answers.len())) {
                (Owed::NextReceipt, Some(request)) => call::resume_begun(begun, request),
                (Owed::EarlierOperation, _) if owed != Owed::NextReceipt => call::resume(),
                _ => resume,
            };
            owed = match (reply.owed, owed) {
                // What was begun for a request goes on being owed to it.
                (Owed::EarlierOperation, Owed::NextReceipt) => Owed::NextReceipt,
                (reply_owes, _) => reply_owes,
            };
            if matches!(owed, Owed::Nothing | Owed::Packets) && open.is_empty() {
                return answers;
            }
            if owed == Owed::Nothing {
                let reason = "the library answered fewer requests than were sent".to_owned();
                return filled(answers, piece.len(), &Failure::Unknown { reason });
            }
        }
    }

    /// Adapts how many requests a call carries.
    fn note_answered(&mut self, requests: usize, owed: Owed) {
        if owed == Owed::Rest {
            self.requests_max = REQUESTS_MIN;
        } else if requests >= self.requests_max {
            self.requests_max = REQUESTS_MAX.min(self.requests_max + REQUESTS_MORE);
        }
    }

    /// Calls the library; where memory is full, only with what gives some back.
    pub(super) async fn call(
        &mut self,
        requests: &[&EncodedRequest],
    ) -> Result<(call::CallReply, Arc<Node>), Refused> {
        if let Some(failure) = &self.unmended {
            return Err(Refused::Failure(failure.clone()));
        }
        if self.status.is_damaged() {
            self.verifier.verify().await.map_err(Refused::Failure)?;
        }
        let clock = Some(self.clock.now());
        let rights = match () {
            () if requests.iter().all(|request| request.is_read) => Rights::Read,
            () if requests.iter().all(|request| request.is_shrinking) => Rights::Shrink,
            () => Rights::Write,
        };
        let heading = Heading {
            settings: &self.settings,
            deployment: Some(&self.verifier.deployment),
            primary: None,
            clock,
            seen: None,
        };
        let message =
            |node: &Node| call::message(&heading.for_run(&node.state.run_id, &self.status), requests);
        let begun = Instant::now();
        let called = self.caller.call(&self.link, &self.keys, &message, rights).await;
        let took = begun.elapsed();
        if let Some(untold) = self.slow.note(took) {
            let (partition, requests) = (self.partition, requests.len());
            let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            tracing::warn!(partition, requests, took_ms, untold, "a call to Redis was slow");
        }
        self.serves_reads = called.as_ref().map_or_else(Refused::is_of_writes, |_| true);
        self.unmended = called.as_ref().err().and_then(Refused::unmended);
        let (answer, node) = called.map_err(|refused| match refused.damage() {
            Some(_) => Refused::Failure(self.status.failure_of(self.partition, refused)),
            None => refused,
        })?;
        let reply = call::read_reply(&answer, self.partition)
            .map_err(|error| Refused::Failure(Failure::Unknown { reason: error.to_string() }))?;
        self.status.seen.note(&node.state.run_id, reply.epoch, reply.sequence);
        if rights == Rights::Write {
            self.is_full = false;
            self.status.note_full(false);
        }
        Ok((reply, node))
    }

    /// Lets a digest be taken beside the lane, of what was answered so far or more.
    async fn begin_digest(&mut self, request: &Request) -> Result<Answered, Failure> {
        let digest = self.imager.queue(request)?;
        // What a crash left unfinished comes first, as before any other request.
        while image::is_unfinished(&self.reading, &self.keys).await? {
            self.call(&[&call::resume()]).await?;
        }
        Ok(Answered::pending(digest))
    }

    fn note(&self, last: Option<&Answered>) {
        let last = last.filter(|answer| answer.pending.is_none());
        let failure = last.and_then(|answer| answer.result.as_ref().err().cloned());
        self.status.note_call(failure);
    }
}

/// The answers, and the failure for those that are missing.
pub(super) fn filled(mut answers: Vec<Answered>, count: usize, failure: &Failure) -> Vec<Answered> {
    answers.resize_with(count, || failure.clone().into());
    answers
}

/// Whether some could be served although memory is full, and some not.
fn is_mixed(piece: &[EncodedRequest]) -> bool {
    piece.iter().any(|request| kind(request) != kind(&piece[0]))
}

/// What a server without memory tells apart.
fn kind(request: &EncodedRequest) -> (bool, bool) {
    (request.is_read, request.is_shrinking)
}

/// How many of the requests in front one call carries; where memory is full, only of one kind.
pub(super) fn piece(
    requests: &[&Request],
    encoded: &[EncodedRequest],
    requests_max: usize,
    is_full: bool,
) -> usize {
    let (mut bytes, mut work, its_first) = (0, 0_u64, &encoded[0]);
    let fitting = requests.iter().zip(encoded).take(requests_max).take_while(|(request, encoded)| {
        let is_first = bytes == 0;
        bytes += encoded.bytes.len();
        work = work.saturating_add(request.work());
        let is_of_kind = !is_full || kind(encoded) == kind(its_first);
        let fits = is_of_kind && (is_first || (bytes <= BYTES_MAX && work <= WORK_MAX));
        fits && !matches!(request, Request::Read(_, Command::Digest(_)))
    });
    fitting.count().max(1)
}
