//! A copy of the log as messages, such as a topic, against the log: complete, in order, and equal.
//!
//! ```text
//! copy ─ message ─┬─ none of ours ─────────────────▶ finding
//!                 ├─ "the log goes on behind N" ───▶ what was behind N no longer counts
//!                 └─ event N ◀─ log, read from N ──▶ equal? of this history? in its place?
//! ```
//!
//! The copy is read once. The log is read beside it, from the first event that the copy holds; where the copy goes back
//! further than the last events that are remembered, the log is read from there again. Neither is held in memory.

mod gaps;
mod messages;
mod others;
mod walk;

use std::time::{Duration, Instant};

use scarce_outflow::{LogCopy, Trouble};
use tokio::runtime::Handle;

use crate::ReconcileError;
use crate::findings::Findings;
use crate::fold::Fold;
use crate::report::{CheckKind, Finding};
use crate::run::GoOn;
use crate::source::LogSource;
use walk::Walk;

/// How often it is looked whether the copy has come as far as the log.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// The check of a copy, over all partitions.
pub(crate) struct CopyCheck<'s> {
    handle: &'s Handle,
    copy: &'s mut dyn LogCopy,
    /// How many partitions it has.
    partitions: u32,
    wait: Duration,
    /// Until when to wait for a copy that is behind; begins with the first one that is.
    deadline: Option<Instant>,
    /// Whether any message is of this log.
    has_own: bool,
    /// Whose messages there are, too.
    foreign: Option<String>,
}

/// The first offset of a partition, and the one behind its last message.
pub(crate) type Bounds = (i64, i64);

impl<'s> CopyCheck<'s> {
    /// Opens a copy.
    pub(crate) fn open(
        handle: &'s Handle,
        copy: &'s mut dyn LogCopy,
        wait: Duration,
    ) -> Result<Self, ReconcileError> {
        let partitions = copy.partitions().map_err(failed)?;
        if partitions == 0 {
            return Err(ReconcileError::Copy { what: format!("{} does not exist", copy.name()) });
        }
        Ok(Self { handle, copy, partitions, wait, deadline: None, has_own: false, foreign: None })
    }

    /// A partition of the copy for each of the log's.
    pub(crate) fn check_partitions(&self, wanted: u32, findings: &mut Findings) {
        if self.partitions != wanted {
            findings.add(Finding {
                check: CheckKind::Topic,
                partition: None,
                resource: None,
                field: "partitions".to_owned(),
                expected: Some(wanted.to_string()),
                found: Some(self.partitions.to_string()),
                first_event: None,
            });
        }
    }

    /// What a partition holds now; `None` if there is no such partition. Asked for before the log is read: then the log has
    /// every event of it.
    pub(crate) fn bounds(&mut self, partition: u32) -> Result<Option<Bounds>, ReconcileError> {
        if partition >= self.partitions {
            return Ok(None);
        }
        self.copy.bounds(partition).map(Some).map_err(failed)
    }

    /// Compares a partition; returns the last event that it holds.
    pub(crate) fn compare(
        &mut self,
        (log, fold): (&mut dyn LogSource, &Fold),
        bounds: Bounds,
        findings: &mut Findings,
        go_on: GoOn<'_>,
    ) -> Result<Option<u64>, ReconcileError> {
        let partition = fold.machine.partition();
        if fold.broken.is_some() {
            findings.skip(format!(
                "partition {partition} was not compared: its log is wrong, as the check of the log says"
            ));
            return Ok(None);
        }
        let goal = fold.machine.sequence();
        let log_reach = (log.first(partition, fold.begins_after)?, goal);
        let mut walk = Walk::new(&mut *self.copy, partition, log_reach, bounds, findings)?;
        walk.go(log, go_on)?;
        let before = walk.reached;
        let mut stands_still = false;
        while walk.lag() > 0 && !walk.has_given_up() && !self.wait.is_zero() {
            let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + self.wait);
            stands_still = walk.reached == before;
            if walk.reached >= Some(goal) || Instant::now() >= deadline {
                break;
            }
            if !go_on(0) {
                return Err(ReconcileError::Stopped);
            }
            // A timer is made where there is a runtime.
            self.handle.block_on(async { tokio::time::sleep(LOOK_INTERVAL).await });
            walk.extend(log)?;
            walk.go(log, go_on)?;
        }
        let (reached, foreign) = (walk.reached, walk.foreign.clone());
        self.has_own |= walk.has_own;
        walk.end(log, stands_still)?;
        self.foreign = self.foreign.take().or(foreign);
        Ok(reached)
    }

    /// A copy without a message of this log, and with some of another's, is not its copy.
    pub(crate) fn check_owner(&self, expected: &str) -> Result<(), ReconcileError> {
        match &self.foreign {
            Some(found) if !self.has_own => Err(ReconcileError::OtherDeployment {
                what: self.copy.name(),
                found: found.rsplit('/').next().unwrap_or_default().to_owned(),
                expected: expected.to_owned(),
            }),
            _ => Ok(()),
        }
    }
}

fn failed(trouble: Trouble) -> ReconcileError {
    ReconcileError::Copy { what: trouble.reason }
}
