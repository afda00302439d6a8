//! What no row can show, and why: `impossible.txt`.
//!
//! A line is `COMMAND A B reason …` if both refusals cannot hold at once, or A cannot come and go around
//! B; `COMMAND A - reason …` if the refusal itself cannot be provoked; `* A - reason …` for a code that
//! no command of a table returns.

use scarce_core::command::table::find;
use scarce_core::outcome::Code;

use super::{Failure, RowLocation, failure};

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImpossiblePair {
    /// Its location.
    pub(crate) place: RowLocation,
    /// The command, or `*`.
    pub(crate) command: String,
    /// The refusal that would be returned.
    pub(crate) first: Code,
    /// The refusal that it would take precedence over.
    pub(crate) second: Option<Code>,
}

pub(super) fn parse(file: &str, text: &str, entries: &mut Vec<ImpossiblePair>, failures: &mut Vec<Failure>) {
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let place = RowLocation { file: file.to_owned(), line: at + 1 };
        match entry(place, line) {
            Ok(entry) => entries.push(entry),
            Err(message) => failures.push(failure(file, at + 1, format!("{message}: {line}"))),
        }
    }
}

fn entry(place: RowLocation, line: &str) -> Result<ImpossiblePair, &'static str> {
    let mut words = line.split_whitespace();
    let command = words.next().unwrap_or("");
    if command != "*" && find(command.as_bytes()).is_none() {
        return Err("names an unknown command");
    }
    let first = words.next().and_then(Code::from_word).ok_or("names an unknown code")?;
    let second = match words.next() {
        Some("-") => None,
        Some(word) => Some(Code::from_word(word).ok_or("names an unknown code")?),
        None => return Err("needs two codes and a reason"),
    };
    if words.count() < 3 {
        return Err("needs a reason");
    }
    Ok(ImpossiblePair { place, command: command.to_owned(), first, second })
}
