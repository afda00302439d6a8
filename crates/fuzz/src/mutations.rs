//! Damages examples at random.

use fastrand::Rng;

/// How many damages an input has at most.
const DAMAGES_MAX: usize = 8;

/// The longest input that is made.
const INPUT_BYTES_MAX: usize = 64 << 10;

/// Numbers that decoders trip over: the ends of ranges.
const NUMBERS: [u64; 12] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// The same as text, and what texts are built of.
const WORDS: [&[u8]; 14] = [
    b"-1",
    b"0",
    b"9007199254740991",
    b"9007199254740992",
    b"18446744073709551616",
    b"\r\n",
    b"\0",
    b"\"",
    b"{",
    b"[",
    b"$0\r\n\r\n",
    b"*1\r\n",
    b"\xff\xfe",
    b" ID a",
];

/// Inputs made from examples. The same seed makes the same inputs.
#[derive(Clone, Debug)]
pub struct Mutations {
    examples: Vec<Vec<u8>>,
    random: Rng,
}

impl Mutations {
    /// Damages these examples; without any it begins with nothing.
    #[must_use]
    pub fn new(mut examples: Vec<Vec<u8>>, seed: u64) -> Self {
        if examples.is_empty() {
            examples.push(Vec::new());
        }
        Self { examples, random: Rng::with_seed(seed) }
    }

    fn example(&mut self) -> &[u8] {
        let at = self.random.usize(..self.examples.len());
        &self.examples[at]
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        let at = self.random.usize(..=bytes.len());
        let to = bytes.len().min(at + self.random.usize(..32));
        match self.random.u8(..8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.random.u8(..8),
            1 if at < bytes.len() => bytes[at] = self.random.u8(..),
            2 => drop(bytes.drain(at..to)),
            3 => bytes.truncate(at),
            4 => {
                let part = bytes[at..to].to_vec();
                bytes.splice(at..at, part);
            }
            5 => {
                let number = NUMBERS[self.random.usize(..NUMBERS.len())].to_le_bytes();
                let length = 1 << self.random.u8(..4);
                let to = bytes.len().min(at + length);
                bytes.splice(at..to, number[..length].iter().copied());
            }
            6 => {
                let word = WORDS[self.random.usize(..WORDS.len())];
                bytes.splice(at..to, word.iter().copied());
            }
            _ => {
                let other = self.example();
                let part = other[at.min(other.len())..].to_vec();
                bytes.splice(at.., part);
            }
        }
        bytes.truncate(INPUT_BYTES_MAX);
    }
}

impl Iterator for Mutations {
    type Item = Vec<u8>;

    /// The next input; they never end.
    fn next(&mut self) -> Option<Vec<u8>> {
        let mut bytes = self.example().to_vec();
        for _ in 0..self.random.usize(1..=DAMAGES_MAX) {
            self.damage(&mut bytes);
        }
        Some(bytes)
    }
}
