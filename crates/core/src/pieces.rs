//! The encoding of a state in pieces, row by row, so that no snapshot needs the whole of it in memory.

use crate::codec::{Input, Malformed, Wire};

/// From how many bytes on a piece is handed on.
const PIECE_BYTES: usize = 256 << 10;

/// Takes rows, and hands on their encoding in pieces.
pub struct PieceWriter<'a> {
    piece: Vec<u8>,
    handed_on: u64,
    take: &'a mut dyn FnMut(&[u8]),
}

impl<'a> PieceWriter<'a> {
    /// `take` is given one piece after another.
    pub fn new(take: &'a mut dyn FnMut(&[u8])) -> Self {
        Self { piece: Vec::new(), handed_on: 0, take }
    }

    /// Takes a row, which `put` appends.
    pub fn row(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        put(&mut self.piece);
        if self.piece.len() >= PIECE_BYTES {
            self.hand_on();
        }
    }

    /// Takes a value.
    pub fn value(&mut self, value: &impl Wire) {
        self.row(|out| value.put(out));
    }

    /// Takes the number of rows that follow.
    pub fn count(&mut self, count: usize) {
        self.value(&(count as u64));
    }

    /// How many bytes were written.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.handed_on + self.piece.len() as u64
    }

    fn hand_on(&mut self) {
        self.handed_on += self.piece.len() as u64;
        (self.take)(&self.piece);
        self.piece.clear();
    }

    /// Hands on what is left.
    pub fn finish(mut self) {
        self.hand_on();
    }
}

/// Reads rows from pieces, whose ends are anywhere.
pub struct PieceReader<'a> {
    bytes: Vec<u8>,
    taken: usize,
    has_ended: bool,
    next: &'a mut dyn FnMut(&mut Vec<u8>) -> bool,
}

impl<'a> PieceReader<'a> {
    /// `next` appends the next piece, and answers whether there was one.
    pub fn new(next: &'a mut dyn FnMut(&mut Vec<u8>) -> bool) -> Self {
        Self { bytes: Vec::new(), taken: 0, has_ended: false, next }
    }

    /// The next row, as `get` reads it; where a piece ends within the row, it is read again with the next one.
    ///
    /// # Errors
    /// When the bytes end early or do not encode such a row.
    pub fn row<T>(&mut self, get: impl Fn(&mut Input<'_>) -> Result<T, Malformed>) -> Result<T, Malformed> {
        loop {
            let mut input = Input::new(&self.bytes[self.taken..]);
            match get(&mut input) {
                Ok(row) => {
                    self.taken = self.bytes.len() - input.len();
                    return Ok(row);
                }
                Err(malformed) if !self.read_on() => return Err(malformed),
                Err(_) => {}
            }
        }
    }

    /// The next value.
    ///
    /// # Errors
    /// As [`PieceReader::row`].
    pub fn value<T: Wire>(&mut self) -> Result<T, Malformed> {
        self.row(T::get)
    }

    /// Gives each of the rows of a container to `take`: a key and a value.
    ///
    /// # Errors
    /// As [`PieceReader::row`].
    pub(crate) fn rows<K: Wire, V: Wire>(&mut self, mut take: impl FnMut(K, V)) -> Result<(), Malformed> {
        for _ in 0..self.value::<u64>()? {
            let (key, value) = self.value()?;
            take(key, value);
        }
        Ok(())
    }

    /// Whether nothing is left.
    pub fn is_empty(&mut self) -> bool {
        self.taken == self.bytes.len() && !self.read_on()
    }

    fn read_on(&mut self) -> bool {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        self.has_ended = self.has_ended || !(self.next)(&mut self.bytes);
        !self.has_ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_wherever_pieces_end() {
        let rows: Vec<(u64, i64)> = (0..50_000_u64).map(|n| (n * n, -1 - n.cast_signed())).collect();
        let mut pieces = Vec::new();
        let mut take = |piece: &[u8]| pieces.push(piece.to_vec());
        let mut writer = PieceWriter::new(&mut take);
        writer.count(rows.len());
        rows.iter().for_each(|row| writer.value(row));
        writer.finish();
        assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.len() < PIECE_BYTES + 100));
        let whole = pieces.concat();
        for piece_bytes in [1, 7, 1_000, whole.len()] {
            let mut left = whole.chunks(piece_bytes);
            let mut next =
                |bytes: &mut Vec<u8>| left.next().map(|piece| bytes.extend_from_slice(piece)).is_some();
            let mut reader = PieceReader::new(&mut next);
            let count: u64 = reader.value().expect("a count");
            let read: Vec<(u64, i64)> = (0..count).map(|_| reader.value().expect("a row")).collect();
            assert!(read == rows && reader.is_empty(), "{piece_bytes}");
            assert_eq!(reader.value::<u64>(), Err(Malformed));
        }
    }
}
