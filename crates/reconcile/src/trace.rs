//! The log once more, to find the first event after which two sides part.

use std::collections::{BTreeMap, BTreeSet};

use scarce_core::machine::Machine;
use scarce_core::types::Id;

use crate::ReconcileError;
use crate::fold::Fold;
use crate::invariants::{Breach, check};
use crate::report::{CheckKind, EventPlace, Finding};
use crate::run::GoOn;
use crate::source::LogSource;
use crate::touched::touched;

/// What is wrong with a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Suspicion {
    /// A row of the mirror differs.
    Mirror,
    /// The engine has this digest of it. Where the log once gave the same, they part at the next event; otherwise at the
    /// last one, which the engine's value must be later than.
    Digest(u128),
    /// An invariant does not hold; they part at the event since which it does not.
    Invariant,
    /// Something else has another value than the log gives; they part at the last event.
    Value,
}

/// A resource to follow through the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suspect {
    pub(crate) partition: u32,
    pub(crate) resource: Id,
    pub(crate) what: Suspicion,
    /// Events behind this one do not count.
    pub(crate) through: u64,
}

/// What is known of a suspect.
#[derive(Debug, Default)]
struct Trail {
    /// The event after which they part, as far as is known.
    parts: Option<EventPlace>,
    /// Whether both sides were the same once.
    has_matched: bool,
}

/// The events after which suspects part from the log, by partition, resource and check.
pub(crate) type Places = BTreeMap<(u32, Id, CheckKind), EventPlace>;

/// Follows suspects through the log of their partition.
pub(crate) fn follow(
    log: &mut dyn LogSource,
    partition: u32,
    suspects: &[Suspect],
    places: &mut Places,
    go_on: GoOn<'_>,
) -> Result<(), ReconcileError> {
    let (broken, others): (Vec<_>, Vec<_>) = (suspects.iter().filter(|its| its.partition == partition))
        .partition(|its| its.what == Suspicion::Invariant);
    for suspect in broken {
        if let Some(place) = since(log, suspect, go_on)? {
            places.insert((partition, suspect.resource.clone(), CheckKind::Invariants), place);
        }
    }
    if others.is_empty() {
        return Ok(());
    }
    let mut trails: Vec<(&Suspect, Trail)> = others.into_iter().map(|its| (its, Trail::default())).collect();
    let mut fold = Fold::new(log.base(partition)?);
    fold.take_each(log, u64::MAX, go_on, &mut |fold, entry| {
        for (suspect, trail) in &mut trails {
            let last = (entry.head.sequence_first..).zip(&entry.events).filter(|(sequence, event)| {
                *sequence <= suspect.through && touched(event).contains(&Some(&suspect.resource))
            });
            let Some((sequence, event)) = last.last() else { continue };
            let place = EventPlace { partition, sequence, event: Some(event.spec().name) };
            match suspect.what {
                Suspicion::Digest(digest) => {
                    trail.note(place, matches(&fold.machine, &suspect.resource, digest));
                }
                Suspicion::Value | Suspicion::Mirror | Suspicion::Invariant => trail.parts = Some(place),
            }
        }
    })?;
    for (suspect, trail) in trails {
        let check = match suspect.what {
            Suspicion::Digest(_) => CheckKind::Engine,
            Suspicion::Value | Suspicion::Invariant => CheckKind::Tables,
            Suspicion::Mirror => CheckKind::Mirror,
        };
        if let Some(place) = trail.parts {
            places.insert((partition, suspect.resource.clone(), check), place);
        }
    }
    Ok(())
}

fn matches(machine: &Machine, resource: &Id, digest: u128) -> bool {
    // What is not there equals nothing, but has not been there before either.
    digest != 0 && machine.state().digest(Some(resource)) == digest
}

impl Trail {
    /// Notes an event, and whether both sides are the same after it.
    fn note(&mut self, place: EventPlace, is_same: bool) {
        if is_same {
            *self = Self { parts: None, has_matched: true };
        } else if !self.has_matched || self.parts.is_none() {
            self.parts = Some(place);
        }
    }
}

/// At how many places an invariant is checked on one way through the log: a check looks at the whole state.
const PLACES: u64 = 32;

/// The event since which an invariant does not hold; `None` if it did not hold where the log begins.
fn since(
    log: &mut dyn LogSource,
    suspect: &Suspect,
    go_on: GoOn<'_>,
) -> Result<Option<EventPlace>, ReconcileError> {
    let base = log.base(suspect.partition)?;
    let (mut good, mut bad) = (base.sequence(), suspect.through);
    if !holds(&Fold::new(base), &suspect.resource) {
        return Ok(None);
    }
    loop {
        let stride = ((bad - good) / PLACES).max(1);
        let (mut next, mut narrowed, mut place) = (good + stride, (good, bad), None);
        let mut fold = Fold::new(log.base(suspect.partition)?);
        fold.take_each(log, bad, go_on, &mut |fold, entry| {
            let last = entry.sequence_last();
            if last < next || last <= good {
                return;
            }
            next = last + stride;
            if holds(fold, &suspect.resource) {
                (narrowed, place) = ((last, bad), None);
            } else if place.is_none() {
                let event = entry.events.last().map(|event| event.spec().name);
                place = Some(EventPlace { partition: suspect.partition, sequence: last, event });
                narrowed.1 = last;
            }
        })?;
        // An entry is applied as a whole: the event is then its last one.
        if stride == 1 || narrowed == (good, bad) {
            return Ok(place);
        }
        (good, bad) = narrowed;
    }
}

fn holds(fold: &Fold, resource: &Id) -> bool {
    let mut is_broken = false;
    check(fold.machine.state(), &fold.tallies, &mut |breach: Breach| {
        is_broken |= breach.resource == *resource;
    });
    !is_broken
}

/// Puts the places into findings that have none.
pub(crate) fn place(findings: &mut [Finding], places: &Places) {
    for finding in findings.iter_mut().filter(|finding| finding.first_event.is_none()) {
        let (Some(partition), Some(resource)) = (finding.partition, &finding.resource) else { continue };
        // An account of the world has no name that a caller may use.
        let Ok(resource) = Id::parse(resource.as_bytes(), "resource") else { continue };
        finding.first_event = places.get(&(partition, resource, finding.check)).cloned();
    }
}

/// How often the log is read again behind a place that it does not have.
const NAMING_TRIES: usize = 8;

/// Puts the names of events into the places of findings that have none, where the log still has these events: everything else
/// of the report is known without them.
pub(crate) fn name(log: &mut dyn LogSource, findings: &mut [Finding]) {
    let mut wanted: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    for place in findings.iter().filter_map(|finding| finding.first_event.as_ref()) {
        if place.event.is_none() {
            wanted.entry(place.partition).or_default().insert(place.sequence);
        }
    }
    let mut names = BTreeMap::new();
    for (partition, mut sequences) in wanted {
        for _ in 0..NAMING_TRIES {
            let Some(first) = sequences.first().copied() else { break };
            let read = log.read(partition, first, &mut |entries| {
                let events =
                    entries.iter().flat_map(|entry| (entry.head.sequence_first..).zip(&entry.events));
                for (sequence, event) in events.filter(|(sequence, _)| sequences.remove(sequence)) {
                    names.insert((partition, sequence), event.spec().name);
                }
                Ok(!sequences.is_empty())
            });
            // What is broken was said; what is trimmed has no name, and what is behind it may have one.
            if matches!(read, Ok(()) | Err(ReconcileError::Broken { .. })) {
                break;
            }
            sequences.remove(&first);
        }
    }
    for place in findings.iter_mut().filter_map(|finding| finding.first_event.as_mut()) {
        place.event = place.event.or_else(|| names.get(&(place.partition, place.sequence)).copied());
    }
}
