//! What the clients of all languages are generated from: the tables of commands and codes, and the schemas of
//! arguments in the description of the HTTP port.

use scarce_api::ROUTES;
use scarce_api::answer::paged;
use scarce_api::glossary::{Language, kind, term_in};
use scarce_api::openapi;
use scarce_api::problem::PortCode;
use scarce_core::command::{COMMANDS, CommandSpec};
use scarce_core::outcome::Code;
use scarce_core::outcome::shape::{RowSpec, Shape, ValueSpec, ValueType};
use serde_json::Value;

/// The type of a value in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Integer,
    Boolean,
    Text,
    /// An integer or a text.
    Scalar,
    /// One of these words.
    Words(Vec<String>),
    List(Box<Type>),
    /// A record, by its name.
    Record(String),
    /// A user, and texts under further names.
    Subject,
    /// An object whose members depend on what is beside it.
    Open,
    /// Any value.
    Any,
}

/// A member of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub is: Type,
    /// Whether it may be null in an answer, or left out of a request.
    pub is_optional: bool,
    pub meaning: String,
}

/// An object of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub name: String,
    pub meaning: String,
    pub fields: Vec<Field>,
    /// Whether callers make it, and the server reads it.
    pub is_request: bool,
}

/// A command.
pub struct Command {
    pub spec: &'static CommandSpec,
    /// `STOCK.TAKE` as `StockTake`.
    pub name: String,
    /// `stock`; nothing if the command has no group.
    pub group: String,
    /// `take`.
    pub verb: String,
    pub method: &'static str,
    pub path: &'static str,
    /// The fields that are sent in the query.
    pub query: Vec<String>,
    pub arguments: Record,
    pub result: Record,
}

/// An outcome code.
pub struct CodeRow {
    pub word: &'static str,
    /// `refusal`, `rejected` or `failure`.
    pub kind: &'static str,
    pub meaning: &'static str,
    pub facts: Record,
}

/// All of it.
pub struct Model {
    pub version: &'static str,
    pub commands: Vec<Command>,
    pub codes: Vec<CodeRow>,
    /// What several commands share: rows of lists, and the shapes of arguments.
    pub shared: Vec<Record>,
}

/// What the shared records are.
const MEANINGS: [&str; 4] = [
    "Where a change is in the log, and how safe it was when it was answered.",
    "What is remembered of an operation.",
    "How a campaign is cut into packets.",
    "A limit of a coupon.",
];

impl Model {
    pub fn new() -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let document = openapi::document(version, Language::English);
        let schemas = &document["components"]["schemas"];
        let answers = ["Receipt", "RememberedOutcome"];
        let mut shared: Vec<Record> = ["Receipt", "RememberedOutcome", "Plan", "Limit"]
            .map(|name| Record { is_request: !answers.contains(&name), ..read(name, schemas) })
            .into();
        shared.iter_mut().zip(MEANINGS).for_each(|(record, meaning)| record.meaning = meaning.to_owned());
        shared.extend(rows().into_iter().map(|row| record(&row_name(row), row.name, row.values)));
        Self {
            version,
            commands: COMMANDS.iter().map(|spec| command(spec, schemas)).collect(),
            codes: codes(),
            shared,
        }
    }

    /// The groups of commands, in the order of the table.
    pub fn groups(&self) -> Vec<&str> {
        let mut groups = Vec::new();
        for command in self.commands.iter().filter(|command| !command.group.is_empty()) {
            if !groups.contains(&command.group.as_str()) {
                groups.push(command.group.as_str());
            }
        }
        groups
    }

    /// The words of all codes, with whether each is an answer of the rules: a refusal, or a rejection that callers
    /// reckon with. `INVALID` is a mistake in the program.
    pub fn words(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let is_answer =
            |code: &CodeRow| matches!(code.kind, "refusal" | "rejected") && code.word != "INVALID";
        let port = PortCode::ALL.iter().map(|code| (code.word(), false));
        self.codes.iter().map(move |code| (code.word, is_answer(code))).chain(port)
    }

    /// Every record, each before those that use it.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        let facts = self.codes.iter().map(|code| &code.facts).filter(|facts| !facts.fields.is_empty());
        let of_commands = self.commands.iter().flat_map(|command| [&command.arguments, &command.result]);
        self.shared.iter().chain(facts).chain(of_commands)
    }
}

impl Command {
    /// Whether it takes an operation id.
    pub fn takes_id(&self) -> bool {
        !self.spec.common_options().is_empty()
    }

    /// Whether a refusal is remembered under the id, so that it is final.
    pub fn remembers_refusals(&self) -> bool {
        self.spec.remembers_refusals()
    }

    /// The names of the fields that are sent in the query, as literals.
    pub fn quoted_query(&self) -> Vec<String> {
        self.query.iter().map(|name| format!("\"{name}\"")).collect()
    }

    /// The argument that names a resource in the command's partition, by which one can ask about its id.
    pub fn on(&self) -> &'static str {
        let first = self.spec.route.first().copied().unwrap_or_default();
        if self.takes_id() { first } else { "" }
    }

    /// Whether it can be a line of a batch, with the same arguments as alone.
    pub fn joins_batches(&self) -> bool {
        self.spec.joins_batches() && paged(self.spec).is_none()
    }
}

fn command(spec: &'static CommandSpec, schemas: &Value) -> Command {
    let name = camel(spec.name);
    let (group, verb) = spec.name.split_once('.').unwrap_or(("", spec.name));
    // A test of the routes ensures that each command has one.
    let route = ROUTES.iter().find(|route| route.command == spec.name).unwrap_or(&ROUTES[0]);
    let mut arguments = Record {
        is_request: true,
        meaning: format!("What {} takes.", spec.name),
        ..read(&format!("{name}Arguments"), schemas)
    };
    let mut result = record(&format!("{name}Result"), spec.name, spec.reply);
    result.meaning = format!("What {} answers.", spec.name);
    if paged(spec).is_some() {
        arguments.fields.retain(|field| !matches!(field.name.as_str(), "after" | "count"));
        arguments.fields.push(field(
            "cursor",
            Type::Text,
            true,
            "where the list goes on, as the page before said",
        ));
        arguments.fields.push(field(
            "limit",
            Type::Integer,
            true,
            "how many rows the page has at most; 100 by default",
        ));
        result.fields.push(field("has_more", Type::Boolean, false, "whether another page follows"));
        result.fields.push(field("cursor", Type::Text, true, "where the next page begins"));
    }
    let in_path: Vec<_> = route.path_arguments().collect();
    let in_query = |field: &&Field| {
        !in_path.contains(&field.name.as_str()) && (!route.method.has_body() || field.name == "on")
    };
    let query = arguments.fields.iter().filter(in_query).map(|field| field.name.clone()).collect();
    Command {
        spec,
        name,
        group: group.to_ascii_lowercase(),
        verb: verb.to_ascii_lowercase(),
        method: route.method.word(),
        path: route.path,
        query,
        arguments,
        result,
    }
}

fn codes() -> Vec<CodeRow> {
    let row = |code: &Code| CodeRow {
        word: code.word(),
        kind: kind(*code).get(Language::English),
        meaning: code.cause().get(Language::English),
        facts: Record {
            meaning: format!("What {} rests on.", code.word()),
            ..record(&format!("{}Facts", camel(code.word())), code.word(), code.facts())
        },
    };
    Code::ALL.iter().filter(|code| **code != Code::Applied).map(row).collect()
}

/// The rows of all lists.
fn rows() -> Vec<&'static RowSpec> {
    let mut rows: Vec<&'static RowSpec> = Vec::new();
    for value in COMMANDS.iter().flat_map(|spec| spec.reply) {
        if let Shape::Rows(row) = value.value_type.shape
            && !rows.iter().any(|its| its.name == row.name)
        {
            rows.push(row);
        }
    }
    rows
}

fn row_name(row: &RowSpec) -> String {
    format!("{}Row", camel(row.name))
}

/// A record of an answer.
fn record(name: &str, scope: &str, values: &[ValueSpec]) -> Record {
    let fields = values.iter().map(|value| Field {
        name: value.name.to_owned(),
        is: of_value(value.value_type),
        is_optional: value.value_type.is_nullable,
        meaning: meaning(scope, value.name),
    });
    let meaning =
        format!("A row of a list: {}.", values.iter().map(|value| value.name).collect::<Vec<_>>().join(", "));
    Record { name: name.to_owned(), meaning, fields: fields.collect(), is_request: false }
}

fn of_value(its: ValueType) -> Type {
    match its.shape {
        Shape::Integer => Type::Integer,
        Shape::Boolean => Type::Boolean,
        Shape::Text => Type::Text,
        Shape::IntegerOrText => Type::Scalar,
        Shape::Words(words) => Type::Words(words.iter().map(|word| (*word).to_owned()).collect()),
        Shape::Integers => Type::List(Box::new(Type::Integer)),
        Shape::Texts => Type::List(Box::new(Type::Text)),
        Shape::Rows(row) => Type::List(Box::new(Type::Record(row_name(row)))),
        Shape::Limit => Type::Record("Limit".to_owned()),
        Shape::Limits => Type::List(Box::new(Type::Record("Limit".to_owned()))),
        Shape::Subject => Type::Subject,
        Shape::Outcome => Type::Record("RememberedOutcome".to_owned()),
        Shape::Facts => Type::Open,
    }
}

/// A record from its schema.
fn read(name: &str, schemas: &Value) -> Record {
    let schema = &schemas[name];
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let all = schema["properties"].as_object().into_iter().flatten();
    let mut fields: Vec<Field> = all
        .map(|(name, its)| Field {
            name: name.clone(),
            is: of_schema(its, schemas),
            is_optional: !required.contains(&name.as_str()),
            meaning: its["description"].as_str().unwrap_or_default().to_owned(),
        })
        .collect();
    // As the command takes them: what it needs in its order, then the rest.
    let place = |name: &str| required.iter().position(|its| *its == name).unwrap_or(required.len());
    fields.sort_by_key(|field| place(&field.name));
    Record { name: name.to_owned(), meaning: String::new(), fields, is_request: true }
}

fn of_schema(schema: &Value, schemas: &Value) -> Type {
    let is = |kind: &str| {
        schema["type"] == kind || schema["type"].as_array().is_some_and(|kinds| kinds.contains(&kind.into()))
    };
    if let Some(any) = schema["anyOf"].as_array() {
        return any.first().map_or(Type::Open, |first| of_schema(first, schemas));
    }
    if let Some(target) = schema["$ref"].as_str() {
        let name = target.rsplit('/').next().unwrap_or_default();
        return match &schemas[name]["properties"] {
            Value::Null => of_schema(&schemas[name], schemas),
            _ if name == "Subject" => Type::Subject,
            _ => Type::Record(name.to_owned()),
        };
    }
    if let Some(words) = schema["enum"].as_array() {
        return Type::Words(words.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    }
    match () {
        () if is("integer") => Type::Integer,
        () if is("boolean") => Type::Boolean,
        () if is("array") => Type::List(Box::new(of_schema(&schema["items"], schemas))),
        () if is("string") => Type::Text,
        () if is("object") => Type::Open,
        () => Type::Any,
    }
}

fn field(name: &str, is: Type, is_optional: bool, meaning: &str) -> Field {
    Field { name: name.to_owned(), is, is_optional, meaning: meaning.to_owned() }
}

fn meaning(scope: &str, name: &str) -> String {
    let Some(term) = term_in(scope, name) else { return String::new() };
    let unit = term.unit.map(|unit| format!(" ({})", unit.text().get(Language::English))).unwrap_or_default();
    format!("{}{unit}", term.meaning.get(Language::English))
}

/// `STOCK.TAKE` and `SOLD_OUT` as `StockTake` and `SoldOut`.
pub fn camel(name: &str) -> String {
    let words = name.split(['.', '_', '-']).filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_ascii_uppercase() + &word[1..].to_ascii_lowercase()).collect()
}
