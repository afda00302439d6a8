//! Where in a stream of TLS records a caller is.

/// What a record begins with: its kind, its version, its length.
const HEADER_BYTES: usize = 5;

/// The record that is coming in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Records {
    header: [u8; HEADER_BYTES],
    held: usize,
}

impl Records {
    /// Notes what came.
    pub fn note(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let taken = (self.wanted() - self.held).min(bytes.len());
            let (now, rest) = bytes.split_at(taken);
            if self.held < HEADER_BYTES {
                self.header[self.held..self.held + taken].copy_from_slice(now);
            }
            self.held += taken;
            bytes = rest;
            if self.held >= HEADER_BYTES && self.held == self.wanted() {
                self.held = 0;
            }
        }
    }

    /// How much has come of a record that is not whole.
    #[must_use]
    pub const fn held_bytes(&self) -> usize {
        self.held
    }

    /// How many bytes it has as far as is known.
    fn wanted(&self) -> usize {
        if self.held < HEADER_BYTES {
            return HEADER_BYTES;
        }
        let [_, _, _, high, low] = self.header;
        HEADER_BYTES + usize::from(u16::from_be_bytes([high, low]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_held_until_it_is_whole_however_it_comes() {
        let record = |length: u16| {
            let mut bytes = vec![0x17, 3, 3];
            bytes.extend(length.to_be_bytes());
            bytes.resize(bytes.len() + usize::from(length), 7);
            bytes
        };
        let all = [record(300), record(0), record(1)].concat();
        for piece in 1..all.len() {
            let mut records = Records::default();
            all.chunks(piece).for_each(|bytes| records.note(bytes));
            assert_eq!(records.held_bytes(), 0, "in pieces of {piece}");
            records.note(&all[..304]);
            assert_eq!(records.held_bytes(), 304);
            records.note(&all[304..308]);
            assert_eq!(records.held_bytes(), 3);
        }
    }
}
