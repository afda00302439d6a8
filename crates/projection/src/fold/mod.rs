//! Turns the events of a partition into rows. Nothing here accesses a database.

mod accounts;
mod asked;
mod clock;
pub(crate) mod coupons;
mod holds;
mod json;
mod markets;
mod operations;
mod origin;
mod packets;
mod reservations;
mod returned;
mod stock;
pub(crate) mod tables;
mod wants;

use compact_str::CompactString;
use scarce_core::event::{Entry, Event, OperationEvent, Position};
use scarce_core::types::{Id, signed};
use scarce_outflow::Batch;

pub(crate) use asked::AskedCommand;
pub(crate) use origin::{Mistake, Origin};
pub(crate) use packets::hex;
use tables::Tables;

use crate::table::Text;

/// Why a batch does not fit the tables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Misfit {
    /// An event contradicts the rows.
    #[error(transparent)]
    Mistake(#[from] Mistake),
    /// Events between the tables and the batch are missing.
    #[error(
        "the tables hold the log of partition {partition} up to {tables}, and what was offered begins at {offered}"
    )]
    Gap {
        /// The partition of the log.
        partition: u32,
        /// The cursor.
        tables: Position,
        /// The first event of the batch.
        offered: Position,
    },
    /// The log has other events at sequences that are in the tables.
    #[error(
        "the tables hold the log of partition {partition} up to {tables}, and {offered} comes now: the log lost events after a failover, and numbers them anew"
    )]
    Rewritten {
        /// The partition of the log.
        partition: u32,
        /// The cursor.
        tables: Position,
        /// The event whose sequence was taken before.
        offered: Position,
    },
    /// The batch belongs to another partition.
    #[error("a batch of partition {found} was offered to the consumer of partition {partition}")]
    Partition {
        /// The consumer's partition.
        partition: u32,
        /// The batch's partition.
        found: u32,
    },
}

/// The position of the last event in the tables, and the other state of the fold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogCursor {
    pub(crate) position: Position,
    /// The operation that has not finished its steps.
    pub(crate) step: Option<OpenSteps>,
    /// The stamp of the last entry.
    pub(crate) at_ms: Option<u64>,
}

/// An operation that has not finished its steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenSteps {
    /// Its first event.
    pub(crate) sequence: u64,
    /// What it was asked to do, as its first entry tells.
    pub(crate) asked: AskedCommand,
}

/// The fold of a partition's log into rows.
#[derive(Debug)]
pub(crate) struct Fold {
    partition: u32,
    pub(crate) cursor: LogCursor,
    pub(crate) tables: Tables,
    /// The minimum time for which an engine remembers operation ids.
    ids_kept_ms_min: i64,
}

impl Misfit {
    /// The advice for the operator.
    pub(crate) fn advice(&self) -> &'static str {
        match self {
            Self::Mistake(_) => {
                "this partition is not projected any further: if rows were changed by hand, put them back; otherwise \
                 rebuild the projection, and report it if it happens again"
            }
            Self::Gap { .. } => {
                "it is asked for again from there; if that does not help, the log was trimmed and the tables were \
                 restored from an older copy: restore a newer one, or rebuild the projection"
            }
            Self::Rewritten { .. } => "rebuild the projection, which holds events that were lost",
            Self::Partition { .. } => "this is a mistake in the program; report it",
        }
    }
}

impl Fold {
    pub(crate) fn new(partition: u32, cursor: LogCursor, rows_max: usize, ids_kept_ms_min: i64) -> Self {
        Self { partition, cursor, tables: Tables::new(rows_max), ids_kept_ms_min }
    }

    /// Whether a batch has events that are not in the tables; fails if it does not follow them.
    pub(crate) fn has_news(&self, batch: &Batch) -> Result<bool, Misfit> {
        let partition = self.partition;
        if batch.partition != partition {
            return Err(Misfit::Partition { partition, found: batch.partition });
        }
        let mut reached = self.cursor.position;
        for entry in &batch.entries {
            if is_known(entry, reached) {
                continue;
            }
            let head = &entry.head;
            let offered = Position { epoch: head.epoch, sequence: head.sequence_first };
            let tables = self.cursor.position;
            if head.sequence_first > reached.sequence + 1 {
                return Err(Misfit::Gap { partition, tables, offered });
            }
            let is_known_otherwise = head.epoch > reached.epoch && head.sequence_first <= reached.sequence;
            if is_known_otherwise || head.epoch < reached.epoch {
                return Err(Misfit::Rewritten { partition, tables, offered });
            }
            reached = entry.end();
        }
        Ok(reached != self.cursor.position)
    }

    /// Notes the rows that the batch will use.
    pub(crate) fn want(&mut self, batch: &Batch) {
        for entry in batch.entries.iter().filter(|entry| !is_known(entry, self.cursor.position)) {
            for (_, event) in news(entry, self.cursor.position.sequence) {
                wants::note(&mut self.tables, event);
            }
            if let (Some(operation), Some(_)) = (&entry.head.operation, &entry.outcome) {
                self.tables.uses.want(operation, self.partition);
            }
        }
    }

    /// The cursor after the batch.
    pub(crate) fn reaches(&self, batch: &Batch) -> LogCursor {
        batch.entries.iter().fold(self.cursor.clone(), |cursor, entry| {
            if is_known(entry, self.cursor.position) { cursor } else { cursor.behind(entry) }
        })
    }

    /// Applies the batch, whose rows are all loaded.
    pub(crate) fn apply(&mut self, batch: &Batch) -> Result<(), Mistake> {
        let mut cursor = self.cursor.clone();
        for entry in &batch.entries {
            if !is_known(entry, self.cursor.position) {
                self.apply_entry(entry, &cursor)?;
                cursor = cursor.behind(entry);
            }
        }
        Ok(())
    }

    /// Notes that the batch is in the database.
    pub(crate) fn settle(&mut self, reached: LogCursor) {
        self.tables.settle();
        self.cursor = reached;
    }

    fn apply_entry(&mut self, entry: &Entry, cursor: &LogCursor) -> Result<(), Mistake> {
        let head = &entry.head;
        let operation = head.operation.as_ref().map(|operation| Text::from(operation.id.as_str()));
        let mut origin = Origin {
            partition: self.partition,
            epoch: signed(head.epoch),
            sequence: 0,
            at_ms: signed(head.at),
            operation: operation.as_ref(),
            event: "",
        };
        for (sequence, event) in news(entry, self.cursor.position.sequence) {
            (origin.sequence, origin.event) = (signed(sequence), event.spec().name);
            apply(&mut self.tables, event, &origin)?;
        }
        if let (Some(operation), Some(outcome)) = (&head.operation, &entry.outcome) {
            let finished = (operation, outcome, entry);
            operations::note(
                &mut self.tables,
                finished,
                cursor.step.as_ref(),
                self.ids_kept_ms_min,
                &origin,
            )?;
        }
        Ok(())
    }
}

impl LogCursor {
    /// The cursor after the next entry.
    fn behind(self, entry: &Entry) -> Self {
        let begun =
            || OpenSteps { sequence: entry.head.sequence_first, asked: AskedCommand::at_first_step(entry) };
        Self {
            position: entry.end(),
            step: entry.head.more.then(|| self.step.unwrap_or_else(begun)),
            at_ms: Some(entry.head.at),
        }
    }
}

/// Whether all of an entry is at or before the position.
fn is_known(entry: &Entry, reached: Position) -> bool {
    entry.sequence_last() <= reached.sequence && entry.head.epoch <= reached.epoch
}

/// The events of an entry after a sequence.
fn news(entry: &Entry, after: u64) -> impl Iterator<Item = (u64, &Event)> {
    (entry.head.sequence_first..).zip(&entry.events).filter(move |(sequence, _)| *sequence > after)
}

fn apply(tables: &mut Tables, event: &Event, origin: &Origin<'_>) -> Result<(), Mistake> {
    match event {
        Event::Account(event) => accounts::apply(tables, event, origin),
        Event::Stock(event) => stock::apply(tables, event, origin),
        Event::Packets(event) => packets::apply(tables, event, origin),
        Event::Coupon(event) => coupons::apply(tables, event, origin),
        Event::Market(event) => markets::apply(tables, event, origin),
        Event::Clock(event) => {
            clock::apply(tables, event, origin);
            Ok(())
        }
        // Operations are recorded for the entry as a whole.
        Event::Operation(
            OperationEvent::OperationRefused(_)
            | OperationEvent::OperationResolved(_)
            | OperationEvent::OperationStepped(_)
            | OperationEvent::OperationUnchanged(_),
        ) => Ok(()),
    }
}

/// A name as text.
pub(crate) fn text(id: &Id) -> Text {
    id.as_str().into()
}

/// The key of a resource that is named within another one.
fn pair(of: &Id, id: &Id) -> CompactString {
    let mut key = CompactString::with_capacity(of.as_str().len() + id.as_str().len() + 1);
    key.push_str(of.as_str());
    key.push('\0');
    key.push_str(id.as_str());
    key
}

/// The key of a resource that is numbered within another one.
fn numbered(of: &Id, number: u64) -> CompactString {
    compact_str::format_compact!("{of}\0{number}")
}
