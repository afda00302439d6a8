//! The mirror in Redis against the state that the log gives.

use scarce_core::types::Id;
use scarce_engine::Failure;
use scarce_mirror::{Compared, Difference, Mirror, MirrorError, Tracker, Verification};
use scarce_projection::Repaired;
use tokio::runtime::Handle;

use crate::ReconcileError;
use crate::findings::Findings;
use crate::report::{CheckKind, Finding, RepairReport};
use crate::run::GoOn;
use crate::source::LogSource;
use crate::trace::{Suspect, Suspicion};

/// A mirror that is compared.
#[derive(Clone, Copy)]
pub struct MirrorSide<'s> {
    /// Where it is.
    pub mirror: &'s Mirror,
    /// Whether rows that differ are put right, where that is to be done or, with `false`, tried.
    pub repairs: Option<bool>,
}

/// Compares the mirror of a partition, and puts right what differs where that is wanted and the log is sound.
pub(crate) fn compare(
    handle: &Handle,
    side: MirrorSide<'_>,
    (log, partition): (&mut dyn LogSource, u32),
    (findings, suspects): (&mut Findings, &mut Vec<Suspect>),
    (is_sound, go_on): (bool, GoOn<'_>),
) -> Result<Option<RepairReport>, ReconcileError> {
    let mut tracker = Tracker::new(log.base(partition)?);
    let mut failed = None;
    let mut advance = |tracker: &mut Tracker, through: u64| {
        let read = lead(log, tracker, through);
        read.map_err(|error| {
            let reason = error.to_string();
            failed = Some(error);
            MirrorError::from(Failure::Unavailable { reason })
        })
    };
    let verifying = Verification::run(side.mirror, &mut tracker, &mut advance, go_on);
    let verification = match handle.block_on(verifying) {
        Err(MirrorError::Log { sequence, .. }) => {
            findings.skip(format!(
                "the mirror of partition {partition} is at {sequence}, where the log does not lead"
            ));
            return Ok(None);
        }
        Err(error) => return Err(failed.unwrap_or_else(|| error.into())),
        Ok(verification) => verification,
    };
    let compared = verification.compared();
    findings.compare(compared.rows);
    if compared.position.sequence == 0 {
        findings
            .note(format!("the mirror of partition {partition} shows nothing yet, or is being written anew"));
    }
    for difference in &compared.differences {
        note(difference, partition, compared.position.sequence, findings, suspects);
    }
    let Some(commits) = side.repairs.filter(|_| !compared.differences.is_empty()) else { return Ok(None) };
    let report = RepairReport { rows: counted(compared), ..RepairReport::default() };
    if !is_sound {
        let why =
            "log, engine or invariants differ, too: find out why first, since rows are made from the log";
        return Ok(Some(RepairReport { refused: Some(why.to_owned()), ..RepairReport::default() }));
    }
    if commits {
        handle.block_on(verification.repair())?;
    }
    Ok(Some(RepairReport { is_done: commits, ..report }))
}

/// Brings a state to a sequence by the log.
fn lead(log: &mut dyn LogSource, tracker: &mut Tracker, through: u64) -> Result<(), ReconcileError> {
    let (partition, from) = (tracker.partition(), tracker.position().sequence + 1);
    log.read(partition, from, &mut |entries| {
        let wanted = entries.iter().filter(|entry| entry.head.sequence_first <= through);
        wanted.for_each(|entry| tracker.follow(entry));
        Ok(tracker.position().sequence < through)
    })
}

fn note(
    its: &Difference,
    partition: u32,
    through: u64,
    findings: &mut Findings,
    suspects: &mut Vec<Suspect>,
) {
    if let Ok(resource) = Id::parse(its.resource().as_bytes(), "resource") {
        suspects.push(Suspect { partition, resource, what: Suspicion::Mirror, through });
    }
    findings.add(Finding {
        check: CheckKind::Mirror,
        partition: Some(partition),
        resource: Some(its.resource().to_owned()),
        field: format!("{} of '{}'", its.key, its.place),
        expected: its.expected.clone(),
        found: its.found.clone(),
        first_event: None,
    });
}

fn counted(compared: &Compared) -> Repaired {
    let mut rows = Repaired::default();
    for its in &compared.differences {
        match (&its.expected, &its.found) {
            (Some(_), None) => rows.added += 1,
            (Some(_), Some(_)) => rows.changed += 1,
            (None, _) => rows.removed += 1,
        }
    }
    rows
}

impl RepairReport {
    /// What became of rows of two stores.
    pub(crate) fn and(self, other: Option<Self>) -> Self {
        let Some(other) = other else { return self };
        let (one, two) = (self.rows, other.rows);
        Self {
            is_done: self.is_done || other.is_done,
            rows: Repaired {
                added: one.added + two.added,
                changed: one.changed + two.changed,
                removed: one.removed + two.removed,
                left: one.left + two.left,
            },
            refused: self.refused.or(other.refused),
        }
    }
}
