//! One record: who did or tried what, from where, when, and what became of it. No arguments and no secrets.

use std::net::IpAddr;
use std::str::FromStr;

use scarce_core::types::TimeMs;
use serde::{Deserialize, Serialize};

/// The longest text that a caller can bring into a record, in characters.
const TEXT_CHARACTERS_MAX: usize = 128;

/// The most resources that a record names.
const RESOURCES_MAX: usize = 8;

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An administrative act, whatever became of it.
    Act,
    /// A caller was turned away.
    Denial,
    /// Records that are not here: there were too many at a time.
    Gap,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Act, Self::Denial, Self::Gap];

    /// The word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Act => "act",
            Self::Denial => "denial",
            Self::Gap => "gap",
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|kind| kind.word() == text);
        known.ok_or_else(|| "must be act, denial or gap".to_owned())
    }
}

/// Who a record is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// A caller with a key: its public part and its name.
    Key(String, String),
    /// A caller with the password.
    Password,
    /// A caller where nothing needs to be shown.
    Anyone,
    /// A caller that was not admitted, with the public part of the key that it showed.
    Nobody(Option<String>),
    /// A user of the machine.
    User(String),
    /// The server itself.
    Server,
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// When, in Unix milliseconds by the wall clock.
    pub at_ms: TimeMs,
    /// What it is about.
    pub kind: Kind,
    /// `key`, `password`, `anyone`, `nobody`, `user` or `server`.
    pub who: String,
    /// The public part of the key that was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The name of the key, or of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The caller's address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// `resp`, `http`, `command-line` or `server`.
    pub port: String,
    /// The command, the route or the subcommand.
    pub what: String,
    /// What it was about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// The operation's id, if the caller gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The outcome's code, or why the caller was turned away.
    pub outcome: String,
    /// What else there is to say: the scope that is missing, the origin of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Where the events of the act are in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<u32>,
    /// The first event there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// How many records of this address, or of all, were left out since its last one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
}

// Serde hands over a reference.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Record {
    /// A record without particulars.
    #[must_use]
    pub fn new(kind: Kind, who: Who, port: &str, what: &str, outcome: &str) -> Self {
        let (who, key, name) = match who {
            Who::Key(id, name) => ("key", Some(id), Some(name)),
            Who::Password => ("password", None, None),
            Who::Anyone => ("anyone", None, None),
            Who::Nobody(key) => ("nobody", key, None),
            Who::User(name) => ("user", None, Some(name)),
            Who::Server => ("server", None, None),
        };
        Self {
            at_ms: 0,
            kind,
            who: who.to_owned(),
            key,
            name,
            address: None,
            port: port.to_owned(),
            what: plain(what),
            resources: Vec::new(),
            operation: None,
            outcome: outcome.to_owned(),
            detail: None,
            partition: None,
            sequence: None,
            left_out: 0,
        }
    }

    /// The same from an address.
    #[must_use]
    pub fn from(self, address: IpAddr) -> Self {
        Self { address: Some(address), ..self }
    }

    /// The same about resources.
    #[must_use]
    pub fn about<'a>(self, resources: impl IntoIterator<Item = &'a str>) -> Self {
        Self { resources: resources.into_iter().take(RESOURCES_MAX).map(plain).collect(), ..self }
    }

    /// The same with what else there is to say.
    #[must_use]
    pub fn with_detail(self, detail: &str) -> Self {
        Self { detail: Some(plain(detail)), ..self }
    }

    /// As a line of a file.
    #[must_use]
    pub fn to_line(&self) -> String {
        // It has no maps with keys that are no texts, so that it can always be written.
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }
}

/// A caller's text made safe for a terminal and a log: short, and without control characters.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' })
        .take(TEXT_CHARACTERS_MAX)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line_whatever_a_caller_sends_and_is_read_as_it_was_written() {
        let who = Who::Key("0123456789ab".to_owned(), "shop".to_owned());
        let record = Record::new(Kind::Act, who, "resp", "STOCK.CREATE", "APPLIED")
            .about(["sku\n\u{1b}[31m", "b"])
            .from("203.0.113.7".parse().expect("an address"))
            .with_detail(&"x".repeat(999));
        let line = record.to_line();
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.contains(r#""resources":["sku??[31m","b"]"#) && !line.contains("left_out"), "{line}");
        assert!(line.len() < 600);
        assert_eq!(serde_json::from_str::<Record>(&line).expect("a record"), record);
    }
}
