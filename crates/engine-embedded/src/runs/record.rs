//! A record as it is in a run, in the order of keys: what does not differ much within a run is written as what it differs by.

use scarce_core::codec::{Input, Malformed, Wire};
use scarce_core::operations::OldOperation;
use smallvec::SmallVec;

/// What the records of a run are written in terms of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Base {
    /// The first number of the run.
    pub(super) start: u64,
    /// The earliest stamp and the first sequence of its records.
    pub(super) at: u64,
    pub(super) sequence: u64,
    /// The epochs of its records, each once.
    pub(super) epochs: Vec<u64>,
}

impl Base {
    /// Notes what a record differs by.
    pub(super) fn put(&self, old: &OldOperation, out: &mut Vec<u8>) {
        old.key.iter().for_each(|half| out.extend_from_slice(&half.to_le_bytes()));
        out.extend_from_slice(&old.fingerprint.to_le_bytes());
        (old.number - self.start).put(out);
        old.at.saturating_sub(self.at).put(out);
        old.sequence_last.saturating_sub(self.sequence).put(out);
        old.events.put(out);
        let epoch = self.epochs.iter().rposition(|epoch| *epoch == old.epoch).unwrap_or(self.epochs.len());
        (epoch as u64).put(out);
        // No outcome is encoded in no bytes.
        let outcome = old.outcome.as_deref().unwrap_or_default();
        (outcome.len() as u64).put(out);
        out.extend_from_slice(outcome);
    }

    /// Reads what [`Base::put`] wrote.
    pub(super) fn get(&self, input: &mut Input<'_>) -> Result<OldOperation, Malformed> {
        let key = [u64::from_le_bytes(Wire::get(input)?), u64::from_le_bytes(Wire::get(input)?)];
        let fingerprint = u64::from_le_bytes(Wire::get(input)?);
        let (number, at, sequence) = (u64::get(input)?, u64::get(input)?, u64::get(input)?);
        let events = u32::get(input)?;
        let epoch = usize::try_from(u64::get(input)?).map_err(|_| Malformed)?;
        let length = input.count()?;
        let outcome = (length > 0).then_some(SmallVec::from_slice(input.take(length)?));
        let sum = |base: u64, more: u64| base.checked_add(more).ok_or(Malformed);
        Ok(OldOperation {
            key,
            number: sum(self.start, number)?,
            fingerprint,
            at: sum(self.at, at)?,
            epoch: *self.epochs.get(epoch).ok_or(Malformed)?,
            sequence_last: sum(self.sequence, sequence)?,
            events,
            outcome,
        })
    }
}
