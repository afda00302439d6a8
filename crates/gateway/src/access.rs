//! Who is admitted.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use super::attempts::Attempts;

/// What became of a password that a caller showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    /// It is the password.
    Admitted,
    /// It is not.
    Wrong,
    /// It was not looked at: the address showed too many wrong ones, and must wait.
    Delayed(Duration),
}

/// Who is admitted: the password is the same on every port.
#[derive(Clone, Default)]
pub struct Access {
    /// The password, if one is required. It can change while the server runs.
    password: Arc<RwLock<Option<String>>>,
    is_required: Arc<AtomicBool>,
    /// The origins of pages that may call the HTTP port, besides its own.
    pub origins: Vec<String>,
    /// The addresses that showed wrong passwords, on any port.
    pub(crate) attempts: Arc<Attempts>,
}

impl Access {
    /// Admits callers with the password, or anyone if there is none, and pages of the origins.
    #[must_use]
    pub fn new(password: Option<String>, origins: Vec<String>) -> Self {
        let access = Self { origins, ..Self::default() };
        access.set_password(password);
        access
    }

    /// Whether callers must show a password.
    #[must_use]
    pub fn requires_password(&self) -> bool {
        self.is_required.load(Ordering::Acquire)
    }

    /// Changes the password, for callers that come from now on. Whether it is another one.
    pub fn set_password(&self, password: Option<String>) -> bool {
        let mut current = self.password.write().unwrap_or_else(PoisonError::into_inner);
        let is_other = *current != password;
        self.is_required.store(password.is_some(), Ordering::Release);
        *current = password;
        is_other
    }

    /// Whether pages of an origin may call.
    #[must_use]
    pub fn lists(&self, origin: &[u8]) -> bool {
        self.origins.iter().any(|listed| listed.as_bytes() == origin)
    }

    /// Looks at the password that a caller shows, unless its address guesses.
    pub fn log_in(&self, address: IpAddr, password: &[u8]) -> Login {
        let now = Instant::now();
        if let Some(wait) = self.attempts.wait(address, now) {
            return Login::Delayed(wait);
        }
        if self.admits(password) {
            return Login::Admitted;
        }
        self.attempts.note(address, now);
        tracing::warn!(%address, "a caller showed a wrong password");
        Login::Wrong
    }

    /// Checks a password in constant time.
    fn admits(&self, password: &[u8]) -> bool {
        let current = self.password.read().unwrap_or_else(PoisonError::into_inner);
        let Some(expected) = &*current else { return true };
        let expected = expected.as_bytes();
        let differing = expected
            .iter()
            .zip(password.iter().chain(std::iter::repeat(&0)))
            .fold(usize::from(expected.len() != password.len()), |sum, (a, b)| sum | usize::from(a ^ b));
        differing == 0
    }
}
