//! The binary encoding of commands (for their content hash), events (in the log) and records (in
//! snapshots and digests). Integers are LEB128 varints, zigzag-encoded if signed; texts and lists have a
//! length prefix; an option is a byte 0 or 1, then the value.

use compact_str::CompactString;

use crate::types::{Delta, Id, Natural, OperationId, Positive, RowCount, Text};

/// The bytes were not written by this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the bytes are not an encoding that this version knows")
    }
}

impl std::error::Error for Malformed {}

/// Can be written in the binary encoding and read back.
pub trait Wire: Sized {
    /// Appends the encoding.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads what [`Wire::put`] wrote.
    ///
    /// # Errors
    /// When the bytes end early or do not encode this type.
    fn get(input: &mut Input<'_>) -> Result<Self, Malformed>;

    /// The encoding as a new vector.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put(&mut out);
        out
    }
}

/// A reader that consumes bytes from the front.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    /// Reads from the front of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// How many bytes are left.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// When fewer bytes are left.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next byte.
    ///
    /// # Errors
    /// When no byte is left.
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.rest.split_first().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*first)
    }

    /// A length or count prefix. Each counted item takes at least one byte, so the count never exceeds
    /// the bytes that are left.
    ///
    /// # Errors
    /// When it exceeds them.
    pub fn count(&mut self) -> Result<usize, Malformed> {
        let count = usize::try_from(u64::get(self)?).map_err(|_| Malformed)?;
        if count > self.rest.len() { Err(Malformed) } else { Ok(count) }
    }
}

impl Wire for u64 {
    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        match *self {
            one @ 0..0x80 => out.push((one & 0x7f) as u8),
            two @ 0x80..0x4000 => {
                out.extend_from_slice(&[(two & 0x7f) as u8 | 0x80, ((two >> 7) & 0x7f) as u8]);
            }
            several => put_several(several, out),
        }
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let mut value: u64 = 0;
        for shift in (0..64).step_by(7) {
            let byte = input.byte()?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                return Err(Malformed);
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }
}

/// A varint of more than two bytes. Those of five to eight are put as one word and cut to their length.
fn put_several(value: u64, out: &mut Vec<u8>) {
    let part = |shift: u32| ((value >> shift) & 0x7f) as u8;
    match value {
        ..0x20_0000 => return out.extend_from_slice(&[part(0) | 0x80, part(7) | 0x80, part(14)]),
        0x20_0000..0x1000_0000 => {
            return out.extend_from_slice(&[part(0) | 0x80, part(7) | 0x80, part(14) | 0x80, part(21)]);
        }
        _ => {}
    }
    if value >> 56 != 0 {
        let mut rest = value;
        while rest >= 0x80 {
            out.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        out.push((rest & 0x7f) as u8);
        return;
    }
    let (word, bytes) = spread(value);
    let end = out.len() + bytes;
    out.extend_from_slice(&word.to_le_bytes());
    out.truncate(end);
}

/// A varint of two to eight bytes as one word, and how many of its bytes count.
#[inline]
pub(crate) const fn spread(value: u64) -> (u64, usize) {
    // The bits over seven, rounded up: 37 / 256 is close enough to 1 / 7.
    let bytes = (((value | 1).ilog2() + 7).wrapping_mul(37)) >> 8;
    let halves = (value & 0x0fff_ffff) | ((value << 4) & 0x0fff_ffff_0000_0000);
    let quarters = (halves & 0x0000_3fff_0000_3fff) | ((halves << 2) & 0x3fff_0000_3fff_0000);
    let word = (quarters & 0x007f_007f_007f_007f) | ((quarters << 1) & 0x7f00_7f00_7f00_7f00);
    let more = 0x0080_8080_8080_8080 & !(u64::MAX.wrapping_shl(bytes.wrapping_sub(1).wrapping_mul(8)));
    (word | more, bytes as usize)
}

/// An integer with a sign as one without, small if it is near zero.
#[inline]
pub(crate) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

impl Wire for i64 {
    fn put(&self, out: &mut Vec<u8>) {
        zigzag(*self).put(out);
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let zigzag = u64::get(input)?;
        Ok((zigzag >> 1).cast_signed() ^ -((zigzag & 1).cast_signed()))
    }
}

impl Wire for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        u64::from(*self).put(out);
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        u32::try_from(u64::get(input)?).map_err(|_| Malformed)
    }
}

impl Wire for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        input.byte()
    }
}

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        match input.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }
}

impl Wire for CompactString {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let count = input.count()?;
        CompactString::from_utf8(input.take(count)?).map_err(|_| Malformed)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            None => out.push(0),
            Some(value) => {
                out.push(1);
                value.put(out);
            }
        }
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        if bool::get(input)? { T::get(input).map(Some) } else { Ok(None) }
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        for item in self {
            item.put(out);
        }
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let count = input.count()?;
        (0..count).map(|_| T::get(input)).collect()
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok((A::get(input)?, B::get(input)?))
    }
}

impl<const N: usize> Wire for [u8; N] {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        input.take(N)?.try_into().map_err(|_| Malformed)
    }
}

macro_rules! number_wire {
    ($($name:ident),*) => {$(
        impl Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                self.get().put(out);
            }

            fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
                $name::new(Wire::get(input)?).ok_or(Malformed)
            }
        }
    )*};
}

number_wire!(Positive, Natural, Delta, RowCount);

macro_rules! text_wire {
    ($($name:ident),*) => {$(
        impl Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                let text = self.as_str().as_bytes();
                (text.len() as u64).put(out);
                out.extend_from_slice(text);
            }

            fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
                CompactString::get(input).map($name::trusted)
            }
        }
    )*};
}

text_wire!(Id, OperationId, Text);

/// Gives each variant of a plain enum its byte in the encoding and its word in commands and answers.
#[macro_export]
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $number:literal $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant = $number),* }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Their words.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word in commands and answers.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// Reads the word, in any case.
            #[must_use]
            pub fn from_word(word: &[u8]) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.word().as_bytes().eq_ignore_ascii_case(word))
            }
        }

        impl $crate::codec::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                out.push(*self as u8);
            }

            fn get(input: &mut $crate::codec::Input<'_>) -> Result<Self, $crate::codec::Malformed> {
                match input.byte()? {
                    $($number => Ok(Self::$variant),)*
                    _ => Err($crate::codec::Malformed),
                }
            }
        }
    };
}

/// Encodes a struct as its fields in order.
#[macro_export]
macro_rules! record_wire {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::codec::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                let _ = &out;
                $($crate::codec::Wire::put(&self.$field, out);)*
            }

            fn get(input: &mut $crate::codec::Input<'_>) -> Result<Self, $crate::codec::Malformed> {
                let _ = &input;
                Ok(Self { $($field: $crate::codec::Wire::get(input)?),* })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round<T: Wire + PartialEq + std::fmt::Debug>(value: &T) {
        let bytes = value.to_bytes();
        let mut input = Input::new(&bytes);
        assert_eq!(T::get(&mut input).as_ref(), Ok(value));
        assert!(input.is_empty());
        for cut in 0..bytes.len() {
            let _ = T::get(&mut Input::new(&bytes[..cut]));
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for value in [0, 1, 127, 128, (1 << 53) - 1, u64::MAX] {
            round(&value);
        }
        for bits in 0..64 {
            for value in [1_u64 << bits, (1 << bits) - 1, (1 << bits) | 0x55, u64::MAX >> bits] {
                round(&value);
                assert_eq!(value.to_bytes(), seven_bits_each(value), "{value}");
            }
        }
        for value in [0, -1, 1, i64::MIN, i64::MAX] {
            round(&value);
        }
        round(&Some(CompactString::from("text")));
        round(&vec![(1_u64, -1_i64), (2, -2)]);
        round(&[7_u8; 32]);
    }

    fn seven_bits_each(mut rest: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while rest > 127 {
            bytes.push(u8::try_from(rest % 128).expect("seven bits") + 128);
            rest /= 128;
        }
        bytes.push(u8::try_from(rest).expect("seven bits"));
        bytes
    }

    #[test]
    fn lengths_beyond_the_input_allocate_nothing() {
        let mut bytes = Vec::new();
        u64::MAX.put(&mut bytes);
        assert_eq!(Vec::<u64>::get(&mut Input::new(&bytes)), Err(Malformed));
        assert_eq!(CompactString::get(&mut Input::new(&bytes)), Err(Malformed));
    }
}
