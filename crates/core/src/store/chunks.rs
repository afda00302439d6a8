//! A growing sequence in chunks of equal length. Growing never copies existing items, so no command waits
//! while millions of rows are moved.

use super::visits;

/// The number of items in a chunk.
const CHUNK_ITEMS: usize = 1 << 10;

/// Items by position.
#[derive(Debug)]
pub struct Chunks<T> {
    chunks: Vec<Vec<T>>,
    length: usize,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), length: 0 }
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
        self.chunks.get(position / CHUNK_ITEMS)?.get(position % CHUNK_ITEMS)
    }

    /// The item at a position, to be changed.
    pub fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        visits::note();
        self.chunks.get_mut(position / CHUNK_ITEMS)?.get_mut(position % CHUNK_ITEMS)
    }

    /// Every item in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten().inspect(|_| visits::note())
    }

    /// Appends an item.
    pub fn push(&mut self, item: T) {
        if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK_ITEMS) {
            self.chunks.push(Vec::with_capacity(CHUNK_ITEMS));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.push(item);
            self.length += 1;
        }
    }

    /// Removes the last item.
    pub fn pop(&mut self) -> Option<T> {
        self.length = self.length.checked_sub(1)?;
        let item = self.chunks.last_mut()?.pop();
        if self.chunks.last().is_some_and(Vec::is_empty) {
            self.chunks.pop();
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_found_by_position_until_they_are_taken_off_the_end() {
        let mut chunks = Chunks::default();
        for item in 0..3_000 {
            chunks.push(item);
        }
        assert_eq!(
            (chunks.len(), chunks.get(0), chunks.get(2_999), chunks.get(3_000)),
            (3_000, Some(&0), Some(&2_999), None)
        );
        assert_eq!(chunks.pop(), Some(2_999));
        assert!(chunks.iter().copied().eq(0..2_999));
        while chunks.pop().is_some() {}
        assert!(chunks.is_empty());
    }
}
