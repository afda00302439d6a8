//! The proof at the end: one line per promise, each with its evidence in numbers.

use std::io::{IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use rustix::termios::tcgetwinsize;
use serde_json::{Value, json};

use super::failure::{DemoError, Verdict};

/// A promise, and whether it was kept.
struct Judged {
    name: &'static str,
    is_kept: bool,
    text: String,
    figures: Value,
}

/// Additional information next to the promises.
struct Note {
    name: &'static str,
    text: String,
    figures: Value,
}

/// The judged promises of a demonstration.
pub(super) struct Proof {
    demonstration: &'static str,
    lines: Vec<Judged>,
    notes: Vec<Note>,
    facts: serde_json::Map<String, Value>,
}

impl Proof {
    /// A proof without promises yet.
    pub(super) fn new(demonstration: &'static str) -> Self {
        Self { demonstration, lines: Vec::new(), notes: Vec::new(), facts: serde_json::Map::new() }
    }

    /// Adds a promise: whether it was kept, the text for readers, and the numbers behind it.
    pub(super) fn judge(&mut self, name: &'static str, is_kept: bool, text: String, figures: Value) {
        self.lines.push(Judged { name, is_kept, text, figures });
    }

    /// Adds a note next to the promises: what was promised at all, and what was not.
    pub(super) fn note(&mut self, name: &'static str, text: String, figures: Value) {
        self.notes.push(Note { name, text, figures });
    }

    /// Adds a fact that is reported, not judged.
    pub(super) fn tell(&mut self, name: &'static str, fact: impl Into<Value>) {
        self.facts.insert(name.to_owned(), fact.into());
    }

    /// Whether every promise was kept.
    pub(super) fn holds(&self) -> bool {
        self.lines.iter().all(|line| line.is_kept)
    }

    /// Prints `pictures` and the table, or JSON, on stdout; the exit code says whether every promise was
    /// kept.
    ///
    /// # Errors
    /// When stdout is gone.
    pub(super) fn print(&self, as_json: bool, pictures: &[String]) -> Result<Verdict, DemoError> {
        let mut out = std::io::stdout().lock();
        if as_json {
            writeln!(out, "{}", self.json())?;
        } else {
            writeln!(out)?;
            let columns = columns();
            for line in pictures {
                // Colored lines already fit the width.
                let is_text = !line.contains('\u{1b}') && line.chars().count() > columns;
                let lines = if is_text { wrapped(line, columns) } else { vec![line.clone()] };
                lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            }
            writeln!(out)?;
            self.table(&mut out, is_colored(), columns)?;
        }
        Ok(if self.holds() { Verdict::Holds } else { Verdict::Broken })
    }

    fn table(&self, out: &mut impl Write, colored: bool, columns: usize) -> std::io::Result<()> {
        let notes = self.notes.iter().map(|note| note.name);
        let names = self.lines.iter().map(|line| line.name).chain(notes);
        let width = names.map(str::len).max().unwrap_or(0);
        let margin = "BROKEN".len() + 2 + width + 2;
        let mut row = |word: &str, color: AnsiColor, name: &str, text: &str| {
            let style = if colored { Style::new().bold().fg_color(Some(color.into())) } else { Style::new() };
            let text = wrapped(text, columns.saturating_sub(margin)).join(&format!("\n{:margin$}", ""));
            writeln!(out, "{style}{word:6}{style:#}  {name:width$}  {text}")
        };
        for Judged { name, is_kept, text, .. } in &self.lines {
            let (word, color) = if *is_kept { ("ok", AnsiColor::Green) } else { ("BROKEN", AnsiColor::Red) };
            row(word, color, name, text)?;
        }
        for Note { name, text, .. } in &self.notes {
            row("note", AnsiColor::Yellow, name, text)?;
        }
        let broken = self.lines.iter().filter(|line| !line.is_kept).count();
        match broken {
            0 => writeln!(out, "all {} promises were kept", self.lines.len()),
            _ => writeln!(out, "{broken} of {} promises were broken", self.lines.len()),
        }
    }

    fn json(&self) -> Value {
        let lines = self.lines.iter().map(|line| {
            json!({ "name": line.name, "ok": line.is_kept, "text": line.text, "figures": line.figures })
        });
        let mut all = json!({
            "demo": self.demonstration,
            "holds": self.holds(),
            "facts": self.facts,
            "proof": lines.collect::<Vec<_>>(),
        });
        if !self.notes.is_empty() {
            let note = |note: &Note| json!({ "name": note.name, "text": note.text, "figures": note.figures });
            all["notes"] = self.notes.iter().map(note).collect();
        }
        all
    }
}

/// Whether to color stdout.
pub(super) fn is_colored() -> bool {
    is_color_wanted() && std::io::stdout().is_terminal()
}

/// Whether colors are allowed.
pub(super) fn is_color_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The width of stdout; unlimited without a terminal.
fn columns() -> usize {
    let stdout = std::io::stdout();
    let size = if stdout.is_terminal() { tcgetwinsize(&stdout).ok() } else { None };
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(usize::MAX)
}

/// Wraps a text to lines of at most `width` characters, between words but not within a number; a single line
/// if the width is very small.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    if width < 20 {
        return vec![text.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for word in words(text) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The words of a text; a number with grouped thousands is one word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let is_gap = move |at: usize| !(at > 0 && is_digit(at - 1) && is_digit(at + 1));
    let ends = text.match_indices(' ').map(|(at, _)| at).filter(move |at| is_gap(*at));
    let mut begin = 0;
    ends.chain([text.len()]).map(move |end| {
        let word = &text[begin..end];
        begin = end + 1;
        word
    })
}

/// A number with its thousands grouped.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Minor units as an amount of money.
pub(super) fn cents(amount: u64) -> String {
    format!("{}.{:02}", grouped(amount / 100), amount % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_broken_promise_breaks_the_proof() {
        let mut proof = Proof::new("test");
        proof.judge("first", true, "fine".to_owned(), json!({}));
        assert!(proof.holds());
        proof.judge("second", false, "1 lost".to_owned(), json!({ "lost": 1 }));
        proof.note("a third", "not promised".to_owned(), json!({}));
        assert!(!proof.holds());
        let mut out = Vec::new();
        proof.table(&mut out, false, usize::MAX).expect("written");
        let text = String::from_utf8(out).expect("text");
        let lines = ["ok      first    fine", "BROKEN  second   1 lost", "note    a third  not promised"];
        assert_eq!(text, lines.join("\n") + "\n1 of 2 promises were broken\n");
    }

    #[test]
    fn a_narrow_terminal_gets_narrow_lines() {
        assert_eq!(wrapped("one two three four five six", 20), ["one two three four", "five six"]);
        assert_eq!(wrapped("a sum of 9 999 and of 12 345 678", 20), ["a sum of 9 999 and", "of 12 345 678"]);
        assert_eq!(wrapped("as long as it is", usize::MAX), ["as long as it is"]);
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
        assert_eq!([5, 123_456].map(cents), ["0.05", "1 234.56"]);
    }
}
