//! Who is admitted.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use scarce_access::{Denial, Ring, Shown};
use scarce_core::types::TimeMs;

use super::attempts::Attempts;
use super::caller::Caller;
use super::keys::Keys;
use super::limiting::Limiting;

/// What became of a password or a key that a caller showed.
#[derive(Clone, Debug)]
pub enum Login {
    /// It is right; this is who shows it.
    Admitted(Caller),
    /// It is not.
    Wrong,
    /// It was not looked at: the address showed too many wrong ones, and must wait.
    Delayed(Duration),
}

/// Who is admitted: the password and the keys are the same on every port.
#[derive(Clone, Default)]
pub struct Access {
    /// The password, if there is one. It can change while the server runs.
    password: Arc<RwLock<Option<String>>>,
    has_password: Arc<AtomicBool>,
    /// The keys of callers.
    pub keys: Arc<Keys>,
    /// How many requests callers may send.
    pub limiting: Arc<Limiting>,
    /// The origins of pages that may call the HTTP port, besides its own.
    pub origins: Vec<String>,
    /// The addresses that showed wrong passwords, on any port.
    pub(crate) attempts: Arc<Attempts>,
}

impl Access {
    /// Admits callers with the password, or anyone if there is none and no key, and pages of the origins.
    #[must_use]
    pub fn new(password: Option<String>, origins: Vec<String>) -> Self {
        let access = Self { origins, ..Self::default() };
        access.set_password(password);
        access
    }

    /// Whether callers must show a password or a key.
    #[must_use]
    pub fn requires_login(&self) -> bool {
        self.has_password.load(Ordering::Acquire) || self.keys.are_there()
    }

    /// Changes the password, for callers that come from now on. Whether it is another one.
    pub fn set_password(&self, password: Option<String>) -> bool {
        let mut current = self.password.write().unwrap_or_else(PoisonError::into_inner);
        let is_other = *current != password;
        self.has_password.store(password.is_some(), Ordering::Release);
        *current = password;
        is_other
    }

    /// Changes the keys, also for callers that are there.
    pub fn set_keys(&self, ring: Ring, now: TimeMs) {
        self.keys.replace(ring, now);
    }

    /// Whether pages of an origin may call.
    #[must_use]
    pub fn lists(&self, origin: &[u8]) -> bool {
        self.origins.iter().any(|listed| listed.as_bytes() == origin)
    }

    /// A caller that has shown nothing, if nothing needs to be shown.
    #[must_use]
    pub fn stranger(&self) -> Option<Caller> {
        (!self.requires_login()).then(Caller::open)
    }

    /// Whether a caller may go on: its key was not revoked and has not expired, and if it showed nothing, nothing needs to
    /// be shown.
    #[must_use]
    pub fn still_admits(&self, caller: &Caller) -> bool {
        if caller.is_open() { !self.requires_login() } else { !caller.is_over(super::now_ms()) }
    }

    /// Waits until a caller may not go on.
    pub async fn ended(&self, caller: &Caller) {
        let mut changes = self.keys.subscribe();
        while self.still_admits(caller) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Looks at the password or the key that a caller shows, unless its address guesses.
    pub fn log_in(&self, address: IpAddr, shown: &[u8], now_ms: TimeMs) -> Login {
        let now = Instant::now();
        if let Some(wait) = self.attempts.wait(address, now) {
            return Login::Delayed(wait);
        }
        if let Some(caller) = self.stranger() {
            return Login::Admitted(caller);
        }
        if self.is_password(shown) {
            return Login::Admitted(Caller::all());
        }
        let Some(key) = Shown::parse(shown) else { return self.refuse(address, now, None) };
        match self.keys.admit(&key, now_ms) {
            Ok(grant) => Login::Admitted(Caller::with(grant)),
            Err(denial) => self.refuse(address, now, Some((key, denial))),
        }
    }

    fn refuse(&self, address: IpAddr, now: Instant, key: Option<(Shown, Denial)>) -> Login {
        self.attempts.note(address, now);
        match key {
            None => tracing::warn!(%address, "a caller showed a wrong password"),
            Some((shown, denial)) => {
                tracing::warn!(%address, key = %shown.id, ?denial, "a caller showed a key that is not admitted");
            }
        }
        Login::Wrong
    }

    /// Whether it is the password, compared in constant time.
    fn is_password(&self, shown: &[u8]) -> bool {
        let current = self.password.read().unwrap_or_else(PoisonError::into_inner);
        let Some(expected) = &*current else { return false };
        let expected = expected.as_bytes();
        let differing = expected
            .iter()
            .zip(shown.iter().chain(std::iter::repeat(&0)))
            .fold(usize::from(expected.len() != shown.len()), |sum, (a, b)| sum | usize::from(a ^ b));
        differing == 0
    }
}
