//! What the library takes from Rust, written as Lua: core's tables of codes, commands and events, constants,
//! settings, records and keys. Whatever has a number or a name in Rust is declared there alone.

use std::fmt::Write;

use scarce_core::command::table::PacketCreate;
use scarce_core::command::{COMMANDS, CommandSpec, Effect};
use scarce_core::deadlines::RecordKind;
use scarce_core::event::{EVENTS, EventSpec, HISTORIES_MAX, epoch};
use scarce_core::machine::step::OperationProgress;
use scarce_core::outcome::Code;
use scarce_core::outcome::codes::Kind;
use scarce_core::resource::ResourceKind;
use scarce_core::types::{BALANCE_MAX, INTEGER_MAX, Id};
use scarce_core::{command, machine, markets, packets, state, stock, windows};

use crate::call::{
    HEAD_VALUES, LOOK_VALUES, MESSAGE_VERSION, Owed, PREPARE_VALUES, RESUME_VALUES, RequestKind,
    SETTING_NAMES, SHORT_VALUES, WITHIN_VALUES,
};
use crate::keys::NAMES;
use crate::records::{FORMAT_VERSION, FieldKind, META_FIELDS, META_NUMBERS, RECORDS, RecordSpec};

/// The numbers that core and the library share.
const NUMBERS: [(&str, u64); 32] = [
    ("MESSAGE_VERSION", MESSAGE_VERSION),
    ("FORMAT_VERSION", FORMAT_VERSION as u64),
    ("HEAD_VALUES", HEAD_VALUES as u64),
    ("SHORT_VALUES", SHORT_VALUES as u64),
    ("RESUME_VALUES", RESUME_VALUES as u64),
    ("LOOK_VALUES", LOOK_VALUES as u64),
    ("PREPARE_VALUES", PREPARE_VALUES as u64),
    ("WITHIN_VALUES", WITHIN_VALUES as u64),
    ("INTEGER_MAX", INTEGER_MAX),
    ("BALANCE_MAX", BALANCE_MAX.unsigned_abs()),
    ("BATCH_BYTES_MAX", machine::BATCH_BYTES_MAX as u64),
    ("FORETOLD_MAX", machine::FORETOLD_MAX as u64),
    ("ENDED_PER_ENTRY", machine::ENDED_PER_ENTRY as u64),
    ("RECEIPTS_PER_EVENT_MAX", stock::RECEIPTS_PER_EVENT_MAX),
    ("CLAIMS_PER_EVENT_MAX", packets::CLAIMS_PER_EVENT_MAX),
    ("UNCLAIMED_PER_EVENT_MAX", packets::UNCLAIMED_PER_EVENT_MAX),
    ("FORGOTTEN_PER_EVENT_MAX", state::FORGOTTEN_PER_EVENT_MAX as u64),
    ("FILLS_MAX", markets::sweep::FILLS_MAX as u64),
    ("LOOKED_MAX", markets::LOOKED_MAX as u64),
    ("LIMITS_MAX", command::shapes::LIMITS_MAX as u64),
    ("TRADES_KEPT", markets::tape::TRADES_KEPT as u64),
    ("EPOCH_COUNT_UNIT", epoch::COUNT_UNIT),
    ("EPOCH_COUNTS", epoch::COUNTS),
    ("HISTORIES_MAX", HISTORIES_MAX as u64),
    ("MINUTE_MS", windows::MINUTE_MS.unsigned_abs()),
    ("HOUR_MS", windows::HOUR_MS.unsigned_abs()),
    ("DAY_MS", windows::DAY_MS.unsigned_abs()),
    ("DAYS_SINCE_MONDAY", windows::DAYS_SINCE_MONDAY.unsigned_abs()),
    ("ERA_DAYS", windows::ERA_DAYS.unsigned_abs()),
    ("ERA_MONTHS", windows::ERA_MONTHS.unsigned_abs()),
    ("DAYS_TO_1970", windows::DAYS_TO_1970.unsigned_abs()),
    ("MONTHS_TO_1970", windows::MONTHS_TO_1970.unsigned_abs()),
];

/// All tables, for the beginning of the library.
pub(super) fn tables() -> String {
    let mut text = String::new();
    let numbers = NUMBERS.iter().map(|(name, number)| format!("{name} = {number}"));
    let world = format!("WORLD_PREFIX = \"{}\"", Id::WORLD_PREFIX);
    write_strict(&mut text, "constants", "constant", numbers.chain([world]));
    let kinds =
        RequestKind::ALL.iter().map(|kind| format!("{} = \"{}\"", kind.word().to_uppercase(), kind.word()));
    write_strict(&mut text, "request_kinds", "kind of request", kinds);
    let owed = Owed::ALL.iter().map(|owed| format!("{} = {}", owed.name(), owed.number()));
    write_strict(&mut text, "owed", "debt", owed);
    let names = SETTING_NAMES.iter().copied();
    let _ = writeln!(text, "local SETTING_NAMES = {{ {} }}", quoted(names.clone()));
    write_strict(&mut text, "settings", "setting", names.map(|name| format!("{name} = false")));
    let places = NAMES.iter().enumerate().map(|(at, name)| format!("{name} = {}", at + 1));
    write_strict(&mut text, "KEY_PLACES", "key", places);
    let _ = writeln!(text, "local META_FIELDS = {{ {} }}", quoted(META_FIELDS));
    let _ =
        writeln!(text, "local META_NUMBERS = {{ {} }}", quoted(META_FIELDS.into_iter().take(META_NUMBERS)));
    write_strict(&mut text, "RECORD_FIELDS", "record", RECORDS.iter().map(record));
    write_set(&mut text, "RECORD_KINDS", RecordKind::ALL.iter().map(|kind| kind.word()));
    write_set(&mut text, "PROGRESS_KINDS", OperationProgress::KINDS);
    write_codes(&mut text);
    write_commands(&mut text);
    write_strict(&mut text, "events", "event", EVENTS.iter().map(|spec| event(spec)));
    let fields = EVENTS
        .iter()
        .map(|spec| format!("[{}] = \"{}\"", spec.number, spec.field_names().collect::<Vec<_>>().join(" ")));
    write_strict(&mut text, "EVENT_FIELDS", "event of the number", fields);
    text
}

/// A table that refuses names which it does not have.
fn write_strict(text: &mut String, name: &str, what: &str, rows: impl Iterator<Item = String>) {
    let _ = writeln!(text, "local {name} = strict(\"{what}\", {{");
    rows.for_each(|row| text.push_str(&format!("  {row},\n")));
    text.push_str("})\n");
}

/// A table of which only the names matter, which checks alone need.
fn write_set<'a>(text: &mut String, name: &str, words: impl IntoIterator<Item = &'a str>) {
    let _ = writeln!(text, "local {name} = IS_CHECKED and {{");
    words.into_iter().for_each(|word| text.push_str(&format!("  [\"{word}\"] = true,\n")));
    text.push_str("}\n");
}

/// A hash with the fields of its records, as `name`, `name:n` for a number, `name:v` for a list.
fn record(record: &RecordSpec) -> String {
    let fields = record.fields.iter().map(|field| match field.kind {
        FieldKind::Text => field.name.to_owned(),
        FieldKind::Number => format!("{}:n", field.name),
        FieldKind::List => format!("{}:v", field.name),
    });
    let fields: Vec<String> = fields.collect();
    format!("{} = {{ {} }}", record.name, quoted(fields.iter().map(String::as_str)))
}

/// The codes by word, and the same rows by number.
fn write_codes(text: &mut String) {
    let row = |code: &Code| {
        let (word, number, is_refusal) = (code.word(), code.number(), code.kind() == Kind::Refusal);
        format!("{word} = {{ word = \"{word}\", number = {number}, is_refusal = {is_refusal} }}")
    };
    write_strict(text, "codes", "code", Code::ALL.iter().map(row));
    let by_number = Code::ALL.iter().map(|code| format!("[{}] = codes.{}", code.number(), code.word()));
    write_strict(text, "code_of_number", "code of the number", by_number);
}

/// The commands by number, and the names of those that are decided and of those that are answered.
fn write_commands(text: &mut String) {
    let of = |effect| COMMANDS.iter().filter(move |spec| spec.effect == effect).map(|spec| spec.name);
    write_set(text, "WRITES", of(Effect::Write));
    write_set(text, "READS", of(Effect::Read));
    text.push_str("local NOTHING = {}\nlocal function touch_nothing() end\n");
    write_strict(text, "commands", "command of the number", COMMANDS.iter().map(|spec| command_row(spec)));
}

/// A command's row. Its functions know the names when they are compiled, where one for all would look them up.
/// `read` gives the values of a message their names.
fn command_row(spec: &CommandSpec) -> String {
    let mut read = String::new();
    for (place, argument) in spec.arguments.iter().enumerate() {
        let _ = write!(read, ", {} = values[at + {}] or nil", argument.name, place + 1);
    }
    format!(
        "[{}] = {{ name = \"{}\", is_write = {}, remembers_refusals = {}, is_prepared = {},\n    \
         size = {}, named = {}, hidden = {},\n    \
         read = function(spec, values, at) return {{ spec = spec{read} }} end,\n    \
         touch = {} }}",
        spec.number,
        spec.name,
        spec.effect == Effect::Write,
        spec.remembers_refusals(),
        spec.number == PacketCreate::SPEC.number,
        spec.arguments.len() + 1,
        list(&named(spec)),
        list(&hidden(spec)),
        touch(spec),
    )
}

/// A list; one for all that are empty, because the tables are made for each call by EVALSHA.
fn list(values: &str) -> String {
    if values.is_empty() { "NOTHING".to_owned() } else { format!("{{ {values} }}") }
}

/// The function that names the resources whose deadlines a command touches.
fn touch(spec: &CommandSpec) -> String {
    let kinds = spec.resource.map_or(&[][..], ResourceKind::ends_by_deadline);
    if kinds.is_empty() {
        return "touch_nothing".to_owned();
    }
    let note = |kind: &RecordKind, name: &str| format!("note(\"{}\", command.{name})", kind.word());
    let notes = spec.route.iter().flat_map(|name| kinds.iter().map(|kind| note(kind, name)));
    format!("function(command, note) {} end", notes.collect::<Vec<_>>().join(" "))
}

/// The places of the arguments that name the resource's record, and its hash, by turns.
fn named(spec: &CommandSpec) -> String {
    let Some(hash) = spec.resource.map(hash_of) else { return String::new() };
    let place = |name: &&str| spec.arguments.iter().position(|argument| argument.name == *name);
    let places = spec.route.iter().filter_map(place);
    places.map(|place| format!("{}, \"{hash}\"", place + 1)).collect::<Vec<_>>().join(", ")
}

/// The hash that has the records of a kind of resource.
const fn hash_of(resource: ResourceKind) -> &'static str {
    match resource {
        ResourceKind::Account => "accounts",
        ResourceKind::Stock => "stock",
        ResourceKind::Campaign => "campaigns",
        ResourceKind::Coupon => "coupons",
        ResourceKind::Market => "markets",
    }
}

/// The places of the values that a dry run leaves out.
fn hidden(spec: &CommandSpec) -> String {
    let hidden = spec.reply.iter().zip(1_usize..).filter(|(value, _)| value.value_type.is_hidden);
    hidden.map(|(_, place)| place.to_string()).collect::<Vec<_>>().join(", ")
}

/// An event's row, with the function that writes its number and its fields behind other values, and gives how
/// many values there are then.
fn event(spec: &EventSpec) -> String {
    let (name, number) = (spec.name, spec.number);
    let mut row = format!(
        "[\"{name}\"] = {{ name = \"{name}\", number = {number}, write = function(values, at, event)\n    \
         values[at + 1] = {number}\n"
    );
    for (place, field) in spec.field_names().enumerate() {
        let _ = writeln!(row, "    values[at + {}] = event.{field} or false", place + 2);
    }
    let _ = write!(row, "    return at + {}\n  end }}", spec.field_names().count() + 1);
    row
}

fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}
