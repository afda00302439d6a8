//! The memory budget: what the process takes, and what is admitted.

mod figures;

/// What is admitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Admission {
    /// Everything.
    #[default]
    All,
    /// What frees memory.
    Freeing,
    /// What frees memory and has no operation id that would have to be remembered.
    FreeingWithoutId,
}
