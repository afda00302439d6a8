//! Whether the lines of a statement come to what its balances say.

use crate::number::Numbers;

/// The balances of a statement, and the sum of its lines.
#[derive(Debug, Default)]
pub(crate) struct Balances {
    pub(crate) opening: Option<i64>,
    pub(crate) closing: Option<i64>,
    pub(crate) sum: i128,
    /// Whether a line is missing from the sum since it could not be read.
    pub(crate) is_partial: bool,
}

impl Balances {
    /// What is wrong with them, where that can be said.
    pub(crate) fn wrong(&self, numbers: &Numbers) -> Option<String> {
        let (opening, closing) = self.opening.zip(self.closing).filter(|_| !self.is_partial)?;
        let expected = i128::from(opening) + self.sum;
        let shown = i64::try_from(expected).map_or_else(|_| "too much".to_owned(), |its| numbers.show(its));
        (expected != closing.into()).then(|| {
            let closing = numbers.show(closing);
            format!("the opening balance and the lines come to {shown}, and the closing balance is {closing}")
        })
    }
}
