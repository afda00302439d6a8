//! The log, written into tables of its own.

use std::path::Path;

use scarce_api::event::{Received, read};
use scarce_core::event::{Entry, EntryHead};
use scarce_outflow::{Batch, Consumer};

use crate::{ProjectedPosition, Projection, ProjectionError, ProjectionOptions, SqlConsumer};

/// Tables that the log is written into from its beginning, in a file of their own.
#[derive(Debug)]
pub struct Replay {
    projection: Projection,
}

impl Replay {
    /// Begins, with a new file in a folder.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub async fn open(folder: &Path, deployment_id: &str) -> Result<Self, ProjectionError> {
        let url = format!("sqlite://{}", folder.join("replay.db").display());
        // Whether ids were used again too early is the engine's matter, not that of the tables.
        let options = ProjectionOptions { ids_kept_ms_min: 0, ..ProjectionOptions::default() };
        Ok(Self { projection: Projection::open_scratch(&url, deployment_id, options).await? })
    }

    /// Writes the events of a partition up to where the tables are, asking for those after a sequence in turn. They
    /// come as JSON, as the server shows them.
    ///
    /// # Errors
    /// When the events cannot be had, cannot be read, or do not fit each other.
    pub async fn write<E: From<ProjectionError>>(
        &self,
        its: &ProjectedPosition,
        mut ask: impl FnMut(u64) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<(), E> {
        let mut consumer = self.projection.consumer(its.partition);
        let found = |what: String| ProjectionError::Replay { partition: its.partition, what };
        let mut after =
            consumer.position().await.map_err(|trouble| found(trouble.to_string()))?.unwrap_or_default();
        let (end, mut reached, mut held) = (its.position.sequence, after.sequence, Vec::new());
        while reached < end {
            let events = ask(reached)?;
            let events = events.iter().map(|event| read(event)).collect::<Result<Vec<_>, _>>();
            let mut events = events.map_err(|error| found(error.to_string()))?;
            events.retain(|event| event.sequence > reached && event.sequence <= end);
            let Some(last) = events.last() else {
                let what =
                    format!("the log ends at {reached}, and the tables hold it up to {}", its.position);
                return Err(found(what).into());
            };
            reached = last.sequence;
            held.extend(events);
            let entries = entries(whole(&mut held, reached == end));
            if entries.is_empty() {
                continue;
            }
            let batch = Batch { partition: its.partition, after, entries };
            consumer.consume(&batch).await.map_err(|trouble| found(trouble.to_string()))?;
            after = batch.end();
        }
        if after != its.position {
            let what = format!("the log has {after} where the tables hold {}", its.position);
            return Err(found(what).into());
        }
        Ok(())
    }

    /// The consumer of a partition's log into these tables.
    #[must_use]
    pub fn consumer(&self, partition: u32) -> SqlConsumer {
        self.projection.consumer(partition)
    }

    /// Ends, so that the folder can be removed.
    pub async fn close(self) {
        self.projection.close().await;
    }

    pub(super) fn projection(&self) -> &Projection {
        &self.projection
    }
}

/// Takes the events of whole entries; all of them at the end.
fn whole(held: &mut Vec<Received>, is_end: bool) -> Vec<Received> {
    let ends = |event: &Received| event.sequence == event.entry_last;
    let count = if is_end { held.len() } else { held.iter().rposition(ends).map_or(0, |at| at + 1) };
    held.drain(..count).collect()
}

/// Events put together to entries. The last one may be a part of one.
fn entries(events: Vec<Received>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut head = None;
    for event in events {
        if head.as_ref() != Some(&event.head) {
            let part = EntryHead { sequence_first: event.sequence, ..event.head.clone() };
            entries.push(Entry { head: part, outcome: None, events: Vec::new() });
        }
        let Some(entry) = entries.last_mut() else { continue };
        entry.events.push(event.event);
        entry.outcome = event.outcome;
        entry.head.more = event.head.more || event.sequence < event.entry_last;
        head = Some(event.head);
    }
    entries
}
