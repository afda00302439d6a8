//! Formats answers for people: values under their names from the command table, refusals with the names of
//! their facts. `scarce call` and `scarce repl` share it.

mod value;

#[cfg(test)]
mod tests;

use std::fmt::Write;

use redis::Value;
use scarce_core::command::{AnswerLayout, CommandSpec, table};
use scarce_core::language::Language;
use scarce_core::outcome::Code;
use scarce_core::outcome::shape::names;

use super::Exit;
use super::paint::{Paint, Tone};
use scarce_client::{integer, text};
pub(crate) use value::calendar;
use value::{is_scalar, line_of, rows_of, safe};

/// A refusal: its code and its facts.
pub(super) fn refusal(value: &Value) -> Option<(Code, &[Value])> {
    let Value::Array(values) = value else { return None };
    let (first, rest) = values.split_first()?;
    let (word, facts) = rest.split_first()?;
    let code = Code::from_word(&text(word)?).filter(|code| *code != Code::Applied)?;
    (integer(first) == Some(0)).then_some((code, facts))
}

/// What happened and what to do, if the answer is a refusal or an error with a code.
pub(super) fn advice(value: &Value, language: Language) -> Option<String> {
    let code = match value {
        Value::ServerError(error) => Code::from_word(error.code())?,
        value => refusal(value)?.0,
    };
    Some(format!("{} {}", code.cause().get(language), code.advice().get(language)))
}

/// Whether a line of a batch was refused for its own reason, not because of another line.
pub(super) fn is_cause(value: &Value) -> bool {
    refusal(value).is_some_and(|(code, _)| code != Code::BatchRefused)
}

/// The exit code for an answer.
pub(super) fn exit_of(value: &Value) -> Exit {
    match value {
        Value::ServerError(_) => Exit::Failed,
        value if refusal(value).is_some() => Exit::Refused,
        _ => Exit::Done,
    }
}

/// The row of the command table for a command's words.
pub(super) fn spec_of<W: AsRef<[u8]>>(words: &[W]) -> Option<&'static CommandSpec> {
    words.first().and_then(|name| table::find(name.as_ref()))
}

/// The answer to a command as lines.
pub(super) fn answer<W: AsRef<[u8]>>(words: &[W], value: &Value, paint: Paint) -> String {
    let mut page = Page { text: String::new(), paint, indent: 0 };
    match spec_of(words) {
        Some(spec) => page.answer(spec, value),
        None if is_events(words) => page.events(value),
        None => page.plain(value),
    }
    page.text
}

/// The answers to the lines of an atomic batch, as lines of text.
pub(super) fn batch<W: AsRef<[u8]>>(lines: &[Vec<W>], values: &[Value], paint: Paint) -> String {
    let mut page = Page { text: String::new(), paint, indent: 0 };
    let mut number = 0;
    for (words, value) in lines.iter().zip(values) {
        let shown =
            words.iter().map(|word| safe(&String::from_utf8_lossy(word.as_ref()))).collect::<Vec<_>>();
        let lead = match spec_of(words) {
            Some(_) => {
                number += 1;
                format!("{})", number - 1)
            }
            None => "- ".to_owned(),
        };
        page.line(&format!("{lead} {}", paint.paint(Tone::Aside, shown.join(" "))));
        page.indent = 3;
        match spec_of(words) {
            Some(spec) => page.answer(spec, value),
            None => page.plain(value),
        }
        page.indent = 0;
    }
    page.text
}

fn is_events<W: AsRef<[u8]>>(words: &[W]) -> bool {
    words.first().is_some_and(|name| name.as_ref().eq_ignore_ascii_case(b"EVENTS"))
}

/// Text under construction.
struct Page {
    text: String,
    paint: Paint,
    indent: usize,
}

impl Page {
    fn line(&mut self, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:indent$}{}", "", line.trim_end(), indent = self.indent);
    }

    fn answer(&mut self, spec: &CommandSpec, value: &Value) {
        if let Some((code, facts)) = refusal(value) {
            return self.refused(code, facts);
        }
        match (spec.answer, value) {
            (AnswerLayout::Array, Value::Array(values)) if values.first().and_then(integer) == Some(1) => {
                let word = self.paint.paint(Tone::Good, "applied").to_string();
                self.line(&word);
                self.named(names(spec.reply).zip(&values[1..]));
            }
            (AnswerLayout::Map, Value::Array(values)) => {
                let names: Vec<_> =
                    values.iter().step_by(2).map(|name| text(name).unwrap_or_default()).collect();
                let named = names.iter().map(String::as_str).zip(values.iter().skip(1).step_by(2));
                self.named(named);
            }
            (AnswerLayout::Bare, value) if spec.reply.len() == 1 && matches!(value, Value::Array(_)) => {
                self.named(std::iter::once((spec.reply[0].name, value)));
            }
            (AnswerLayout::Bare, Value::Array(values)) => self.named(names(spec.reply).zip(values)),
            _ => self.plain(value),
        }
    }

    fn refused(&mut self, code: Code, facts: &[Value]) {
        let (word, name) =
            (self.paint.paint(Tone::Warning, "refused"), self.paint.paint(Tone::Name, code.word()));
        let line = format!("{word}  {name}");
        self.line(&line);
        self.named(names(code.facts()).zip(facts));
    }

    /// Names and values in two columns; a list of lists as a table under its name.
    fn named<'n, 'a>(&mut self, pairs: impl Iterator<Item = (&'n str, &'a Value)>) {
        let pairs: Vec<_> = pairs.collect();
        let width = pairs.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, value) in pairs {
            let padded = format!("{name:<width$}");
            let name_shown = self.paint.paint(Tone::Aside, &padded).to_string();
            match rows_of(name, value) {
                Some(rows) if !rows.is_empty() => {
                    self.line(&format!("  {name_shown}"));
                    rows.iter().for_each(|row| self.line(&format!("    {row}")));
                }
                _ => self.line(&format!("  {name_shown}  {}", line_of(name, value))),
            }
        }
    }

    /// Values without names in the command table, as redis-cli shows them.
    fn plain(&mut self, value: &Value) {
        match value {
            Value::ServerError(error) => {
                let word = self.paint.paint(Tone::Bad, format!("error  {}", safe(error.code()))).to_string();
                self.line(&format!("{word}  {}", safe(error.details().unwrap_or_default())));
            }
            Value::Array(values) if values.is_empty() => self.line("(empty)"),
            Value::Array(values) => {
                for (at, value) in values.iter().enumerate() {
                    if is_scalar(value) {
                        self.line(&format!("{}) {}", at + 1, line_of("", value)));
                    } else {
                        self.line(&format!("{})", at + 1));
                        self.indent += 3;
                        self.plain(value);
                        self.indent -= 3;
                    }
                }
            }
            value => match text(value) {
                Some(text) => text.lines().for_each(|line| self.line(&safe(line))),
                None => self.line(&line_of("", value)),
            },
        }
    }

    /// One line per event: position, time, operation, name, fields.
    fn events(&mut self, value: &Value) {
        match value {
            Value::Array(events) if !events.is_empty() => events.iter().for_each(|event| self.event(event)),
            value => self.plain(value),
        }
    }

    fn event(&mut self, event: &Value) {
        let Value::Array(parts) = event else { return self.plain(event) };
        let [partition, epoch, sequence, at, operation, name, Value::Array(fields)] = &parts[..] else {
            return self.plain(event);
        };
        let place = [partition, epoch, sequence].map(|part| line_of("", part)).join(":");
        let fields: Vec<_> = fields
            .chunks(2)
            .filter_map(|pair| Some((text(pair.first()?)?, pair.get(1)?)))
            .map(|(name, value)| format!("{name}={}", line_of("", value)))
            .collect();
        let operation = text(operation).map(|id| format!("  {}", safe(&id))).unwrap_or_default();
        let name = self.paint.paint(Tone::Name, line_of("", name)).to_string();
        let about =
            self.paint.paint(Tone::Aside, format!("{place}  {}{operation}", line_of("at", at))).to_string();
        self.line(&format!("{about}  {name}  {}", fields.join(" ")));
    }
}
