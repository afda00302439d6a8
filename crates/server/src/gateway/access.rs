//! What callers must show before they may do anything, the same at every port.

/// What callers must show.
#[derive(Clone, Default)]
pub struct Access {
    /// The password, where one is asked for.
    pub password: Option<String>,
}

impl Access {
    /// Whether the password is right; takes as long for a wrong one.
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
