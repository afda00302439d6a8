//! Parses the page: its chapters, scripts, transcripts and scenarios.

use std::path::{Path, PathBuf};

/// A chapter with its commands.
#[derive(Debug)]
pub struct Chapter {
    pub title: String,
    /// Name and text of each script.
    scripts: Vec<(String, String)>,
    pub exchanges: Vec<Exchange>,
}

/// A command and its output according to the page.
#[derive(Debug)]
pub struct Exchange {
    /// The line of the command, counted from 1.
    pub line: usize,
    pub command: String,
    pub shown: String,
}

/// The project's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text() -> String {
    std::fs::read_to_string(root().join("docs/coming-from-redis-lua.md")).expect("the page")
}

/// The kind of block that a line of the page belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Prose,
    Script,
    Transcript,
}

/// The chapters in order.
pub fn chapters() -> Vec<Chapter> {
    let mut chapters: Vec<Chapter> = Vec::new();
    let mut block = Block::Prose;
    for (at, line) in text().lines().enumerate() {
        if let Some(title) = line.strip_prefix("## ").filter(|_| block == Block::Prose) {
            chapters.push(Chapter { title: title.to_owned(), scripts: Vec::new(), exchanges: Vec::new() });
        } else if let Some(language) = line.strip_prefix("```") {
            block = match language {
                "lua" | "toml" => Block::Script,
                "console" => Block::Transcript,
                _ => Block::Prose,
            };
        } else if let Some(chapter) = chapters.last_mut() {
            match block {
                Block::Prose => {}
                Block::Script => add_to_script(chapter, line),
                Block::Transcript => add_to_transcript(chapter, at + 1, line),
            }
        }
    }
    chapters
}

/// The first line of a script or a map names its file: `-- debit.lua: …`, `# map.toml: …`.
fn add_to_script(chapter: &mut Chapter, line: &str) {
    for (begin, extension) in [("-- ", ".lua"), ("# ", ".toml")] {
        let rest = line.strip_prefix(begin);
        if let Some((name, _)) = rest.and_then(|rest| rest.split_once(&format!("{extension}:"))) {
            chapter.scripts.push((format!("{name}{extension}"), String::new()));
        }
    }
    let (_, script) = chapter.scripts.last_mut().expect("a script that names itself in its first line");
    script.push_str(line);
    script.push('\n');
}

fn add_to_transcript(chapter: &mut Chapter, number: usize, line: &str) {
    if let Some(command) = line.strip_prefix("$ ") {
        let command = command.to_owned();
        chapter.exchanges.push(Exchange { line: number, command, shown: String::new() });
        return;
    }
    let exchange = chapter.exchanges.last_mut().expect("a command before its output");
    exchange.shown.push_str(line);
    exchange.shown.push('\n');
}

/// All scripts of the page.
pub fn scripts(chapters: &[Chapter]) -> Vec<(String, String)> {
    chapters.iter().flat_map(|chapter| chapter.scripts.iter().cloned()).collect()
}

/// Whether a program printed what the page shows, with `…` for any text within a line.
pub fn is_as_shown(shown: &str, found: &str) -> bool {
    let (shown, found): (Vec<_>, Vec<_>) = (shown.lines().collect(), found.lines().collect());
    shown.len() == found.len() && shown.iter().zip(found).all(|(shown, found)| is_line_as_shown(shown, found))
}

fn is_line_as_shown(shown: &str, found: &str) -> bool {
    match shown.split_once('…') {
        None => shown == found,
        Some((before, after)) => {
            let is_long_enough = found.len() >= before.len() + after.len();
            is_long_enough && found.starts_with(before) && found.ends_with(after)
        }
    }
}

/// The scenarios named on the page: file under `conformance` and title.
pub fn scenarios() -> Vec<(String, String)> {
    let text = text();
    let cells = text.lines().filter_map(|line| line.split_once("(../conformance/"));
    cells
        .filter_map(|(_, rest)| {
            let (file, title) = rest.split_once("): ")?;
            Some((file.to_owned(), title.strip_suffix(" |")?.to_owned()))
        })
        .collect()
}

#[test]
fn an_ellipsis_stands_for_anything_within_a_line() {
    assert!(is_as_shown("a … z\n", "a b z"));
    assert!(is_as_shown("(error) ERR …\n", "(error) ERR something"));
    assert!(!is_as_shown("a … z\n", "a z"));
    assert!(!is_as_shown("a\n", "a\nb"));
    assert!(!is_as_shown("a\n", "b"));
}
