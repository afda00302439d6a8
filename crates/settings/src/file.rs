//! The layer of a TOML file.

use std::path::Path;

use scarce_api::nearest::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::layers::{Given, Origin};
use super::problem::{FilePosition, Problem};
use super::table::{SETTINGS, Spec};
use super::value::Kind;
use super::{find, meant};

/// Reads a file.
pub(super) fn read(path: &Path, problems: &mut Vec<Problem>) -> Vec<Given> {
    match std::fs::read_to_string(path) {
        Ok(text) => parse(path, &text, problems),
        Err(error) => {
            let place = FilePosition { path: path.to_owned(), line: 0, column: 0 };
            let advice = "name another with --config or SCARCE_CONFIG, or leave both out";
            problems.push(Problem::error(Some(place), format!("cannot be read: {error}"), advice));
            Vec::new()
        }
    }
}

/// Parses a file's text.
pub(super) fn parse(path: &Path, text: &str, problems: &mut Vec<Problem>) -> Vec<Given> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        // The content of a broken file is guesswork, so only syntax errors are reported.
        problems.extend(errors.iter().map(|error| {
            let place = FilePosition::of(path, text, error.span().map_or(0, |span| span.start));
            Problem::error(Some(place), format!("is no TOML here: {}", error.message()), "correct the line")
        }));
        return Vec::new();
    }
    let mut reader = Reader { path, text, problems, given: Vec::new() };
    reader.table("", table.get_ref());
    reader.given
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    problems: &'a mut Vec<Problem>,
    given: Vec<Given>,
}

impl Reader<'_> {
    fn place(&self, offset: usize) -> FilePosition {
        FilePosition::of(self.path, self.text, offset)
    }

    fn table(&mut self, section: &str, table: &DeTable<'_>) {
        // In the order of the file, which the table does not preserve.
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (name, value) in entries {
            let key = format!("{section}{}", name.get_ref());
            let (at, inner) = (name.span().start, format!("{key}."));
            match (find(&key), value.get_ref()) {
                (Some((spec, by_file)), _) => self.setting(spec, by_file, &key, at, value),
                (None, DeValue::Table(table)) if sections().any(|known| known == key) => {
                    self.table(&inner, table);
                }
                (None, DeValue::Table(_)) => self.unknown_section(&key, at),
                (None, _) => self.unknown(&key, at),
            }
        }
    }

    fn setting(
        &mut self,
        spec: &'static Spec,
        by_file: bool,
        key: &str,
        at: usize,
        value: &Spanned<DeValue<'_>>,
    ) {
        let kind = if by_file { Kind::Text } else { spec.kind };
        let unit = || written(Kind::Text, value.get_ref()).filter(|_| spec.is_duration());
        match written(kind, value.get_ref()).or_else(unit).filter(|text| by_file || spec.check(text).is_ok())
        {
            Some(text) => {
                let origin = Origin::File { place: self.place(at), key: key.to_owned() };
                self.given.push(Given { key: spec.key, text, by_file, origin });
            }
            None => self.misshapen(spec, by_file, key, value),
        }
    }

    fn misshapen(&mut self, spec: &Spec, by_file: bool, key: &str, value: &Spanned<DeValue<'_>>) {
        let shape = if by_file { "the name of a file".to_owned() } else { spec.shape() };
        let found = match value.get_ref() {
            DeValue::String(_) if matches!(spec.kind, Kind::Secret | Kind::Url) => "this text".to_owned(),
            DeValue::String(text) => format!("the text '{text}'"),
            DeValue::Integer(number) => number.to_string(),
            other => kind_of(other).to_owned(),
        };
        let place = self.place(value.span().start);
        let text = format!("{key} must be {shape}, not {found}");
        self.problems.push(Problem::error(Some(place), text, example(spec, by_file, key)));
    }

    fn unknown_section(&mut self, key: &str, at: usize) {
        let advice = match nearest(key, sections()) {
            Some(section) => format!("did you mean {section}?"),
            None => "'scarce config show' names all settings".to_owned(),
        };
        self.problems.push(Problem::error(
            Some(self.place(at)),
            format!("there is no section '{key}'"),
            advice,
        ));
    }

    fn unknown(&mut self, key: &str, at: usize) {
        let advice = match meant(key) {
            Some(spec) => format!("did you mean {}?", spec.key),
            None => "'scarce config show' names all settings".to_owned(),
        };
        self.problems.push(Problem::error(
            Some(self.place(at)),
            format!("there is no setting '{key}'"),
            advice,
        ));
    }
}

/// The sections of a file.
fn sections() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().filter_map(|spec| spec.key.rsplit_once('.')).map(|(section, _)| section)
}

/// The value as text, if it has the type that its kind requires.
fn written(kind: Kind, value: &DeValue<'_>) -> Option<String> {
    match (kind, value) {
        (Kind::Text | Kind::Url | Kind::Secret, DeValue::String(text)) => Some(text.to_string()),
        (Kind::Integer, DeValue::Integer(number)) => {
            u64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number.to_string())
        }
        (Kind::Switch, DeValue::Boolean(switch)) => Some(switch.to_string()),
        _ => None,
    }
}

/// The type that the file has instead.
fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a section",
    }
}

/// A correct example.
fn example(spec: &Spec, by_file: bool, key: &str) -> String {
    let last = key.rsplit_once('.').map_or(key, |(_, last)| last);
    match (spec.default, if by_file { Kind::Text } else { spec.kind }) {
        (Some(default), _) if spec.is_duration() => {
            format!("write for example {last} = \"{}\"", spec.readable(default))
        }
        (Some(default), Kind::Integer | Kind::Switch) => format!("write for example {last} = {default}"),
        (Some(default), _) => format!("write for example {last} = \"{default}\""),
        (None, _) => format!("write it as {last} = \"…\""),
    }
}
