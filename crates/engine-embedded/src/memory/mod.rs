//! The memory budget. A thread measures what the process takes; near the budget the owners refuse what needs memory
//! for good, so that the kernel never has to end the process.

mod figures;
mod start;
mod watch;

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use scarce_core::command::{Command, CommandSpec, Envelope};
use scarce_core::outcome::overload;
use scarce_engine::engine::Failure;
use scarce_engine::memory::MemoryLevels;

use figures::Figures;
pub use start::TooLarge;
pub(crate) use start::save as save_note;
pub(crate) use watch::MemoryWatch;

/// Measures what a process takes.
pub trait MemoryMeter: Send + Sync + fmt::Debug {
    /// The bytes that the kernel cannot take back from the process, if it tells.
    fn used_bytes(&self) -> Option<u64>;
}

/// How much memory the process may take.
#[derive(Clone, Debug)]
pub struct MemoryBudget {
    /// In bytes.
    pub max_bytes: u64,
    /// What measures it.
    pub meter: Arc<dyn MemoryMeter>,
}

/// What is admitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Admission {
    /// Everything.
    #[default]
    All,
    /// What frees memory, and what needs none.
    Freeing,
    /// The same without an operation id, which would have to be remembered.
    FreeingWithoutId,
}

/// Whether a change may be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admitted {
    /// It may.
    Always,
    /// It has an operation id, and may if it frees more than that needs.
    WithEffect,
    /// It may not.
    Never,
}

/// What a partition keeps, as its owner says at the end of each turn.
#[derive(Debug, Default)]
pub(crate) struct PartitionShare {
    rows: AtomicU64,
    reusable_bytes: AtomicU64,
}

impl PartitionShare {
    pub(crate) fn set(&self, rows: u64, reusable_bytes: u64) {
        self.rows.store(rows, Ordering::Relaxed);
        self.reusable_bytes.store(reusable_bytes, Ordering::Relaxed);
    }
}

/// The part of the budget that the ids of what frees memory may fill while new records are refused.
const IDS_PART: u64 = 20;

/// What such an id takes at most: its record and its slot in the index, with room for them in a snapshot.
const ID_BYTES: u64 = 176;

/// The budget of a process as its owners, keepers and ports share it.
#[derive(Debug)]
pub(crate) struct Memory {
    budget: Option<MemoryBudget>,
    admission: AtomicU8,
    /// How many ids of what frees memory are still taken while new records are refused.
    ids_left: AtomicU64,
    figures: Mutex<Figures>,
    shares: Mutex<Vec<Arc<PartitionShare>>>,
    /// Held while a snapshot is made: one at a time needs memory once.
    snapshot: Mutex<()>,
}

impl Memory {
    pub(crate) fn new(budget: Option<MemoryBudget>) -> Arc<Self> {
        let begun_with = budget.as_ref().and_then(|budget| budget.meter.used_bytes()).unwrap_or(0);
        Arc::new(Self {
            budget,
            admission: AtomicU8::default(),
            ids_left: AtomicU64::new(0),
            figures: Mutex::new(Figures::new(begun_with)),
            shares: Mutex::default(),
            snapshot: Mutex::default(),
        })
    }

    /// A partition's part of it.
    pub(crate) fn join(&self) -> Arc<PartitionShare> {
        let share = Arc::<PartitionShare>::default();
        lock(&self.shares).push(share.clone());
        share
    }

    /// Whether a change may be decided.
    pub(crate) fn admits(&self, envelope: &Envelope) -> Admitted {
        let admission = self.admission.load(Ordering::Relaxed);
        if admission == Admission::All as u8 {
            return Admitted::Always;
        }
        let mut specs = envelope.commands().iter().map(Command::spec);
        if envelope.common.operation.is_none() {
            return if specs.all(CommandSpec::needs_no_memory) { Admitted::Always } else { Admitted::Never };
        }
        let is_room_for_id = admission == Admission::Freeing as u8;
        if is_room_for_id && specs.all(CommandSpec::frees_memory) {
            Admitted::WithEffect
        } else {
            Admitted::Never
        }
    }

    /// Takes the room of an operation id of what frees memory, if there is any.
    pub(crate) fn take_id(&self) -> bool {
        self.ids_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Whether new records are taken.
    pub(crate) fn check_ready(&self) -> Result<(), Failure> {
        if self.admission.load(Ordering::Relaxed) == Admission::All as u8 {
            return Ok(());
        }
        Err(Failure::Overloaded { queue: overload::MEMORY })
    }

    /// What was measured last; nothing without a budget.
    pub(crate) fn levels(&self) -> Option<MemoryLevels> {
        let max_bytes = self.budget.as_ref()?.max_bytes;
        let is_refusing = self.check_ready().is_err();
        Some(MemoryLevels { max_bytes, is_refusing, ..lock(&self.figures).levels() })
    }

    /// What the state of a partition takes, by its share in all records; nothing without a budget.
    pub(crate) fn state_bytes(&self, share: &PartitionShare) -> Option<u64> {
        self.budget.as_ref()?;
        let rows = share.rows.load(Ordering::Relaxed);
        Some(lock(&self.figures).state_bytes_of(rows))
    }

    /// How much rows may take that change before a snapshot has them; nothing without a budget. It is within what is kept for
    /// snapshots, or half of what is free.
    pub(crate) fn remembered_max(&self, share: &PartitionShare) -> Option<u64> {
        let (levels, state) = (self.levels()?, self.state_bytes(share)?);
        let free = levels.max_bytes.saturating_sub(levels.used_bytes) / 2;
        Some(figures::remembered_bytes_max(state).max(free))
    }

    /// Waits for the turn to make a snapshot.
    pub(crate) fn begin_snapshot(&self) -> SnapshotTurn<'_> {
        self.turn(lock(&self.snapshot))
    }

    /// The turn to make a snapshot, if no other partition has it.
    pub(crate) fn try_begin_snapshot(&self) -> Option<SnapshotTurn<'_>> {
        match self.snapshot.try_lock() {
            Ok(held) => Some(self.turn(held)),
            // One that ended by a panic holds nothing any more.
            Err(TryLockError::Poisoned(held)) => Some(self.turn(held.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn turn<'a>(&'a self, held: MutexGuard<'a, ()>) -> SnapshotTurn<'a> {
        lock(&self.figures).note_snapshot(true);
        SnapshotTurn { memory: self, _held: held }
    }

    /// Measures, and decides what is admitted from now on.
    fn look(&self) {
        let Some(budget) = &self.budget else { return };
        let Some(used) = budget.meter.used_bytes() else { return };
        let shares: Vec<_> = lock(&self.shares)
            .iter()
            .map(|share| (share.rows.load(Ordering::Relaxed), share.reusable_bytes.load(Ordering::Relaxed)))
            .collect();
        let admission = lock(&self.figures).measure(used, &shares, budget.max_bytes);
        if self.admission.load(Ordering::Relaxed) == Admission::All as u8 {
            self.ids_left.store(budget.max_bytes / IDS_PART / ID_BYTES, Ordering::Relaxed);
        }
        self.admission.store(admission as u8, Ordering::Relaxed);
    }
}

/// While it lives, a snapshot is made.
pub(crate) struct SnapshotTurn<'a> {
    memory: &'a Memory,
    _held: MutexGuard<'a, ()>,
}

impl Drop for SnapshotTurn<'_> {
    fn drop(&mut self) {
        lock(&self.memory.figures).note_snapshot(false);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
