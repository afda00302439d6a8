//! The owner of a partition: the one place where its commands are stamped, decided and applied.

mod changes;
mod clock;
mod commits;
mod digests;
mod levels;
pub(crate) mod old;
mod recall;
mod room;
pub(crate) mod slices;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded};
use scarce_core::command::{Command, Envelope};
use scarce_core::machine::{Machine, MachineAnswer};
use scarce_core::outcome::{Durability, Receipt, overload};
use scarce_core::state;
use scarce_core::types::TimeMs;
use scarce_engine::clock::{Clock, ClockNote};
use scarce_engine::engine::{Failure, Request};
use scarce_engine::metrics::SnapshotMetrics;

use crate::commit::Committer;
use crate::consumers::Registry;
use crate::inbox::{Inbox, Mail};
use crate::keeper::{Keeper, KeeperRecord, KeeperTask};
use crate::log::{LogReader, LogWriter, PartitionLog};
use crate::memory::{Memory, PartitionShare};
use crate::partition::PartitionHome;
use crate::receipts::MovedReceipts;
use crate::runs::FoundRuns;
use crate::snapshot::Newest;
use crate::sweep::{SWEEP_RECORDS_MAX, SweepPace};
use crate::waker::OwnerWaker;
use crate::{ClockChoice, EmbeddedError, EmbeddedSettings};
use digests::{DIGEST_WORK, digest_of};
use levels::LockedCount;
use old::OldOperations;
use slices::{SliceAsker, SliceGiver};

/// An answer, and the batch that must be durable before the answer may leave.
#[derive(Clone, Debug)]
pub struct PendingAnswer {
    /// The answer.
    pub result: Result<Receipt, Failure>,
    /// The number of that batch.
    pub after: u64,
}

pub(crate) struct OwnerParts<'a> {
    pub(crate) machine: Machine,
    pub(crate) writer: Box<dyn LogWriter>,
    pub(crate) log: Arc<dyn PartitionLog>,
    pub(crate) home: PartitionHome,
    pub(crate) newest: Newest,
    /// How much journal lies behind the newest snapshot.
    pub(crate) unsaved_bytes: u64,
    pub(crate) state_settings: state::StateSettings,
    pub(crate) settings: &'a EmbeddedSettings,
    pub(crate) clock_note: Option<ClockNote>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) runs: FoundRuns,
}

/// A partition's state, the batch that is being decided, and the way to the disk.
pub struct Owner {
    machine: Machine,
    clock: Box<dyn Clock>,
    /// The time of this turn: one look at the clock serves all that came together.
    turn_at: Option<TimeMs>,
    /// Whether deadlines are swept as time goes by; a clock that tests set is swept by request.
    sweeps: bool,
    sweep_pace: SweepPace,
    inbox: Inbox,
    /// Mail of which the rest is for the next turn, and the answers so far.
    begun: Option<(Mail, Vec<PendingAnswer>)>,
    waiting: VecDeque<(u64, Mail, scarce_engine::engine::Answers)>,
    /// Digests for the keeper, and the batch that must be durable before.
    put_off: VecDeque<(u64, Mail)>,
    /// Snapshots that the keeper asks for, and the one that it is being given.
    slices: SliceGiver,
    consumers: Arc<Registry>,
    committer: Committer,
    keeper: Option<(Sender<KeeperTask>, std::thread::JoinHandle<()>)>,
    reader: Box<dyn LogReader>,
    receipts: Arc<MovedReceipts>,
    /// The ids that are not in memory.
    old: OldOperations,
    memory: Arc<Memory>,
    memory_share: Arc<PartitionShare>,
    locked: LockedCount,
    open: Vec<u8>,
    open_from: u64,
    /// When the first command of the open batch was decided, and how many there are.
    open_begun: Option<Instant>,
    open_commands: u64,
    in_flight: Arc<Vec<u8>>,
    handed_over: u64,
    commit_bytes_max: usize,
}

/// How many tasks may wait for the keeper, most of them digests.
const KEEPER_TASKS_MAX: usize = 64;

/// How many batches are taken from the inbox between two looks at the sockets.
const MAIL_PER_TURN_MAX: usize = 64;

/// The work of a look at a file of operation ids: it may wait for the disk.
const DISK_READ_WORK: u64 = 1_000;

/// How much work of the inbox is done between two looks at the sockets, but for the last request.
const MAIL_WORK_MAX: u64 = 20_000;

impl Owner {
    pub(crate) fn start(parts: OwnerParts<'_>) -> Result<Self, EmbeddedError> {
        let OwnerParts { machine, writer, log, home, newest, unsaved_bytes, .. } = parts;
        let OwnerParts { state_settings, settings, clock_note, memory, runs, .. } = parts;
        let waker = OwnerWaker::default();
        let committer = Committer::start(writer, home.partition, waker.clone(), settings.slow)?;
        note_newest(&committer.progress.metrics().snapshots, &newest);
        let (keeper_sender, tasks) = bounded(KEEPER_TASKS_MAX);
        let receipts = Arc::new(MovedReceipts::open(&home)?);
        let consumers = Arc::new(Registry::load(&*home.storage, settings.outflow_lag_max)?);
        let memory_share = memory.join();
        let (slices, slice_giver) = SliceAsker::new(waker.clone());
        let keeper = Keeper {
            home,
            consumers: consumers.clone(),
            settings: state_settings,
            log: log.clone(),
            slices,
            receipts: receipts.clone(),
            run_floor: Arc::default(),
            progress: committer.progress.clone(),
            memory: memory.clone(),
            memory_share: memory_share.clone(),
            tasks,
            snapshot_bytes: settings.snapshot_bytes,
            log_retention: settings.log_retention,
            unsaved_bytes,
            done: KeeperRecord::new(),
        };
        let old = OldOperations::start(&keeper, settings, waker.clone(), runs, &machine)?;
        let keeper = keeper.start()?;
        let inbox = Inbox::new(
            settings.inbox_batches_max,
            waker,
            log.clone(),
            committer.progress.clone(),
            consumers.clone(),
            keeper_sender.clone(),
            machine.histories().clone(),
        );
        let mut owner = Self {
            clock: settings.clock.clock(clock_note, machine.state().at, machine.state().doubted_ms > 0),
            turn_at: None,
            sweeps: matches!(settings.clock, ClockChoice::System(_)),
            sweep_pace: SweepPace::default(),
            inbox,
            begun: None,
            waiting: VecDeque::new(),
            put_off: VecDeque::new(),
            slices: slice_giver,
            consumers,
            committer,
            keeper: Some((keeper_sender, keeper)),
            reader: log.reader(),
            receipts,
            old,
            memory_share,
            locked: LockedCount::default(),
            memory,
            open: Vec::new(),
            open_from: machine.sequence() + 1,
            open_begun: None,
            open_commands: 0,
            in_flight: Arc::new(Vec::new()),
            handed_over: 0,
            commit_bytes_max: settings.commit_bytes_max,
            machine,
        };
        owner.machine.finish(&mut owner.open);
        owner.time();
        Ok(owner)
    }

    /// The partition's number.
    #[must_use]
    pub fn partition(&self) -> u32 {
        self.machine.partition()
    }

    /// The partition's leadership.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.machine.epoch()
    }

    /// How other threads reach this partition.
    #[must_use]
    pub fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// Answers a request. The answer must be kept back until its batch is durable.
    pub fn serve(&mut self, request: &Request) -> PendingAnswer {
        let (mut result, mut is_safe) = (self.answer(request), false);
        if result.as_ref().is_err_and(|failure| !matches!(failure, Failure::Migrated { .. })) {
            // That nothing was done rests on nothing. A full disk holds batches up, and no such answer with them.
            is_safe = true;
            if let Some((recalled, rests_on)) = self.recall(request) {
                result = recalled;
                is_safe = rests_on <= self.committer.progress.sequence();
            }
        }
        if let Ok(receipt) = &mut result {
            // It is kept back until it is.
            receipt.durability = Durability::Synced;
        }
        self.committer.progress.metrics().count(request, result.as_ref().map(|receipt| receipt.outcome.code));
        PendingAnswer { result, after: if is_safe { self.durable() } else { self.gate() } }
    }

    /// The last batch that is durable.
    #[must_use]
    pub fn durable(&self) -> u64 {
        self.committer.progress.batch()
    }

    /// The batch that an answer given now must wait for.
    #[must_use]
    pub fn gate(&self) -> u64 {
        if self.open.is_empty() { self.handed_over } else { self.handed_over + 1 }
    }

    /// How often a request had to look for its operation id on disk, since the start.
    #[must_use]
    pub const fn disk_reads(&self) -> u64 {
        self.old.reads()
    }

    /// Whether more may be decided before the disk has caught up.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.open.len() < self.commit_bytes_max
    }

    /// Whether there is room that sockets do not get: for other threads' mail and for deadlines, so
    /// that busy sockets cannot keep both out for ever.
    fn has_reserve(&self) -> bool {
        self.open.len() < self.commit_bytes_max + self.commit_bytes_max / 2
    }

    /// Why nothing more will become durable, if so.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.committer.progress.failure()
    }

    fn answer(&mut self, request: &Request) -> Result<Receipt, Failure> {
        self.committer.progress.check_here()?;
        match request {
            Request::Write(envelope) | Request::DryRun(envelope) if wants_replicas(envelope) => {
                let reason =
                    "this engine has no replicas; ask for synced, which every answer is, or for nothing";
                Err(Failure::Unavailable { reason: reason.to_owned() })
            }
            Request::Write(envelope) => self.write(envelope),
            Request::Read(namespace, command) => self.read(namespace, command),
            Request::DryRun(envelope) => self.dry_run(envelope),
            Request::Expire(limit) => self.expire(*limit),
        }
    }

    fn read(&mut self, namespace: &str, command: &Command) -> Result<Receipt, Failure> {
        let now = self.time();
        if let Command::OperationGet(get) = command {
            self.recall_old(namespace, &get.operation)?;
        }
        match self.machine.query(namespace, command, now) {
            MachineAnswer::Receipt(receipt) => Ok(receipt),
            MachineAnswer::Replay(replay) => self.read_back(replay),
        }
    }

    fn expire(&mut self, limit: usize) -> Result<Receipt, Failure> {
        self.committer.progress.check_changing()?;
        let now = self.time();
        self.begin_batch();
        let ended = self.machine.expire(limit, now, &mut self.open) as u64;
        let sequence = self.machine.sequence();
        Ok(Receipt {
            outcome: scarce_core::outcome::Outcome::applied(scarce_core::facts![ended]),
            partition: self.machine.partition(),
            epoch: self.machine.epoch(),
            sequence_first: sequence,
            sequence_last: sequence,
            at: now,
            replayed: false,
            durability: Durability::Memory,
        })
    }

    /// Begins a turn: what is asked from now on is stamped anew.
    pub fn begin_turn(&mut self) {
        self.turn_at = None;
    }

    /// Whether a change can be taken; one that leaves an operation id needs room for that, too.
    fn check_room(&self, leaves_id: bool) -> Result<(), Failure> {
        self.committer.progress.check_ready()?;
        if self.open.len() >= 2 * self.commit_bytes_max {
            return Err(Failure::Overloaded { queue: "commit" });
        }
        if leaves_id && self.old.is_overrun(self.machine.state().operations.in_memory()) {
            return Err(Failure::Overloaded { queue: overload::OPERATION_FILES });
        }
        if self.consumers.is_overrun(self.machine.sequence()) {
            return Err(Failure::Overloaded { queue: scarce_engine::consumers::QUEUE });
        }
        Ok(())
    }

    fn begin_batch(&mut self) {
        if self.open.is_empty() {
            self.open_from = self.machine.sequence() + 1;
            self.open_begun = None;
        }
    }

    /// Ends what is due, if the last sweep is long enough ago.
    pub(crate) fn sweep(&mut self) {
        if self.clock.is_unsettled() {
            self.time();
        }
        let Some(due) = self.due_at().filter(|_| self.sweeps) else { return };
        let now = self.time();
        if now >= self.sweep_pace.next(due) && self.may_sweep() && self.failure().is_none() {
            self.begin_batch();
            let ended = self.machine.expire(SWEEP_RECORDS_MAX, now, &mut self.open);
            self.sweep_pace.note_sweep(now, ended);
        }
    }

    /// On a full disk what is due waits too: it would use up what room is left, and then reads, which
    /// rest on what was decided before them, could not be answered either. While the deployment moves it waits as well.
    fn may_sweep(&self) -> bool {
        self.has_reserve()
            && !self.committer.progress.is_out_of_room()
            && self.committer.progress.check_changing().is_ok()
    }

    /// Takes mail as long as there is room. A batch of much work is served in parts, with sockets served in between.
    pub(crate) fn serve_inbox(&mut self) {
        self.begin_turn();
        let mut work = 0;
        for _ in 0..MAIL_PER_TURN_MAX {
            if !self.has_reserve() || work > MAIL_WORK_MAX {
                return;
            }
            let next = self.begun.take().or_else(|| self.inbox.take().map(|mail| (mail, Vec::new())));
            let Some((mail, mut served)) = next else { return };
            if let Some(digest) = digest_of(&mail) {
                work += DIGEST_WORK;
                if self.is_long(digest) {
                    self.put_off(mail);
                    continue;
                }
            }
            while let Some(request) = mail.requests().get(served.len()) {
                if work > MAIL_WORK_MAX {
                    self.begun = Some((mail, served));
                    return;
                }
                let reads = self.disk_reads();
                work += request.work();
                served.push(self.serve(request));
                work += (self.disk_reads() - reads) * DISK_READ_WORK;
            }
            // A batch of nothing asks for what was decided before it to be durable.
            let after = served.iter().map(|answer| answer.after).max().unwrap_or_else(|| self.gate());
            let answers = served.into_iter().map(|answer| answer.result).collect();
            if after <= self.durable() {
                mail.answer(answers);
                // What its sender asks next comes later than this turn.
                self.begin_turn();
            } else {
                self.waiting.push_back((after, mail, answers));
            }
        }
    }

    /// Answers the mail whose batch is durable; when nothing more will be, says so.
    pub(crate) fn answer_inbox(&mut self) {
        let durable = self.durable();
        while self.waiting.front().is_some_and(|(after, ..)| *after <= durable) {
            if let Some((_, mail, answers)) = self.waiting.pop_front() {
                mail.answer(answers);
            }
        }
        self.hand_on_digests();
        if let Some(reason) = self.failure() {
            self.put_off.clear();
            for (_, mail, answers) in self.waiting.drain(..) {
                let unknown = Failure::Unknown { reason: reason.clone() };
                mail.answer(vec![Err(unknown); answers.len()]);
            }
        }
    }

    /// Whether mail, a batch or a slice of a snapshot waits for a turn.
    pub(crate) fn is_busy(&self) -> bool {
        let idle = self.durable() >= self.handed_over;
        let has_mail = self.begun.is_some() || self.inbox.depth() > 0;
        (idle && !self.open.is_empty())
            || (has_mail && self.has_reserve())
            || self.has_slice_to_give()
            || self.has_old_to_let_go()
    }

    /// Makes everything decided durable, and gives up a snapshot that is not whole. The keeper is waited for only when
    /// this is dropped: a slow disk may hold it up.
    pub(crate) fn finish(&mut self) {
        if !self.open.is_empty() {
            self.hand_over();
        }
        self.abandon_slices();
        self.committer.finish();
    }

    /// Answers what nobody serves any more.
    pub(crate) fn close(&mut self) {
        self.begun = None;
        self.inbox.close();
    }

    fn stop_threads(&mut self) {
        self.abandon_slices();
        self.committer.finish();
        self.old.stop();
        if let Some((tasks, thread)) = self.keeper.take() {
            // A keeper that ended by a panic takes no message and has nothing left to lose.
            let _ = tasks.send(KeeperTask::Stop);
            let _ = thread.join();
        }
    }
}

fn note_newest(metrics: &SnapshotMetrics, newest: &Newest) {
    metrics.note_damaged(newest.damaged.len() as u64);
    if let Some((_, info)) = &newest.snapshot {
        metrics.note(info.stamp_ms, info.payload_bytes, Duration::ZERO);
    }
}

/// Whether a change is to be safe in a way that this engine does not have.
fn wants_replicas(envelope: &Envelope) -> bool {
    envelope.common.durability == Some(Durability::Replicated)
}

/// Two processes must never write one directory, nor two owners.
impl Drop for Owner {
    fn drop(&mut self) {
        self.close();
        self.stop_threads();
    }
}
