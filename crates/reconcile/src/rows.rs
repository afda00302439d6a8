//! The rows of the tables against those that a log gives whose beginning may be gone, and nothing else: log and engine are
//! taken as they are.

use std::collections::BTreeMap;

use scarce_core::event::Position;
use scarce_outflow::Consumer;
use scarce_projection::{Compared, Difference, Projection, Replay, SqlConsumer};
use tempfile::TempDir;
use tokio::runtime::Handle;

use crate::ReconcileError;
use crate::findings::Findings;
use crate::report::{CheckKind, Finding};
use crate::run::{Options, ReconcileProgress};
use crate::source::LogSource;
use crate::tables::Tables;

/// What came of the rows.
#[derive(Debug)]
pub struct RowsReport {
    /// Every row of which log and state tell what it must be; how many others there are, by table.
    pub compared: Compared,
    /// Sums within the tables that do not agree, the first ones and how many.
    pub wrong_sums: (Vec<Difference>, u64),
    /// Of partitions whose log does not reach back: the last sequence of which only the state is known.
    pub begin_after: BTreeMap<u32, u64>,
    /// Partitions that were not compared, and why.
    pub left_out: Vec<String>,
    /// Logs that do not lead to where the tables are.
    pub findings: Vec<Finding>,
}

/// A replay of logs into tables of its own, which begins with states where their beginnings are gone.
pub(crate) struct Replaying {
    pub(crate) replay: Replay,
    pub(crate) folder: TempDir,
    /// The partitions that have begun, and where.
    pub(crate) begun: BTreeMap<u32, (SqlConsumer, Position)>,
}

impl Replaying {
    /// Begins with nothing.
    pub(crate) fn open(handle: &Handle, log: &dyn LogSource) -> Result<Self, ReconcileError> {
        let folder = tempfile::tempdir().map_err(ReconcileError::Folder)?;
        let replay = handle.block_on(Replay::open(folder.path(), log.deployment_id()))?;
        Ok(Self { replay, folder, begun: BTreeMap::new() })
    }

    /// Begins with the state that the log of each partition goes on from. The tables will be behind that: they go on being
    /// written meanwhile.
    fn begin(&mut self, handle: &Handle, log: &mut dyn LogSource) -> Result<(), ReconcileError> {
        for partition in 0..log.partitions() {
            let base = log.base_image(partition)?;
            let after = base.moment().position;
            let mut consumer = self.replay.consumer(partition);
            if after.sequence > 0 {
                let begun = handle.block_on(consumer.begin_with(base));
                begun.map_err(|trouble| ReconcileError::Replay { partition, what: trouble.to_string() })?;
            }
            self.begun.insert(partition, (consumer, after));
        }
        Ok(())
    }
}

/// Compares every row of the tables with what the log, and the state that it goes on from, make of it. Changes nothing; may be
/// called from a thread that is not one of the runtime's own. Where `on_progress` answers no, it ends.
///
/// # Errors
/// When one of the sides cannot be read, or they do not belong together.
pub fn compare_rows(
    handle: &Handle,
    projection: &Projection,
    log: &mut dyn LogSource,
    options: Options,
    on_progress: &mut dyn FnMut(ReconcileProgress) -> bool,
) -> Result<RowsReport, ReconcileError> {
    let (expected, found) = (log.deployment_id().to_owned(), projection.deployment_id().to_owned());
    if found != expected {
        return Err(ReconcileError::OtherDeployment { what: projection.database(), found, expected });
    }
    let mut replaying = Replaying::open(handle, log)?;
    replaying.begin(handle, log)?;
    let mut go_on = || on_progress(ReconcileProgress { doing: "waiting for tables", partition: 0, done: 0 });
    let mut tables = Tables::freeze(handle, projection, log, (replaying, options.wait), &mut go_on)?;
    let mut findings = Findings::new(CheckKind::Tables, options.limit);
    for partition in 0..log.partitions() {
        let mut feed = tables.feed(log, partition)?;
        let goal = feed.goal();
        if feed.is_left_out() {
            continue;
        }
        log.read(partition, feed.after() + 1, &mut |entries| {
            feed.take(&entries)?;
            let done = entries.last().map_or(0, scarce_core::event::Entry::sequence_last);
            if !on_progress(ReconcileProgress { doing: "folding", partition, done }) {
                return Err(ReconcileError::Stopped);
            }
            Ok(done < goal)
        })?;
        feed.end(&mut findings)?;
    }
    let mut go_on = |done| on_progress(ReconcileProgress { doing: "comparing rows", partition: 0, done });
    let mut rows = tables.compare_alone(options.limit, &mut go_on)?;
    rows.findings = findings.end().1;
    Ok(rows)
}
