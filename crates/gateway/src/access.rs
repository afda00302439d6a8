//! Who is admitted.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use scarce_access::{Denial, Ring, Shown};
use scarce_audit::AuditLog;
use scarce_core::types::TimeMs;

use super::attempts::Attempts;
use super::auditing::Denied;
use super::caller::Caller;
use super::denials::Denials;
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
    /// What is recorded of administrative acts and denials.
    pub audit: AuditLog,
    /// How often callers were turned away, on all ports.
    pub denials: Arc<Denials>,
    /// The origins of pages that may call the HTTP port, besides its own.
    pub origins: Vec<String>,
    /// The addresses that showed wrong passwords, on any port.
    pub(crate) attempts: Arc<Attempts>,
    /// The addresses that showed wrong keys, so that the log does not say it each time.
    wrong_keys: Arc<Attempts>,
    /// The name of the port.
    pub(crate) port: &'static str,
}

impl Access {
    /// Admits callers with the password, or anyone if there is none and no key, and pages of the origins.
    #[must_use]
    pub fn new(password: Option<String>, origins: Vec<String>) -> Self {
        let access = Self { origins, ..Self::default() };
        access.set_password(password);
        access
    }

    /// The same at a port, whose name the audit log has.
    #[must_use]
    pub fn at(&self, port: &'static str) -> Self {
        Self { port, ..self.clone() }
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
        let changes = self.keys.replace(ring, now);
        self.note_changes(&changes);
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

    /// Looks at the password or the key that a caller shows. A key is always looked at, because nobody guesses one; a
    /// password only if its address does not guess: a caller with a wrong one must lock out none of its neighbours with keys.
    pub fn log_in(&self, address: IpAddr, shown: &[u8], now_ms: TimeMs) -> Login {
        if let Some(caller) = self.stranger() {
            return Login::Admitted(caller);
        }
        let now = Instant::now();
        let key = Shown::parse(shown);
        if key.is_none()
            && let Some(wait) = self.attempts.wait(address, now)
        {
            self.deny(None, address, Denied { what: "login", outcome: "DELAYED", detail: None });
            return Login::Delayed(wait);
        }
        if self.is_password(shown) {
            return Login::Admitted(Caller::all());
        }
        let Some(key) = key else {
            self.attempts.note(address, now);
            tracing::warn!(%address, "a caller showed a wrong password");
            self.deny(None, address, Denied { what: "login", outcome: "WRONG_PASSWORD", detail: None });
            return Login::Wrong;
        };
        match self.keys.admit(&key, now_ms) {
            Ok(grant) => Login::Admitted(Caller::with(grant)),
            Err(denial) => {
                self.deny_key(key.id, address, denial);
                self.tell_wrong(address, now, &key, denial);
                Login::Wrong
            }
        }
    }

    /// Logs a wrong key, for each address as often as a password may be tried.
    fn tell_wrong(&self, address: IpAddr, now: Instant, shown: &Shown, denial: Denial) {
        if self.wrong_keys.wait(address, now).is_none() {
            self.wrong_keys.note(address, now);
            tracing::warn!(%address, key = %shown.id, ?denial, "a caller showed a key that is not admitted");
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use scarce_access::{Asked, Lack, Scope};
    use scarce_core::command::{Command, table};

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn asked(name: &str, scope: &str, namespace: Option<&str>) -> Asked {
        let scopes = vec![Scope::parse(scope).expect("a scope")];
        Asked { name: name.to_owned(), scopes, namespace: namespace.map(str::to_owned), ttl_ms: None }
    }

    fn create(ring: &mut Ring, asked: &Asked, now: TimeMs) -> Shown {
        let shown = Shown::draw().expect("random bytes");
        ring.create(asked, &shown, now).expect("a key");
        shown
    }

    fn caller(access: &Access, shown: &Shown) -> Option<Caller> {
        match access.log_in(HERE, shown.reveal().as_bytes(), 1_000) {
            Login::Admitted(caller) => Some(caller),
            Login::Wrong | Login::Delayed(_) => None,
        }
    }

    #[test]
    fn a_right_key_is_admitted_however_many_wrong_ones_its_address_shows() {
        let access = Access::new(Some("correct horse battery".to_owned()), Vec::new());
        let mut ring = Ring::default();
        let right = create(&mut ring, &asked("shop", "read", None), 0);
        access.set_keys(ring, 1_000);
        for _ in 0..50 {
            assert!(caller(&access, &Shown::draw().expect("random bytes")).is_none());
            let _ = access.log_in(HERE, b"a guess", 1_000);
        }
        assert!(matches!(access.log_in(HERE, b"a guess", 1_000), Login::Delayed(_)));
        assert!(matches!(access.log_in(HERE, b"correct horse battery", 1_000), Login::Delayed(_)));
        assert!(caller(&access, &right).is_some());
        let wrong = Shown::draw().expect("random bytes").reveal();
        assert!(matches!(access.log_in(HERE, wrong.as_bytes(), 1_000), Login::Wrong));
    }

    fn lack(caller: &Caller, line: &str) -> Option<Lack> {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let spec = table::find(words[0]).expect("a command");
        let (command, _) = Command::parse(spec, &words[1..]).expect("well formed");
        caller.check(spec, &command).err()
    }

    #[test]
    fn the_doubt_of_an_operation_that_may_be_anothers_is_for_those_who_may_everything() {
        let access = Access::default();
        let mut ring = Ring::default();
        let keys = [
            ("own", "take:stock:sku-1", None),
            ("one", "take:stock:sku-1", Some("alike")),
            ("retry", "take:stock:sku-1", Some("alike")),
            ("sale", "take:stock:sku-1", Some("mixed")),
            ("bank", "settle", Some("mixed")),
            ("former", "take:stock:sku-1", Some("")),
        ];
        let shown = keys.map(|(name, scope, namespace)| create(&mut ring, &asked(name, scope, namespace), 0));
        access.set_keys(ring.clone(), 1_000);
        let resolve = "OPERATION.RESOLVE pay-1 ON sku-1";
        let callers = shown.each_ref().map(|shown| caller(&access, shown).expect("admitted"));
        let lacks = callers.each_ref().map(|its| lack(its, resolve).map(|lack| lack.to_string()));
        let all = || Some("take".to_owned());
        assert_eq!(lacks, [None, None, None, all(), None, all()]);
        assert!(callers.iter().all(|its| lack(its, "OPERATION.GET pay-1 ON sku-1").is_none()));
        // It counts from when the namespace is shared, also for those who are there.
        create(&mut ring, &asked("late", "read", Some("alike")), 0);
        access.set_keys(ring, 1_000);
        assert!(lack(&callers[1], resolve).is_some() && access.still_admits(&callers[1]));
    }

    #[test]
    fn a_leap_of_the_clock_ends_no_key_for_good() {
        let access = Access::default();
        let now = super::super::now_ms();
        let mut ring = Ring::default();
        let its = Asked { ttl_ms: Some(3_600_000), ..asked("shop", "read", None) };
        let shown = create(&mut ring, &its, now);
        access.set_keys(ring, now);
        let at = |now| matches!(access.log_in(HERE, shown.reveal().as_bytes(), now), Login::Admitted(_));
        let known = access.log_in(HERE, shown.reveal().as_bytes(), now);
        let Login::Admitted(known) = known else { panic!("{known:?}") };
        assert!(access.still_admits(&known));
        let changes = access.keys.changes();
        access.keys.keep_time(now + 1);
        assert_eq!(access.keys.changes(), changes, "nothing is new");
        access.keys.keep_time(now + 4_000_000);
        assert!(!at(now + 4_000_000) && !access.still_admits(&known));
        access.keys.keep_time(now + 1_000);
        assert!(at(now + 1_000), "the clock is right again");
        assert!(!access.still_admits(&known), "who was ended comes again");
        assert_eq!(access.keys.changes(), changes + 2);
    }
}
