//! How callers authenticate, the same on every port.

/// How callers authenticate.
#[derive(Clone, Default)]
pub struct Access {
    /// The password, if one is required.
    pub password: Option<String>,
}

impl Access {
    /// Checks a password in constant time.
    #[must_use]
    pub fn admits(&self, password: &[u8]) -> bool {
        let Some(expected) = &self.password else { return true };
        let expected = expected.as_bytes();
        let differing = expected
            .iter()
            .zip(password.iter().chain(std::iter::repeat(&0)))
            .fold(usize::from(expected.len() != password.len()), |sum, (a, b)| sum | usize::from(a ^ b));
        differing == 0
    }
}
