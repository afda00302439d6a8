//! Little-endian fields at fixed offsets.

/// A length that is known to be bounded, as an index.
pub(crate) fn index(value: u64) -> usize {
    usize::try_from(value).expect("bounded lengths fit the address space")
}

/// A length that is known to be bounded, as a field.
pub(crate) fn field(value: usize) -> u32 {
    u32::try_from(value).expect("bounded lengths fit 32 bits")
}

fn array<const BYTES: usize>(bytes: &[u8], at: usize) -> [u8; BYTES] {
    bytes[at..at + BYTES].try_into().expect("the slice has this length")
}

pub(crate) fn get_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

pub(crate) fn get_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

pub(crate) fn get_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}

pub(crate) fn get_u128(bytes: &[u8], at: usize) -> u128 {
    u128::from_le_bytes(array(bytes, at))
}

pub(crate) fn get_id(bytes: &[u8], at: usize) -> [u8; 16] {
    array(bytes, at)
}

pub(crate) fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}
