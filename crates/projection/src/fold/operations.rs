//! Records operations.

use compact_str::CompactString;
use hashbrown::HashMap;
use scarce_core::event::{Entry, OperationMark};
use scarce_core::outcome::{Outcome, Value};
use scarce_core::types::signed;

use super::OpenSteps;
use super::asked::AskedCommand;
use super::json;
use super::origin::{Mistake, Origin};
use super::tables::Tables;
use crate::rows::{EventName, OperationRow};
use crate::shelf::{Hash, key_of};
use crate::table::Cell;

/// How often operation ids were used before.
///
/// An engine forgets an id after a while, and then it is free again; but hardly any is ever used twice. So
/// earlier uses are not looked up: an id is recorded as used for the first time, and the database refuses a
/// duplicate. Only then, with `careful` set, the earlier uses of all ids of the batch are looked up.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// For how many more batches earlier uses are looked up.
    careful: u32,
    wanted: HashMap<CompactString, Vec<Cell>, Hash>,
    known: HashMap<CompactString, LastUse, Hash>,
    /// The last move of the clock: times before it do not tell how long an id was kept.
    moved_at: i64,
}

/// The last use of an id.
#[derive(Clone, Copy, Debug)]
struct LastUse {
    number: i64,
    at_ms: i64,
    sequence: i64,
}

/// For how many batches earlier uses are looked up after one was found: there may be more of them.
const CAREFUL_BATCHES: u32 = 50;

impl Uses {
    /// Looks up earlier uses in this batch, and in some more.
    pub(crate) fn be_careful(&mut self) {
        self.careful = CAREFUL_BATCHES;
    }

    /// Whether earlier uses of names and ids are looked up.
    pub(crate) fn is_careful(&self) -> bool {
        self.careful > 0
    }

    pub(crate) fn want(&mut self, operation: &OperationMark, partition: u32) {
        if self.is_careful() {
            let cells = cells(operation, partition);
            self.wanted.insert(key_of(&cells), cells);
        }
    }

    pub(crate) fn wanted(&mut self) -> Vec<Vec<Cell>> {
        std::mem::take(&mut self.wanted).into_values().collect()
    }

    pub(crate) fn take_in(&mut self, key: CompactString, last: &OperationRow) {
        let OperationRow { use_number: number, at_ms, last_sequence: sequence, .. } = *last;
        self.known.insert(key, LastUse { number, at_ms, sequence });
    }

    /// Notes that the clock was moved at a sequence.
    pub(crate) fn note_move(&mut self, sequence: i64) {
        self.moved_at = self.moved_at.max(sequence);
    }

    pub(crate) fn settle(&mut self) {
        self.careful = self.careful.saturating_sub(1);
        self.known.clear();
    }
}

fn cells(operation: &OperationMark, partition: u32) -> Vec<Cell> {
    let names = [Cell::from(operation.id.as_str()), Cell::from(operation.namespace.as_str())];
    names.into_iter().chain([Cell::from(i64::from(partition))]).collect()
}

/// Records an operation that an entry finished with its answer, and the first event of that entry. `step` is what an
/// operation of several steps was asked, and its first event. An id is not used again within `kept_ms_min`.
pub(super) fn note(
    tables: &mut Tables,
    (operation, outcome, entry): (&OperationMark, &Outcome, &Entry),
    step: Option<&OpenSteps>,
    kept_ms_min: i64,
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    let mut use_number = 1;
    if tables.uses.is_careful() {
        let key = key_of(&cells(operation, origin.partition));
        if let Some(LastUse { number, at_ms, sequence }) = tables.uses.known.get(&key).copied() {
            let spot = origin.row("operations", &operation.id);
            // Earlier releases recorded no moves, so that a time before is believed, too.
            let is_comparable = sequence >= tables.uses.moved_at && at_ms <= origin.at_ms;
            let is_kept = is_comparable && origin.at_ms - at_ms < kept_ms_min;
            spot.holds(!is_kept, || format!("it was used at {at_ms} and is used again at {}", origin.at_ms))?;
            use_number = number + 1;
        }
        let used = LastUse { number: use_number, at_ms: origin.at_ms, sequence: origin.sequence };
        tables.uses.known.insert(key, used);
    }
    let event = entry.events.first();
    let fields = event.map(|event| event.fields()).unwrap_or_default();
    let asked =
        step.map_or_else(|| AskedCommand::in_one_step(entry, outcome, &fields), |step| step.asked.clone());
    let AskedCommand { command, arguments } = asked.unless_batch(outcome);
    let first_sequence = step.map_or(entry.head.sequence_first, |step| step.sequence);
    tables.operations.push(OperationRow {
        operation_id: origin.operation_id().unwrap_or_else(|| operation.id.as_str().into()),
        namespace: operation.namespace.as_str().into(),
        partition_id: origin.partition_id(),
        use_number,
        epoch: origin.epoch,
        first_sequence: signed(first_sequence),
        last_sequence: origin.sequence,
        outcome: outcome.code,
        facts: json::facts(outcome),
        at_ms: origin.at_ms,
        event: event.map(|event| EventName(event.spec().name)),
        resource_id: event.and_then(|event| match event.resource() {
            Some(Value::Text(id)) => Some(id.as_str().into()),
            _ => None,
        }),
        event_fields: event.map(|_| json::fields(&fields)),
        command,
        arguments,
    });
    Ok(())
}
