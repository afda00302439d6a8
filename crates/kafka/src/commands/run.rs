//! The loop: takes messages, sends batches to the engine, sends their outcomes, and commits offsets.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{FutureExt, StreamExt};
use rdkafka::consumer::{Consumer, StreamConsumer};
use rdkafka::error::KafkaError as Source;
use rdkafka::message::BorrowedMessage;
use rdkafka::{Message as _, TopicPartitionList};
use scarce_api::message::{Reason, Stage, TopicPosition};
use scarce_core::outcome::codes::Kind;
use scarce_core::outcome::{Code, Receipt};
use scarce_engine::engine::Answers;
use scarce_engine::{Engine, Failure};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::Admission;
use super::figures::Figures;
use super::flow::{Begun, Flow};
use super::gaps::Gaps;
use super::intake::Raw;
use super::lane::Item;
use super::outbox::{Group, Outbox};
use super::positions::Positions;
use super::record::{self, Record};
use super::recreation::Recreation;
use crate::KafkaSettings;
use crate::membership::{Change, Membership};
use crate::producer::{Cause, Publisher};
use crate::time::until;

/// How many messages are taken before other work gets a turn.
const MESSAGES_PER_TURN: usize = 512;

/// The maximum size of the commands in progress, in bytes.
const BYTES_MAX: usize = 32 << 20;

/// Each partition has room for this many commands, however many partitions there are.
const COMMANDS_PER_PARTITION_MIN: usize = 32;

/// A command that the engine cannot take, while it takes others, becomes a dead letter after this many
/// failures.
const FAILURES_MAX: u32 = 12;

/// How long a shutdown waits for the commands in progress.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// News from other threads.
#[derive(Debug)]
pub(crate) enum News {
    /// The engine answered a batch.
    Answered { partition: i32, generation: u64, lane: u32, answers: Answers },
    /// A delivery ended.
    Arrived { sending: u64, result: Result<(), Cause> },
}

/// Whether and how the loop ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Not yet.
    No,
    /// When everything that was begun is finished.
    Finished,
    /// Immediately.
    Abandoned,
}

/// The loop's dependencies.
pub(crate) struct Work {
    pub(crate) settings: Arc<KafkaSettings>,
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) admission: Admission,
    pub(crate) publisher: Publisher,
    pub(crate) figures: Arc<Figures>,
}

/// The loop's state.
pub(crate) struct Run<'a> {
    work: &'a Work,
    consumer: &'a StreamConsumer<Membership>,
    flows: BTreeMap<i32, Flow>,
    generation: u64,
    outbox: Outbox,
    positions: Arc<Positions>,
    /// Keeps the positions; one at a time, so that they never go back.
    keeping: Option<JoinHandle<()>>,
    keep_at: Option<Instant>,
    gaps: Gaps,
    recreation: Recreation<'a>,
    news: UnboundedSender<News>,
    is_ending: bool,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        work: &'a Work,
        consumer: &'a StreamConsumer<Membership>,
        positions: Arc<Positions>,
        news: UnboundedSender<News>,
    ) -> Self {
        let outbox = Outbox::new(work.settings.clone(), work.publisher.clone(), news.clone());
        Self {
            work,
            consumer,
            flows: BTreeMap::new(),
            generation: 0,
            outbox,
            positions,
            keeping: None,
            keep_at: None,
            gaps: Gaps::default(),
            recreation: Recreation::default(),
            news,
            is_ending: false,
        }
    }

    /// Runs until the end is requested, or the consumer fails for good.
    pub(crate) async fn run(
        mut self,
        mut heard: UnboundedReceiver<News>,
        mut ending: watch::Receiver<Ending>,
    ) -> Result<(), String> {
        let mut messages = self.consumer.stream();
        let mut end_by = None;
        loop {
            let ending_now = *ending.borrow_and_update();
            if ending_now == Ending::Finished && end_by.is_none() {
                end_by = Some(Instant::now() + END_TIMEOUT);
                self.is_ending = true;
            }
            let is_late = end_by.is_some_and(|end_by| Instant::now() >= end_by);
            if ending_now == Ending::Abandoned {
                return Ok(());
            }
            if is_late || (self.is_ending && self.in_flight() == 0) {
                self.gaps.look_last(&self.positions).await;
                self.keep_last().await;
                return Ok(());
            }
            if let Some(reason) = self.consumer.context().failure() {
                return Err(reason);
            }
            self.turn();
            self.recreation.look(Instant::now(), self.consumer, &self.positions)?;
            let wake_at = self.wake_at().into_iter().chain(end_by).min();
            tokio::select! {
                message = messages.next() => self.take(message)?,
                Some(news) = heard.recv() => self.hear(news),
                () = self.consumer.context().changed() => {}
                () = until(wake_at) => {}
                changed = ending.changed() => if changed.is_err() { return Ok(()) },
            }
            for _ in 0..MESSAGES_PER_TURN {
                let Some(message) = messages.next().now_or_never() else { break };
                self.take(message)?;
            }
            while let Ok(news) = heard.try_recv() {
                self.hear(news);
            }
        }
    }

    /// Does everything that needs no waiting.
    fn turn(&mut self) {
        self.apply_changes();
        let now = Instant::now();
        let mut batches = Vec::new();
        for (partition, flow) in &mut self.flows {
            flow.tidy();
            for (lane, requests) in flow.depart(now) {
                batches.push((*partition, flow.generation, lane, requests));
            }
        }
        for (partition, generation, lane, requests) in batches {
            let news = self.news.clone();
            let reply = Box::new(move |answers| {
                // After the end nobody receives this; the engine has processed the batch all the same.
                drop(news.send(News::Answered { partition, generation, lane, answers }));
            });
            self.work.engine.submit(lane, requests, reply);
        }
        self.outbox.send(now);
        self.keep_positions(now);
        self.gaps.look(now, &self.positions);
        self.steer();
        self.work.figures.set_levels(self.flows.len(), self.in_flight());
    }

    fn in_flight(&self) -> usize {
        self.flows.values().map(Flow::in_flight).sum()
    }

    fn wake_at(&self) -> Option<Instant> {
        let keep_at = self.keep_at.filter(|_| self.positions.is_behind());
        let others = self.outbox.wake_at().into_iter().chain(keep_at).chain(self.gaps.wake_at());
        let others = others.chain(self.recreation.wake_at());
        self.flows.values().filter_map(Flow::wake_at).chain(others).min()
    }

    /// Has the engine keep the positions now and then, on another thread: it may ask a server.
    fn keep_positions(&mut self, now: Instant) {
        let is_busy = self.keeping.as_ref().is_some_and(|keeping| !keeping.is_finished());
        if !self.positions.is_behind() || self.keep_at.is_some_and(|at| now < at) {
            return;
        }
        self.keep_at = Some(now + Duration::from_millis(self.work.settings.commit_interval_ms.max(1)));
        if !is_busy {
            let positions = self.positions.clone();
            self.keeping = Some(tokio::task::spawn_blocking(move || positions.keep()));
        }
    }

    async fn keep_last(&mut self) {
        if let Some(keeping) = self.keeping.take() {
            // Its panic was already printed.
            drop(keeping.await);
        }
        let positions = self.positions.clone();
        drop(tokio::task::spawn_blocking(move || positions.keep()).await);
    }

    /// Applies the changes of the assignment since the last call.
    fn apply_changes(&mut self) {
        for change in self.consumer.context().take_changes() {
            match change {
                Change::Ours(partitions) => {
                    for partition in partitions {
                        self.generation += 1;
                        self.flows.insert(partition, Flow::new(self.generation));
                    }
                }
                // The commands in progress are left to the new owners: the engine knows the ids.
                Change::Others(partitions) => {
                    for partition in partitions {
                        self.flows.remove(&partition);
                        self.outbox.drop_partition(partition);
                    }
                }
            }
        }
    }

    /// Pauses partitions that have enough in progress, and resumes them when they have room again.
    fn steer(&mut self) {
        let share = self.flows.len().max(1);
        let commands_max =
            (self.work.settings.commands_in_flight_max / share).max(COMMANDS_PER_PARTITION_MIN);
        let bytes_max = BYTES_MAX / share;
        let (mut stand, mut go) = (TopicPartitionList::new(), TopicPartitionList::new());
        for (partition, flow) in &mut self.flows {
            let should_pause = self.is_ending || flow.should_pause(commands_max, bytes_max);
            if should_pause != flow.is_paused {
                let list = if should_pause { &mut stand } else { &mut go };
                list.add_partition(&self.work.settings.topics.commands, *partition);
            }
        }
        // A partition that was revoked meanwhile cannot be paused or resumed, and need not be.
        let is_told = |list: &TopicPartitionList, told: Result<(), Source>| list.count() > 0 && told.is_ok();
        if stand.count() > 0 && is_told(&stand, self.consumer.pause(&stand)) {
            self.note_paused(&stand, true);
        }
        if go.count() > 0 && is_told(&go, self.consumer.resume(&go)) {
            self.note_paused(&go, false);
        }
    }

    fn note_paused(&mut self, list: &TopicPartitionList, is_paused: bool) {
        for element in list.elements() {
            if let Some(flow) = self.flows.get_mut(&element.partition()) {
                flow.is_paused = is_paused;
            }
        }
        if is_paused {
            self.work.figures.note_paused(list.count());
        }
    }

    fn take(&mut self, message: Option<Result<BorrowedMessage<'_>, Source>>) -> Result<(), String> {
        // The assignment may have changed just before the message arrived.
        self.apply_changes();
        match message {
            None => Ok(()),
            Some(Ok(message)) => {
                self.begin(&message);
                Ok(())
            }
            Some(Err(error @ Source::MessageConsumptionFatal(_))) => Err(error.to_string()),
            // librdkafka recovers by itself.
            Some(Err(error)) => {
                self.work.figures.note_trouble(&error.to_string());
                Ok(())
            }
        }
    }

    fn begin(&mut self, message: &BorrowedMessage<'_>) {
        let partition = message.partition();
        let Some(flow) = self.flows.get_mut(&partition) else { return };
        let generation = flow.generation;
        if let Some(skipped) = flow.skipped_before(message.offset()) {
            self.gaps.note(partition, skipped);
        }
        let begun =
            flow.begin(message.offset(), Raw::of(message), (&*self.work.engine, &self.work.admission));
        let source = self.place(partition, message.offset());
        let (settings, figures) = (&self.work.settings, &self.work.figures);
        let record = match begun {
            Begun::Again => return,
            Begun::Waits => return figures.note_received(),
            Begun::Answered(answered) => {
                figures.note_received();
                figures.note_decided(false, false);
                record::of_outcome(settings, &answered.0, &answered.1, None, &source)
            }
            Begun::Dead(dead) => {
                figures.note_received();
                figures.note_dead();
                let (raw, reason) = *dead;
                record::of_dead_letter(settings, &raw, reason, source)
            }
        };
        self.outbox.push(Group { partition, generation, records: vec![(message.offset(), record)] });
    }

    fn place(&self, partition: i32, offset: i64) -> TopicPosition {
        TopicPosition { topic: self.work.settings.topics.commands.clone(), partition, offset }
    }

    fn hear(&mut self, news: News) {
        match news {
            News::Answered { partition, generation, lane, answers } => {
                self.answered(partition, generation, lane, answers);
            }
            News::Arrived { sending, result } => {
                if let Err(cause) = &result {
                    self.work.figures.note_trouble(&cause.reason);
                }
                if let Some(group) = self.outbox.hear(sending, result, Instant::now()) {
                    self.arrived(&group);
                }
            }
        }
    }

    fn answered(&mut self, partition: i32, generation: u64, lane: u32, answers: Answers) {
        let is_current = |flow: &&mut Flow| flow.generation == generation;
        let Some(flow) = self.flows.get_mut(&partition).filter(is_current) else { return };
        let items = flow.lane(lane).arrive();
        let (mut records, mut again) = (Vec::new(), Vec::new());
        for (item, answer) in items.into_iter().zip(answers) {
            match verdict(&*self.work.engine, lane, &item, answer) {
                Verdict::Decided(receipt) => {
                    self.work.figures.note_decided(receipt.outcome.is_applied(), receipt.replayed);
                    let source = self.place(partition, item.offset);
                    let decided = &receipt.outcome;
                    let record =
                        record::of_outcome(&self.work.settings, &item.head, decided, Some(&receipt), &source);
                    records.push((item.offset, record));
                }
                Verdict::Again(text) => {
                    self.work.figures.note_trouble(&text);
                    again.push(item);
                }
                Verdict::Never(reason) => {
                    self.work.figures.note_dead();
                    let source = self.place(partition, item.offset);
                    let record = record::of_dead_letter(&self.work.settings, &item.raw, reason, source);
                    records.push((item.offset, record));
                }
            }
        }
        let Some(flow) = self.flows.get_mut(&partition) else { return };
        if again.is_empty() {
            flow.lane(lane).succeed();
        } else {
            self.work.figures.note_retried(again.len());
            flow.lane(lane).postpone(again, Instant::now());
        }
        self.outbox.push(Group { partition, generation, records });
    }

    /// Finishes commands and stores the offset to commit.
    fn arrived(&mut self, group: &Group) {
        let is_current = |flow: &&mut Flow| flow.generation == group.generation;
        let Some(flow) = self.flows.get_mut(&group.partition).filter(is_current) else { return };
        let finished = group.records.iter().filter_map(|(offset, _): &(i64, Record)| flow.finish(*offset));
        let Some(reached) = finished.last() else { return };
        self.positions.reach(group.partition, reached);
        let topic = &self.work.settings.topics.commands;
        // For those who watch the group's lag; the last offset before the next one is stored. That fails if the
        // partition has just been revoked.
        drop(self.consumer.store_offset(topic, group.partition, reached.next - 1));
    }
}

/// The meaning of an answer for a command.
enum Verdict {
    Decided(Box<Receipt>),
    Again(String),
    Never(Reason),
}

fn verdict(engine: &dyn Engine, lane: u32, item: &Item, answer: Result<Receipt, Failure>) -> Verdict {
    let failure = match answer {
        Ok(receipt) if receipt.outcome.code == Code::IdExpired => return Verdict::Never(expired()),
        Ok(receipt) if receipt.outcome.code.kind() != Kind::Failure => {
            return Verdict::Decided(Box::new(receipt));
        }
        Ok(receipt) => receipt.outcome.to_string(),
        // The engine takes other commands, but will never take this one: it asks for something that is
        // missing.
        Err(Failure::Unavailable { reason })
            if item.failures >= FAILURES_MAX && engine.check_ready(lane).is_ok() =>
        {
            let code = "UNAVAILABLE".to_owned();
            return Verdict::Never(Reason { stage: Stage::Engine, code, field: None, text: reason });
        }
        Err(failure) => failure.to_string(),
    };
    Verdict::Again(failure)
}

/// Why a command is not executed that may have been executed and forgotten.
fn expired() -> Reason {
    let text = "is older than the IDs that the engine remembers, so the command may have been executed before; look for its ID in the history (scarce history operation), and send it again with its offset (scarce dead-letters replay --at) if it was not";
    let code = "ID_EXPIRED".to_owned();
    Reason { stage: Stage::Engine, code, field: None, text: text.to_owned() }
}
