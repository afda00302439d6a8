//! How many rows are looked at or changed. Counted in tests only, which compare the work of commands on small and on large
//! states by it: a count does not depend on the machine that runs the test.

#[cfg(test)]
pub(crate) use counted::{count, note};

/// A row is looked at or changed.
#[cfg(not(test))]
#[inline(always)]
pub(crate) const fn note() {}

#[cfg(test)]
mod counted {
    use std::cell::Cell;

    std::thread_local! {
        static ROWS: Cell<u64> = const { Cell::new(0) };
    }

    pub(crate) fn note() {
        ROWS.set(ROWS.get() + 1);
    }

    /// Runs work and counts the rows.
    pub(crate) fn count<T>(work: impl FnOnce() -> T) -> (T, u64) {
        let before = ROWS.get();
        let done = work();
        (done, ROWS.get() - before)
    }
}
