//! What can become of a call otherwise.

use redis::{ErrorKind, RedisError, ServerErrorKind};
use scarce_engine::engine::Failure;

use super::super::RedisError as StartError;
use super::super::connection::Refused;
use super::super::failure::failure_of;

/// What became of a script that took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was ended, and has done nothing.
    Killed,
    /// It has written something, and runs on: nobody else is served until it ends.
    HasWritten,
    /// The server does not say: it runs something else, or cannot tell.
    Unknown,
}

impl Fate {
    fn text(self) -> &'static str {
        match self {
            Self::Killed => "it was ended, and has done nothing",
            Self::HasWritten => "it has written something and runs on; nobody else is served until it ends",
            Self::Unknown => "the server does not say what became of it; it may run yet",
        }
    }
}

/// What became of a call otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// The name is invalid.
    #[error("'{name}' is no name of a script; take 1 to 64 letters, digits and underscores")]
    Name {
        /// What was given.
        name: String,
    },
    /// A script of that name was not registered, or a digest is not loaded.
    #[error("there is no script '{name}'; load it with 'scarce script load'")]
    Missing {
        /// Its name or digest.
        name: String,
    },
    /// Keys in several slots cannot be touched by one script.
    #[error("the key '{key}' is in another slot than '{routing_key}'; give both the same {{tag}}")]
    CrossSlot {
        /// The key.
        key: String,
        /// The one that the call goes by.
        routing_key: String,
    },
    /// The script ended with an error; what it wrote before stays.
    #[error("the script '{name}' failed: {message}")]
    Failed {
        /// Its name or digest.
        name: String,
        /// What it says.
        message: String,
    },
    /// The script took longer than it may.
    #[error("the script '{name}' took longer than {limit_ms} ms; {}", fate.text())]
    TimedOut {
        /// Its name or digest.
        name: String,
        /// How long it may take.
        limit_ms: u64,
        /// What became of it.
        fate: Fate,
    },
    /// The answer is not of the type that was asked for.
    #[error("the script '{name}' answered something else than was expected: {reason}")]
    WrongShape {
        /// Its name or digest.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The server did not take the call, which did nothing.
    #[error("{reason}")]
    Unavailable {
        /// Why, and what to do.
        reason: String,
    },
    /// The connection broke; the script may have run.
    #[error("it is not known whether the script ran: {reason}")]
    Unknown {
        /// Why.
        reason: String,
    },
}

impl ScriptError {
    pub(super) fn of_start(error: &StartError) -> Self {
        Self::Unavailable { reason: error.to_string() }
    }

    pub(super) fn of(refused: Refused, name: &str, slot: u16) -> Self {
        match refused {
            Refused::Failure(Failure::Unknown { reason }) => Self::Unknown { reason },
            Refused::Failure(failure) => Self::Unavailable { reason: failure.to_string() },
            Refused::TimedOut { endpoint } => {
                Self::Unknown { reason: format!("{endpoint} did not answer in time (slot {slot})") }
            }
            Refused::ByServer { error, node } => match error.kind() {
                ErrorKind::Server(ServerErrorKind::NoScript) => Self::Missing { name: name.to_owned() },
                _ if is_of_the_script(&error) => {
                    Self::Failed { name: name.to_owned(), message: message_of(&error) }
                }
                _ => Self::Unavailable { reason: failure_of(&error, &node.endpoint, &node.user).to_string() },
            },
        }
    }
}

/// Errors that the script itself raised carry its own word, or `ERR`; those of the server its own.
fn is_of_the_script(error: &RedisError) -> bool {
    const OF_SERVER: [&str; 12] = [
        "OOM",
        "READONLY",
        "LOADING",
        "BUSY",
        "NOAUTH",
        "WRONGPASS",
        "NOPERM",
        "MISCONF",
        "NOREPLICAS",
        "CLUSTERDOWN",
        "TRYAGAIN",
        "MASTERDOWN",
    ];
    !error.code().is_some_and(|code| OF_SERVER.contains(&code))
}

fn message_of(error: &RedisError) -> String {
    match (error.code(), error.detail()) {
        (Some("ERR") | None, Some(detail)) => detail.to_owned(),
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        _ => error.to_string(),
    }
}
