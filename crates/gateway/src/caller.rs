//! A caller: who it is, and what it may do.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use scarce_access::{Key, KeyId, Lack, Need, Part, Rights};
use scarce_audit::Who;
use scarce_core::command::rules::Verb;
use scarce_core::command::{Command, CommandSpec, Effect};
use scarce_core::types::TimeMs;
use scarce_limits::Asker;

use super::telling::Telling;

/// Last uses are known to the hour.
pub const USED_MS: TimeMs = 3_600_000;

/// A key that is in use.
#[derive(Debug)]
pub struct Grant {
    /// The key's public part.
    pub id: KeyId,
    /// Its name.
    pub name: String,
    /// The namespace of its operation ids, as the engine has it.
    pub namespace: String,
    id_text: String,
    rights: Rights,
    is_limited: bool,
    is_over: AtomicBool,
    /// From when on it cannot be used.
    expires_ms: AtomicU64,
    /// The hour of the last use.
    pub(crate) used_ms: AtomicU64,
    /// Whether a key that may something else has the same namespace.
    shares_ids: AtomicBool,
    telling: Telling,
}

impl Grant {
    pub(crate) fn new(key: &Key) -> Self {
        let (rights, namespace) = (Rights::new(key.scopes.clone()), key.engine_namespace());
        Self {
            id: key.id,
            id_text: key.id.to_string(),
            name: key.name.clone(),
            is_limited: !rights.is_all() || !namespace.is_empty(),
            namespace,
            rights,
            is_over: AtomicBool::new(false),
            expires_ms: AtomicU64::new(key.expires_ms.unwrap_or(TimeMs::MAX)),
            used_ms: AtomicU64::new(0),
            shares_ids: AtomicBool::new(true),
            telling: Telling::default(),
        }
    }

    /// Takes what changed of its key and of others: a successor shortens its time, another key may share its namespace.
    pub(crate) fn follow(&self, key: &Key, shares_ids: bool) {
        self.shares_ids.store(shares_ids, Ordering::Release);
        self.expires_ms.store(key.expires_ms.unwrap_or(TimeMs::MAX), Ordering::Release);
    }

    /// Those who came with it may not go on.
    pub(crate) fn end(&self) {
        tracing::info!(key = %self.id, name = self.name, "a key of a caller is no longer admitted");
        self.is_over.store(true, Ordering::Release);
    }

    pub(crate) fn note_use(&self, now: TimeMs) {
        self.used_ms.fetch_max(now / USED_MS * USED_MS, Ordering::Relaxed);
    }

    /// Whether it may send a command. An operation of a namespace that others share may be about any resource.
    #[inline]
    fn check(&self, spec: &CommandSpec, command: &Command) -> Result<(), Lack> {
        self.rights.check(spec, command)?;
        let is_doubt = spec.verb() == Verb::Any && spec.effect == Effect::Write;
        if is_doubt && self.shares_ids.load(Ordering::Acquire) {
            return self.rights.check_need(Need::RESOLVE_ALL, None);
        }
        Ok(())
    }

    /// Logs what it lacks, but not each time. Which resource was asked for is the caller's affair, and not of the log.
    fn tell(&self, lack: &Lack, request: &str) {
        let Some(untold) = self.telling.due(super::now_ms()) else { return };
        let Lack { verb, kind, .. } = lack;
        tracing::warn!(key = %self.id, name = self.name, verb, kind, request, untold, "a key lacks the scope for a request");
    }
}

/// A caller. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Caller {
    grant: Option<Arc<Grant>>,
    /// It showed nothing, because nothing needed to be shown.
    is_open: bool,
}

impl Caller {
    pub(crate) const fn open() -> Self {
        Self { grant: None, is_open: true }
    }

    /// The one with the password, which may do everything.
    pub(crate) const fn all() -> Self {
        Self { grant: None, is_open: false }
    }

    pub(crate) const fn with(grant: Arc<Grant>) -> Self {
        Self { grant: Some(grant), is_open: false }
    }

    pub(crate) const fn is_open(&self) -> bool {
        self.is_open
    }

    pub(crate) fn is_over(&self, now: TimeMs) -> bool {
        self.grant.as_ref().is_some_and(|grant| {
            grant.is_over.load(Ordering::Acquire) || grant.expires_ms.load(Ordering::Acquire) <= now
        })
    }

    /// The namespace of its operation ids; empty for that of the password.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.grant.as_ref().map_or("", |grant| &grant.namespace)
    }

    /// The public part of the key that it showed.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.grant.as_ref().map(|grant| grant.id_text.as_str())
    }

    /// Who it is, for the audit log.
    #[must_use]
    pub fn who(&self) -> Who {
        match &self.grant {
            Some(grant) => Who::Key(grant.id_text.clone(), grant.name.clone()),
            None if self.is_open => Who::Anyone,
            None => Who::Password,
        }
    }

    /// Who asks, for the limits of rate.
    #[must_use]
    pub fn asker(&self, address: IpAddr) -> Asker<'_> {
        Asker { address, key: self.key() }
    }

    /// Whether its requests must be checked, or have a namespace: not with the password, nor with a key of everything in
    /// the password's namespace.
    #[inline]
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.grant.as_ref().is_some_and(|grant| grant.is_limited)
    }

    /// Whether it may send a command.
    ///
    /// # Errors
    /// What its key lacks.
    #[inline]
    pub fn check(&self, spec: &CommandSpec, command: &Command) -> Result<(), Lack> {
        match &self.grant {
            None => Ok(()),
            Some(grant) => grant.check(spec, command).inspect_err(|lack| grant.tell(lack, spec.name)),
        }
    }

    /// Where a list looks for what it shows this caller of the names with a prefix; nothing is left out where it is not said.
    pub(crate) fn parts(&self, spec: &CommandSpec, prefix: &str) -> Option<Vec<Part>> {
        self.grant.as_ref().map(|grant| grant.rights.parts(spec, prefix))
    }

    /// Whether a list shows this caller the resource of a name.
    pub(crate) fn is_shown(&self, spec: &CommandSpec, id: &str) -> bool {
        self.grant.as_ref().is_none_or(|grant| grant.rights.shows(spec, id))
    }

    /// Whether it may send a command about any resource.
    ///
    /// # Errors
    /// What its key lacks.
    pub fn check_any(&self, spec: &CommandSpec) -> Result<(), Lack> {
        match &self.grant {
            None => Ok(()),
            Some(grant) => grant.rights.check_any(spec).inspect_err(|lack| grant.tell(lack, spec.name)),
        }
    }

    /// Whether it may do something, without a word in the log if it may not.
    #[must_use]
    pub fn may(&self, need: Need) -> bool {
        self.grant.as_ref().is_none_or(|grant| grant.rights.check_need(need, None).is_ok())
    }

    /// Whether it may do something with some resource, without a word in the log if it may not.
    #[must_use]
    pub fn may_some(&self, need: Need) -> bool {
        self.grant.as_ref().is_none_or(|grant| grant.rights.meets_some(need))
    }

    /// Whether it may do something with a resource, without a word in the log if it may not.
    #[must_use]
    pub fn may_with(&self, need: Need, id: &str) -> bool {
        self.grant.as_ref().is_none_or(|grant| grant.rights.check_need(need, Some(id)).is_ok())
    }

    /// Whether it may do what is no command of the table; `id` is the resource that it is about, if it is about one.
    ///
    /// # Errors
    /// What its key lacks.
    pub fn check_need(&self, need: Need, id: Option<&str>, request: &str) -> Result<(), Lack> {
        match &self.grant {
            None => Ok(()),
            Some(grant) => grant.rights.check_need(need, id).inspect_err(|lack| grant.tell(lack, request)),
        }
    }
}
