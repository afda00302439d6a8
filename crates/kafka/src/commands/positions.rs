//! Where each partition of the topic of commands goes on. The positions are kept in the engine, beside the effects of
//! the commands: consumer groups forget their offsets after some days, and then would read everything again.
//!
//! Every partition of the engine keeps them, with the position of its log. If that is not one of the log, effects were lost
//! after it, by a failover or a rollback: the topic is then read from its beginning, because nothing else tells which
//! commands took effect. Their ids do.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rdkafka::{Message as _, Offset};
use scarce_core::event::Position;
use scarce_engine::inputs::InputPosition;
use scarce_engine::{Engine, Failure, Standing};
use xxhash_rust::xxh3::Xxh3;

use super::figures::Figures;
use super::intake::Raw;
use super::ledger::Reached;
use crate::membership::KeptPositions;
use crate::reader::Reader;
use crate::topic_id::TopicId;
use crate::{KafkaError, KafkaSettings};

/// The positions of the topic of commands.
pub(crate) struct Positions {
    settings: Arc<KafkaSettings>,
    engine: Arc<dyn Engine>,
    figures: Arc<Figures>,
    /// Positions that the engine does not keep yet.
    reached: Mutex<BTreeMap<i32, Reached>>,
    /// Which topic it was when the first partitions came.
    topic_id: OnceLock<TopicId>,
}

impl Positions {
    pub(crate) fn new(settings: Arc<KafkaSettings>, engine: Arc<dyn Engine>, figures: Arc<Figures>) -> Self {
        Self { settings, engine, figures, reached: Mutex::default(), topic_id: OnceLock::new() }
    }

    /// The topic's name.
    pub(crate) fn topic(&self) -> &str {
        &self.settings.topics.commands
    }

    /// Which topic the positions are of; nothing before partitions came.
    pub(crate) fn topic_id(&self) -> Option<TopicId> {
        self.topic_id.get().copied()
    }

    /// Says that the topic is another one now.
    pub(crate) fn created_again(&self) -> String {
        format!("'{}' was created again while it was read; its partitions are looked at anew", self.topic())
    }

    /// A message's mark in the engine: the same message in a topic that was created again has another one.
    fn mark(&self, of_message: u64) -> u64 {
        let Some(id) = self.topic_id().flatten() else { return of_message };
        let mut hash = Xxh3::new();
        hash.update(&id.to_le_bytes());
        hash.update(&of_message.to_le_bytes());
        hash.digest()
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
            let reached_there = self.end_of_log(home)?;
            let position = |(partition, reached): (&i32, &Reached)| InputPosition {
                input: self.name(*partition),
                next: u64::try_from(reached.next).unwrap_or(0),
                last: self.mark(reached.last),
                reached: reached_there,
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

    /// The last durable position of a partition's log; without its epoch if the event is trimmed.
    fn end_of_log(&self, home: u32) -> Result<Position, Failure> {
        let sequence = self.engine.durable_through(home)?;
        if sequence == 0 || self.engine.first_sequence(home)? > sequence {
            return Ok(Position { epoch: 0, sequence });
        }
        let last = self.engine.entries(home, sequence, 1)?;
        let epoch = last.first().map_or(0, |entry| entry.end().epoch);
        Ok(Position { epoch, sequence })
    }

    /// The positions that all partitions of the engine keep, the earliest of each.
    fn kept(&self) -> Result<BTreeMap<String, Kept>, Failure> {
        let mut earliest: Option<BTreeMap<String, Kept>> = None;
        for home in 0..self.engine.partitions() {
            let mut kept = BTreeMap::new();
            for position in self.engine.inputs(home)? {
                let standing = self.engine.standing(home, position.reached)?;
                let is_lost = matches!(standing, Standing::Diverged { .. });
                kept.insert(position.input.clone(), Kept { position, lost_in: is_lost.then_some(home) });
            }
            earliest = Some(match earliest {
                None => kept,
                Some(before) => both(before, kept),
            });
        }
        Ok(earliest.unwrap_or_default())
    }

    /// Where to go on from a kept position, if the topic is still the one that it is of.
    fn start(&self, reader: &Reader, partition: i32, kept: &Kept) -> Result<Offset, KafkaError> {
        let (begin, end) = reader.bounds(partition)?;
        if let Some(home) = kept.lost_in {
            self.tell_lost(partition, home, begin);
            return Ok(Offset::Beginning);
        }
        let kept = &kept.position;
        let next = i64::try_from(kept.next).unwrap_or(i64::MAX);
        if next <= end && next <= begin {
            self.tell_missing(partition, next, begin);
            return Ok(Offset::Beginning);
        }
        let mut is_same = false;
        if next <= end {
            reader.read(partition, next - 1, next, &mut |message| {
                is_same = message.offset() == next - 1 && self.mark(Raw::of(message).mark()) == kept.last;
                false
            })?;
        }
        if is_same {
            return Ok(Offset::Offset(next));
        }
        let topic = self.topic();
        self.figures.note_trouble(&format!(
            "partition {partition} of '{topic}' is not the one whose messages were consumed up to offset {}: the topic was created again, or lost messages; it is read from its beginning",
            next - 1
        ));
        Ok(Offset::Beginning)
    }
}

impl Positions {
    /// Effects of commands were lost. Of messages that were removed since, nobody can tell which.
    fn tell_lost(&self, partition: i32, home: u32, begin: i64) {
        let mut text = format!(
            "partition {home} of the engine lost effects of commands from partition {partition} of '{}'; it is read \
             from its beginning, and commands that took effect are answered as duplicates",
            self.settings.topics.commands
        );
        if begin > 0 {
            text += &format!(
                "; its messages up to offset {} were removed, and lost effects of their commands are not made again: have the \
                 producers send these again, under the same ids",
                begin - 1
            );
        }
        self.figures.note_trouble(&text);
    }

    /// Says what was removed before it was consumed, where the consumer group's offset counts: the client goes on behind
    /// that by itself.
    fn check_group(&self, reader: &Reader, partitions: &[i32]) -> Result<(), KafkaError> {
        for (partition, next) in reader.committed(partitions)? {
            let (begin, _) = reader.bounds(partition)?;
            self.tell_missing(partition, next, begin);
        }
        Ok(())
    }

    /// Says which of the offsets that the topic skipped while it was read were removed: those before its first one. Blocks.
    pub(crate) fn tell_skipped(&self, skipped: &BTreeMap<i32, Range<i64>>) {
        let bounds = |partition: i32| Reader::new(&self.settings, self.topic())?.bounds(partition);
        for (partition, skipped) in skipped {
            match bounds(*partition) {
                Ok((begin, _)) => self.tell_missing(*partition, skipped.start, begin.min(skipped.end)),
                Err(error) => self.figures.note_trouble(&format!(
                    "whether messages {} to {} of partition {partition} were removed before they were consumed is not known: {error}",
                    skipped.start,
                    skipped.end - 1
                )),
            }
        }
    }

    /// Messages were removed from the topic before they were consumed. Nobody can make their commands up.
    fn tell_missing(&self, partition: i32, next: i64, begin: i64) {
        if next < begin {
            self.figures.note_removed(begin.abs_diff(next));
            self.figures.note_trouble(&format!(
                "{} messages of partition {partition} of '{}' were removed before they were consumed, offsets {next} to {}; \
                 keep the topic for longer, and have the producers send these commands again",
                begin - next,
                self.settings.topics.commands,
                begin - 1
            ));
        }
    }
}

/// What a partition of the engine keeps.
struct Kept {
    position: InputPosition,
    /// A partition whose log does not have what it had when the position was kept.
    lost_in: Option<u32>,
}

/// What two partitions keep, the earlier of each. What one of them lost is lost.
fn both(mut before: BTreeMap<String, Kept>, kept: BTreeMap<String, Kept>) -> BTreeMap<String, Kept> {
    let pair = |(input, kept): (String, Kept)| {
        let other = before.remove(&input)?;
        let lost_in = other.lost_in.or(kept.lost_in);
        let earlier = if other.position.next < kept.position.next { other } else { kept };
        Some((input, Kept { lost_in, ..earlier }))
    };
    kept.into_iter().filter_map(pair).collect()
}

impl KeptPositions for Positions {
    fn starts(&self, partitions: &[i32]) -> Result<Vec<(i32, Offset)>, String> {
        let kept = self.kept().map_err(|failure| failure.to_string())?;
        let text = |error: KafkaError| error.to_string();
        let reader = Reader::new(&self.settings, self.topic()).map_err(text)?;
        let id = reader.topic_id().map_err(text)?;
        if *self.topic_id.get_or_init(|| id) != id {
            return Err(self.created_again());
        }
        let (mut starts, mut others) = (Vec::new(), Vec::new());
        for partition in partitions {
            if let Some(kept) = kept.get(&self.name(*partition)) {
                starts.push((*partition, self.start(&reader, *partition, kept).map_err(text)?));
            } else {
                others.push(*partition);
            }
        }
        self.check_group(&reader, &others).map_err(text)?;
        Ok(starts)
    }

    fn leave(&self, partitions: &[i32]) {
        let mut all = self.reached();
        let left = partitions.iter().filter_map(|partition| all.remove_entry(partition)).collect();
        drop(all);
        self.keep_all(left);
    }
}
