//! What is wrong with settings, where, and how to fix it.

use std::fmt;
use std::path::PathBuf;

/// A position in a file; line and column count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePosition {
    /// The file.
    pub path: PathBuf,
    /// The line; 0 for the file as a whole.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl FilePosition {
    /// The position of a byte in the file's text.
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

impl fmt::Display for FilePosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.path.display())?;
        if self.line > 0 { write!(formatter, ":{}:{}", self.line, self.column) } else { Ok(()) }
    }
}

/// A setting that is wrong or likely a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Whether the server can start in spite of it.
    pub is_warning: bool,
    /// The position, if in a file.
    pub place: Option<FilePosition>,
    /// What is wrong.
    pub text: String,
    /// How to fix it.
    pub advice: String,
}

impl Problem {
    /// A problem that prevents the server from starting.
    pub fn error(place: Option<FilePosition>, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { is_warning: false, place, text: text.into(), advice: advice.into() }
    }

    /// A likely mistake.
    pub fn warning(place: Option<FilePosition>, text: impl Into<String>, advice: impl Into<String>) -> Self {
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

/// All errors that prevent using the settings, one per line.
#[must_use]
pub fn listed(problems: &[Problem]) -> String {
    let errors = problems.iter().filter(|problem| !problem.is_warning).map(Problem::to_string);
    let lead = "the settings cannot be used".to_owned();
    std::iter::once(lead).chain(errors).collect::<Vec<_>>().join("\n  ")
}
