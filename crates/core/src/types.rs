//! Integers, ids and times: the only forms in which numbers and names enter the state machine.

use std::fmt;
use std::hash::{Hash, Hasher};

use compact_str::CompactString;

use crate::invalid::Invalid;
use crate::store::Lookup;

/// The largest magnitude of any amount, quantity, price, counter or balance: 2^53 − 1, exact in
/// JSON, in JavaScript, in Lua and in a sorted-set score.
pub const INTEGER_MAX: u64 = (1 << 53) - 1;

/// [`INTEGER_MAX`] with a sign, for balances.
pub const BALANCE_MAX: i64 = (1 << 53) - 1;

/// Unix milliseconds, at most [`INTEGER_MAX`].
pub type TimeMs = u64;

/// The longest id, in bytes.
pub const ID_BYTES_MAX: usize = 64;

/// The longest operation id, in bytes.
pub const OPERATION_ID_BYTES_MAX: usize = 128;

/// The stamp at which something of `ttl_ms` started now ends, kept within the range of integers.
#[must_use]
pub fn deadline_after(now: TimeMs, ttl_ms: Positive) -> TimeMs {
    now.saturating_add(ttl_ms.get()).min(INTEGER_MAX)
}

/// A quantity that is known to be at most [`INTEGER_MAX`], as a signed integer.
#[must_use]
pub fn signed(quantity: u64) -> i64 {
    i64::try_from(quantity).unwrap_or(i64::MAX)
}

macro_rules! integer {
    ($(#[$doc:meta])* $name:ident($inner:ty), $min:expr, $max:expr, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($inner);

        impl $name {
            /// The number as such, or `None` where it is out of range.
            #[must_use]
            pub const fn new(value: $inner) -> Option<Self> {
                let range: ($inner, $inner) = ($min, $max);
                if value < range.0 || value > range.1 { None } else { Some(Self(value)) }
            }

            /// The number.
            #[must_use]
            pub const fn get(self) -> $inner {
                self.0
            }

            /// Reads a decimal integer without sign, point, exponent or leading blanks where none belong.
            ///
            /// # Errors
            /// When the text is no such number or lies outside the range.
            pub fn parse(text: &[u8], argument: &'static str) -> Result<Self, Invalid> {
                parse_integer(text)
                    .and_then(|wide| <$inner>::try_from(wide).ok())
                    .and_then(Self::new)
                    .ok_or_else(|| Invalid::new(argument, concat!("must be ", $what)))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

integer!(
    /// An integer from 1 to 2^53 − 1.
    Positive(u64), 1, INTEGER_MAX, "an integer from 1 to 9007199254740991"
);
integer!(
    /// An integer from 0 to 2^53 − 1.
    Natural(u64), 0, INTEGER_MAX, "an integer from 0 to 9007199254740991"
);
integer!(
    /// An integer of magnitude up to 2^53 − 1.
    Delta(i64), -BALANCE_MAX, BALANCE_MAX, "an integer from -9007199254740991 to 9007199254740991"
);

/// The most rows that a caller may ask of a list at once.
pub const ROWS_MAX: u64 = 10_000;

integer!(
    /// How many rows of a list are wanted: 1 to [`ROWS_MAX`].
    RowCount(u64), 1, ROWS_MAX, "an integer from 1 to 10000"
);

impl RowCount {
    /// One.
    pub const ONE: Self = Self(1);
    /// Ten.
    pub const TEN: Self = Self(10);
    /// A hundred.
    pub const HUNDRED: Self = Self(100);
    /// A thousand.
    pub const THOUSAND: Self = Self(1_000);

    /// As the length of a list in memory.
    #[must_use]
    pub fn rows(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl Natural {
    /// Zero.
    pub const ZERO: Self = Self(0);
}

impl Positive {
    /// One.
    pub const ONE: Self = Self(1);
}

/// Plain decimal digits with an optional minus; anything else is not an integer. Leading zeros are
/// refused, because a number has one spelling only.
fn parse_integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 16 || (digits[0] == b'0' && (digits.len() > 1 || negative)) {
        return None;
    }
    let mut value: i64 = 0;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    Some(if negative { -value } else { value })
}

/// The name of a resource or of a record within one: 1 to 64 bytes of `A-Z a-z 0-9 _ . : @ / + = -`
/// and at most one hash tag `{…}`. Compared as bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(CompactString);

impl Id {
    /// Reads an id.
    ///
    /// # Errors
    /// When it is empty or too long, or contains an invalid byte or a second hash tag.
    pub fn parse(text: &[u8], argument: &'static str) -> Result<Self, Invalid> {
        check_id(text).map_err(|reason| Invalid::new(argument, reason))?;
        CompactString::from_utf8(text).map(Self).map_err(|_| Invalid::new(argument, ILLEGAL))
    }

    /// The prefix of world accounts' names; no caller may use it in a name.
    pub const WORLD_PREFIX: &'static str = "$world:";

    /// The account through which money of `asset` enters and leaves a partition.
    #[must_use]
    pub fn world(asset: &Id) -> Self {
        Self(compact_str::format_compact!("{}{}", Self::WORLD_PREFIX, asset.0))
    }

    /// The name under which a resource is listed; a world account has none.
    #[must_use]
    pub fn listed(&self) -> Option<&str> {
        Some(self.as_str()).filter(|name| !name.starts_with('$'))
    }

    /// Takes text that was validated when it first arrived, such as text from the log.
    pub(crate) fn trusted(text: CompactString) -> Self {
        Self(text)
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name of a resource where it was read, to look its row up by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'a>(pub(crate) &'a [u8]);

/// As an [`Id`].
impl Hash for Name<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write(self.0);
        hasher.write_u8(0xff);
    }
}

impl Lookup<Id> for Name<'_> {
    #[inline]
    fn is(&self, id: &Id) -> bool {
        id.0.as_bytes() == self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const ILLEGAL: &str = "may hold A-Z a-z 0-9 _ . : @ / + = - and one {tag} only";

/// What a byte is in an id: 1 as it is, 2 a brace, 4 illegal.
static BYTES: [u8; 256] = {
    let mut kinds = [4; 256];
    let mut at: u8 = 0;
    while at < 128 {
        kinds[at as usize] = match at {
            b'{' | b'}' => 2,
            b'_' | b'.' | b':' | b'@' | b'/' | b'+' | b'=' | b'-' => 1,
            _ if at.is_ascii_alphanumeric() => 1,
            _ => 4,
        };
        at += 1;
    }
    kinds
};

/// Whether the bytes are an id.
pub(crate) fn is_id(text: &[u8]) -> bool {
    check_id(text).is_ok()
}

fn check_id(text: &[u8]) -> Result<(), &'static str> {
    if text.is_empty() || text.len() > ID_BYTES_MAX {
        return Err("must be 1 to 64 bytes long");
    }
    let kinds = text.iter().fold(0, |kinds, byte| kinds | BYTES[usize::from(*byte)]);
    if kinds == 1 {
        return Ok(());
    }
    let mut braces = text.iter().filter(|byte| matches!(byte, b'{' | b'}'));
    let tagged = matches!(
        (braces.next(), braces.next(), braces.next()),
        (None, _, _) | (Some(b'{'), Some(b'}'), None)
    );
    if !tagged {
        return Err("may have one hash tag {…} at most");
    }
    if kinds & 4 == 0 { Ok(()) } else { Err(ILLEGAL) }
}

/// The id under which a caller's operation is applied once: 1 to 128 printable ASCII bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationId(CompactString);

impl OperationId {
    /// Reads an operation id.
    ///
    /// # Errors
    /// When it is empty, longer than 128 bytes, or contains a byte that is not printable ASCII.
    pub fn parse(text: &[u8], argument: &'static str) -> Result<Self, Invalid> {
        if !has_operation_id_length(text) {
            return Err(Invalid::new(argument, "must be 1 to 128 bytes long"));
        }
        let refused = || Invalid::new(argument, "may hold printable ASCII without blanks only");
        if !is_graphic(text) {
            return Err(refused());
        }
        CompactString::from_utf8(text).map(Self).map_err(|_| refused())
    }

    pub(crate) fn trusted(text: CompactString) -> Self {
        Self(text)
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The time in a `UUIDv7`, or in a ULID where those count.
    #[must_use]
    pub fn time_ms(&self, ulid_times: bool) -> Option<TimeMs> {
        time_of(self.0.as_bytes(), ulid_times)
    }

    /// The time in a `UUIDv7`, or `None` if the id is not one.
    #[must_use]
    pub fn uuid_v7_ms(&self) -> Option<TimeMs> {
        uuid_v7_ms(self.0.as_bytes())
    }

    /// The time in a ULID, or `None` if the id is not one.
    #[must_use]
    pub fn ulid_ms(&self) -> Option<TimeMs> {
        ulid_ms(self.0.as_bytes())
    }
}

/// Whether the bytes are an operation id.
pub(crate) fn is_operation_id(text: &[u8]) -> bool {
    has_operation_id_length(text) && is_graphic(text)
}

fn has_operation_id_length(text: &[u8]) -> bool {
    (1..=OPERATION_ID_BYTES_MAX).contains(&text.len())
}

/// The time in an operation id that is a `UUIDv7`, or a ULID where those count.
#[must_use]
pub fn time_of(id: &[u8], ulid_times: bool) -> Option<TimeMs> {
    match id.len() {
        36 => uuid_v7_ms(id),
        26 if ulid_times => ulid_ms(id),
        _ => None,
    }
}

/// The time in a `UUIDv7`, or `None` if the id is not one.
fn uuid_v7_ms(id: &[u8]) -> Option<TimeMs> {
    let dashes = [8, 13, 18, 23];
    if id.len() != 36 || id[14] != b'7' || !matches!(id[19], b'8' | b'9' | b'a' | b'b' | b'A' | b'B') {
        return None;
    }
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let shaped = id
        .iter()
        .enumerate()
        .all(|(at, byte)| if dashes.contains(&at) { *byte == b'-' } else { digit(byte).is_some() });
    let hex =
        |digits: &[u8]| digits.iter().filter_map(digit).fold(0, |time, digit| (time << 4) | u64::from(digit));
    shaped.then(|| (hex(&id[..8]) << 16) | hex(&id[9..13]))
}

/// The time in a ULID, or `None` if the id is not one.
fn ulid_ms(id: &[u8]) -> Option<TimeMs> {
    const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    if id.len() != 26 || id[0] > b'7' {
        return None;
    }
    let mut time: u64 = 0;
    for (at, byte) in id.iter().enumerate() {
        let value = ALPHABET.iter().position(|letter| *letter == byte.to_ascii_uppercase())?;
        if at < 10 {
            time = (time << 5) | value as u64;
        }
    }
    Some(time)
}

/// Whether all bytes are printable ASCII without blanks, eight at a time.
fn is_graphic(text: &[u8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    let (words, rest) = text.as_chunks::<8>();
    // A byte below 0x80 that is above 0x20 and is not 0x7f.
    let is_graphic = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        let above = (word | HIGH).wrapping_sub(0x21 * ONES);
        (word | word.wrapping_add(ONES) | !above) & HIGH == 0
    };
    match text.last_chunk() {
        // The last eight bytes, of which the first were looked at before.
        Some(last) => words.iter().all(is_graphic) && is_graphic(last),
        None => rest.iter().all(u8::is_ascii_graphic),
    }
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Free text from a caller, such as the reason of an adjustment: 1 to 256 characters of UTF-8 without
/// control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(CompactString);

impl Text {
    /// Reads a text.
    ///
    /// # Errors
    /// When it is empty, too long, not UTF-8, or contains control characters.
    pub fn parse(text: &[u8], argument: &'static str) -> Result<Self, Invalid> {
        let refused =
            || Invalid::new(argument, "must be 1 to 256 characters of UTF-8 without control characters");
        let text = std::str::from_utf8(text).map_err(|_| refused())?;
        if text.is_empty() || text.chars().count() > 256 || text.chars().any(char::is_control) {
            return Err(refused());
        }
        Ok(Self(CompactString::from(text)))
    }

    pub(crate) fn trusted(text: CompactString) -> Self {
        Self(text)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_one_spelling_and_a_range() {
        for good in ["1", "9007199254740991", "10"] {
            assert!(Positive::parse(good.as_bytes(), "n").is_ok(), "{good}");
        }
        for bad in [
            "",
            "0",
            "-1",
            "+1",
            "01",
            " 1",
            "1 ",
            "1.0",
            "1e3",
            "NaN",
            "9007199254740992",
            "99999999999999999999",
        ] {
            assert!(Positive::parse(bad.as_bytes(), "n").is_err(), "{bad}");
        }
        assert!(Natural::parse(b"0", "n").is_ok());
        assert!(Natural::parse(b"-0", "n").is_err());
        assert_eq!(Delta::parse(b"-9007199254740991", "n").map(Delta::get), Ok(-BALANCE_MAX));
        assert!(Delta::parse(b"-9007199254740992", "n").is_err());
    }

    #[test]
    fn ids_are_bounded_and_carry_one_tag_at_most() {
        let long = "x".repeat(64);
        for good in ["a", "{shop}:1", "a{}", "A-Z_.:@/+=-", long.as_str()] {
            assert!(Id::parse(good.as_bytes(), "id").is_ok(), "{good}");
        }
        let longer = "x".repeat(65);
        for bad in ["", "a b", "$world", "{a}{b}", "}a{", "{a", "a}", "ü", longer.as_str()] {
            assert!(Id::parse(bad.as_bytes(), "id").is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_finds_the_row_of_its_id() {
        let mut table = crate::store::Table::new(3);
        for length in 1..=ID_BYTES_MAX {
            let id = Id::parse("a".repeat(length).as_bytes(), "id").expect("an id");
            table.insert(id, length);
        }
        for length in 1..=ID_BYTES_MAX {
            assert_eq!(table.get(&Name("a".repeat(length).as_bytes())), Some(&length));
        }
    }

    #[test]
    fn operation_ids_hold_printable_ascii_only() {
        for at in 0..17 {
            for byte in 0..=255_u8 {
                let mut text = *b"0f47ac10b-58cc-437";
                text[at] = byte;
                let expected = byte.is_ascii_graphic();
                assert_eq!(OperationId::parse(&text, "id").is_ok(), expected, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn times_are_read_from_ids_that_carry_one() {
        let time = |id: &str, ulid_times| {
            OperationId::parse(id.as_bytes(), "id").expect("an id").time_ms(ulid_times)
        };
        for (uuid, expected) in [
            ("01890a5d-ac96-774b-bcce-b302099a8057", Some(0x0189_0a5d_ac96)),
            ("01890A5D-AC96-774B-BCCE-B302099A8057", Some(0x0189_0a5d_ac96)),
            ("f47ac10b-58cc-4372-a567-0e02b2c3d479", None),
            ("01890a5d-ac96-774b-7cce-b302099a8057", None),
            ("01890a5d-ac96-774b-bcce-b302099a805x", None),
            ("01890a5d+ac96-774b-bcce-b302099a8057", None),
        ] {
            assert_eq!(time(uuid, false), expected, "{uuid}");
        }
        assert_eq!(time("01ARZ3NDEKTSV4RRFFQ69G5FAV", true), Some(1_469_922_850_259));
        assert_eq!(time("01ARZ3NDEKTSV4RRFFQ69G5FAV", false), None);
        assert_eq!(time("81ARZ3NDEKTSV4RRFFQ69G5FAV", true), None);
    }
}
