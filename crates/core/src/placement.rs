//! The location of a resource: the Redis Cluster slot function, modulo the number of partitions.

use crate::types::Id;

/// CRC16 as Redis Cluster uses it: polynomial 0x1021, initial value 0 (XMODEM).
#[must_use]
pub fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc: u16, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
        })
    })
}

/// The hash slot, 0 to 16 383, of an id: that of its `{tag}` if it has a non-empty one.
#[must_use]
pub fn slot(id: &Id) -> u16 {
    crc16(tag(id.as_str()).as_bytes()) & 0x3fff
}

/// The partition of an id, among `partitions`.
#[must_use]
pub fn partition(id: &Id, partitions: u32) -> u32 {
    u32::from(slot(id)) % partitions.max(1)
}

/// What of an id determines its slot: its `{tag}` if it has a non-empty one, or all of it.
#[must_use]
pub fn tag(id: &str) -> &str {
    let inner = id.find('{').and_then(|open| {
        let rest = &id[open + 1..];
        rest.find('}').map(|close| &rest[..close])
    });
    inner.filter(|tag| !tag.is_empty()).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Id {
        Id::parse(text.as_bytes(), "id").expect("an id")
    }

    #[test]
    fn slots_are_those_of_redis_cluster() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
        assert_eq!(slot(&id("foo")), 12182);
        assert_eq!(slot(&id("{foo}:bar")), 12182);
        assert_eq!(slot(&id("somekey")), 11058);
        assert_eq!(slot(&id("a{}b")), crc16(b"a{}b") & 0x3fff);
    }
}
