//! How much memory the server may take.

use super::table::Spec;
use super::value::{Kind, Setting};

/// How much memory the server may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryMax {
    /// As much as there is.
    Unlimited,
    /// So many hundredths of what the machine has, or of what the control group allows.
    Percent(u64),
    /// So many bytes.
    Bytes(u64),
}

/// What a server takes that has nothing in it yet, several times over.
const BYTES_MIN: u64 = 48 << 20;

const UNITS: [(&str, u32); 5] = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40), ("", 0)];

impl MemoryMax {
    /// In bytes, where there are `limit` bytes in all.
    #[must_use]
    pub fn bytes_of(self, limit: Option<u64>) -> Option<u64> {
        match self {
            Self::Unlimited => None,
            Self::Percent(percent) => Some(limit? / 100 * percent),
            Self::Bytes(bytes) => Some(bytes),
        }
    }
}

impl Setting for MemoryMax {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        "a percentage such as 80%, a size of at least 48MiB such as 6GiB, or off".to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        if text.eq_ignore_ascii_case("off") {
            return Some(Self::Unlimited);
        }
        if let Some(percent) = text.strip_suffix('%') {
            return percent.parse().ok().filter(|percent| (1..=100).contains(percent)).map(Self::Percent);
        }
        let (digits, shift) = UNITS.iter().find_map(|(unit, shift)| {
            let at = text.len().checked_sub(unit.len())?;
            let (digits, suffix) = text.split_at_checked(at)?;
            suffix.eq_ignore_ascii_case(unit).then_some((digits, *shift))
        })?;
        let bytes = digits.parse::<u64>().ok()?.checked_mul(1 << shift)?;
        (bytes >= BYTES_MIN).then_some(Self::Bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SETTINGS;

    fn read(text: &str) -> Option<MemoryMax> {
        MemoryMax::read(text, &SETTINGS[0])
    }

    #[test]
    fn sizes_shares_and_off_are_read_and_nothing_else() {
        assert_eq!(read("64MiB"), Some(MemoryMax::Bytes(64 << 20)));
        assert_eq!(read("2gib"), Some(MemoryMax::Bytes(2 << 30)));
        assert_eq!(read("67108864"), Some(MemoryMax::Bytes(64 << 20)));
        assert_eq!(read("80%").and_then(|max| max.bytes_of(Some(1_000))), Some(800));
        assert_eq!(read("80%").and_then(|max| max.bytes_of(None)), None);
        assert_eq!(read("off"), Some(MemoryMax::Unlimited));
        for text in ["", "%", "0%", "101%", "8", "8 GiB", "GiB", "-1GiB", "1.5GiB", "99999999TiB", "é"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
