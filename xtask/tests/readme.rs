//! The README is the same in every language: the same commands and transcripts, the same number of headings,
//! and no broken links.

use std::path::{Path, PathBuf};

const READMES: [&str; 2] = ["README.md", "README.zh-CN.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The lines of code, fenced or indented, without comments, which are in the reader's language.
fn code(text: &str) -> Vec<&str> {
    let mut is_fenced = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
            lines.push(line);
        } else if is_fenced || line.starts_with("    ") {
            lines.push(without_comment(line));
        }
    }
    lines
}

/// A comment begins the line, or comes after two spaces.
fn without_comment(line: &str) -> &str {
    let code = if line.starts_with("# ") { "" } else { line.split("  # ").next().unwrap_or(line) };
    code.trim_end()
}

fn headings(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with("## ")).count()
}

/// The targets of links within the project.
fn links(text: &str) -> Vec<&str> {
    let ends = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    ends.filter(|target| !target.contains("://") && !target.starts_with('#')).collect()
}

#[test]
fn the_readmes_show_the_same_commands() {
    let [first, other] = READMES.map(text);
    let (first, other) = (code(&first), code(&other));
    assert!(first.len() > 100, "the README shows code");
    for (at, (line, theirs)) in first.iter().zip(&other).enumerate() {
        assert_eq!(line, theirs, "line {} of the code in {READMES:?}", at + 1);
    }
    assert_eq!(first.len(), other.len(), "the README's languages show as much code");
}

#[test]
fn the_readmes_have_the_same_chapters_and_name_each_other() {
    let [first, other] = READMES.map(text);
    assert_eq!(headings(&first), headings(&other));
    assert!(first.lines().nth(2).is_some_and(|line| links(line) == [READMES[1]]));
    assert!(other.lines().nth(2).is_some_and(|line| links(line) == [READMES[0]]));
}

#[test]
fn comments_are_no_code() {
    assert_eq!(
        code("    run it     # now\n```\n# a title\n> x # y\n```\n"),
        ["    run it", "```", "", "> x # y", "```"]
    );
}
