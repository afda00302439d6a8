//! One key: everything about it but its secret, of which only a hash is kept.

use scarce_core::types::TimeMs;
use serde_json::{Map, Value, json};

use super::scope::{Scope, ScopeError};
use super::secret::{KeyId, Secret, Shown};

/// What the namespaces of keys begin with, so that none is one that the server uses itself.
pub const NAMESPACE_FRONT: &str = "key:";

/// The longest name, and the longest namespace, in bytes.
const NAME_BYTES_MAX: usize = 48;

/// The most scopes of a key.
const SCOPES_MAX: usize = 64;

/// Why there is no such key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A scope cannot be read.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// No scope was given, or too many.
    #[error("a key has 1 to {SCOPES_MAX} scopes")]
    Scopes,
    /// The name cannot be used.
    #[error("the name of a key has 1 to {NAME_BYTES_MAX} letters, digits, and _ . -")]
    Name,
    /// The name could be the ID of another key.
    #[error("the name of a key is no ID: not 12 hexadecimal digits, and it does not begin with sk_")]
    NameOfId,
    /// Another key has the name, and may have done what the new one would do again.
    #[error(
        "the key {0} is named so already, and what it did would be done again if the new one retried it: 'scarce keys rotate' makes a successor, --namespace '{1}' shares its operation IDs, another --namespace does not"
    )]
    Taken(KeyId, String),
    /// The namespace cannot be used.
    #[error(
        "a namespace has 1 to {NAME_BYTES_MAX} letters, digits, and _ . -, or is empty for that of the password"
    )]
    Namespace,
    /// No such key.
    #[error("no key is '{0}'; 'scarce keys list' shows them")]
    Unknown(String),
    /// Several keys have the name.
    #[error("several keys are named '{0}'; give the id that 'scarce keys list' shows")]
    Ambiguous(String),
    /// Several keys that can be used have the name, and only one was to be revoked.
    #[error("several keys are named '{0}': {1}; give the id of one, or --all")]
    Several(String, String),
    /// It has a successor.
    #[error("the key {0} was replaced by {1} already; rotate that one")]
    Replaced(KeyId, KeyId),
    /// Nobody would see it.
    #[error("the key could not be printed, and was not made: {0}")]
    Unseen(std::io::Error),
    /// There is no randomness.
    #[error("no random bytes for a key; try again once the system has some")]
    Random(#[from] std::io::Error),
    /// What is kept cannot be read.
    #[error("the keys that are kept cannot be read: {0}")]
    Damaged(String),
}

/// Whether a key can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It can.
    Active,
    /// Its time is over.
    Expired,
    /// It was revoked.
    Revoked,
}

impl Standing {
    /// The word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

/// What is asked of a new key.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its name, for people.
    pub name: String,
    /// Its scopes.
    pub scopes: Vec<Scope>,
    /// The namespace of its operation ids: `None` for one of its own, an empty one for that of the password.
    pub namespace: Option<String>,
    /// How long it can be used.
    pub ttl_ms: Option<u64>,
}

/// A key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its public part.
    pub id: KeyId,
    /// Its name, for people.
    pub name: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// The namespace of its operation ids, without what all begin with; empty for that of the password.
    pub namespace: String,
    /// When it was made.
    pub created_ms: TimeMs,
    /// From when on it cannot be used.
    pub expires_ms: Option<TimeMs>,
    /// When it was revoked.
    pub revoked_ms: Option<TimeMs>,
    /// The key that took its place.
    pub replaced_by: Option<KeyId>,
    pub(crate) secret: Secret,
}

impl Key {
    /// Makes a key of what is drawn for it.
    ///
    /// # Errors
    /// When it cannot be as asked.
    pub fn create(asked: Asked, shown: &Shown, now: TimeMs) -> Result<Self, KeyError> {
        let Asked { name, scopes, namespace, ttl_ms } = asked;
        if KeyId::is_like(&name) {
            return Err(KeyError::NameOfId);
        }
        let key = Self {
            id: shown.id,
            name,
            scopes,
            namespace: namespace.unwrap_or_else(|| shown.id.to_string()),
            created_ms: now,
            expires_ms: ttl_ms.map(|ttl_ms| now.saturating_add(ttl_ms)),
            revoked_ms: None,
            replaced_by: None,
            secret: shown.secret(),
        };
        key.check().map(|()| key)
    }

    fn check(&self) -> Result<(), KeyError> {
        if !is_name(&self.name) {
            return Err(KeyError::Name);
        }
        if !self.namespace.is_empty() && !is_name(&self.namespace) {
            return Err(KeyError::Namespace);
        }
        if (1..=SCOPES_MAX).contains(&self.scopes.len()) { Ok(()) } else { Err(KeyError::Scopes) }
    }

    /// The namespace as the engine has it.
    #[must_use]
    pub fn engine_namespace(&self) -> String {
        if self.namespace.is_empty() { String::new() } else { format!("{NAMESPACE_FRONT}{}", self.namespace) }
    }

    /// Whether it can be used.
    #[must_use]
    pub fn standing(&self, now: TimeMs) -> Standing {
        match (self.revoked_ms, self.expires_ms) {
            (Some(_), _) => Standing::Revoked,
            (None, Some(expires)) if expires <= now => Standing::Expired,
            (None, _) => Standing::Active,
        }
    }

    /// Whether it has the secret, the scopes and the namespace that it had, so that those who came with it may go on.
    #[must_use]
    pub fn is_as(&self, former: &Self) -> bool {
        let Self { expires_ms, revoked_ms, replaced_by, .. } = former;
        Self { expires_ms: *expires_ms, revoked_ms: *revoked_ms, replaced_by: *replaced_by, ..self.clone() }
            == *former
    }

    /// As it is kept.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut json = self.public_json();
        json["secret_sha256"] = self.secret.text().into();
        json
    }

    /// As it is shown.
    #[must_use]
    pub fn public_json(&self) -> Value {
        json!({
            "id": self.id.to_string(),
            "name": self.name,
            "scopes": self.scopes.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "namespace": self.namespace,
            "created_ms": self.created_ms,
            "expires_ms": self.expires_ms,
            "revoked_ms": self.revoked_ms,
            "replaced_by": self.replaced_by.map(|id| id.to_string()),
        })
    }

    /// Reads what was kept. A field that is unknown or missing is damage: it could be one that limits the key.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_json(value: &Value) -> Result<Self, KeyError> {
        let fields = value.as_object().ok_or_else(|| damaged("a key is no object"))?;
        if let Some(unknown) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
            return Err(damaged(&format!("a key has a field '{unknown}' of a newer release")));
        }
        let text = |name: &str| fields.get(name).and_then(Value::as_str).ok_or_else(|| lost(name));
        let id = |text: &str| KeyId::parse(text).ok_or_else(|| lost("id"));
        let scopes = fields.get("scopes").and_then(Value::as_array).ok_or_else(|| lost("scopes"))?;
        let scope = |value: &Value| Ok(Scope::parse(value.as_str().ok_or_else(|| lost("scopes"))?)?);
        let key = Self {
            id: id(text("id")?)?,
            name: text("name")?.to_owned(),
            scopes: scopes.iter().map(scope).collect::<Result<_, KeyError>>()?,
            namespace: text("namespace")?.to_owned(),
            created_ms: time(fields, "created_ms")?.ok_or_else(|| lost("created_ms"))?,
            expires_ms: time(fields, "expires_ms")?,
            revoked_ms: time(fields, "revoked_ms")?,
            replaced_by: match fields.get("replaced_by") {
                Some(Value::Null) => None,
                _ => Some(id(text("replaced_by")?)?),
            },
            secret: Secret::parse(text("secret_sha256")?).ok_or_else(|| lost("secret_sha256"))?,
        };
        key.check().map_err(|error| damaged(&error.to_string()))?;
        Ok(key)
    }
}

/// The fields of a key.
const FIELDS: [&str; 9] = [
    "id",
    "name",
    "scopes",
    "namespace",
    "created_ms",
    "expires_ms",
    "revoked_ms",
    "replaced_by",
    "secret_sha256",
];

fn is_name(text: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

fn time(fields: &Map<String, Value>, name: &str) -> Result<Option<TimeMs>, KeyError> {
    match fields.get(name) {
        Some(Value::Null) => Ok(None),
        Some(value) => value.as_u64().map(Some).ok_or_else(|| lost(name)),
        None => Err(lost(name)),
    }
}

fn lost(name: &str) -> KeyError {
    damaged(&format!("a key has no proper {name}"))
}

pub(crate) fn damaged(what: &str) -> KeyError {
    KeyError::Damaged(what.to_owned())
}
