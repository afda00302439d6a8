//! The tables in SQL against the rows that the log gives.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use scarce_core::event::{Entry, Position};
use scarce_core::types::Id;
use scarce_outflow::{Batch, Consumer};
use scarce_projection::{Difference, Frozen, Projection, Repair, Replay, Scope, SqlConsumer};
use tempfile::TempDir;
use tokio::runtime::Handle;

use crate::ReconcileError;
use crate::findings::Findings;
use crate::fold::Fold;
use crate::report::{CheckKind, EventPlace, Finding, RepairReport};
use crate::rows::{Replaying, RowsReport};
use crate::run::{GoOn, Mending};
use crate::source::LogSource;
use crate::trace::{Suspect, Suspicion};

/// How many events are replayed in one transaction.
const EVENTS_AT_ONCE: usize = 5_000;

/// How often it is looked whether the tables have come as far as the log.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// The tables as they are at one moment, and a replay of the log to there.
pub(crate) struct Tables {
    handle: Handle,
    frozen: Frozen,
    replay: Replay,
    scope: Scope,
    /// How far the tables are, by partition.
    goals: BTreeMap<u32, Position>,
    /// Partitions that cannot be compared, and why.
    left_out: Vec<String>,
    /// Whether nothing was written to them while they were waited for.
    stand_still: bool,
    /// Partitions whose replay has begun with a state before.
    begun: BTreeMap<u32, (SqlConsumer, Position)>,
    /// Where the log of partitions begins that does not reach back.
    begin_after: BTreeMap<u32, u64>,
    _folder: TempDir,
}

/// The replay of one partition.
pub(crate) struct Feed<'t> {
    tables: &'t mut Tables,
    partition: u32,
    consumer: SqlConsumer,
    after: Position,
    waiting: Vec<Entry>,
    events: usize,
}

impl Tables {
    /// Waits until the tables have what is in the log now, for a while, and takes them as they are then, to be compared with a
    /// replay.
    pub(crate) fn freeze(
        handle: &Handle,
        projection: &Projection,
        log: &mut dyn LogSource,
        (replaying, wait): (Replaying, Duration),
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Self, ReconcileError> {
        let goals = (0..log.partitions()).map(|partition| Ok((partition, log.end(partition)?)));
        let goals = goals.collect::<Result<Vec<_>, ReconcileError>>()?;
        let deadline = Instant::now() + wait;
        let mut first = None;
        let mut stand_still;
        loop {
            let positions = handle.block_on(projection.positions())?;
            stand_still = !wait.is_zero() && *first.get_or_insert_with(|| positions.clone()) == positions;
            let has = |partition: u32| positions.iter().find(|its| its.partition == partition);
            let is_behind = |(partition, end): &(u32, Option<u64>)| {
                end.is_some_and(|end| has(*partition).map_or(0, |its| its.position.sequence) < end)
            };
            if !goals.iter().any(is_behind) || Instant::now() >= deadline {
                break;
            }
            if !go_on() {
                return Err(ReconcileError::Stopped);
            }
            // A timer is made where there is a runtime.
            handle.block_on(async { tokio::time::sleep(LOOK_INTERVAL).await });
        }
        let Replaying { replay, folder, begun } = replaying;
        let openings = handle.block_on(projection.openings())?;
        let frozen = handle.block_on(projection.freeze())?;
        let mut scope = Scope::default();
        openings.iter().for_each(|its| scope.begin_tables(its.partition, its.position.sequence));
        let goals = frozen.positions().iter().map(|its| (its.partition, its.position)).collect();
        Ok(Self {
            handle: handle.clone(),
            frozen,
            replay,
            scope,
            goals,
            left_out: Vec::new(),
            stand_still,
            begun,
            begin_after: BTreeMap::new(),
            _folder: folder,
        })
    }

    /// The last sequence of a partition in the tables.
    pub(crate) fn goal(&self, partition: u32) -> u64 {
        self.goals.get(&partition).map_or(0, |position| position.sequence)
    }

    /// Notes how far behind the log the tables are.
    pub(crate) fn note_lag(&mut self, fold: &Fold, rows: &mut Findings) -> Result<(), ReconcileError> {
        let (partition, log) = (fold.machine.partition(), fold.machine.sequence());
        if !self.goals.contains_key(&partition) && log > 0 {
            return self.note_unplaced(partition, log, rows);
        }
        let lag = log.saturating_sub(self.goal(partition));
        let text = format!("the tables are {lag} events behind the log of partition {partition}");
        match lag {
            0 => {}
            _ if self.stand_still => {
                rows.skip(format!("{text}, and nothing writes them; they were compared as far as they are"));
            }
            _ => rows.note(format!("{text}; they were compared as far as they are")),
        }
        Ok(())
    }

    /// Tables that do not say how far they are in a partition are new to it, or were changed.
    fn note_unplaced(&mut self, partition: u32, log: u64, rows: &mut Findings) -> Result<(), ReconcileError> {
        if self.handle.block_on(self.frozen.has_rows_of(partition))? {
            rows.add(Finding {
                check: CheckKind::Tables,
                partition: Some(partition),
                resource: None,
                field: "last position".to_owned(),
                expected: Some(log.to_string()),
                found: None,
                first_event: None,
            });
        }
        self.leave_out(partition, "the tables do not say how far they are in it");
        Ok(())
    }

    /// Begins with a partition, from the state that the log goes on from.
    pub(crate) fn feed(
        &mut self,
        log: &mut dyn LogSource,
        partition: u32,
    ) -> Result<Feed<'_>, ReconcileError> {
        let (mut consumer, after, base) = match self.begun.remove(&partition) {
            Some((consumer, after)) => (consumer, after, None),
            None => {
                let base = log.base_image(partition)?;
                (self.replay.consumer(partition), base.moment().position, Some(base))
            }
        };
        let mut feed_after = Position::default();
        if after.sequence > self.goal(partition) {
            self.leave_out(
                partition,
                &format!("its log begins at {}, behind the tables", after.sequence + 1),
            );
        } else if after.sequence > 0 {
            self.scope.begin_log(partition, after.sequence);
            self.begin_after.insert(partition, after.sequence);
            if log.is_state_of_engine(partition) {
                self.scope.doubt(partition);
            }
            if let Some(base) = base {
                let begun = self.handle.block_on(consumer.begin_with(base));
                begun.map_err(|trouble| ReconcileError::Replay { partition, what: trouble.to_string() })?;
            }
            feed_after = after;
        }
        Ok(Feed { tables: self, partition, consumer, after: feed_after, waiting: Vec::new(), events: 0 })
    }

    fn is_left_out(&self, partition: u32) -> bool {
        self.scope.leaves_out(partition)
    }

    fn leave_out(&mut self, partition: u32, why: &str) {
        self.scope.leave_out(partition);
        self.left_out.push(format!("partition {partition} was not compared: {why}"));
    }

    /// Compares every row that can be, and every sum, and reports them as they are.
    pub(crate) fn compare_alone(
        mut self,
        limit: usize,
        go_on: GoOn<'_>,
    ) -> Result<RowsReport, ReconcileError> {
        let mut is_stopped = false;
        let mut go_on = |count| {
            is_stopped = !go_on(count);
            !is_stopped
        };
        let handle = self.handle.clone();
        let comparing = self.frozen.compare_within(&self.replay, &self.scope, limit, &mut go_on);
        let compared = handle.block_on(comparing)?;
        if is_stopped {
            return Err(ReconcileError::Stopped);
        }
        let wrong_sums = handle.block_on(self.frozen.check_sums(limit))?;
        handle.block_on(self.frozen.close());
        handle.block_on(self.replay.close());
        let Self { begin_after, left_out, .. } = self;
        Ok(RowsReport { compared, wrong_sums, begin_after, left_out, findings: Vec::new() })
    }

    /// Compares every row and, where the log does not reach back to its beginning, every sum.
    pub(crate) fn compare(
        mut self,
        (rows, sums): (&mut Findings, &mut Findings),
        suspects: &mut Vec<Suspect>,
        (limit, mending): (usize, Option<(Mending<'_>, bool)>),
        go_on: GoOn<'_>,
    ) -> Result<Option<RepairReport>, ReconcileError> {
        for why in std::mem::take(&mut self.left_out) {
            rows.skip(why);
        }
        let handle = self.handle.clone();
        let mut is_stopped = false;
        let mut go_on = |count| {
            is_stopped = !go_on(count);
            !is_stopped
        };
        let compared =
            handle.block_on(self.frozen.compare_within(&self.replay, &self.scope, limit, &mut go_on))?;
        if is_stopped {
            return Err(ReconcileError::Stopped);
        }
        rows.compare(compared.rows);
        if let Some(text) = compared.unproved_text() {
            rows.note(text);
        }
        rows.add_unlisted(compared.wrong_rows.saturating_sub(distinct_rows(&compared.differences)));
        let mut before = None;
        for difference in &compared.differences {
            // A row counts once, however many of its columns differ.
            let row = Some((difference.table, difference.key.as_str()));
            self.note(difference, rows, suspects, before == row);
            before = row;
        }
        let (wrong, count) = handle.block_on(self.frozen.check_sums(limit))?;
        sums.add_unlisted(count.saturating_sub(wrong.len() as u64));
        wrong.iter().for_each(|difference| self.note(difference, sums, suspects, false));
        let repair = mending.map(|(mending, is_sound)| self.mend(mending, is_sound)).transpose()?;
        handle.block_on(self.frozen.close());
        handle.block_on(self.replay.close());
        Ok(repair)
    }

    /// Puts rows right.
    fn mend(&self, mending: Mending<'_>, is_sound: bool) -> Result<RepairReport, ReconcileError> {
        let refused =
            |why: &str| Ok(RepairReport { refused: Some(why.to_owned()), ..RepairReport::default() });
        if !is_sound {
            return refused(
                "log, engine or invariants differ, too: find out why first, since rows are made from the log",
            );
        }
        let Mending { tables, commits } = mending;
        let repair = tables.repair(&self.frozen, &self.replay, &self.scope, commits);
        match self.handle.block_on(repair)? {
            Repair::Unbalanced => refused(
                "the sums within the tables agree now, and would not afterwards: the rows are right, and what they were \
                 compared with is not",
            ),
            Repair::Done(rows) => Ok(RepairReport { is_done: commits, rows, refused: None }),
            Repair::Moved => {
                refused("the tables were written to meanwhile; stop what consumes the log into them")
            }
        }
    }

    fn note(
        &self,
        difference: &Difference,
        findings: &mut Findings,
        suspects: &mut Vec<Suspect>,
        is_same_row: bool,
    ) {
        let Difference { table, key, column, tables, log, place } = difference;
        let column = column.map(|column| format!(".{column}")).unwrap_or_default();
        let partition = place.partition.or_else(|| (self.goals.len() == 1).then_some(0));
        // A row says which event made it, unless no event did.
        let made_by = place.sequence.filter(|sequence| {
            partition.is_some_and(|partition| *sequence <= self.goal(partition)) && log.is_some()
        });
        let first_event = partition.zip(made_by);
        let first_event =
            first_event.map(|(partition, sequence)| EventPlace { partition, sequence, event: None });
        let resource = place.resource.as_deref();
        if first_event.is_none()
            && let Some((partition, resource)) = partition.zip(resource)
            && let Ok(resource) = Id::parse(resource.as_bytes(), "resource")
        {
            let through = self.goal(partition);
            suspects.push(Suspect { partition, resource, what: Suspicion::Value, through });
        }
        let finding = Finding {
            check: findings.kind(),
            partition,
            resource: place.resource.clone(),
            field: format!("{table}{column} of '{key}'"),
            expected: log.clone(),
            found: tables.clone(),
            first_event,
        };
        if is_same_row { findings.add_more(finding) } else { findings.add(finding) }
    }
}

/// How many rows differences are of; those of a row follow each other.
fn distinct_rows(differences: &[Difference]) -> u64 {
    let mut rows: Vec<_> = differences.iter().map(|its| (its.table, its.key.as_str())).collect();
    rows.dedup();
    rows.len() as u64
}

impl Feed<'_> {
    /// The last sequence that was replayed, or that the replay begins with.
    pub(crate) fn after(&self) -> u64 {
        self.after.sequence
    }

    /// Whether the log does not reach back to where the tables are.
    pub(crate) fn is_left_out(&self) -> bool {
        self.tables.is_left_out(self.partition)
    }

    /// The last sequence in the tables.
    pub(crate) fn goal(&self) -> u64 {
        self.tables.goal(self.partition)
    }

    /// Replays entries, as far as the tables are.
    pub(crate) fn take(&mut self, entries: &[Entry]) -> Result<(), ReconcileError> {
        let goal = self.tables.goal(self.partition);
        for entry in entries.iter().filter(|entry| entry.head.sequence_first <= goal) {
            let entry = cut(entry, goal);
            self.events += entry.events.len();
            self.waiting.push(entry);
            if self.events >= EVENTS_AT_ONCE {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ReconcileError> {
        let entries = std::mem::take(&mut self.waiting);
        self.events = 0;
        if entries.is_empty() {
            return Ok(());
        }
        let batch = Batch { partition: self.partition, after: self.after, entries };
        let written = self.tables.handle.block_on(self.consumer.consume(&batch));
        let failed = |what| ReconcileError::Replay { partition: self.partition, what };
        written.map_err(|trouble| failed(trouble.to_string()))?;
        self.after = batch.end();
        Ok(())
    }

    /// Ends the replay; a log that does not lead to where the tables are is a difference.
    pub(crate) fn end(mut self, rows: &mut Findings) -> Result<(), ReconcileError> {
        self.flush()?;
        let (partition, goal) = (self.partition, self.tables.goals.get(&self.partition).copied());
        let Some(goal) = goal.filter(|goal| *goal != self.after) else { return Ok(()) };
        let is_lacking = self.after.sequence < goal.sequence;
        let sequence = if is_lacking { self.after.sequence + 1 } else { goal.sequence };
        rows.add(Finding {
            check: CheckKind::Tables,
            partition: Some(partition),
            resource: None,
            field: "last position".to_owned(),
            expected: Some(self.after.to_string()),
            found: Some(goal.to_string()),
            first_event: Some(EventPlace { partition, sequence, event: None }),
        });
        self.tables.leave_out(partition, "its log does not lead to where the tables are");
        Ok(())
    }
}

/// An entry without the events behind a sequence.
fn cut(entry: &Entry, through: u64) -> Entry {
    let mut entry = entry.clone();
    if entry.sequence_last() > through {
        let count = through + 1 - entry.head.sequence_first;
        entry.events.truncate(usize::try_from(count).unwrap_or(usize::MAX));
        (entry.head.more, entry.outcome) = (true, None);
    }
    entry
}
