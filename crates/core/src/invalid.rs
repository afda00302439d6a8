//! The error for a malformed argument.

/// An argument that is malformed. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Which argument.
    pub argument: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

impl Invalid {
    /// Names the argument and what is wrong with it.
    #[must_use]
    pub fn new(argument: &'static str, reason: impl Into<String>) -> Self {
        Self { argument, reason: reason.into() }
    }
}

impl std::fmt::Display for Invalid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.argument, self.reason)
    }
}

impl std::error::Error for Invalid {}
