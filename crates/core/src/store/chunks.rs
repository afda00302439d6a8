//! A growing sequence in chunks of equal length. Growing never copies existing items, so no command waits
//! while millions of rows are moved.

use std::collections::VecDeque;

use super::visits;

/// The number of items in a chunk.
const CHUNK_ITEMS: usize = 1 << 10;

/// Items by position; after the first is removed, positions count from the new first.
#[derive(Debug)]
pub struct Chunks<T> {
    chunks: VecDeque<Vec<T>>,
    /// How many items of the first chunk were removed and are dropped together with it.
    taken: usize,
    length: usize,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self { chunks: VecDeque::new(), taken: 0, length: 0 }
    }
}

impl<T> Chunks<T> {
    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The item at a position.
    #[must_use]
    pub fn get(&self, position: usize) -> Option<&T> {
        visits::note();
        let place = self.taken.checked_add(position)?;
        self.chunks.get(place / CHUNK_ITEMS)?.get(place % CHUNK_ITEMS)
    }

    /// The item at a position, to be changed.
    pub fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        visits::note();
        let place = self.taken.checked_add(position)?;
        self.chunks.get_mut(place / CHUNK_ITEMS)?.get_mut(place % CHUNK_ITEMS)
    }

    /// Every item in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten().skip(self.taken).inspect(|_| visits::note())
    }

    /// Appends an item.
    pub fn push(&mut self, item: T) {
        if self.chunks.back().is_none_or(|chunk| chunk.len() == CHUNK_ITEMS) {
            self.chunks.push_back(Vec::with_capacity(CHUNK_ITEMS));
        }
        if let Some(chunk) = self.chunks.back_mut() {
            chunk.push(item);
            self.length += 1;
        }
    }

    /// Removes the last item.
    pub fn pop(&mut self) -> Option<T> {
        self.length = self.length.checked_sub(1)?;
        let item = self.chunks.back_mut()?.pop();
        if self.chunks.back().is_some_and(Vec::is_empty) {
            self.chunks.pop_back();
        }
        item
    }

    /// Removes the first item.
    pub fn pop_front(&mut self) {
        if self.length == 0 {
            return;
        }
        self.length -= 1;
        self.taken += 1;
        if self.taken == CHUNK_ITEMS {
            self.chunks.pop_front();
            self.taken = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_follow_the_first_item() {
        let mut chunks = Chunks::default();
        for item in 0..3_000 {
            chunks.push(item);
        }
        for _ in 0..1_500 {
            chunks.pop_front();
        }
        assert_eq!(
            (chunks.len(), chunks.get(0), chunks.get(1_499), chunks.get(1_500)),
            (1_500, Some(&1_500), Some(&2_999), None)
        );
        assert_eq!(chunks.pop(), Some(2_999));
        assert!(chunks.iter().copied().eq(1_500..2_999));
        while chunks.pop().is_some() {}
        assert!(chunks.is_empty());
    }
}
