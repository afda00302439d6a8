//! What can become of a call otherwise.

use std::fmt::Write as _;

use redis::RedisError;
use scarce_engine::engine::Failure;

use super::super::RedisError as StartError;
use super::super::connection::Refused;
use super::super::failure::failure_of;
use super::text::is_raised;

/// What became of a script that took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was ended, and has done nothing.
    Killed,
    /// Its time was over before the server came to it; it has done nothing, and will not.
    NotBegun,
    /// It has written something, and runs on: nobody else is served until it ends.
    HasWritten,
    /// The server does not say: it runs something else, or cannot tell.
    Unknown,
}

impl Fate {
    fn text(self) -> &'static str {
        match self {
            Self::Killed => "it was ended, and has done nothing",
            Self::NotBegun => "it was not begun, and does nothing: the server was busy with other calls",
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
    /// The text is too long.
    #[error("the text of the script '{name}' is longer than 256 KiB")]
    Size {
        /// The script's name.
        name: String,
    },
    /// There is no room for a further version.
    #[error(
        "the script '{name}' was not registered: there may be {limit} of all scripts together; remove what is not used any more with 'scarce scripts remove'"
    )]
    Full {
        /// The script's name.
        name: String,
        /// How many of what there may be.
        limit: String,
    },
    /// No script of that name or digest is registered.
    #[error("there is no script '{name}'; load it with 'scarce scripts load'")]
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
            Refused::ByServer { error, .. } if is_raised(&error) => {
                Self::Failed { name: name.to_owned(), message: message_of(&error) }
            }
            Refused::ByServer { error, node } => {
                Self::Unavailable { reason: failure_of(&error, &node.endpoint, &node.user).to_string() }
            }
        }
    }

    /// The error that a script answered, as one that it raised would be told.
    pub(super) fn answered(name: &str, message: &str) -> Self {
        let message = message.strip_prefix("ERR ").unwrap_or(message).to_owned();
        Self::Failed { name: name.to_owned(), message }
    }
}

/// In which line the text of a script begins where the server counts lines of what was made of it.
const LINES_BEFORE: [(&str, usize); 2] = [("user_function:", 2), ("user_script:", 0)];

impl ScriptError {
    /// The error with lines of the user's text, under the script's name, in place of lines of what was made of it.
    pub(super) fn in_lines_of_the_text(self, script: &str) -> Self {
        match self {
            Self::Failed { name, message } => Self::Failed { name, message: in_lines_of(&message, script) },
            other => other,
        }
    }
}

fn in_lines_of(message: &str, script: &str) -> String {
    LINES_BEFORE.iter().fold(message.to_owned(), |text, (mark, before)| {
        let mut pieces = text.split(mark);
        let mut told = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let rest = piece.trim_start_matches(' ');
            let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
            match rest[..digits].parse::<usize>() {
                Ok(line) => {
                    let line = line.saturating_sub(*before).max(1);
                    // Writing to a string cannot fail.
                    let _ = write!(told, "{script}:{line}{}", &rest[digits..]);
                }
                Err(_) => {
                    told.push_str(mark);
                    told.push_str(piece);
                }
            }
        }
        told
    })
}

fn message_of(error: &RedisError) -> String {
    match (error.code(), error.detail()) {
        (Some("ERR") | None, Some(detail)) => detail.to_owned(),
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_users_text() {
        for (told, wanted) in [
            ("user_function:5: oh script: f_1, on @user_function:5.", "f:3: oh script: f_1, on @f:3."),
            (
                "Error compiling script (new function): user_script:1: x",
                "Error compiling script (new function): f:1: x",
            ),
            ("@user_function: 3: oh", "@f:1: oh"),
            ("my user_function: is no line", "my user_function: is no line"),
        ] {
            assert_eq!(in_lines_of(told, "f"), wanted);
        }
    }
}
