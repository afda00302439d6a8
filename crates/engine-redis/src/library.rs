//! The Lua library: the files of `scripts` behind the tables of commands, codes and events, as a Function
//! library and as a body for EVALSHA.

use std::fmt::Write;

use xxhash_rust::xxh3::xxh3_64;

mod tables;

/// The files in the order in which they build on each other.
const FILES: &[(&str, &str)] = &[
    ("encoding.lua", include_str!("scripts/encoding.lua")),
    ("records.lua", include_str!("scripts/records.lua")),
    ("sets.lua", include_str!("scripts/sets.lua")),
    ("sizes.lua", include_str!("scripts/sizes.lua")),
    ("flush.lua", include_str!("scripts/flush.lua")),
    ("operations.lua", include_str!("scripts/operations.lua")),
    ("deadlines.lua", include_str!("scripts/deadlines.lua")),
    ("outcomes.lua", include_str!("scripts/outcomes.lua")),
    ("log.lua", include_str!("scripts/log.lua")),
    ("looks.lua", include_str!("scripts/looks.lua")),
    ("machine.lua", include_str!("scripts/machine.lua")),
    ("dry_run.lua", include_str!("scripts/dry_run.lua")),
    ("requests.lua", include_str!("scripts/requests.lua")),
    ("windows.lua", include_str!("scripts/windows.lua")),
    ("counters.lua", include_str!("scripts/counters.lua")),
    ("lists.lua", include_str!("scripts/lists.lua")),
    ("accounts.lua", include_str!("scripts/accounts.lua")),
    ("retention.lua", include_str!("scripts/retention.lua")),
    ("stock.lua", include_str!("scripts/stock.lua")),
    ("packets.lua", include_str!("scripts/packets.lua")),
    ("coupons.lua", include_str!("scripts/coupons.lua")),
    ("book.lua", include_str!("scripts/book.lua")),
    ("sweep.lua", include_str!("scripts/sweep.lua")),
    ("markets.lua", include_str!("scripts/markets.lua")),
    ("corrections.lua", include_str!("scripts/corrections.lua")),
    ("wholeness.lua", include_str!("scripts/wholeness.lua")),
    ("plain.lua", include_str!("scripts/plain.lua")),
    ("plain_accounts.lua", include_str!("scripts/plain_accounts.lua")),
    ("plain_sales.lua", include_str!("scripts/plain_sales.lua")),
    ("main.lua", include_str!("scripts/main.lua")),
];

/// What all files stand on: tables that know their names, and behind core's tables, what files offer to each other.
const STRICT: &str = include_str!("scripts/strict.lua");
const MODULES: &str = include_str!("scripts/modules.lua");

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
    is_test: bool,
    body: String,
}

impl Library {
    /// Puts the library together.
    #[must_use]
    pub fn new(clock: ClockSource) -> Self {
        let is_test = clock == ClockSource::Call;
        let mut body = format!("local IS_TEST = {is_test}\n{STRICT}{}{MODULES}", tables::tables());
        for (name, text) in FILES {
            // A function of its own, because a chunk has 200 local variables at most, and a function finds what it
            // takes from outside at once when the one around it has it already. EVALSHA may make all for each call.
            let _ = write!(body, "do local function file() -- {name}\n{text}end file() end\n");
        }
        body.push_str("complete()\n");
        let name = format!("scarce_{:016x}", xxh3_64(body.as_bytes()));
        Self { name, is_test, body }
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
        let Self { name, body, .. } = self;
        let (reader, shrinker) = (self.reader_name(), self.shrinker_name());
        format!(
            "#!lua name={name}\n\
             local library\n\
             local function build()\nlocal IS_CHECKED = true\n{body}return main\nend\n\
             local function main(keys, arguments)\n\
             library = library or build()\n\
             return library.serve(keys, arguments)\n\
             end\n\
             redis.register_function('{name}', main)\n\
             redis.register_function{{function_name='{reader}', callback=main, flags={{'no-writes'}}}}\n\
             redis.register_function{{function_name='{shrinker}', callback=main, flags={{'allow-oom'}}}}\n"
        )
    }

    /// For `SCRIPT LOAD`, and for `redis-cli --ldb --eval`. Building it takes many times as long as a short call. Redis
    /// 6.2 lets a script have an environment of its own, which lasts as long as the script is loaded: there the library
    /// is kept. Later versions do not, and have Functions; where those are forbidden, it is built for each call. So it
    /// does without the checks, except in tests.
    #[must_use]
    pub fn script(&self) -> String {
        let Self { is_test, body, .. } = self;
        format!(
            "local function build()\nlocal IS_CHECKED = {is_test}\n{body}return main\nend\n\
             local environ = rawget(_G, 'setfenv')\n\
             local library = environ and rawget(getfenv(1), 'scarce_library')\n\
             if not library then\n\
             library = build()\n\
             if environ then environ(1, setmetatable({{ scarce_library = library }}, {{ __index = _G }})) end\n\
             end\n\
             return library.serve(KEYS, ARGV)\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_text_has_another_name() {
        let (server, test) = (Library::new(ClockSource::Server), Library::new(ClockSource::Call));
        assert_ne!(server.name, test.name);
        assert!(server.functions().starts_with(&format!("#!lua name={}\n", server.name)));
        assert!(server.script().ends_with("return library.serve(KEYS, ARGV)\n"));
    }
}
