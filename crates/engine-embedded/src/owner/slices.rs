//! A snapshot of this moment, given to the keeper in slices between turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use scarce_core::machine::Slices;
use scarce_core::types::TimeMs;

use super::Owner;
use crate::waker::OwnerWaker;

/// How many pieces may wait for the keeper.
const PIECES_MAX: usize = 4;

/// How many rows a slice has at least; it takes about a tenth of a millisecond.
const ROWS_MIN: u64 = 2_048;

/// How many rows a slice has at most; it takes less than a millisecond.
const ROWS_MAX: u64 = 12_288;

/// How many rows are written for each event meanwhile, so that few rows must be remembered because they change before
/// they are written.
const ROWS_PER_EVENT: u64 = 4;

/// What the owner gives the keeper, in this order.
pub(crate) enum Piece {
    /// Of which moment the snapshot is.
    Begun {
        /// The epoch of the last event.
        epoch: u64,
        /// The last event.
        sequence: u64,
        /// The last stamp.
        at: TimeMs,
    },
    /// Bytes of it.
    Bytes(Vec<u8>),
    /// That was all, and the log is durable up to there.
    Whole,
    /// It ends here: the log is not durable up to there, because it waits for room, which only a snapshot may make.
    NoRoom,
    /// It was given up: rows that changed before they were written took more memory than they may.
    GivenUp {
        /// How much they took, in bytes.
        remembered: u64,
        /// How much they may take.
        max: u64,
    },
}

/// How the keeper asks the owner for snapshots.
pub(crate) struct SliceAsker {
    asks: Sender<Sender<Piece>>,
    has_ended: Arc<AtomicBool>,
    waker: OwnerWaker,
}

/// What the keeper asks the owner for, and what it is being given.
pub(crate) struct SliceGiver {
    asked: Option<Receiver<Sender<Piece>>>,
    has_ended: Arc<AtomicBool>,
    slicing: Option<Slicing>,
}

/// A snapshot as it comes. Dropping it ends it.
pub(crate) struct Pieces<'a> {
    pieces: Option<Receiver<Piece>>,
    asker: &'a SliceAsker,
}

impl SliceAsker {
    /// The keeper's end and the owner's.
    pub(crate) fn new(waker: OwnerWaker) -> (Self, SliceGiver) {
        let (asks, asked) = bounded(1);
        let has_ended = Arc::new(AtomicBool::new(false));
        let giver = SliceGiver { asked: Some(asked), has_ended: has_ended.clone(), slicing: None };
        (Self { asks, has_ended, waker }, giver)
    }

    /// Begins a snapshot. Nothing comes once the owner has ended.
    pub(crate) fn ask(&self) -> Pieces<'_> {
        let (sender, pieces) = bounded(PIECES_MAX);
        // Where the owner has ended, its end of the channel is gone, and with it the sender.
        let _ = self.asks.send(sender);
        self.waker.wake();
        Pieces { pieces: Some(pieces), asker: self }
    }
}

impl Pieces<'_> {
    /// The next piece; nothing if the owner has ended, whatever it gave before.
    pub(crate) fn next(&self) -> Option<Piece> {
        let piece = self.pieces.as_ref()?.recv().ok();
        // It may have waited for room.
        self.asker.waker.wake();
        piece.filter(|_| !self.asker.has_ended.load(Ordering::Acquire))
    }
}

impl Drop for Pieces<'_> {
    fn drop(&mut self) {
        self.pieces = None;
        self.asker.waker.wake();
    }
}

/// A snapshot that is being given.
struct Slicing {
    slices: Slices,
    pieces: Sender<Piece>,
    /// A piece for which there was no room.
    waiting: Option<Piece>,
    /// The batch that must be durable before it counts.
    after: u64,
    /// Whether all bytes were written, and whether all pieces were.
    is_whole: bool,
    is_over: bool,
    /// The last event when the last slice was written.
    sequence: u64,
    /// How much memory rows may take that changed before they were written; nothing without a budget.
    remembered_max: Option<u64>,
}

impl SliceGiver {
    /// Whether a snapshot is being given.
    pub(super) const fn is_giving(&self) -> bool {
        self.slicing.is_some()
    }
}

impl Owner {
    /// Gives the next slice of a snapshot, if one is asked for.
    pub(crate) fn give_slice(&mut self) {
        let Some(mut slicing) = self.slices.slicing.take().or_else(|| self.begin_slices()) else { return };
        if self.lacks_room_for(&slicing) {
            // Its room comes back at once, and the keeper goes on with what makes room.
            slicing.waiting = Some(Piece::NoRoom);
            slicing.is_over = true;
            self.machine.end_slices();
        }
        self.bound_remembered(&mut slicing);
        let piece = slicing.waiting.take().or_else(|| self.next_piece(&mut slicing));
        match piece.map(|piece| slicing.pieces.try_send(piece)) {
            Some(Err(TrySendError::Disconnected(_))) => return self.machine.end_slices(),
            Some(Err(TrySendError::Full(piece))) => slicing.waiting = Some(piece),
            Some(Ok(())) if slicing.is_over => return,
            Some(Ok(())) | None => {}
        }
        self.slices.slicing = Some(slicing);
    }

    fn begin_slices(&mut self) -> Option<Slicing> {
        let pieces = self.slices.asked.as_ref()?.try_recv().ok()?;
        let slices = self.machine.begin_slices();
        let begun = Piece::Begun { epoch: slices.epoch, sequence: slices.sequence, at: slices.at };
        let (sequence, after) = (slices.sequence, self.gate());
        Some(Slicing {
            slices,
            pieces,
            waiting: Some(begun),
            after,
            is_whole: false,
            is_over: false,
            sequence,
            remembered_max: self.memory.remembered_max(&self.memory_share),
        })
    }

    /// Gives a snapshot up where the keeper takes it too slowly, so that rows that change meanwhile need too much memory.
    fn bound_remembered(&mut self, slicing: &mut Slicing) {
        let Some(max) = slicing.remembered_max.filter(|_| !slicing.is_whole) else { return };
        let remembered = self.machine.remembered_bytes();
        if remembered > max {
            self.machine.end_slices();
            slicing.waiting = Some(Piece::GivenUp { remembered, max });
            (slicing.is_whole, slicing.is_over) = (true, true);
        }
    }

    fn next_piece(&mut self, slicing: &mut Slicing) -> Option<Piece> {
        if slicing.is_whole {
            slicing.is_over = self.durable() >= slicing.after;
            return slicing.is_over.then_some(Piece::Whole);
        }
        let events =
            self.machine.sequence() - std::mem::replace(&mut slicing.sequence, self.machine.sequence());
        let rows = events.saturating_mul(ROWS_PER_EVENT).clamp(ROWS_MIN, ROWS_MAX);
        let mut bytes = Vec::new();
        slicing.is_whole = self.machine.put_slice(&mut slicing.slices, rows, &mut bytes);
        Some(Piece::Bytes(bytes))
    }

    /// Whether a batch that waits for room must be durable before a snapshot counts.
    fn lacks_room_for(&self, slicing: &Slicing) -> bool {
        !slicing.is_over && self.durable() < slicing.after && self.committer.progress.waits_for_room()
    }

    /// Whether a slice can be given now.
    pub(super) fn has_slice_to_give(&self) -> bool {
        match &self.slices.slicing {
            None => self.slices.asked.as_ref().is_some_and(|asks| !asks.is_empty()),
            Some(slicing) if self.lacks_room_for(slicing) => true,
            Some(slicing) if slicing.waiting.is_some() => !slicing.pieces.is_full(),
            Some(slicing) => !slicing.is_whole || self.durable() >= slicing.after,
        }
    }

    /// Gives nothing more: the end does not wait for a snapshot.
    pub(super) fn abandon_slices(&mut self) {
        self.slices.has_ended.store(true, Ordering::Release);
        self.slices.asked = None;
        self.slices.slicing = None;
    }
}
