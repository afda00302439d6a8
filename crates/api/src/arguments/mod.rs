//! From JSON to the words of a command. All ports share the parser of these words, so a command means the
//! same over HTTP as over RESP.

mod from_words;
mod shapes;

pub use from_words::{Asked, of_words};
pub use shapes::{METHODS, WINDOWS, given, only, read_plan};

use std::cell::RefCell;

use scarce_core::command::{ArgumentKind, ArgumentSpec, Command, CommandSpec, Common, Invalid};
use scarce_core::facts;
use scarce_core::outcome::{Code, Durability, Outcome};
use serde_json::{Map, Value};

/// A field that is malformed. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misshapen {
    /// The field; for a nested one, its path.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Misshapen {
    /// Names a field and what is wrong with it.
    pub fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { field: printable(&field.into()), reason: reason.into() }
    }

    /// The same as an outcome.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome { code: Code::Invalid, facts: facts![self.field.as_str(), self.reason.as_str()] }
    }

    fn within(self, field: &str) -> Self {
        Self { field: format!("{field}.{}", self.field), reason: self.reason }
    }
}

impl From<Invalid> for Misshapen {
    fn from(invalid: Invalid) -> Self {
        Self::new(invalid.argument, invalid.reason)
    }
}

/// A caller's text in a form that is safe in a message: short, and without control characters.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(64).collect()
}

/// A value from a request.
#[derive(Clone, Copy, Debug)]
enum Given<'a> {
    /// From a JSON body.
    Json(&'a Value),
    /// From the path or the query.
    Text(&'a str),
}

/// The fields of a request, from all of its parts. Reading a field takes it out; a field that is left
/// over is not one of the command.
#[derive(Debug, Default)]
pub struct Fields<'a> {
    given: Vec<(&'a str, Given<'a>)>,
    asked: RefCell<Vec<&'a str>>,
}

impl<'a> Fields<'a> {
    /// Adds the fields of a JSON object.
    pub fn add_object(&mut self, object: &'a Map<String, Value>) {
        self.given.extend(object.iter().map(|(name, value)| (name.as_str(), Given::Json(value))));
    }

    /// Adds a field of the path or the query.
    pub fn add_text(&mut self, name: &'a str, value: &'a str) {
        self.given.push((name, Given::Text(value)));
    }

    /// Takes out a text field that is not an argument of the command.
    ///
    /// # Errors
    /// When it is given twice.
    pub fn take_text(&mut self, name: &str) -> Result<Option<&'a str>, Misshapen> {
        let mut found = None;
        let mut twice = false;
        self.given.retain(|(its, value)| match value {
            Given::Text(text) if *its == name => {
                twice |= found.replace(*text).is_some();
                false
            }
            _ => true,
        });
        if twice { Err(Misshapen::new(name, "is given twice")) } else { Ok(found) }
    }

    /// Refuses any field that is left.
    ///
    /// # Errors
    /// The first field that is left.
    pub fn check_none(&self) -> Result<(), Misshapen> {
        match self.given.first() {
            None => Ok(()),
            Some((name, _)) => Err(Misshapen::new(*name, "is no parameter here")),
        }
    }

    fn get(&self, name: &str) -> Result<Option<Given<'a>>, Misshapen> {
        let mut found = self.given.iter().filter(|(its, _)| *its == name);
        let Some((its, value)) = found.next() else { return Ok(None) };
        if found.next().is_some() {
            return Err(Misshapen::new(name, "is given twice"));
        }
        self.asked.borrow_mut().push(its);
        // An explicit null counts as absent.
        Ok(Some(*value).filter(|value| !matches!(value, Given::Json(Value::Null))))
    }

    fn check_all_asked(&self, takes: &str) -> Result<(), Misshapen> {
        let asked = self.asked.borrow();
        match self.given.iter().find(|(name, _)| !asked.contains(name)) {
            None => Ok(()),
            Some((name, _)) => Err(Misshapen::new(*name, format!("is no field here; {takes}"))),
        }
    }
}

/// Reads a command from the fields of a request.
///
/// # Errors
/// When a field is missing, superfluous or malformed.
pub fn command(spec: &CommandSpec, fields: &Fields<'_>) -> Result<Command, Misshapen> {
    let words = words(spec, fields)?;
    fields.check_all_asked(&format!("{} takes {}", spec.name, field_names(spec).join(", ")))?;
    let words: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
    let (command, common) = Command::parse(spec, &words)?;
    // Ids, deadlines and durability come in headers; no field's text may turn into one.
    if common == Common::default() { Ok(command) } else { Err(Misshapen::new("id", "is no field here")) }
}

/// Reads a level of durability, spelled as in the description; only words on the RESP port ignore case.
///
/// # Errors
/// When it is not a level.
pub fn durability(text: &[u8], field: &'static str) -> Result<Durability, Misshapen> {
    let level = Durability::parse(text, field)?;
    let is_spelled = level.word().as_bytes() == text;
    if is_spelled { Ok(level) } else { Err(Misshapen::new(field, "must be in small letters")) }
}

/// The names of a command's fields in JSON.
#[must_use]
pub fn field_names(spec: &CommandSpec) -> Vec<&'static str> {
    spec.arguments.iter().flat_map(|argument| names_of(spec, argument)).copied().collect()
}

/// The JSON fields of an argument.
#[must_use]
pub fn names_of(spec: &CommandSpec, argument: &'static ArgumentSpec) -> &'static [&'static str] {
    match argument.kind {
        ArgumentKind::Cut => &["plan", "amounts"],
        ArgumentKind::Pricing => &["type", "price"],
        ArgumentKind::Resource => &["on"],
        // For a campaign they belong to the plan.
        _ if has_cut(spec) && matches!(argument.name, "min" | "max") => &[],
        _ => std::slice::from_ref(&argument.name),
    }
}

/// Whether a command cuts packets; if so, the bounds of a packet are members of its plan.
pub(crate) fn has_cut(spec: &CommandSpec) -> bool {
    spec.arguments.iter().any(|argument| argument.kind == ArgumentKind::Cut)
}

fn words(spec: &CommandSpec, fields: &Fields<'_>) -> Result<Vec<String>, Misshapen> {
    let mut words = Vec::new();
    for argument in spec.arguments {
        if names_of(spec, argument).is_empty() {
            continue;
        }
        match argument.kind {
            ArgumentKind::Cut => shapes::cut(fields, &mut words)?,
            ArgumentKind::Pricing => shapes::pricing(fields, &mut words)?,
            _ => one(argument, fields, &mut words)?,
        }
    }
    if has_cut(spec) {
        shapes::bounds(fields, &mut words)?;
    }
    Ok(words)
}

/// The words of an argument that has one field.
fn one(argument: &ArgumentSpec, fields: &Fields<'_>, words: &mut Vec<String>) -> Result<(), Misshapen> {
    let name = if argument.kind == ArgumentKind::Resource { "on" } else { argument.name };
    let Some(given) = fields.get(name)? else {
        let needed = !argument.optional && argument.kind != ArgumentKind::OptionalResource;
        return if needed { Err(Misshapen::new(name, "is missing")) } else { Ok(()) };
    };
    match argument.kind {
        ArgumentKind::Flag => {
            if flag(name, given)? {
                words.extend(argument.token.map(str::to_owned));
            }
            return Ok(());
        }
        ArgumentKind::Limits => return shapes::limits(name, given, true, words),
        ArgumentKind::LimitChanges => return shapes::limits(name, given, false, words),
        ArgumentKind::Subject => return shapes::subject(name, given, words),
        ArgumentKind::Reason => words.push("REASON".to_owned()),
        ArgumentKind::Resource => words.push("ON".to_owned()),
        _ => words.extend(argument.token.map(str::to_owned)),
    }
    words.push(scalar(name, argument, given)?);
    Ok(())
}

fn flag(name: &str, given: Given<'_>) -> Result<bool, Misshapen> {
    match given {
        Given::Json(Value::Bool(value)) => Ok(*value),
        Given::Text("true") => Ok(true),
        Given::Text("false") => Ok(false),
        _ => Err(Misshapen::new(name, "must be true or false")),
    }
}

fn scalar(name: &str, argument: &ArgumentSpec, given: Given<'_>) -> Result<String, Misshapen> {
    use ArgumentKind as K;
    match argument.kind {
        K::Positive | K::Natural | K::Delta | K::RowCount => integer(name, given),
        K::Word => {
            let word = text(name, given)?;
            let syntax = argument.syntax.unwrap_or_default();
            if syntax.split('|').any(|its| its == word) {
                Ok(word.to_owned())
            } else {
                Err(Misshapen::new(name, format!("must be one of {syntax}")))
            }
        }
        _ => text(name, given).map(str::to_owned),
    }
}

/// The digits of a JSON integer, or the text unchanged, which the parser checks.
fn integer(name: &str, given: Given<'_>) -> Result<String, Misshapen> {
    match given {
        Given::Text(text) => Ok(text.to_owned()),
        Given::Json(Value::Number(number)) if number.is_i64() || number.is_u64() => Ok(number.to_string()),
        Given::Json(_) => Err(Misshapen::new(name, "must be a JSON integer, without fraction or exponent")),
    }
}

fn text<'a>(name: &str, given: Given<'a>) -> Result<&'a str, Misshapen> {
    match given {
        Given::Text(text) => Ok(text),
        Given::Json(Value::String(text)) => Ok(text),
        Given::Json(_) => Err(Misshapen::new(name, "must be a JSON string")),
    }
}

#[cfg(test)]
mod tests;
