//! The state as the engine answers it, against the state that its log gives.

use scarce_core::types::Id;

use crate::ReconcileError;
use crate::findings::Findings;
use crate::fold::Fold;
use crate::report::{EventPlace, Finding};
use crate::run::GoOn;
use crate::source::{EngineSource, HeldDigest, LogSource, figures_in};
use crate::trace::{Suspect, Suspicion};

/// How many resources are asked for together.
const RESOURCES_AT_ONCE: usize = 64;

/// How many entities an engine digests at once; it may take the digest of more from its log, which is compared with
/// nothing then, so what it shows of such a resource is compared as well.
const ENTITIES_MAX: usize = 8_192;

/// How often a value is asked for that changes meanwhile.
const TRIES_MAX: usize = 20;

/// The comparison of one partition.
pub(crate) struct EngineCheck<'c> {
    pub(crate) fold: &'c mut Fold,
    pub(crate) log: &'c mut dyn LogSource,
    pub(crate) engine: &'c mut dyn EngineSource,
    pub(crate) findings: &'c mut Findings,
    pub(crate) suspects: &'c mut Vec<Suspect>,
}

impl EngineCheck<'_> {
    fn partition(&self) -> u32 {
        self.fold.machine.partition()
    }

    /// Compares all resources of the partition.
    pub(crate) fn run(&mut self, go_on: GoOn<'_>) -> Result<(), ReconcileError> {
        if self.fold.broken.is_some() {
            let text = format!("partition {} was not compared: its log is broken", self.partition());
            self.findings.skip(text);
            return Ok(());
        }
        let (large, small) = self.resources();
        let mut differs = false;
        let batches = small.chunks(RESOURCES_AT_ONCE).chain(large.chunks(1));
        for batch in batches {
            let answers = self.engine.digests(self.partition(), batch)?;
            for (resource, held) in batch.iter().zip(answers) {
                let is_large = batch.len() == 1 && large.contains(resource);
                let Some(is_same) = self.compare(resource, held, is_large)? else { return Ok(()) };
                differs |= !is_same;
            }
            self.findings.compare(batch.len() as u64);
            if !go_on(batch.len() as u64) {
                return Err(ReconcileError::Stopped);
            }
        }
        self.compare_whole(differs)
    }

    /// The resources of the partition in the order of their names, those apart whose digest takes long. What a caller
    /// cannot name, the world's accounts, is compared as a sum.
    fn resources(&self) -> (Vec<Id>, Vec<Id>) {
        let state = self.fold.machine.state();
        let mut all: Vec<Id> = (state.accounts.iter().map(|(id, _)| id))
            .chain(state.stock.iter().map(|(id, _)| id))
            .chain(state.campaigns.iter().map(|(id, _)| id))
            .chain(state.coupons.iter().map(|(id, _)| id))
            .chain(state.markets.iter().map(|(id, _)| id))
            .filter(|id| !id.as_str().starts_with('$'))
            .cloned()
            .collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().partition(|id| !state.is_digest_within(Some(id), ENTITIES_MAX))
    }

    /// Compares one resource; `None` where the log does not lead to what the engine has.
    fn compare(
        &mut self,
        resource: &Id,
        held: HeldDigest,
        is_large: bool,
    ) -> Result<Option<bool>, ReconcileError> {
        let Some(held) = self.catch_up(Some(resource), held)? else { return Ok(None) };
        let made = self.fold.machine.state().digest(Some(resource));
        if made == held.digest && !is_large {
            return Ok(Some(true));
        }
        let (fields, held) = self.differing(resource, held)?;
        if fields.is_empty() && self.fold.machine.state().digest(Some(resource)) == held.digest {
            return Ok(Some(true));
        }
        let partition = self.partition();
        let finding = |(field, expected, found)| Finding {
            check: self.findings.kind(),
            partition: Some(partition),
            resource: Some(resource.to_string()),
            field,
            expected,
            found,
            first_event: None,
        };
        let digests = || {
            let made = self.fold.machine.state().digest(Some(resource));
            let values = (format!("{made:032x}"), format!("{:032x}", held.digest));
            vec![("digest".to_owned(), Some(values.0), Some(values.1))]
        };
        let fields = if fields.is_empty() { digests() } else { fields };
        for found in fields.into_iter().map(finding).collect::<Vec<_>>() {
            self.findings.add(found);
        }
        let what = Suspicion::Digest(held.digest);
        self.suspects.push(Suspect { partition, resource: resource.clone(), what, through: held.sequence });
        Ok(Some(false))
    }

    /// What the engine shows of a resource and the state does not, or otherwise; at the sequence of its digest.
    fn differing(
        &mut self,
        resource: &Id,
        mut held: HeldDigest,
    ) -> Result<(Vec<Values>, HeldDigest), ReconcileError> {
        for _ in 0..TRIES_MAX {
            let shown = self.engine.figures(self.partition(), resource)?;
            let again = self.engine.digests(self.partition(), std::slice::from_ref(resource))?;
            let Some(again) = again.first() else { break };
            if again.digest == held.digest {
                let made = figures_in(&self.fold.machine, resource);
                return Ok((differences(&made, &shown), held));
            }
            // It was changed meanwhile.
            match self.catch_up(Some(resource), *again)? {
                Some(its) => held = its,
                None => break,
            }
            if held.digest == self.fold.machine.state().digest(Some(resource)) {
                return Ok((Vec::new(), held));
            }
        }
        Ok((Vec::new(), held))
    }

    /// Folds up to what the engine has; asks again where that is behind what is folded. `None` where the log does not
    /// lead there, which is a difference.
    fn catch_up(
        &mut self,
        resource: Option<&Id>,
        mut held: HeldDigest,
    ) -> Result<Option<HeldDigest>, ReconcileError> {
        for _ in 0..TRIES_MAX {
            if held.sequence >= self.fold.machine.sequence() {
                break;
            }
            let partition = self.partition();
            let again = match resource {
                Some(id) => self.engine.digests(partition, std::slice::from_ref(id))?.pop(),
                None => Some(self.engine.whole(partition)?),
            };
            held = again.unwrap_or(held);
        }
        if self.fold.reach(self.log, held.sequence)? {
            return Ok(Some(held));
        }
        let (partition, end) = (self.partition(), self.fold.machine.sequence());
        let first = held.sequence.min(end) + 1;
        let event = EventPlace { partition, sequence: first, event: None };
        self.findings.add(Finding {
            check: self.findings.kind(),
            partition: Some(partition),
            resource: None,
            field: "last sequence".to_owned(),
            expected: Some(end.to_string()),
            found: Some(held.sequence.to_string()),
            first_event: Some(event),
        });
        Ok(None)
    }

    /// Compares the whole partition: also resources that the log does not make.
    fn compare_whole(&mut self, differs: bool) -> Result<(), ReconcileError> {
        let partition = self.partition();
        let held = self.engine.whole(partition)?;
        let Some(held) = self.catch_up(None, held)? else { return Ok(()) };
        let made = self.fold.machine.state().digest(None);
        if made == held.digest {
            return Ok(());
        }
        let unknown = self.unknown(held.sequence)?;
        let kind = self.findings.kind();
        let finding = |resource, field: &str, expected, found| Finding {
            check: kind,
            partition: Some(partition),
            resource,
            field: field.to_owned(),
            expected,
            found,
            first_event: None,
        };
        let mut found = Vec::new();
        for ids in unknown.chunks(RESOURCES_AT_ONCE) {
            for (id, held) in ids.iter().zip(self.engine.digests(partition, ids)?) {
                let digest = format!("{:032x}", held.digest);
                found.push(finding(Some(id.to_string()), "digest", None, Some(digest)));
            }
        }
        if found.is_empty() && !differs {
            let values = (Some(format!("{made:032x}")), Some(format!("{:032x}", held.digest)));
            found.push(finding(None, "digest of the partition", values.0, values.1));
        }
        found.into_iter().for_each(|found| self.findings.add(found));
        Ok(())
    }

    /// Resources that the engine has and the log does not make.
    fn unknown(&mut self, through: u64) -> Result<Vec<Id>, ReconcileError> {
        let mut unknown = Vec::new();
        if let Some(mut image) = self.engine.image(self.partition())?
            // What came later is no difference.
            && image.moment().position.sequence <= through
        {
            let known = self.fold.machine.state();
            image.rows(&mut |row| {
                let new = row.resource().filter(|id| known.digest(Some(id)) == 0);
                unknown.extend(new.cloned());
            })?;
        }
        Ok(unknown)
    }
}

/// A field with the value that the log gives and that of the engine.
type Values = (String, Option<String>, Option<String>);

fn differences(made: &[(String, String)], shown: &[(String, String)]) -> Vec<Values> {
    let value = |of: &[(String, String)], name: &str| {
        of.iter().find(|(its, _)| its == name).map(|(_, value)| value.clone())
    };
    let mut names: Vec<&String> = made.iter().chain(shown).map(|(name, _)| name).collect();
    names.dedup();
    let mut seen = std::collections::BTreeSet::new();
    let new = names.into_iter().filter(|name| seen.insert((*name).clone()));
    let pairs = new.map(|name| (name.clone(), value(made, name), value(shown, name)));
    pairs.filter(|(_, made, shown)| made != shown).collect()
}
