//! What is wrong with settings, where, and what to do.

use std::fmt;
use std::path::PathBuf;

/// Where in a file; line and column count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// The line; 0 where the file as a whole is meant.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Place {
    /// The place of a byte of the file's text.
    #[must_use]
    pub fn of(path: impl Into<PathBuf>, text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            path: path.into(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.path.display())?;
        if self.line > 0 { write!(formatter, ":{}:{}", self.line, self.column) } else { Ok(()) }
    }
}

/// Something that is wrong, or that is likely a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Whether the server can start in spite of it.
    pub is_warning: bool,
    /// Where, if in a file.
    pub place: Option<Place>,
    /// What is wrong.
    pub text: String,
    /// What to do about it.
    pub advice: String,
}

impl Problem {
    /// What keeps the server from starting.
    pub fn error(place: Option<Place>, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { is_warning: false, place, text: text.into(), advice: advice.into() }
    }

    /// What is likely a mistake.
    pub fn warning(place: Option<Place>, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { is_warning: true, place, text: text.into(), advice: advice.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(formatter, "{place}: ")?;
        }
        write!(formatter, "{}; {}", self.text, self.advice)
    }
}

/// Everything that keeps the settings from being used, each on a line of its own.
#[must_use]
pub fn listed(problems: &[Problem]) -> String {
    let errors = problems.iter().filter(|problem| !problem.is_warning).map(Problem::to_string);
    let lead = "the settings cannot be used".to_owned();
    std::iter::once(lead).chain(errors).collect::<Vec<_>>().join("\n  ")
}
