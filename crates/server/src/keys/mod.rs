//! Where the keys of callers are kept: beside the journal, or beside the partitions in Redis, so that all processes in
//! front of it have the same. Anyone who may write there may make keys.

mod file;
mod redis;
mod watch;

use std::collections::BTreeMap;

use scarce_access::{KeyError, KeyId, Ring};
use scarce_core::types::TimeMs;
use scarce_engine_embedded::EmbeddedError;
use scarce_gateway_http::{KeyChange, KeyKeeper, KeyTrouble};
use scarce_settings::{EngineChoice, ServerSettings};

use file::FileKeys;
pub(crate) use file::{KEYS, LOCK, USES, lock};
use redis::RedisKeys;
pub(crate) use watch::KeyWatch;

/// Why keys cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeyStoreError {
    /// A file cannot be used.
    #[error("cannot {doing} {path}: {error}")]
    File {
        /// What was to be done.
        doing: &'static str,
        /// The file.
        path: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// The keys themselves.
    #[error("{place}: {error}")]
    Keys {
        /// Where they are.
        place: String,
        /// What is wrong.
        error: KeyError,
    },
    /// The deployment is elsewhere, with its keys.
    #[error(
        "the keys in {directory} are not those of the deployment any more, because it has moved to {address}: change them there"
    )]
    Moved {
        /// The data directory.
        directory: String,
        /// Where it is.
        address: String,
    },
    /// Whether the deployment is elsewhere is not known.
    #[error(transparent)]
    Mark(#[from] EmbeddedError),
    /// The Redis did not answer as it should.
    #[error("the keys in Redis cannot be read or changed: {0}")]
    Redis(String),
    /// A change of the keys is not possible.
    #[error(transparent)]
    Change(#[from] KeyError),
    /// No thread or runtime.
    #[error(transparent)]
    System(#[from] std::io::Error),
}

/// Where the keys are kept.
pub enum KeyStore {
    /// A file in the data directory.
    File(FileKeys),
    /// A hash in Redis.
    Redis(Box<RedisKeys>),
}

impl KeyStore {
    /// The store of a server with these settings. Nothing is read yet.
    ///
    /// # Errors
    /// When the settings of Redis cannot be used.
    pub fn of(settings: &ServerSettings) -> Result<Self, KeyStoreError> {
        Ok(match settings.engine {
            EngineChoice::Embedded => Self::File(FileKeys::new(&settings.data)),
            EngineChoice::Redis => Self::Redis(Box::new(RedisKeys::new(settings)?)),
        })
    }

    /// Where they are, in words.
    #[must_use]
    pub fn place(&self) -> String {
        match self {
            Self::File(file) => file.place(),
            Self::Redis(redis) => redis.place(),
        }
    }

    /// All keys.
    ///
    /// # Errors
    /// When they cannot be read: then it is not known who may come.
    pub fn load(&self) -> Result<Ring, KeyStoreError> {
        match self {
            Self::File(file) => file.load(),
            Self::Redis(redis) => redis.load(),
        }
    }

    /// Whether they may have changed since they were loaded last.
    fn may_have_changed(&self) -> bool {
        match self {
            Self::File(file) => file.may_have_changed(),
            Self::Redis(_) => true,
        }
    }

    /// Changes the keys; nobody else does at the same time. `change` may be called several times.
    ///
    /// # Errors
    /// What `change` says, or when they cannot be read or written.
    pub fn change<T>(
        &self,
        change: impl FnMut(&mut Ring) -> Result<T, KeyError>,
    ) -> Result<T, KeyStoreError> {
        match self {
            Self::File(file) => file.change(change),
            Self::Redis(redis) => redis.change(change),
        }
    }

    /// When each key was last shown, to the hour.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn last_uses(&self) -> Result<BTreeMap<KeyId, TimeMs>, KeyStoreError> {
        match self {
            Self::File(file) => file.last_uses(),
            Self::Redis(redis) => redis.last_uses(),
        }
    }

    /// Notes when keys were last shown.
    fn note_uses(&self, uses: &BTreeMap<KeyId, TimeMs>) -> Result<(), KeyStoreError> {
        match self {
            Self::File(file) => file.note_uses(uses),
            Self::Redis(redis) => redis.note_uses(uses),
        }
    }
}

/// The same for the HTTP port.
impl KeyKeeper for KeyStore {
    fn load(&self) -> Result<(Ring, BTreeMap<KeyId, TimeMs>), KeyTrouble> {
        Ok((Self::load(self)?, self.last_uses()?))
    }

    fn change(&self, change: KeyChange<'_>) -> Result<(), KeyTrouble> {
        Ok(Self::change(self, |ring| change(ring))?)
    }
}

impl From<KeyStoreError> for KeyTrouble {
    fn from(error: KeyStoreError) -> Self {
        match error {
            KeyStoreError::Change(error) => Self::Refused(error),
            error => Self::Away(error.to_string()),
        }
    }
}
