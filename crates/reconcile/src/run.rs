//! One reconciliation, from the log to the report.

use std::time::Duration;

use scarce_core::event::Entry;
use scarce_core::machine::Machine;
use scarce_delivery::Delivery;
use scarce_outflow::LogCopy;
use scarce_projection::Projection;
use tokio::runtime::Handle;

use crate::ReconcileError;
use crate::engine::EngineCheck;
use crate::findings::Findings;
use crate::fold::Fold;
use crate::invariants::{self, Breach};
use crate::mirror::{self, MirrorSide};
use crate::report::{CheckKind, Finding, Reach, RepairReport, Report};
use crate::rows::Replaying;
use crate::settlement::Settlements;
use crate::source::{EngineSource, LogSource};
use crate::tables::{Feed, Tables};
use crate::topic::CopyCheck;
use crate::trace::{self, Places, Suspect, Suspicion};

/// What is compared.
pub struct Sources<'s> {
    /// The log.
    pub log: &'s mut dyn LogSource,
    /// The engine, if it answers.
    pub engine: Option<&'s mut dyn EngineSource>,
    /// The tables that the log is projected into.
    pub tables: Option<&'s Projection>,
    /// The tables of settlements.
    pub settlements: Option<&'s Delivery>,
    /// The topic of events, or another copy of the log.
    pub copy: Option<&'s mut dyn LogCopy>,
    /// The mirror in Redis.
    pub mirror: Option<MirrorSide<'s>>,
    /// The same tables, if their rows are to be put right.
    pub mending: Option<Mending<'s>>,
}

/// Tables whose rows are to be put right where they are not what the log makes of them. No consumer may run meanwhile.
#[derive(Clone, Copy)]
pub struct Mending<'s> {
    /// The tables, which can be written.
    pub tables: &'s Projection,
    /// Whether it is done; otherwise it is only tried.
    pub commits: bool,
}

/// How it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many differences of each check are listed; all are counted.
    pub limit: usize,
    /// How long to wait for tables that are behind the log.
    pub wait: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { limit: 100, wait: Duration::from_secs(10) }
    }
}

/// How far a reconciliation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReconcileProgress {
    /// What it does.
    pub doing: &'static str,
    /// Of which partition.
    pub partition: u32,
    /// How much of that is done: a sequence, or a number of resources.
    pub done: u64,
}

/// Gets how much was done, and answers whether to go on.
pub(crate) type GoOn<'g> = &'g mut dyn FnMut(u64) -> bool;

/// The checks of a run.
struct Run<'s> {
    handle: &'s Handle,
    sources: Sources<'s>,
    options: Options,
    on_progress: &'s mut dyn FnMut(ReconcileProgress) -> bool,
    of_log: Findings,
    of_engine: Findings,
    of_state: Findings,
    of_tables: Findings,
    of_sums: Findings,
    of_copy: Findings,
    of_mirror: Findings,
    settlements: Settlements,
    suspects: Vec<Suspect>,
    reaches: Vec<Reach>,
    repair: Option<RepairReport>,
}

/// Compares everything that is derived from a log with it. Reads only; may be called from a thread that is not one of the
/// runtime's own. `on_progress` is called again and again, and may take its time; where it answers no, it ends.
///
/// # Errors
/// When one of the sides cannot be read, or they do not belong together. What differs is in the report.
pub fn reconcile<'s>(
    handle: &'s Handle,
    sources: Sources<'s>,
    options: Options,
    on_progress: &'s mut dyn FnMut(ReconcileProgress) -> bool,
) -> Result<Report, ReconcileError> {
    let findings = |kind| Findings::new(kind, options.limit);
    Run {
        handle,
        sources,
        options,
        on_progress,
        of_log: findings(CheckKind::Log),
        of_engine: findings(CheckKind::Engine),
        of_state: findings(CheckKind::Invariants),
        of_tables: findings(CheckKind::Tables),
        of_sums: findings(CheckKind::Sums),
        of_copy: findings(CheckKind::Topic),
        of_mirror: findings(CheckKind::Mirror),
        settlements: Settlements::default(),
        suspects: Vec::new(),
        reaches: Vec::new(),
        repair: None,
    }
    .run()
}

impl<'s> Run<'s> {
    fn run(mut self) -> Result<Report, ReconcileError> {
        self.check_owners()?;
        let partitions = self.sources.log.partitions();
        if let Some(delivery) = self.sources.settlements {
            let on_progress = &mut *self.on_progress;
            let mut go_on =
                |done| on_progress(ReconcileProgress { doing: "reading settlements", partition: 0, done });
            self.settlements.read(self.handle, delivery, partitions, &mut go_on)?;
        }
        for partition in 0..partitions {
            let end = self.sources.log.end(partition)?;
            self.settlements.end_at(partition, end);
        }
        let mut tables = match self.sources.tables {
            Some(projection) => {
                let on_progress = &mut *self.on_progress;
                let mut go_on =
                    || on_progress(ReconcileProgress { doing: "waiting for tables", partition: 0, done: 0 });
                let wait = self.options.wait;
                let replaying = Replaying::open(self.handle, self.sources.log)?;
                Some(Tables::freeze(
                    self.handle,
                    projection,
                    self.sources.log,
                    (replaying, wait),
                    &mut go_on,
                )?)
            }
            None => None,
        };
        let mut copy = self.open_copy(partitions)?;
        let has_copy = copy.is_some();
        for partition in 0..partitions {
            self.partition(partition, tables.as_mut(), copy.as_mut())?;
        }
        copy.map_or(Ok(()), |copy| copy.check_owner(self.sources.log.deployment_id()))?;
        let has_tables = tables.is_some();
        if let Some(tables) = tables {
            let limit = self.options.limit;
            let on_progress = &mut *self.on_progress;
            let mut go_on =
                |done| on_progress(ReconcileProgress { doing: "comparing rows", partition: 0, done });
            let findings = (&mut self.of_tables, &mut self.of_sums);
            // The rows are derived from the log: they can be right only where that is.
            let is_sound = ![&self.of_log, &self.of_engine, &self.of_state].iter().any(|its| its.has_any());
            let mending = self.sources.mending.map(|mending| (mending, is_sound));
            let repair = tables.compare(findings, &mut self.suspects, (limit, mending), &mut go_on)?;
            self.repair = repair.map(|repair| repair.and(self.repair.take())).or(self.repair.take());
        }
        let places = self.trace()?;
        self.report(has_tables, has_copy, &places)
    }

    /// The copy of the log, if there is one.
    fn open_copy(&mut self, partitions: u32) -> Result<Option<CopyCheck<'s>>, ReconcileError> {
        let Some(copy) = self.sources.copy.take() else { return Ok(None) };
        let copy = CopyCheck::open(self.handle, copy, self.options.wait)?;
        copy.check_partitions(partitions, &mut self.of_copy);
        Ok(Some(copy))
    }

    /// Sides of two deployments are not compared.
    fn check_owners(&self) -> Result<(), ReconcileError> {
        let expected = self.sources.log.deployment_id();
        let engine = self.sources.engine.as_ref().map(|its| ("the engine".to_owned(), its.deployment_id()));
        let tables = self.sources.tables.map(|its| (its.database(), its.deployment_id()));
        let settlements = self.sources.settlements.map(|its| (its.database(), its.deployment_id()));
        for (what, found) in [engine, tables, settlements].into_iter().flatten() {
            if found != expected {
                let (found, expected) = (found.to_owned(), expected.to_owned());
                return Err(ReconcileError::OtherDeployment { what, found, expected });
            }
        }
        Ok(())
    }

    fn partition(
        &mut self,
        partition: u32,
        tables: Option<&mut Tables>,
        mut copy: Option<&mut CopyCheck<'_>>,
    ) -> Result<(), ReconcileError> {
        let bounds = copy.as_mut().map_or(Ok(None), |copy| copy.bounds(partition))?;
        let base = match self.sources.log.base(partition) {
            Err(ReconcileError::Broken { what }) => {
                self.of_log.add(broken(partition, what));
                return Ok(());
            }
            base => base?,
        };
        if self.sources.log.is_state_of_engine(partition) {
            self.note_hearsay(&base);
        }
        self.settlements.begin(&base);
        let mut fold = Fold::new(base);
        let goal = tables.as_ref().map(|tables| tables.goal(partition));
        let mut tables = tables;
        let feed =
            tables.as_deref_mut().map(|tables| tables.feed(self.sources.log, partition)).transpose()?;
        self.fold(&mut fold, feed)?;
        self.reaches.push(Reach {
            partition,
            begins_after: fold.begins_after,
            log: fold.machine.sequence(),
            tables: goal,
            topic: None,
        });
        if let Some(tables) = tables {
            tables.note_lag(&fold, &mut self.of_tables)?;
        }
        self.check_state(&fold);
        if let Some(engine) = self.sources.engine.as_deref_mut() {
            let on_progress = &mut *self.on_progress;
            let mut done = 0;
            let mut check = EngineCheck {
                fold: &mut fold,
                log: self.sources.log,
                engine,
                findings: &mut self.of_engine,
                suspects: &mut self.suspects,
            };
            check.run(&mut |count| {
                done += count;
                on_progress(ReconcileProgress { doing: "comparing", partition, done })
            })?;
        }
        if let Some((copy, bounds)) = copy.zip(bounds) {
            self.compare_copy(&fold, copy, bounds)?;
        }
        if let Some(finding) = fold.broken.take() {
            self.of_log.add(finding);
        }
        self.sources.mirror.map_or(Ok(()), |side| self.compare_mirror(partition, side))
    }

    /// Compares the mirror of a partition. Its rows can be right only where the log is.
    fn compare_mirror(&mut self, partition: u32, side: MirrorSide<'_>) -> Result<(), ReconcileError> {
        let is_sound = ![&self.of_log, &self.of_engine, &self.of_state].iter().any(|its| its.has_any());
        let (on_progress, mut done) = (&mut *self.on_progress, 0);
        let mut go_on = |count| {
            done += count;
            on_progress(ReconcileProgress { doing: "comparing the mirror", partition, done })
        };
        let findings = (&mut self.of_mirror, &mut self.suspects);
        let log: (&mut dyn LogSource, u32) = (&mut *self.sources.log, partition);
        let repair = mirror::compare(self.handle, side, log, findings, (is_sound, &mut go_on))?;
        if let Some(repair) = repair {
            self.repair = Some(repair.and(self.repair.take()));
        }
        Ok(())
    }

    fn compare_copy(
        &mut self,
        fold: &Fold,
        copy: &mut CopyCheck<'_>,
        bounds: (i64, i64),
    ) -> Result<(), ReconcileError> {
        let (partition, on_progress) = (fold.machine.partition(), &mut *self.on_progress);
        let mut go_on =
            |done| on_progress(ReconcileProgress { doing: "comparing the topic", partition, done });
        let sides: (&mut dyn LogSource, &Fold) = (&mut *self.sources.log, fold);
        let reached = copy.compare(sides, bounds, &mut self.of_copy, &mut go_on)?;
        if let Some(reach) = self.reaches.last_mut() {
            reach.topic = reached;
        }
        Ok(())
    }

    /// Says what is not known about a log whose beginning only the engine still knows.
    fn note_hearsay(&mut self, base: &Machine) {
        let (partition, sequence) = (base.partition(), base.sequence());
        self.of_engine.skip(format!(
            "the log of partition {partition} no longer reaches back to its beginning: up to {sequence} there is only the \
             engine's own state, which was compared with nothing but the tables"
        ));
        self.of_tables.note(format!(
            "rows of partition {partition} up to {sequence} were compared with the engine's own state: where they differ, \
             either may be wrong, and they are not put right"
        ));
    }

    /// Reads the log of a partition, for the state and for the rows.
    fn fold(&mut self, fold: &mut Fold, mut feed: Option<Feed<'_>>) -> Result<(), ReconcileError> {
        let partition = fold.machine.partition();
        let (settlements, on_progress) = (&mut self.settlements, &mut *self.on_progress);
        fold.take_all(self.sources.log, &mut |machine: &Machine, entries: &[Entry]| {
            settlements.take(machine, entries);
            if !on_progress(ReconcileProgress { doing: "folding", partition, done: machine.sequence() }) {
                return Err(ReconcileError::Stopped);
            }
            feed.as_mut().map_or(Ok(()), |feed| feed.take(entries))
        })?;
        self.of_log.compare(fold.events);
        if fold.begins_after > 0 {
            let text = format!(
                "the log of partition {partition} begins at {}; what was before is taken from the state at {}",
                fold.begins_after + 1,
                fold.begins_after
            );
            self.of_log.note(text);
        }
        feed.map_or(Ok(()), |feed| feed.end(&mut self.of_tables))
    }

    fn check_state(&mut self, fold: &Fold) {
        let (partition, through) = (fold.machine.partition(), fold.machine.sequence());
        let (findings, suspects) = (&mut self.of_state, &mut self.suspects);
        let count = invariants::check(fold.machine.state(), &fold.tallies, &mut |breach: Breach| {
            let Breach { resource, field, expected, found } = breach;
            findings.add(Finding {
                check: CheckKind::Invariants,
                partition: Some(partition),
                resource: Some(resource.to_string()),
                field: field.to_owned(),
                expected: Some(expected),
                found: Some(found),
                first_event: None,
            });
            suspects.push(Suspect { partition, resource, what: Suspicion::Invariant, through });
        });
        self.of_state.compare(count);
    }

    /// The events after which the sides part.
    fn trace(&mut self) -> Result<Places, ReconcileError> {
        let mut places = Places::new();
        self.suspects.truncate(self.options.limit.max(1) * 4);
        for partition in 0..self.sources.log.partitions() {
            if self.suspects.iter().any(|suspect| suspect.partition == partition) {
                let on_progress = &mut *self.on_progress;
                let mut go_on = |done| on_progress(ReconcileProgress { doing: "tracing", partition, done });
                trace::follow(self.sources.log, partition, &self.suspects, &mut places, &mut go_on)?;
            }
        }
        Ok(places)
    }

    fn report(mut self, has_tables: bool, has_copy: bool, places: &Places) -> Result<Report, ReconcileError> {
        let mut of_settlement = Findings::new(CheckKind::Settlement, self.options.limit);
        self.settlements.compare(&mut of_settlement);
        if self.sources.engine.is_none() {
            self.of_engine.skip("no engine was asked");
        }
        if !has_tables {
            self.of_tables.skip("there is no database of the projection");
            self.of_sums.skip("there is no database of the projection");
        }
        let of_copy = has_copy.then_some(self.of_copy);
        let all = [self.of_log, self.of_engine, self.of_state, self.of_tables, self.of_sums];
        let of_mirror = self.sources.mirror.is_some().then_some(self.of_mirror);
        let all = all.into_iter().chain(of_copy).chain(of_mirror).chain([of_settlement]);
        let (mut checks, mut findings) = (Vec::new(), Vec::new());
        for (check, found) in all.map(Findings::end) {
            checks.push(check);
            findings.extend(found);
        }
        trace::place(&mut findings, places);
        trace::name(self.sources.log, &mut findings);
        let deployment_id = self.sources.log.deployment_id().to_owned();
        Ok(Report { deployment_id, reaches: self.reaches, checks, findings, repair: self.repair })
    }
}

/// A log whose beginning cannot be read.
fn broken(partition: u32, what: String) -> Finding {
    Finding {
        check: CheckKind::Log,
        partition: Some(partition),
        resource: None,
        field: "beginning of the log".to_owned(),
        expected: Some("a state that the log goes on from".to_owned()),
        found: Some(what),
        first_event: None,
    }
}
