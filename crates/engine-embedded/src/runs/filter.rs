//! Which keys a run may have: a binary fuse filter for each part of the keys, in the order of keys, so that a filter of millions
//! is built in little memory. Some 2.3 bytes a key; one of 65 536 other keys is said to be there.

use scarce_core::codec::Malformed;
use xorf::{BinaryFuse16, Descriptor, Filter as _};

/// About how many keys a part has.
const PART_KEYS: u64 = 1 << 18;

/// The keys of a part.
#[derive(Debug)]
enum Part {
    Empty,
    Fuse(BinaryFuse16),
    /// No filter could be built: any key may be there.
    Any,
}

impl Part {
    fn of(keys: &[u64]) -> Self {
        if keys.is_empty() {
            return Self::Empty;
        }
        BinaryFuse16::try_from(keys).map_or(Self::Any, Self::Fuse)
    }

    fn may_have(&self, key: u64) -> bool {
        match self {
            Self::Empty => false,
            Self::Fuse(fuse) => fuse.contains(&key),
            Self::Any => true,
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Empty => out.push(0),
            Self::Any => out.push(1),
            Self::Fuse(BinaryFuse16 { descriptor, fingerprints }) => {
                out.push(2);
                out.extend_from_slice(&descriptor.seed.to_le_bytes());
                let Descriptor { segment_length, segment_length_mask, segment_count_length, .. } =
                    *descriptor;
                let length = u32::try_from(fingerprints.len()).unwrap_or(u32::MAX);
                for field in [segment_length, segment_length_mask, segment_count_length, length] {
                    out.extend_from_slice(&field.to_le_bytes());
                }
                fingerprints.iter().for_each(|print| out.extend_from_slice(&print.to_le_bytes()));
            }
        }
    }

    fn get(input: &mut &[u8]) -> Result<Self, Malformed> {
        match array::<1>(input)? {
            [0] => return Ok(Self::Empty),
            [1] => return Ok(Self::Any),
            [2] => {}
            _ => return Err(Malformed),
        }
        let seed = u64::from_le_bytes(array(input)?);
        let [segment_length, segment_length_mask, segment_count_length, length] = [
            u32::from_le_bytes(array(input)?),
            u32::from_le_bytes(array(input)?),
            u32::from_le_bytes(array(input)?),
            u32::from_le_bytes(array(input)?),
        ];
        // Beyond these a look at the filter would be out of its bounds.
        let reach = u64::from(segment_count_length) + 2 * u64::from(segment_length);
        let is_sound = segment_length.is_power_of_two() && segment_length_mask == segment_length - 1;
        if !is_sound || segment_count_length == 0 || reach > u64::from(length) {
            return Err(Malformed);
        }
        let bytes = usize::try_from(length).map_err(|_| Malformed)?.checked_mul(2).ok_or(Malformed)?;
        let (prints, rest) = input.split_at_checked(bytes).ok_or(Malformed)?;
        *input = rest;
        let fingerprints =
            prints.chunks_exact(2).map(|print| u16::from_le_bytes([print[0], print[1]])).collect();
        let descriptor = Descriptor { seed, segment_length, segment_length_mask, segment_count_length };
        Ok(Self::Fuse(BinaryFuse16 { descriptor, fingerprints }))
    }
}

fn array<const BYTES: usize>(input: &mut &[u8]) -> Result<[u8; BYTES], Malformed> {
    let (taken, rest) = input.split_first_chunk::<BYTES>().ok_or(Malformed)?;
    *input = rest;
    Ok(*taken)
}

/// Which keys may be there.
#[derive(Debug)]
pub(super) struct Filter {
    /// How many of the first bits of a key say its part.
    bits: u32,
    parts: Vec<Part>,
}

impl Filter {
    /// Whether a key may be there. If not, it is not.
    pub(super) fn may_have(&self, key: [u64; 2]) -> bool {
        let part = part_of(key[0], self.bits);
        self.parts.get(part).is_none_or(|part| part.may_have(key[1]))
    }

    /// Appends it to the index of a run.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bits.to_le_bytes());
        self.parts.iter().for_each(|part| part.put(out));
    }

    /// Reads what [`Filter::put`] wrote.
    pub(super) fn get(input: &mut &[u8]) -> Result<Self, Malformed> {
        let bits = u32::from_le_bytes(array(input)?);
        if bits > 32 {
            return Err(Malformed);
        }
        let parts = (0..1_u64 << bits).map(|_| Part::get(input)).collect::<Result<_, _>>()?;
        Ok(Self { bits, parts })
    }
}

#[allow(clippy::cast_possible_truncation, reason = "at most 32 bits are left")]
const fn part_of(half: u64, bits: u32) -> usize {
    // All bits would be shifted out.
    if bits == 0 { 0 } else { (half >> (64 - bits)) as usize }
}

/// Builds a filter of keys that come in their order.
#[derive(Debug)]
pub(super) struct FilterBuilder {
    filter: Filter,
    keys: Vec<u64>,
}

impl FilterBuilder {
    /// For at most so many keys.
    pub(super) fn new(count_max: u64) -> Self {
        let bits = count_max.div_ceil(PART_KEYS).max(1).next_power_of_two().trailing_zeros();
        Self { filter: Filter { bits, parts: Vec::new() }, keys: Vec::new() }
    }

    pub(super) fn push(&mut self, key: [u64; 2]) {
        let part = part_of(key[0], self.filter.bits);
        while self.filter.parts.len() < part {
            self.end_part();
        }
        self.keys.push(key[1]);
    }

    fn end_part(&mut self) {
        self.filter.parts.push(Part::of(&self.keys));
        self.keys.clear();
    }

    pub(super) fn finish(mut self) -> Filter {
        while self.filter.parts.len() < 1 << self.filter.bits {
            self.end_part();
        }
        self.filter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u64) -> [u64; 2] {
        let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        [mixed ^ (mixed >> 29), mixed.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ number]
    }

    #[test]
    fn no_key_that_is_there_is_missed_and_few_others_are_believed() {
        for count in [1, 2, 3, 10, 1_000, 300_000, 1_200_000] {
            let mut keys: Vec<_> = (0..count).map(key).collect();
            keys.sort_unstable();
            let mut builder = FilterBuilder::new(count);
            keys.iter().for_each(|key| builder.push(*key));
            let mut bytes = Vec::new();
            builder.finish().put(&mut bytes);
            let filter = Filter::get(&mut bytes.as_slice()).expect("what was written");
            assert!(keys.iter().all(|key| filter.may_have(*key)), "{count}");
            let believed = (count..count + 500_000).filter(|number| filter.may_have(key(*number))).count();
            assert!(believed < 40, "{believed} of {count}");
            assert!(Filter::get(&mut &bytes[..bytes.len() - 1]).is_err());
            if count > 100_000 {
                assert!(bytes.len() as u64 * 10 < count * 26, "{} bytes for {count}", bytes.len());
            }
        }
    }
}
