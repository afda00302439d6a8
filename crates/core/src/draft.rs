//! An entry of bounded size, put together in a buffer of that size: nothing that is put there has to ask for room.

use std::ops::Range;

use crate::codec::{spread, zigzag};
use crate::types::{ID_BYTES_MAX, OPERATION_ID_BYTES_MAX};

/// The longest varint.
const NUMBER_BYTES_MAX: usize = 10;

/// The longest namespace of an operation in a draft.
pub(crate) const NAMESPACE_BYTES_MAX: usize = 64;

/// Room for a request of two names, and for an entry with an operation, an outcome of a word and four numbers, and two events of
/// five names and ten numbers together; all numbers as long as they get.
const DRAFT_BYTES: usize = 2 * (NUMBER_BYTES_MAX + 5 * (1 + ID_BYTES_MAX))
    + (5 + 3 * NUMBER_BYTES_MAX)
    + (4 + NAMESPACE_BYTES_MAX + OPERATION_ID_BYTES_MAX + 8)
    + 32 * NUMBER_BYTES_MAX;

/// Such a buffer.
#[derive(Debug)]
pub(crate) struct Draft {
    bytes: Box<[u8; DRAFT_BYTES]>,
    length: usize,
}

impl Default for Draft {
    fn default() -> Self {
        Self { bytes: Box::new([0; DRAFT_BYTES]), length: 0 }
    }
}

impl Draft {
    pub(crate) const fn clear(&mut self) {
        self.length = 0;
    }

    pub(crate) const fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    #[inline]
    pub(crate) fn put_byte(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    #[inline]
    pub(crate) fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.put_at(self.length, bytes);
        self.length += N;
    }

    /// Puts bytes in place of others.
    #[inline]
    pub(crate) fn put_at<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        // Faster than to copy a slice.
        let place = self.bytes[at..].first_chunk_mut().expect("a draft has room for the longest entry");
        *place = bytes;
    }

    /// A varint.
    #[inline(always)]
    pub(crate) fn put_number(&mut self, number: u64) {
        if number < 0x80 {
            self.put_byte((number & 0x7f) as u8);
        } else {
            self.put_larger_number(number);
        }
    }

    fn put_larger_number(&mut self, mut number: u64) {
        let part = |shift: u32| ((number >> shift) & 0x7f) as u8;
        match number {
            0..0x4000 => return self.put([part(0) | 0x80, part(7)]),
            0x4000..0x20_0000 => return self.put([part(0) | 0x80, part(7) | 0x80, part(14)]),
            0x20_0000..0x0100_0000_0000_0000 => {
                let (word, bytes) = spread(number);
                self.put_at(self.length, word.to_le_bytes());
                self.length += bytes;
                return;
            }
            _ => {}
        }
        while number >= 0x80 {
            self.put_byte((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.put_byte((number & 0x7f) as u8);
    }

    #[inline]
    pub(crate) fn put_signed(&mut self, number: i64) {
        self.put_number(zigzag(number));
    }

    /// A text by its bytes, after their number.
    #[inline]
    pub(crate) fn put_text(&mut self, text: &[u8]) {
        self.put_number(text.len() as u64);
        let (start, end) = (self.length, self.length + text.len());
        // Short ones as two words that may overlap: faster than to copy a slice.
        match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
            (Some(first), Some(last)) if text.len() <= 16 => {
                self.put_at(start, *first);
                self.put_at(end - 8, *last);
            }
            (Some(_), _) => self.bytes[start..end].copy_from_slice(text),
            _ => text.iter().zip(start..).for_each(|(byte, at)| self.bytes[at] = *byte),
        }
        self.length = end;
    }

    /// What is in it already once more.
    #[inline]
    pub(crate) fn repeat(&mut self, range: Range<usize>) {
        let count = range.len();
        self.bytes.copy_within(range, self.length);
        self.length += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Wire;
    use compact_str::CompactString;

    #[test]
    fn what_is_put_is_encoded_as_elsewhere() {
        let (mut draft, mut expected) = (Draft::default(), Vec::new());
        for bits in 0..64 {
            draft.clear();
            expected.clear();
            for number in [1_u64 << bits, (1 << bits) - 1, (1 << bits) | 0x55, u64::MAX >> bits] {
                draft.put_number(number);
                number.put(&mut expected);
                draft.put_signed(number.cast_signed());
                number.cast_signed().put(&mut expected);
            }
            draft.put_text(b"a text");
            CompactString::const_new("a text").put(&mut expected);
            let end = draft.len();
            assert_eq!(draft.bytes(0..end), expected, "{bits}");
            draft.repeat(1..end);
            assert_eq!(draft.bytes(end..draft.len()), &expected[1..]);
        }
    }
}
