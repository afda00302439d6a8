//! What a consumer's rows share with the log that is there, where another history was put back.

use scarce_client::{Client, Extent, Reply};
use scarce_core::event::Position;
use scarce_delivery::Stretch;
use scarce_engine::consumers::vouches;

use super::held::{Divergence, Gap};
use crate::Failed;

/// The last position of what a consumer has read that the log has, too; the beginning if that cannot be told. The engine
/// knows what the consumer confirmed in the history that was put back, which may not be the one that its rows are of.
pub(super) fn find(
    client: &mut Client,
    extent: &Extent,
    its: &Divergence,
    stretches: &[Stretch],
) -> Result<Position, Failed> {
    let confirmed = if its.is_unknown() { Position::default() } else { its.confirmed };
    for stretch in stretches.iter().rev().filter(|stretch| stretch.epoch > 0) {
        if let Some(shared) = last_shared(client, extent, its.partition, stretch)? {
            return Ok(shared);
        }
    }
    // The log no longer reaches back to where the histories parted, or an earlier release read what they share and noted no
    // epochs; the engine may know a position of it.
    let is_read =
        |its: &Stretch| its.epoch == confirmed.epoch && (its.first..=its.last).contains(&confirmed.sequence);
    let is_older = stretches.first().is_none_or(|first| confirmed.sequence < first.first);
    Ok(if is_older || stretches.iter().any(is_read) { confirmed } else { Position::default() })
}

/// Whether a position whose event was trimmed is of the log's history for certain: by what the consumer confirmed, or by the
/// epochs that wrote the log.
pub(super) fn is_ours(client: &mut Client, confirmed: Option<Position>, gap: &Gap) -> Result<bool, Failed> {
    if confirmed.is_some_and(|confirmed| vouches(confirmed, gap.held)) {
        return Ok(true);
    }
    let Position { epoch, sequence } = gap.held;
    let words = [u64::from(gap.partition), epoch, sequence].map(|it| it.to_string());
    let answer = client.call(&["CONSUMER", "STANDING", &words[0], &words[1], &words[2]])?;
    Ok(epoch > 0 && ["known", "passed"].map(serde_json::Value::from).contains(&crate::call::json(&answer)))
}

/// The last position of a stretch that the log has. An epoch has one beginning, so the log has all before it, too.
fn last_shared(
    client: &mut Client,
    extent: &Extent,
    partition: u32,
    stretch: &Stretch,
) -> Result<Option<Position>, Failed> {
    let at = |sequence| Position { epoch: stretch.epoch, sequence };
    let (mut low, mut high) = (stretch.first.max(extent.first), stretch.last.min(extent.last.unwrap_or(0)));
    if low > high || !is_known(client, partition, at(low))? {
        return Ok(None);
    }
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if is_known(client, partition, at(middle))? { low = middle } else { high = middle - 1 }
    }
    Ok(Some(at(low)))
}

/// Whether the log has an event.
fn is_known(client: &mut Client, partition: u32, at: Position) -> Result<bool, Failed> {
    let words = [u64::from(partition), at.epoch, at.sequence].map(|it| it.to_string());
    let answer = client.call(&["EVENTS", &words[0], &words[1], &words[2], "COUNT", "0"])?;
    Ok(!matches!(Reply::of(answer), Reply::Error(_)))
}

/// When an event was logged, if the log still has it; 0 for the beginning.
pub(super) fn time_of(client: &mut Client, partition: u32, at: Position) -> Result<Option<u64>, Failed> {
    let Some(before) = at.sequence.checked_sub(1) else { return Ok(Some(0)) };
    let words = [u64::from(partition), before].map(|it| it.to_string());
    let answer = client.call(&["EVENTS", &words[0], "0", &words[1], "COUNT", "1"])?;
    let redis::Value::Array(events) = answer else { return Ok(None) };
    let Some(redis::Value::Array(values)) = events.into_iter().next() else { return Ok(None) };
    Ok(values.get(TIME_AT).and_then(scarce_client::integer).and_then(|at| u64::try_from(at).ok()))
}

/// Where the time is among the values of an event.
const TIME_AT: usize = 3;
