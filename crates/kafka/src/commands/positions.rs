//! Where each partition of the topic of commands goes on. The positions are kept in the engine, beside the effects of
//! the commands: consumer groups forget their offsets after some days, and then would read everything again.
//!
//! Every partition of the engine keeps them. One whose log lost effects, after a failover or a restore, does not
//! hold its position any more, and then the group's offset counts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rdkafka::{Message as _, Offset};
use scarce_engine::inputs::InputPosition;
use scarce_engine::{Engine, Failure};

use super::figures::Figures;
use super::intake::Raw;
use super::ledger::Reached;
use crate::membership::KeptPositions;
use crate::reader::Reader;
use crate::{KafkaError, KafkaSettings};

/// The positions of the topic of commands.
pub(crate) struct Positions {
    settings: Arc<KafkaSettings>,
    engine: Arc<dyn Engine>,
    figures: Arc<Figures>,
    /// Positions that the engine does not keep yet.
    reached: Mutex<BTreeMap<i32, Reached>>,
}

impl Positions {
    pub(crate) fn new(settings: Arc<KafkaSettings>, engine: Arc<dyn Engine>, figures: Arc<Figures>) -> Self {
        Self { settings, engine, figures, reached: Mutex::default() }
    }

    /// Everything before this position is finished, and its effects are durable.
    pub(crate) fn reach(&self, partition: i32, reached: Reached) {
        self.reached().insert(partition, reached);
    }

    /// Whether the engine does not keep the last positions yet.
    pub(crate) fn is_behind(&self) -> bool {
        !self.reached().is_empty()
    }

    /// Has the engine keep what was reached. After a failure it is tried again with the next call. Blocks.
    pub(crate) fn keep(&self) {
        let all = std::mem::take(&mut *self.reached());
        self.keep_all(all);
    }

    fn keep_all(&self, reached: BTreeMap<i32, Reached>) {
        if reached.is_empty() {
            return;
        }
        if let Err(failure) = self.write(&reached) {
            self.figures.note_trouble(&format!("the position in the commands was not kept: {failure}"));
            let mut waiting = self.reached();
            for (partition, reached) in reached {
                waiting.entry(partition).or_insert(reached);
            }
        }
    }

    fn write(&self, reached: &BTreeMap<i32, Reached>) -> Result<(), Failure> {
        for home in 0..self.engine.partitions() {
            let sequence = self.engine.durable_through(home)?;
            let position = |(partition, reached): (&i32, &Reached)| InputPosition {
                input: self.name(*partition),
                next: u64::try_from(reached.next).unwrap_or(0),
                last: reached.last,
                sequence,
            };
            self.engine.keep_inputs(home, &reached.iter().map(position).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn reached(&self) -> MutexGuard<'_, BTreeMap<i32, Reached>> {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self, partition: i32) -> String {
        format!("kafka/{}/{partition}", self.settings.topics.commands)
    }

    /// The positions that all partitions of the engine hold, the earliest of each.
    fn kept(&self) -> Result<BTreeMap<String, InputPosition>, Failure> {
        let mut earliest: Option<BTreeMap<String, InputPosition>> = None;
        for home in 0..self.engine.partitions() {
            let through = self.engine.durable_through(home)?;
            let held = self.engine.inputs(home)?.into_iter().filter(|kept| kept.sequence <= through);
            let held: BTreeMap<_, _> = held.map(|kept| (kept.input.clone(), kept)).collect();
            earliest = Some(match earliest {
                None => held,
                Some(before) => both(before, held),
            });
        }
        Ok(earliest.unwrap_or_default())
    }

    /// Where to go on from a kept position, if the topic is still the one that it is of.
    fn start(&self, reader: &Reader<'_>, partition: i32, kept: &InputPosition) -> Result<Offset, KafkaError> {
        let (begin, end) = reader.bounds(partition)?;
        let next = i64::try_from(kept.next).unwrap_or(i64::MAX);
        if next <= end && next <= begin {
            return Ok(Offset::Beginning);
        }
        let mut is_same = false;
        if next <= end {
            reader.read(partition, next - 1, next, &mut |message| {
                is_same = message.offset() == next - 1 && Raw::of(message).mark() == kept.last;
                false
            })?;
        }
        if is_same {
            return Ok(Offset::Offset(next));
        }
        let topic = &self.settings.topics.commands;
        self.figures.note_trouble(&format!(
            "partition {partition} of '{topic}' is not the one whose messages were consumed up to offset {}: the topic was created again, or lost messages; it is read from its beginning",
            next - 1
        ));
        Ok(Offset::Beginning)
    }
}

/// What two partitions hold, the earlier of each.
fn both(
    mut before: BTreeMap<String, InputPosition>,
    held: BTreeMap<String, InputPosition>,
) -> BTreeMap<String, InputPosition> {
    let pair = |(input, kept): (String, InputPosition)| {
        let other = before.remove(&input)?;
        Some((input, if other.next < kept.next { other } else { kept }))
    };
    held.into_iter().filter_map(pair).collect()
}

impl KeptPositions for Positions {
    fn starts(&self, partitions: &[i32]) -> Result<Vec<(i32, Offset)>, String> {
        let kept = self.kept().map_err(|failure| failure.to_string())?;
        let text = |error: KafkaError| error.to_string();
        let reader = Reader::new(&self.settings, &self.settings.topics.commands).map_err(text)?;
        let mut starts = Vec::new();
        for partition in partitions {
            if let Some(kept) = kept.get(&self.name(*partition)) {
                starts.push((*partition, self.start(&reader, *partition, kept).map_err(text)?));
            }
        }
        Ok(starts)
    }

    fn leave(&self, partitions: &[i32]) {
        let mut all = self.reached();
        let left = partitions.iter().filter_map(|partition| all.remove_entry(partition)).collect();
        drop(all);
        self.keep_all(left);
    }
}
