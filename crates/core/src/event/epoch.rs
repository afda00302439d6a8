//! Epochs: each names one history of a partition's log.
//!
//! An epoch is a count, which rises with every leadership, and 32 random bits. The count keeps epochs in order. The
//! random bits keep two leaderships apart that went on from the same place with the same count: the one that a put-back
//! data directory or an old dump began, and the one that was lost with it. Two histories therefore agree on no position
//! behind the place where they part.

/// What the count is multiplied by.
pub const COUNT_UNIT: u64 = 1 << 32;

/// The number of counts: epochs stay below 2^53, which JSON and Lua keep exactly.
pub const COUNTS: u64 = 1 << 21;

/// The epoch of the leadership after one of epoch `last`, or after no leadership for 0. `salt` must be random.
///
/// It is always larger. After two million leaderships counts are used up, and epochs rise by 1 only.
#[must_use]
pub const fn next(last: u64, salt: u32) -> u64 {
    advanced(last, 1, salt)
}

/// An epoch that is `counts` leaderships further than [`next`] goes.
#[must_use]
pub const fn advanced(last: u64, counts: u64, salt: u32) -> u64 {
    let count = count(last).saturating_add(counts);
    if count < COUNTS { count * COUNT_UNIT + salt as u64 } else { last.saturating_add(1) }
}

/// How many leaderships an epoch is from the first; 0 for the epochs of releases that counted without random bits.
#[must_use]
pub const fn count(epoch: u64) -> u64 {
    epoch / COUNT_UNIT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_rise_and_two_leaderships_from_one_place_differ() {
        for last in [0, 1, 1_003, u64::from(u32::MAX), next(0, 0), next(0, u32::MAX), next(1 << 50, 7)] {
            let [one, other] = [next(last, 0), next(last, u32::MAX)];
            assert!(last < one && one < other && other < 1 << 53, "{last}: {one}, {other}");
            assert_eq!(count(one), count(last) + 1);
            assert!(advanced(last, 1_000, 0) > other);
        }
    }

    #[test]
    fn epochs_rise_when_counts_are_used_up() {
        let last = (COUNTS - 1) * COUNT_UNIT + 5;
        assert_eq!(next(last, 9), last + 1);
        assert_eq!(next(u64::MAX, 9), u64::MAX);
    }
}
