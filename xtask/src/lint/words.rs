//! Words to avoid in plain English and Chinese. The list may only get shorter: each word has the number of
//! lines that still have it, which may fall but never rise.

use std::error::Error;
use std::fmt::Write as _;

use super::files::Files;
use super::{Finding, Found};
use crate::{place, screen};

const PATH: &str = "xtask/src/lint/words.txt";

/// How many lines are shown of each word that is used too often.
const LINES_SHOWN: usize = 20;

/// A row of the list.
#[derive(Debug, PartialEq, Eq)]
struct Word<'a> {
    /// The maximum number of lines with it.
    lines_max: usize,
    text: &'a str,
    instead: &'a str,
    /// A line with one of these uses the word correctly.
    allowed_with: Vec<&'a str>,
}

impl<'a> Word<'a> {
    /// Reads a row: `count | word | instead | allowed with, …`.
    fn read(line: &'a str) -> Option<Self> {
        let mut cells = line.split('|').map(str::trim);
        let lines_max = cells.next()?.parse().ok()?;
        let (text, instead) = (cells.next()?, cells.next()?);
        let allowed_with = cells.next().unwrap_or_default().split(',').map(str::trim);
        Some(Self {
            lines_max,
            text,
            instead,
            allowed_with: allowed_with.filter(|one| !one.is_empty()).collect(),
        })
    }

    fn is_in(&self, line: &str) -> bool {
        has_word(line, self.text) && !self.allowed_with.iter().any(|one| line.contains(one))
    }

    /// The locations of the lines that have it.
    fn places(&self, files: &Files) -> Vec<String> {
        // The licence is others' words.
        let is_ours = |path: &str| path != PATH && !path.ends_with("LICENSE");
        let checked = files.0.iter().filter(|file| file.is_written() && is_ours(&file.path));
        let places = checked.flat_map(|file| {
            let lines = file.text.lines().enumerate().filter(|(_, line)| self.is_in(&spoken(line)));
            lines.map(|(at, _)| format!("{}:{}", file.path, at + 1))
        });
        places.collect()
    }
}

/// A line in small letters, without an operator of Python that looks like two words.
fn spoken(line: &str) -> String {
    line.replace("is None", "").to_lowercase()
}

/// Whether a lower-case line has a word, not merely as a part of another.
fn has_word(line: &str, word: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = word.starts_with(is_letter);
    let ends = word.ends_with(is_letter);
    line.match_indices(word).any(|(at, _)| {
        let is_free_before = !starts || !line[..at].ends_with(is_letter);
        let is_free_behind = !ends || !line[at + word.len()..].starts_with(is_letter);
        is_free_before && is_free_behind
    })
}

/// The rows of the list; other lines are comments.
fn list() -> Result<String, Box<dyn Error>> {
    Ok(std::fs::read_to_string(place::root().join(PATH))?)
}

/// The words that are used more often than the list allows.
pub fn check(files: &Files) -> Found {
    let mut found = Vec::new();
    for word in list()?.lines().filter_map(Word::read) {
        let places = word.places(files);
        let (count, max) = (places.len(), word.lines_max);
        if count < max {
            screen::say(&format!(
                "words: '{}' is in {count} lines, and the list allows {max}; run cargo xtask lint --tighten",
                word.text
            ));
        }
        if count <= max {
            continue;
        }
        let text = format!("in {count} lines, at most {max}; instead: {}", word.instead);
        found.push(Finding::new(format!("'{}'", word.text), text));
        found.extend(places.into_iter().take(LINES_SHOWN).map(|place| Finding::new(place, word.text)));
    }
    Ok(found)
}

/// Lowers the counts of the list to the present ones.
pub fn tighten(files: &Files) -> Result<(), Box<dyn Error>> {
    let mut tightened = String::new();
    for line in list()?.lines() {
        let count = Word::read(line).map(|word| word.places(files).len().min(word.lines_max));
        let rest = line.split_once('|').map(|(_, rest)| rest);
        match count.zip(rest) {
            Some((count, rest)) => writeln!(tightened, "{count:>3} |{rest}")?,
            None => writeln!(tightened, "{line}")?,
        }
    }
    Ok(std::fs::write(place::root().join(PATH), tightened)?)
}

#[cfg(test)]
mod tests {
    use super::super::files::File;
    use super::*;

    #[test]
    fn a_word_is_found_by_itself_only() {
        assert!(has_word("a word, as such", "word"));
        assert!(!has_word("words of a sword, or my_word", "word"));
        assert!(has_word("see /folder/here", "/folder/"));
        assert_eq!(spoken("If value is None: it Is"), "if value : it is");
    }

    #[test]
    fn a_row_names_where_its_word_is_right() {
        let word = Word::read("  1 | 甲 | 乙 | 丙").expect("a row");
        assert_eq!((word.lines_max, word.text, word.instead), (1, "甲", "乙"));
        assert_eq!((word.is_in("丙到甲"), word.is_in("到甲")), (false, true));
        let text = "one\n甲得到\n\n甲\n".to_owned();
        let files = Files(vec![File { path: "a.md".to_owned(), text }]);
        assert_eq!(word.places(&files), ["a.md:2", "a.md:4"]);
    }

    #[test]
    fn every_line_of_the_list_is_a_row_or_a_comment() {
        let list = list().expect("the list");
        let rows = list.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        for row in rows {
            let word = Word::read(row).unwrap_or_else(|| panic!("{row}"));
            assert_eq!(word.text, word.text.to_lowercase(), "{row}");
            assert!(!word.instead.is_empty(), "{row}");
        }
    }
}
