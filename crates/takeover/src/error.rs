//! Why nothing can be taken over, and what is wrong with single keys.

use std::fmt;

/// Why nothing can be taken over. Nothing was changed anywhere.
#[derive(Debug, thiserror::Error)]
pub enum TakeoverError {
    /// The map is wrong.
    #[error("the map is wrong{}: {what}", at(*.line))]
    Map {
        /// The line, where it is known.
        line: Option<usize>,
        /// What is wrong.
        what: String,
    },
    /// The address has another shape.
    #[error("'{url}' is not an address of a Redis; it must be {shape}")]
    Address {
        /// The address.
        url: String,
        /// What it must look like.
        shape: &'static str,
    },
    /// The source cannot be asked.
    #[error("Redis at {at}: {what}")]
    Source {
        /// Which server.
        at: String,
        /// What it says.
        what: String,
    },
    /// The source does not pause its writers.
    #[error(
        "Redis at {at} does not pause its writers ({said}); CLIENT PAUSE … WRITE needs Redis 6.2 and the permission. Stop \
         the writers yourself, or read a replica after REPLICAOF NO ONE, and say --moment still"
    )]
    Pause {
        /// Which server.
        at: String,
        /// What it says.
        said: String,
    },
    /// Reading took longer than the writers were paused.
    #[error(
        "reading took {took_ms} ms and the writers were paused for {pause_ms} ms, so the keys are not of one moment; nothing \
         was imported. Pause for longer with --pause-ms, or read a replica after REPLICAOF NO ONE with --moment still"
    )]
    Late {
        /// How long reading took.
        took_ms: u64,
        /// How long the writers were paused.
        pause_ms: u64,
    },
    /// The source was written to.
    #[error(
        "Redis at {at} was written to while it was read, so the keys are not of one moment; nothing was imported. {advice}"
    )]
    Moving {
        /// Which server.
        at: String,
        /// What to do.
        advice: &'static str,
    },
    /// There is too much.
    #[error("there are more than {most} values to import; import them in parts, with a map for each")]
    TooMuch {
        /// How many may be read.
        most: usize,
    },
    /// A plan is not readable.
    #[error("the plan is damaged: {what}")]
    Plan {
        /// What is wrong.
        what: String,
    },
}

fn at(line: Option<usize>) -> String {
    line.map(|line| format!(" in line {line}")).unwrap_or_default()
}

/// What is wrong with a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The line of the map by which it was read.
    pub line: usize,
    /// The key.
    pub key: String,
    /// What is wrong with it, to follow its name.
    pub reason: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {} of the map) {}", shown(&self.key), self.line, self.reason)
    }
}

/// A text from outside without what a terminal would obey, and not too much of it.
pub(crate) fn shown(text: &str) -> String {
    text.chars().filter(|one| !one.is_control()).take(80).collect()
}
