//! What must hold for the library's text: every name in it is declared somewhere, and of what is declared, everything
//! is used.

use std::collections::{BTreeMap, BTreeSet};

use scarce_core::accounts::{HoldStatus, Status};
use scarce_core::command::COMMANDS;
use scarce_core::command::shapes::{Method, Side, StpMode, Tif};
use scarce_core::coupons::ClaimStatus;
use scarce_core::event::EVENTS;
use scarce_core::markets::{CancelReason, OrderStatus};
use scarce_core::outcome::Code;
use scarce_core::stock::ReservationStatus;
use scarce_engine_redis::keys::NAMES;
use scarce_engine_redis::records;

use super::walk::{Constructor, Findings, walk};

/// What Redis gives to scripts, as far as the library takes it.
const GLOBALS: &[&str] = &[
    "ARGV",
    "KEYS",
    "cjson",
    "cmsgpack",
    "error",
    "ipairs",
    "loadstring",
    "math",
    "next",
    "pairs",
    "pcall",
    "rawget",
    "rawset",
    "redis",
    "setmetatable",
    "string",
    "table",
    "tonumber",
    "tostring",
    "type",
    "unpack",
];

/// Members of what Redis gives.
const FOREIGN: &[&str] = &["err", "ok", "null"];

const LINES_MAX: usize = 70;

type Names<'a> = BTreeSet<&'a str>;

/// Says what is wrong with a text; nothing where all is well.
pub fn complaints(text: &str) -> Vec<String> {
    let found = walk(text);
    let rules: [fn(&Findings<'_>) -> Vec<String>; 9] =
        [globals, tables, fields, events, rows, names, words, facts, lengths];
    rules.iter().flat_map(|rule| rule(&found)).collect()
}

/// No name is taken from outside that is not there.
fn globals(found: &Findings<'_>) -> Vec<String> {
    let unknown = found.globals.iter().filter(|(name, _)| !GLOBALS.contains(name));
    unknown.map(|(name, line)| format!("line {line}: there is no variable '{name}'")).collect()
}

/// Tables that know their names, by the variable: what they have.
fn declared<'a>(found: &Findings<'a>) -> BTreeMap<&'a str, Names<'a>> {
    let strict = found.constructors.iter().filter(|constructor| constructor.callee == "strict");
    let mut tables: BTreeMap<&str, Names<'_>> = strict
        .filter_map(|constructor| Some((constructor.variable?, constructor.keys.iter().copied().collect())))
        .collect();
    for module in found.calls.iter().filter(|call| call.callee == "module") {
        let Some(variable) = module.variable else { continue };
        let written = found.members.iter().filter(|member| member.is_write && member.base == variable);
        tables.insert(variable, written.map(|member| member.name).collect());
    }
    tables
}

/// What is asked of such a table is there, and what is there is asked for. Of codes, keys and records some are for
/// Rust alone.
fn tables(found: &Findings<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    for (table, names) in declared(found) {
        let of_table = || found.members.iter().filter(|member| member.base == table);
        for member in of_table().filter(|member| !names.contains(member.name)) {
            complaints.push(format!("line {}: '{table}' has no '{}'", member.line, member.name));
        }
        for (name, line) in found.locals.iter().filter(|(name, _)| *name == table) {
            complaints.push(format!("line {line}: a variable hides the table '{name}'"));
        }
        if ["codes", "KEY_PLACES", "RECORD_FIELDS"].contains(&table) {
            continue;
        }
        let read: Names<'_> =
            of_table().filter(|member| !member.is_write).map(|member| member.name).collect();
        for name in names.difference(&read) {
            complaints.push(format!("nobody asks '{table}' for '{name}'"));
        }
    }
    complaints
}

/// The fields that core's tables and the records have.
fn known_fields() -> Names<'static> {
    let of_events = EVENTS.iter().flat_map(|spec| spec.field_names());
    let of_commands = COMMANDS.iter().flat_map(|spec| spec.arguments).map(|argument| argument.name);
    let of_records = records::RECORDS.iter().flat_map(|record| record.fields).map(|field| field.name);
    let of_meta = records::META_FIELDS;
    of_events.chain(of_commands).chain(of_records).chain(of_meta).chain(FOREIGN.iter().copied()).collect()
}

/// Whatever is read of a table, something puts in; and whatever is assigned, something reads.
fn fields(found: &Findings<'_>) -> Vec<String> {
    let (tables, known) = (declared(found), known_fields());
    let registries: Names<'_> = found
        .calls
        .iter()
        .filter(|call| call.callee == "registry")
        .filter_map(|call| call.variable)
        .collect();
    let is_own =
        |base: &str| !tables.contains_key(base) && !registries.contains(base) && !GLOBALS.contains(&base);
    let own = || found.members.iter().filter(|member| is_own(member.base));
    let keys = || found.constructors.iter().flat_map(|constructor| &constructor.keys).copied();
    let assigned: Names<'_> = own().filter(|member| member.is_write).map(|member| member.name).collect();
    let put: Names<'_> = assigned.iter().copied().chain(keys()).collect();
    let read: Names<'_> = own().filter(|member| !member.is_write).map(|member| member.name).collect();
    let unknown = own().filter(|member| !member.is_write);
    let unknown = unknown.filter(|member| !put.contains(member.name) && !known.contains(member.name));
    let mut complaints: Vec<String> = unknown
        .map(|member| format!("line {}: nothing has a field '{}'", member.line, member.name))
        .collect();
    let unread = assigned.difference(&read).filter(|name| !known.contains(*name));
    complaints.extend(unread.map(|name| format!("nothing reads the field '{name}'")));
    complaints
}

/// An event is emitted with exactly its fields, and whoever evolves it asks for no others; likewise a command.
fn events(found: &Findings<'_>) -> Vec<String> {
    let fields_of = |name: &str| {
        let spec = EVENTS.iter().find(|spec| spec.name == name)?;
        Some(spec.field_names().collect::<Names<'_>>())
    };
    let arguments_of = |name: &str| {
        let spec = COMMANDS.iter().find(|spec| spec.name == name)?;
        Some(spec.arguments.iter().map(|argument| argument.name).chain(["spec"]).collect::<Names<'_>>())
    };
    let mut complaints = Vec::new();
    for emitted in found.constructors.iter().filter(|constructor| is_emitted(constructor)) {
        let name = emitted.first.unwrap_or_default();
        let keys: Names<'_> = emitted.keys.iter().copied().collect();
        if fields_of(name).is_none_or(|fields: Names<'_>| fields != keys) {
            complaints.push(format!("line {}: the event '{name}' has other fields", emitted.line));
        }
    }
    for member in &found.members {
        let names = match (member.base, member.entry) {
            ("event", Some(("evolve", name))) => fields_of(name),
            ("command", Some(("decide" | "query", name))) => arguments_of(name),
            _ => continue,
        };
        if names.is_none_or(|names| !names.contains(member.name)) {
            let (base, entry) = (member.base, member.entry.unwrap_or_default().1);
            complaints.push(format!("line {}: the {base} '{entry}' has no '{}'", member.line, member.name));
        }
    }
    complaints
}

/// Whether a table that is written down is an event's.
fn is_emitted(constructor: &Constructor<'_>) -> bool {
    ["emit", "log.emit"].contains(&constructor.callee.as_str()) && constructor.first.is_some()
}

/// A record is put in under the name of its hash, with no fields but its own; what is asked for has a key.
fn rows(found: &Findings<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    for made in found
        .constructors
        .iter()
        .filter(|made| ["records.put", "records.add"].contains(&made.callee.as_str()))
    {
        let record = made.first.and_then(records::find);
        for key in made.keys.iter().filter(|key| record.and_then(|record| record.place(key)).is_none()) {
            complaints.push(format!(
                "line {}: '{}' has no field '{key}'",
                made.line,
                made.first.unwrap_or_default()
            ));
        }
    }
    for call in &found.calls {
        let Some(first) = call.first else { continue };
        let is_known = match call.callee.split_once('.') {
            Some(("records", "key" | "note_type")) => NAMES.contains(&first),
            Some(("records", _)) => records::find(first).is_some(),
            Some(("sets", _)) => NAMES.contains(&first) && records::find(first).is_none(),
            _ => true,
        };
        if !is_known {
            complaints.push(format!("line {}: '{}' of the key '{first}'", call.line, call.callee));
        }
    }
    complaints
}

/// A text that looks like the name of a command or an event is one, and a code is no text.
fn names(found: &Findings<'_>) -> Vec<String> {
    let is_name = |text: &str, is_letter: fn(&char) -> bool| {
        text.split_once('.').is_some_and(|(group, name)| {
            let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| is_letter(&c) || c == '_');
            is_word(group) && is_word(name) && name != "lua"
        })
    };
    let is_unknown = |text: &str| {
        is_name(text, char::is_ascii_uppercase) && !COMMANDS.iter().any(|spec| spec.name == text)
            || is_name(text, char::is_ascii_lowercase) && !EVENTS.iter().any(|spec| spec.name == text)
    };
    let unknown = found.texts.iter().filter(|(text, _)| is_unknown(text));
    let unknown = unknown.map(|(text, line)| format!("line {line}: nothing is named '{text}'"));
    // A code's word is written once, in its row.
    let is_code = |text: &str| Code::ALL.iter().any(|code| *code != Code::Applied && code.word() == text);
    let in_rows = |line: usize| found.words.iter().any(|(field, _, at)| *field == "word" && *at == line);
    let codes = found.texts.iter().filter(|(text, line)| is_code(text) && !in_rows(*line));
    unknown
        .chain(codes.map(|(text, line)| format!("line {line}: '{text}' is written codes.{text}")))
        .collect()
}

/// A field that holds one of core's words holds none that core does not have.
fn words(found: &Findings<'_>) -> Vec<String> {
    macro_rules! words_of {
        ($($kind:ty),*) => { [$(<$kind>::ALL.iter().map(|value| value.word()).collect::<Vec<_>>()),*].concat() };
    }
    let of = |field: &str| match field {
        "status" => Some(words_of!(Status, HoldStatus, ReservationStatus, ClaimStatus, OrderStatus)),
        "side" | "taker_side" => Some(words_of!(Side)),
        "tif" => Some(words_of!(Tif)),
        "stp" => Some(words_of!(StpMode)),
        "reason" => Some(words_of!(CancelReason)),
        "method" => Some(words_of!(Method)),
        _ => None,
    };
    let unknown =
        found.words.iter().filter(|(field, word, _)| of(field).is_some_and(|words| !words.contains(word)));
    unknown.map(|(field, word, line)| format!("line {line}: '{field}' is never '{word}'")).collect()
}

/// A code is given with the facts that its row names.
fn facts(found: &Findings<'_>) -> Vec<String> {
    let given = found.calls.iter().filter_map(|call| match (call.callee.as_str(), call.first_member) {
        ("refuse" | "outcomes.refuse" | "outcomes.new", Some(("codes", word))) => Some((call, word)),
        _ => None,
    });
    let wrong = given.filter(|(call, word)| {
        let code = Code::ALL.iter().find(|code| code.word() == *word);
        let is_open = *word == Code::Applied.word();
        !is_open && code.is_none_or(|code| code.facts().len() != call.count - 1)
    });
    wrong.map(|(call, word)| format!("line {}: other facts than those of {word}", call.line)).collect()
}

/// No function is longer than can be read at one look.
fn lengths(found: &Findings<'_>) -> Vec<String> {
    // The first one may be the body of the whole library.
    let long = found.functions.iter().filter(|(_, lines)| *lines > LINES_MAX);
    long.map(|(line, lines)| format!("line {line}: a function of {lines} lines")).collect()
}
