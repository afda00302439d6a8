//! The words of a command as JSON: fields by the names of the command table, with the id, the deadline
//! and the durability separate. For clients that have words and use HTTP.

use scarce_core::command::{ArgumentKind, ArgumentSpec, CommandSpec, Effect, is_common_option};
use serde_json::{Map, Value, json};

use super::has_cut;

/// The JSON form of a command's words.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The arguments by their names.
    pub fields: Map<String, Value>,
    /// The operation id.
    pub id: Option<String>,
    /// The deadline, as written.
    pub deadline: Option<String>,
    /// The level of durability, in lower case as in JSON.
    pub durability: Option<String>,
}

impl Asked {
    /// Whether it has no id, deadline or durability.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.id.is_none() && self.deadline.is_none() && self.durability.is_none()
    }
}

/// The words after a command's name as fields, whether or not their values are valid; `None` if JSON
/// cannot express them, such as an option that is given twice.
#[must_use]
pub fn of_words(spec: &CommandSpec, words: &[&str]) -> Option<Asked> {
    let mut asked = Asked::default();
    let mut words = Words { rest: words };
    for argument in spec.arguments.iter().filter(|argument| argument.token.is_none()) {
        positional(argument, &mut words, &mut asked.fields)?;
    }
    while let Some(word) = words.next() {
        if let Some(argument) = spec.arguments.iter().find(|its| has_token(its, word)) {
            option(argument, &mut words, &mut asked.fields)?;
            continue;
        }
        if spec.effect == Effect::Read {
            return None;
        }
        common_option(word, words.next()?, &mut asked)?;
    }
    bounds_into_plan(spec, &mut asked.fields);
    Some(asked)
}

fn common_option(word: &str, value: &str, asked: &mut Asked) -> Option<()> {
    let (place, value) = match word.to_ascii_uppercase().as_str() {
        "ID" => (&mut asked.id, value.to_owned()),
        "DEADLINE" => (&mut asked.deadline, value.to_owned()),
        "DURABILITY" => (&mut asked.durability, value.to_ascii_lowercase()),
        _ => return None,
    };
    place.replace(value).is_none().then_some(())
}

fn has_token(argument: &ArgumentSpec, word: &str) -> bool {
    argument.token.is_some_and(|token| token.eq_ignore_ascii_case(word))
}

/// The words not yet read.
struct Words<'a> {
    rest: &'a [&'a str],
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }
}

fn positional(argument: &ArgumentSpec, words: &mut Words<'_>, fields: &mut Map<String, Value>) -> Option<()> {
    match argument.kind {
        ArgumentKind::Cut => return cut(words, fields),
        ArgumentKind::Pricing => return pricing(words, fields),
        ArgumentKind::Subject => return subject(argument.name, words, fields),
        ArgumentKind::Reason => behind("REASON", words)?,
        ArgumentKind::Resource => behind("ON", words)?,
        _ => {}
    }
    let name = if argument.kind == ArgumentKind::Resource { "on" } else { argument.name };
    // A missing argument becomes a missing field.
    if let Some(word) = words.next() {
        fields.insert(name.to_owned(), scalar(argument, word));
    }
    Some(())
}

/// Skips a keyword before an argument.
fn behind(token: &str, words: &mut Words<'_>) -> Option<()> {
    words.next().filter(|word| word.eq_ignore_ascii_case(token)).map(|_| ())
}

fn option(argument: &ArgumentSpec, words: &mut Words<'_>, fields: &mut Map<String, Value>) -> Option<()> {
    let value = match argument.kind {
        ArgumentKind::Limits | ArgumentKind::LimitChanges => {
            let limits = fields.entry(argument.name).or_insert_with(|| json!([]));
            let limit = limit(words)?;
            // In words, a new limit says what it counts; JSON may omit that.
            if argument.kind == ArgumentKind::Limits && limit.get("per").is_none() {
                return None;
            }
            limits.as_array_mut()?.push(limit);
            return Some(());
        }
        ArgumentKind::Flag => Value::Bool(true),
        _ => scalar(argument, words.next()?),
    };
    fields.insert(argument.name.to_owned(), value).is_none().then_some(())
}

fn scalar(argument: &ArgumentSpec, word: &str) -> Value {
    match argument.kind {
        ArgumentKind::Positive | ArgumentKind::Natural | ArgumentKind::Delta | ArgumentKind::RowCount => {
            number(word)
        }
        ArgumentKind::Word => Value::from(word.to_ascii_uppercase()),
        _ => Value::from(word),
    }
}

/// A number if the word is one, otherwise the text, which is invalid in both forms.
fn number(word: &str) -> Value {
    let is_spelled = |text: String| text == word;
    match (word.parse::<i64>(), word.parse::<f64>()) {
        (Ok(value), _) if is_spelled(value.to_string()) => value.into(),
        (_, Ok(value)) if value.is_finite() && word.starts_with(|c: char| c.is_ascii_digit()) => value.into(),
        _ => word.into(),
    }
}

fn cut(words: &mut Words<'_>, fields: &mut Map<String, Value>) -> Option<()> {
    let Some(kind) = words.next() else { return Some(()) };
    if kind.eq_ignore_ascii_case("PLAN") {
        let mut plan = Map::new();
        plan.insert("total".to_owned(), number(words.next()?));
        plan.insert("count".to_owned(), number(words.next()?));
        if let Some(method) = words.next() {
            plan.insert("method".to_owned(), method.to_ascii_uppercase().into());
        }
        fields.insert("plan".to_owned(), plan.into());
        return Some(());
    }
    // JSON needs no count.
    let count: usize = words.next().filter(|_| kind.eq_ignore_ascii_case("AMOUNTS"))?.parse().ok()?;
    let amounts: Vec<Value> = words.take(count).map(number).collect();
    if amounts.len() != count {
        return None;
    }
    fields.insert("amounts".to_owned(), amounts.into());
    Some(())
}

/// The minimum and maximum of a packet belong to the plan, if there is one.
fn bounds_into_plan(spec: &CommandSpec, fields: &mut Map<String, Value>) {
    if !has_cut(spec) || !fields.contains_key("plan") {
        return;
    }
    for name in ["min", "max"] {
        if let Some(value) = fields.remove(name) {
            fields["plan"][name] = value;
        }
    }
}

fn pricing(words: &mut Words<'_>, fields: &mut Map<String, Value>) -> Option<()> {
    let kind = words.next()?.to_ascii_uppercase();
    if kind != "MARKET" {
        fields.insert("price".to_owned(), number(words.next()?));
    }
    fields.insert("type".to_owned(), kind.into());
    Some(())
}

fn subject(name: &str, words: &mut Words<'_>, fields: &mut Map<String, Value>) -> Option<()> {
    let mut subject = Map::new();
    // The common options follow the last dimension.
    while let Some(dimension) = words.rest.first().copied().filter(|word| !is_common_option(word.as_bytes()))
    {
        words.next();
        let value = words.next()?;
        if subject.insert(dimension.to_ascii_lowercase(), value.into()).is_some() {
            return None;
        }
    }
    fields.insert(name.to_owned(), subject.into());
    Some(())
}

fn limit(words: &mut Words<'_>) -> Option<Value> {
    let mut limit = json!({ "name": words.next()?, "max": number(words.next()?) });
    if !next_is("PER", words) {
        return Some(limit);
    }
    let per = words.next()?;
    let names: Vec<&str> = if per == "-" { Vec::new() } else { per.split([',', '+']).collect() };
    limit["per"] = names.iter().map(|name| name.to_ascii_lowercase()).collect();
    if !next_is("WINDOW", words) {
        return None;
    }
    let window = words.next()?;
    if window.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        limit["window_ms"] = number(window);
    } else {
        limit["window"] = window.to_ascii_uppercase().into();
    }
    if next_is("OFFSET", words) {
        limit["offset_minutes"] = number(words.next()?);
    }
    Some(limit)
}

/// Whether the next word is `token`; reads it if so.
fn next_is(token: &str, words: &mut Words<'_>) -> bool {
    let is_next = words.rest.first().is_some_and(|word| word.eq_ignore_ascii_case(token));
    if is_next {
        words.next();
    }
    is_next
}
