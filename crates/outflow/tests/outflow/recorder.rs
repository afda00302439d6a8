//! A consumer that records what it gets, and fails on request.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use scarce_core::event::Position;
use scarce_core::machine::{Moment, StateRow};
use scarce_engine::consumers::ConsumerName;
use scarce_outflow::{Batch, Consumer, Plan, Start, Trouble};

/// Partition, sequence and name of an event.
type Taken = (u32, u64, &'static str);

/// What was consumed.
#[derive(Clone, Default)]
pub struct Record {
    taken: Arc<Mutex<Vec<Taken>>>,
    failures: Arc<Mutex<Failures>>,
    /// The states that were begun with: partition, position, and the sum of all balances but those of the world.
    images: Option<Arc<Mutex<Vec<Image>>>>,
}

/// A state: its partition and position, and the sum of all balances but those of the world outside.
type Image = (u32, Position, i64);

#[derive(Default)]
struct Failures {
    every: Option<usize>,
    offers: usize,
    fired: usize,
}

impl Record {
    /// A record whose consumers fail every `batches` batches, after recording half of the batch.
    pub fn failing_every(batches: usize) -> Self {
        let record = Self::default();
        record.failures.lock().expect("no panic").every = Some(batches);
        record
    }

    /// A record whose consumers begin with a state where the log's beginning is gone.
    pub fn taking_images() -> Self {
        Self { images: Some(Arc::default()), ..Self::default() }
    }

    /// The states of a partition that were begun with.
    pub fn images(&self, partition: u32) -> Vec<(Position, i64)> {
        let all = self.images.as_ref().map(|images| images.lock().expect("no panic").clone());
        let own = all.into_iter().flatten().filter(|(its, ..)| *its == partition);
        own.map(|(_, position, sum)| (position, sum)).collect()
    }

    fn taken(&self) -> MutexGuard<'_, Vec<Taken>> {
        self.taken.lock().expect("no panic")
    }

    /// How many batches failed.
    pub fn failures(&self) -> usize {
        self.failures.lock().expect("no panic").fired
    }

    /// How many events were consumed, duplicates included.
    pub fn count(&self) -> usize {
        self.taken().len()
    }

    /// The sequences of a partition without duplicates. Panics if one comes before an earlier one that was
    /// missing.
    pub fn sequences(&self, partition: u32) -> Vec<u64> {
        let mut seen: Vec<u64> = Vec::new();
        for (_, sequence, _) in self.taken().iter().filter(|(its, ..)| *its == partition) {
            let last = seen.last().copied().unwrap_or(sequence - 1);
            assert!(*sequence <= last + 1, "{sequence} follows {last} in partition {partition}");
            if *sequence == last + 1 {
                seen.push(*sequence);
            }
        }
        seen
    }

    /// How many events of a name were consumed in a partition, duplicates once.
    pub fn times(&self, partition: u32, name: &str) -> usize {
        let taken = self.taken();
        let own = taken.iter().filter(|(its, _, event)| *its == partition && *event == name);
        own.map(|(_, sequence, _)| sequence).collect::<BTreeSet<_>>().len()
    }

    /// A consumer that writes to this record.
    pub fn consumer(&self) -> Recorder {
        Recorder { record: self.clone() }
    }
}

/// Records the log of a partition.
pub struct Recorder {
    record: Record,
}

impl Consumer for Recorder {
    async fn position(&mut self) -> Result<Option<Position>, Trouble> {
        Ok(None)
    }

    async fn consume(&mut self, batch: &Batch) -> Result<(), Trouble> {
        let events: Vec<_> = batch
            .events()
            .map(|(sequence, _, event)| (batch.partition, sequence, event.spec().name))
            .collect();
        let mut failures = self.record.failures.lock().expect("no panic");
        failures.offers += 1;
        if failures.every.is_some_and(|every| failures.offers.is_multiple_of(every)) {
            failures.fired += 1;
            self.record.taken().extend(&events[..events.len() / 2]);
            return Err(Trouble::new("it was told to"));
        }
        self.record.taken().extend(events);
        Ok(())
    }

    fn takes_image(&self) -> bool {
        self.record.images.is_some()
    }

    async fn begin_with(&mut self, mut image: Box<dyn scarce_outflow::Image>) -> Result<(), Trouble> {
        let Moment { partition, position, .. } = image.moment();
        let mut sum = 0;
        let mut add = |row: StateRow<'_>| match row {
            StateRow::Account(id, account) if !id.as_str().starts_with('$') => sum += account.balance,
            _ => {}
        };
        image.rows(&mut add).map_err(|failure| Trouble::new(failure.to_string()))?;
        let images = self.record.images.as_ref().expect("they are asked for");
        images.lock().expect("no panic").push((partition, position, sum));
        Ok(())
    }
}

/// A plan for a consumer of this name.
pub fn plan(name: &str, holder: &str, start: Start) -> Plan {
    Plan {
        name: ConsumerName::parse(name).expect("a name"),
        holder: holder.to_owned(),
        start,
        batch_bytes_max: 4 << 10,
    }
}
