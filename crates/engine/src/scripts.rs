//! Scripts that operators register and clients call by name, where the engine can run some.

use std::fmt;
use std::sync::Arc;

use crate::engine::Failure;

/// What clients may do with scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScriptAccess {
    /// Nothing.
    #[default]
    Off,
    /// Run those that are registered.
    Run,
    /// Register and remove them, too.
    Manage,
}

/// Which script is meant.
#[derive(Clone, Debug)]
pub enum ScriptName {
    /// A name; the current version, or the one behind an `@`.
    Named(String),
    /// The SHA-1 of a text that is registered, in hexadecimal digits, and which of those with this text are meant.
    Digest(String, Among),
}

/// Whether a script of this name counts.
type IsNamed = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Scripts by their names.
#[derive(Clone, Default)]
pub struct Among(Option<IsNamed>);

impl Among {
    /// Those of some names.
    #[must_use]
    pub fn those(is_meant: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_meant)))
    }

    /// Whether a script of this name is among them.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|is_meant| is_meant(name))
    }
}

impl fmt::Debug for Among {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "some" } else { "all" })
    }
}

/// A call of a script. Its keys are in a namespace of their own; the first one says where it runs.
#[derive(Clone, Debug)]
pub struct ScriptCall {
    /// Which script.
    pub script: ScriptName,
    /// Its keys.
    pub keys: Vec<String>,
    /// Its arguments.
    pub arguments: Vec<Vec<u8>>,
    /// Whether the caller insists that it only reads.
    pub must_only_read: bool,
}

/// A version of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptVersion {
    /// Its name.
    pub name: String,
    /// Which version; they are counted from 1, and none is used again.
    pub version: u64,
    /// Whether it only reads.
    pub is_read_only: bool,
    /// The SHA-1 of its text.
    pub digest: String,
    /// Its text.
    pub body: String,
}

/// What is asked.
#[derive(Clone, Debug)]
pub enum ScriptRequest {
    /// Run one.
    Run(ScriptCall),
    /// The current version of each.
    List,
    /// All versions of each.
    All,
    /// All versions of one.
    Versions(String),
    /// The version that a name with an `@` and a number names; the current one of a name alone.
    Version(String),
    /// Register a text under a name; a text that differs from the current one is a new version.
    Register {
        /// The name.
        name: String,
        /// The text.
        body: String,
        /// Whether it only reads.
        is_read_only: bool,
    },
    /// Remove a script with all of its versions.
    Remove(String),
}

/// A value that a script answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptValue {
    /// Nothing.
    Nothing,
    /// An integer.
    Integer(i64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A status, such as OK.
    Status(String),
    /// An error within a list.
    Error(String),
    /// A list.
    List(Vec<Self>),
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptAnswer {
    /// What the script answered.
    Value(ScriptValue),
    /// Versions of scripts.
    Versions(Vec<ScriptVersion>),
    /// One version: the one that was asked for, or that was registered.
    Version(ScriptVersion),
    /// Whether there was one to remove.
    Removed(bool),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptFailure {
    /// Clients may not do this.
    #[error("{0}")]
    Forbidden(&'static str),
    /// No such script is registered.
    #[error("no script '{0}' is registered; 'scarce scripts list' lists them")]
    Missing(String),
    /// The call cannot be made; nothing was done.
    #[error("{0}")]
    Invalid(String),
    /// There is no room for it; nothing was done.
    #[error("{0}")]
    Full(String),
    /// The script ended with an error; what it wrote before stays.
    #[error("{0}")]
    Failed(String),
    /// It is not known whether it ran, or to what end. It has no operation ID that could be asked for.
    #[error("{0}; sending the call again may do it twice, so look first at what it writes")]
    Unknown(String),
    /// The engine could not run it; nothing was done.
    #[error(transparent)]
    Engine(#[from] Failure),
}

/// What is called with an answer, from a thread of the engine; it must not block.
pub type ScriptReply = Box<dyn FnOnce(Result<ScriptAnswer, ScriptFailure>) + Send>;

/// Keeps scripts and runs them.
pub trait ScriptRunner: Send + Sync {
    /// Answers a request; `reply` is called once.
    fn ask(&self, request: ScriptRequest, reply: ScriptReply);

    /// How full the registry was when it was last read, which this has done again; nothing until it was read once.
    fn filling(&self) -> Option<ScriptFilling>;
}

/// How much is registered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScriptFilling {
    /// Versions of all names together.
    pub versions: u64,
    /// The bytes that they take.
    pub bytes: u64,
    /// Names, with those that were removed.
    pub names: u64,
}

impl ScriptFilling {
    /// As much as may be registered: each server keeps all texts in memory, and the number of the last version of a name stays.
    pub const MAX: Self = Self { versions: 1_000, bytes: 16 << 20, names: 10_000 };

    /// Each figure with its name and its limit.
    #[must_use]
    pub const fn figures(self) -> [(&'static str, u64, u64); 3] {
        let max = Self::MAX;
        [
            ("versions", self.versions, max.versions),
            ("bytes", self.bytes, max.bytes),
            ("names", self.names, max.names),
        ]
    }
}
