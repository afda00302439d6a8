//! Cutting a total into packets: a pure function of the plan and 32 secret bytes, so that anyone who gets
//! the seed afterwards can recompute the cut. `docs/reference/red-packets.md` explains how, with test
//! vectors.
//!
//! The random words come from the ChaCha20 keystream (RFC 8439: 32-bit counter from 0, nonce of 12 zero
//! bytes) with the seed as key, eight bytes each, little-endian. A number below n is the first word w ≤
//! 2^64 − 1 − (2^64 mod n), modulo n. After cutting, the packets are shuffled by Fisher–Yates from the
//! end, with the words that follow those of the cut.
//!
//! A method never changes: interrupted campaigns are cut again from their seed, and published cuts must
//! stay recomputable. A better rule is a new method.

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use sha2::{Digest, Sha256};

use crate::command::Invalid;
use crate::command::shapes::{Cut, Method, PACKETS_MAX};
use crate::command::table::PacketCreate;
use crate::types::{INTEGER_MAX, Positive};

/// The maximum number of attempts to cut a line whose packets exceed the maximum.
const LINE_CUTS_MAX: u64 = 64;

/// The maximum number of packets in all those attempts; the first attempt is always made.
const LINE_CUT_PACKETS_MAX: u64 = 4_000_000;

/// What to cut, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The sum of all packets.
    pub total: u64,
    /// The number of packets.
    pub count: u64,
    /// How they are cut.
    pub method: Method,
    /// The minimum of a packet, at least 1.
    pub min: u64,
    /// The maximum of a packet.
    pub max: Option<u64>,
}

impl Plan {
    /// The plan of a campaign; absent if its amounts are listed one by one.
    #[must_use]
    pub fn of(create: &PacketCreate) -> Option<Self> {
        let Cut::Plan { total, count, method } = create.cut else { return None };
        Some(Self {
            total: total.get(),
            count: count.get(),
            method,
            min: create.min.map_or(1, Positive::get),
            max: create.max.map(Positive::get),
        })
    }

    /// The plan as seeds and commitments contain it.
    pub(crate) fn text(&self) -> String {
        let Self { total, count, method, min, max } = self;
        let max = max.map_or_else(|| "-".to_owned(), |max| max.to_string());
        format!("{total} {count} {} {min} {max}", method.word())
    }

    /// The commitment to a seed and this plan, published when the campaign is created: neither can be exchanged
    /// for another afterwards.
    #[must_use]
    pub fn commitment(&self, seed: &[u8; 32]) -> [u8; 32] {
        Sha256::new().chain_update(seed).chain_update(self.text()).finalize().into()
    }

    /// Cuts the packets, in the order in which they are claimed.
    ///
    /// # Errors
    /// When no cut can satisfy the plan, or no attempt of `LINE_CUT` satisfied the maximum.
    pub fn cut(&self, seed: &[u8; 32]) -> Result<Vec<u64>, Invalid> {
        self.check()?;
        let mut words = Keystream::new(seed);
        let mut packets = match self.method {
            Method::Even => self.even(),
            Method::DoubleMean => self.double_mean(&mut words),
            Method::LineCut => self.line_cut(&mut words)?,
        };
        shuffle(&mut packets, &mut words);
        Ok(packets)
    }

    fn check(&self) -> Result<(), Invalid> {
        let Self { total, count, min, max, .. } = *self;
        if count == 0 || count > PACKETS_MAX {
            return Err(Invalid::new("count", "must be 1 to 1000000"));
        }
        if min == 0 || total > INTEGER_MAX || min.saturating_mul(count) > total {
            return Err(Invalid::new("total", "is less than count packets of the minimum"));
        }
        if max.is_some_and(|max| max < min || max.saturating_mul(count) < total) {
            return Err(Invalid::new("max", "is too small for count packets to reach the total"));
        }
        Ok(())
    }

    /// The remainder is distributed over the first packets, one unit each.
    fn even(&self) -> Vec<u64> {
        let (each, rest) = (self.total / self.count, self.total % self.count);
        (0..self.count).map(|at| each + u64::from(at < rest)).collect()
    }

    /// Each packet from the minimum up to, not including, twice the mean of the rest, within bounds that
    /// the packets after it can still satisfy; the last one takes the rest.
    fn double_mean(&self, words: &mut Keystream) -> Vec<u64> {
        let max = self.max.unwrap_or(INTEGER_MAX);
        let mut remaining = self.total;
        let draw = |left: u64| {
            let later = left - 1;
            let least = remaining.saturating_sub(max.saturating_mul(later)).max(self.min);
            let most = (2 * remaining / left - 1).min(remaining - self.min * later).min(max);
            let packet = if later == 0 { remaining } else { least + words.below(most - least + 1) };
            remaining -= packet;
            packet
        };
        (1..=self.count).rev().map(draw).collect()
    }

    /// The pieces of a line between distinct points, each increased by the minimum less one.
    fn line_cut(&self, words: &mut Keystream) -> Result<Vec<u64>, Invalid> {
        let lift = self.min - 1;
        let line = self.total - lift * self.count;
        for _ in 0..(LINE_CUT_PACKETS_MAX / self.count).clamp(1, LINE_CUTS_MAX) {
            let mut points = distinct(self.count - 1, line - 1, words);
            points.push(line);
            let mut before = 0;
            for point in &mut points {
                let piece = *point - before + lift;
                before = std::mem::replace(point, piece);
            }
            if self.max.is_none_or(|max| points.iter().all(|packet| *packet <= max)) {
                return Ok(points);
            }
        }
        Err(Invalid::new("max", "is so small that no cut of the line kept to it; try DOUBLE_MEAN"))
    }
}

/// `count` distinct numbers from 1 to `most`, sorted. If that is more than half of them, the numbers to
/// leave out are drawn instead.
fn distinct(count: u64, most: u64, words: &mut Keystream) -> Vec<u64> {
    if count <= most / 2 {
        return draw_distinct(count, most, words);
    }
    let left_out = draw_distinct(most - count, most, words);
    let mut left_out = left_out.into_iter().peekable();
    (1..=most).filter(|number| left_out.next_if_eq(number).is_none()).collect()
}

/// Draws numbers from 1 to `most`, skipping those drawn before, until there are `count`. Each round draws
/// as many as are missing, so never one too many.
fn draw_distinct(count: u64, most: u64, words: &mut Keystream) -> Vec<u64> {
    let mut numbers = Vec::new();
    loop {
        let missing = count - numbers.len() as u64;
        if missing == 0 {
            return numbers;
        }
        numbers.extend((0..missing).map(|_| 1 + words.below(most)));
        // A stable sort detects the sorted run in front and takes linear time except for the rest.
        numbers.sort();
        numbers.dedup();
    }
}

fn shuffle(packets: &mut [u64], words: &mut Keystream) {
    for last in (1..packets.len()).rev() {
        let other = usize::try_from(words.below(last as u64 + 1)).unwrap_or(last);
        packets.swap(last, other);
    }
}

/// How many bytes of the keystream are generated at a time.
const BLOCK_BYTES: usize = 512;

/// The random words.
struct Keystream {
    cipher: ChaCha20,
    block: [u8; BLOCK_BYTES],
    used: usize,
}

impl Keystream {
    fn new(seed: &[u8; 32]) -> Self {
        let cipher = ChaCha20::new(seed.into(), &[0; 12].into());
        Self { cipher, block: [0; BLOCK_BYTES], used: BLOCK_BYTES }
    }

    fn word(&mut self) -> u64 {
        if self.used == BLOCK_BYTES {
            self.block = [0; BLOCK_BYTES];
            // 256 GiB of keystream; four cuts of a million packets need a thousandth of that.
            self.cipher.apply_keystream(&mut self.block);
            self.used = 0;
        }
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.block[self.used..self.used + 8]);
        self.used += 8;
        u64::from_le_bytes(bytes)
    }

    /// A number from 0 up to, not including, `bound`, each equally likely.
    fn below(&mut self, bound: u64) -> u64 {
        // The top 2^64 mod bound words would make the lowest numbers likelier.
        let surplus = (u64::MAX % bound + 1) % bound;
        loop {
            let word = self.word();
            if word <= u64::MAX - surplus {
                return word % bound;
            }
        }
    }
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
