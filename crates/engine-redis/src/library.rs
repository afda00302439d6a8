//! The Lua library: the files of `scripts` behind the tables of commands, codes and events, as a Function
//! library and as a body for EVALSHA.

use std::fmt::Write;

use scarce_core::command::{COMMANDS, Effect};
use scarce_core::event::EVENTS;
use scarce_core::outcome::Code;
use scarce_core::outcome::codes::Kind;
use xxhash_rust::xxh3::xxh3_64;

use super::call::SETTING_NAMES;
use super::keys::NAMES;

/// The files in the order in which they build on each other.
const FILES: &[(&str, &str)] = &[
    ("runtime.lua", include_str!("scripts/runtime.lua")),
    ("sets.lua", include_str!("scripts/sets.lua")),
    ("flush.lua", include_str!("scripts/flush.lua")),
    ("operations.lua", include_str!("scripts/operations.lua")),
    ("deadlines.lua", include_str!("scripts/deadlines.lua")),
    ("log.lua", include_str!("scripts/log.lua")),
    ("machine.lua", include_str!("scripts/machine.lua")),
    ("dry_run.lua", include_str!("scripts/dry_run.lua")),
    ("requests.lua", include_str!("scripts/requests.lua")),
    ("accounts.lua", include_str!("scripts/accounts.lua")),
    ("stock.lua", include_str!("scripts/stock.lua")),
    ("packets.lua", include_str!("scripts/packets.lua")),
    ("windows.lua", include_str!("scripts/windows.lua")),
    ("limits.lua", include_str!("scripts/limits.lua")),
    ("coupons.lua", include_str!("scripts/coupons.lua")),
    ("book.lua", include_str!("scripts/book.lua")),
    ("sweep.lua", include_str!("scripts/sweep.lua")),
    ("markets.lua", include_str!("scripts/markets.lua")),
];

/// What answers a call, behind all resources.
const MAIN: (&str, &str) = ("main.lua", include_str!("scripts/main.lua"));

/// Who says what time it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSource {
    /// The server.
    Server,
    /// Each call, for tests; that library has another name.
    Call,
}

/// The library of one version.
#[derive(Clone, Debug)]
pub struct Library {
    /// Its name and that of its function, which differ wherever its text does.
    pub name: String,
    body: String,
}

impl Library {
    /// Puts the library together.
    #[must_use]
    pub fn new(clock: ClockSource) -> Self {
        let mut body = prelude(clock);
        for (name, text) in FILES.iter().chain([&MAIN]) {
            // A block of its own, because a chunk has 200 local variables at most.
            let _ = write!(body, "do -- {name}\n{text}end\n");
        }
        let name = format!("scarce_{:016x}", xxh3_64(body.as_bytes()));
        Self { name, body }
    }

    /// The name of the function that changes nothing.
    #[must_use]
    pub fn reader_name(&self) -> String {
        format!("{}_read", self.name)
    }

    /// The name of the function that may write although memory is full.
    #[must_use]
    pub fn shrinker_name(&self) -> String {
        format!("{}_shrink", self.name)
    }

    /// For `FUNCTION LOAD`. While a library is loaded it has neither `string` nor `redis.call`, so it is built
    /// by the first call, and kept.
    #[must_use]
    pub fn functions(&self) -> String {
        let Self { name, body } = self;
        let (reader, shrinker) = (self.reader_name(), self.shrinker_name());
        format!(
            "#!lua name={name}\n\
             local library\n\
             local function build()\n{body}return S\nend\n\
             local function main(keys, arguments)\n\
             library = library or build()\n\
             return library.main(keys, arguments)\n\
             end\n\
             redis.register_function('{name}', main)\n\
             redis.register_function{{function_name='{reader}', callback=main, flags={{'no-writes'}}}}\n\
             redis.register_function{{function_name='{shrinker}', callback=main, flags={{'allow-oom'}}}}\n"
        )
    }

    /// For `SCRIPT LOAD`, and for `redis-cli --ldb --eval`.
    #[must_use]
    pub fn script(&self) -> String {
        format!("{}return S.main(KEYS, ARGV)\n", self.body)
    }
}

/// The tables of core, in Lua.
fn prelude(clock: ClockSource) -> String {
    let is_test = clock == ClockSource::Call;
    let mut text = format!("local S = {{}}\nS.is_test = {is_test}\n");
    let _ = writeln!(text, "S.key_names = {{ {} }}", quoted(NAMES));
    let _ = writeln!(text, "S.setting_names = {{ {} }}", quoted(SETTING_NAMES));
    text.push_str("S.codes, S.code_words = {}, {}\n");
    for code in Code::ALL {
        let (word, number, kind) = (code.word(), code.number(), kind_word(code.kind()));
        let _ = writeln!(text, "S.codes.{word} = {{ number = {number}, kind = \"{kind}\" }}");
        let _ = writeln!(text, "S.code_words[{number}] = \"{word}\"");
    }
    write_commands(&mut text);
    write_events(&mut text);
    text
}

/// The commands by number, each with the function that gives its values their names. Functions of their own
/// know the names when they are compiled, where one for all would look them up.
fn write_commands(text: &mut String) {
    text.push_str("S.command_specs = {\n");
    for spec in COMMANDS {
        let effect = if spec.effect == Effect::Write { "write" } else { "read" };
        let arguments = quoted(spec.arguments.iter().map(|argument| argument.name));
        let (number, name, group) = (spec.number, spec.name, spec.group());
        let remembers_refusals = spec.remembers_refusals();
        let _ = write!(
            text,
            "  [{number}] = {{ name = \"{name}\", group = \"{group}\", effect = \"{effect}\", \
             remembers_refusals = {remembers_refusals}, arguments = {{ {arguments} }},\n    \
             read = function(spec, values, at) return {{ spec = spec"
        );
        for (place, argument) in spec.arguments.iter().enumerate() {
            let _ = write!(text, ", {} = values[at + {}] or nil", argument.name, place + 1);
        }
        text.push_str(" } end },\n");
    }
    text.push_str("}\n");
}

/// The events by name, each with the function that writes its number and its fields behind other values, and
/// gives how many values there are then.
fn write_events(text: &mut String) {
    text.push_str("S.event_specs = {\n");
    for spec in EVENTS {
        let (name, number) = (spec.name, spec.number);
        let _ = writeln!(
            text,
            "  [\"{name}\"] = {{ write = function(values, at, event)\n    values[at + 1] = {number}"
        );
        for (place, field) in spec.fields.iter().enumerate() {
            let field = field.trim_start_matches('#');
            let _ = writeln!(text, "    values[at + {}] = event.{field} or false", place + 2);
        }
        let _ = writeln!(text, "    return at + {}\n  end }},", spec.fields.len() + 1);
    }
    text.push_str("}\n");
}

fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Applied => "applied",
        Kind::Refusal => "refusal",
        Kind::Rejected => "rejected",
        Kind::Failure => "failure",
    }
}

fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_text_has_another_name() {
        let (server, test) = (Library::new(ClockSource::Server), Library::new(ClockSource::Call));
        assert_ne!(server.name, test.name);
        assert!(server.functions().starts_with(&format!("#!lua name={}\n", server.name)));
        assert!(server.script().ends_with("return S.main(KEYS, ARGV)\n"));
    }
}
