//! The demonstrations at a terminal: a live display, colors unless disabled, and lines that fit.

use std::process::Command;

use super::support::Terminal;

/// The beginning of the charts, and the very last words.
const PICTURES: &str = "the hot accounts, by movements";
const END: &str = "scarce explain RESOLVED_ABSENT";

/// The output up to the charts, and from there on, at a terminal of 80 columns.
fn shown(setting: &str) -> [String; 2] {
    let binary = env!("CARGO_BIN_EXE_scarce");
    let demo = "demo wallet --accounts 60 --operations 1500 --ttl-ms 200";
    let script = format!("stty cols 80 rows 50; {setting} exec '{binary}' {demo}");
    let mut terminal = Terminal::start(Command::new("sh").args(["-c", &script]));
    let texts = [PICTURES, END].map(|text| terminal.expect(text));
    assert_eq!(terminal.wait_code(), Some(0), "{texts:?}");
    texts
}

/// A line without escape sequences.
fn bare(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default();
    let painted = parts.filter_map(|part| part.split_once(|sign: char| sign.is_ascii_alphabetic()));
    painted.fold(first.to_owned(), |bare, (_, text)| bare + text).trim_end().to_owned()
}

#[test]
fn the_kill_is_marked_and_no_line_is_wider_than_the_terminal() {
    let [course, proof] = shown("");
    assert!(course.contains(" of 1 500 begun"), "a gauge: {course:?}");
    assert!(course.contains("\u{1b}[31m✖ kill -9"), "in red: {course:?}");
    assert!(proof.contains("\u{1b}[32mok"), "in green: {proof:?}");
    let wide: Vec<String> = proof.lines().map(bare).filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn nothing_is_painted_where_no_colors_are_wanted() {
    let [course, proof] = shown("NO_COLOR=1");
    assert!(course.contains("✖ kill -9"), "{course:?}");
    // The gauge moves the cursor, which is not a color.
    let colors = ["\u{1b}[1m", "\u{1b}[3"];
    assert!(
        !colors.iter().any(|color| course.contains(color) || proof.contains(color)),
        "{course:?}{proof:?}"
    );
}
