//! Who is admitted.

/// Who is admitted: the password is the same on every port.
#[derive(Clone, Default)]
pub struct Access {
    /// The password, if one is required.
    pub password: Option<String>,
    /// The origins of pages that may call the HTTP port, besides its own.
    pub origins: Vec<String>,
}

impl Access {
    /// Whether pages of an origin may call.
    #[must_use]
    pub fn lists(&self, origin: &[u8]) -> bool {
        self.origins.iter().any(|listed| listed.as_bytes() == origin)
    }

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
