//! What the tables of scenarios must show, derived from the command, code and event tables.

use std::collections::BTreeSet;

use scarce_core::command::{COMMANDS, CommandSpec};
use scarce_core::event::EVENTS;
use scarce_core::outcome::Code;

use super::Suite;
use super::parse::{Row, Scenario, StepKind};

/// The order of the checks that all mutating commands share.
const GENERAL: &[(Code, Code)] = &[
    (Code::IdReused, Code::IdExpired),
    (Code::ResolvedAbsent, Code::IdExpired),
    (Code::IdExpired, Code::DeadlinePassed),
    (Code::DeadlinePassed, Code::Overloaded),
];

/// How much the rows must show, and how much they do.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// How many things must be shown.
    pub needed: usize,
    /// How many of them the list of impossible things excuses.
    pub excused: usize,
    /// What no row shows.
    pub missing: Vec<String>,
    /// Errors in annotations and in the list of impossible things.
    pub mistakes: Vec<String>,
}

impl std::fmt::Display for Coverage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for mistake in &self.mistakes {
            writeln!(f, "{mistake}")?;
        }
        for missing in &self.missing {
            writeln!(f, "missing: {missing}")?;
        }
        let shown = self.needed - self.excused - self.missing.len().min(self.needed - self.excused);
        writeln!(f, "{shown} of {} shown, {} impossible", self.needed, self.excused)
    }
}

/// What the rows show.
#[derive(Default)]
struct Shown<'a> {
    outcomes: BTreeSet<(&'a str, &'a str)>,
    orders: BTreeSet<(&'a str, &'a str, &'static str)>,
    codes: BTreeSet<&'a str>,
    commands: BTreeSet<&'a str>,
    events: BTreeSet<&'a str>,
}

/// Compares a suite with the command, code and event tables.
#[must_use]
pub fn missing(suite: &Suite) -> Coverage {
    let mut shown = Shown::default();
    let mut coverage = Coverage::default();
    for scenario in &suite.scenarios {
        note(scenario, &mut shown, &mut coverage.mistakes);
    }
    let mut excuses = Excuses { suite, used: BTreeSet::new() };
    for spec in COMMANDS {
        check_command(spec, &shown, &mut excuses, &mut coverage);
    }
    check_codes(&shown, &mut excuses, &mut coverage);
    // No command makes an event of the clock; the engines' own tests show those.
    for spec in EVENTS.iter().filter(|spec| !spec.name.starts_with("clock.")) {
        let found = shown.events.contains(spec.name);
        need(&mut coverage, found, false, || format!("event {}", spec.name));
    }
    for (at, entry) in suite.impossible.iter().enumerate() {
        if !excuses.used.contains(&at) {
            coverage.mistakes.push(format!("{}: is not needed", entry.place));
        }
    }
    coverage
}

fn need(coverage: &mut Coverage, found: bool, excused: bool, what: impl FnOnce() -> String) {
    coverage.needed += 1;
    coverage.excused += usize::from(excused);
    if !found && !excused {
        coverage.missing.push(what());
    }
}

/// The list of what no row can show, and which of its entries were used.
struct Excuses<'a> {
    suite: &'a Suite,
    used: BTreeSet<usize>,
}

impl Excuses<'_> {
    /// Whether the list has this entry; an entry for something that a row shows stays unused.
    fn excuse(&mut self, found: bool, command: &str, first: Code, second: Option<Code>) -> bool {
        let at = self
            .suite
            .impossible
            .iter()
            .position(|entry| entry.command == command && entry.first == first && entry.second == second);
        match at {
            Some(at) if !found => {
                self.used.insert(at);
                true
            }
            _ => false,
        }
    }
}

fn check_command(spec: &CommandSpec, shown: &Shown<'_>, excuses: &mut Excuses<'_>, coverage: &mut Coverage) {
    let name = spec.name;
    need(coverage, shown.commands.contains(name), false, || format!("{name} applied"));
    let mut provoked = Vec::new();
    for refusal in spec.refusals {
        let found = shown.outcomes.contains(&(name, refusal.word()));
        let excused = excuses.excuse(found, name, *refusal, None);
        need(coverage, found, excused, || format!("{name} {}", refusal.word()));
        if !excused {
            provoked.push(*refusal);
        }
    }
    for pair in provoked.windows(2) {
        let (first, second) = (pair[0], pair[1]);
        let found = shown.orders.contains(&(name, first.word(), second.word()));
        let excused = excuses.excuse(found, name, first, Some(second));
        need(coverage, found, excused, || format!("{name} {} | over {}", first.word(), second.word()));
    }
}

fn check_codes(shown: &Shown<'_>, excuses: &mut Excuses<'_>, coverage: &mut Coverage) {
    for code in Code::ALL {
        let found = shown.codes.contains(code.word());
        let excused = excuses.excuse(found, "*", *code, None);
        need(coverage, found, excused, || format!("code {}", code.word()));
    }
    for (first, second) in GENERAL {
        let (first, second) = (first.word(), second.word());
        let found = shown.orders.iter().any(|(_, a, b)| (*a, *b) == (first, second));
        need(coverage, found, false, || format!("{first} | over {second}"));
    }
}

fn note<'a>(scenario: &'a Scenario, shown: &mut Shown<'a>, mistakes: &mut Vec<String>) {
    for step in &scenario.steps {
        match &step.kind {
            StepKind::Submit(row) => {
                note_row(row, shown);
                for over in &row.over {
                    check_order(scenario, row, *over, shown)
                        .unwrap_or_else(|mistake| mistakes.push(format!("{}: {mistake}", step.place)));
                }
            }
            StepKind::Events(Some(names)) => shown.events.extend(names.iter().map(String::as_str)),
            _ => {}
        }
    }
}

fn note_row<'a>(row: &'a Row, shown: &mut Shown<'a>) {
    shown.codes.insert(row.expected.code());
    let (name, code) = row.subject();
    shown.codes.insert(code);
    shown.outcomes.insert((name, code));
    if row.expected.code() == "APPLIED" {
        shown.commands.extend(row.lines.iter().filter_map(|words| words.first()).map(String::as_str));
    }
}

/// The order of two refusals is shown only if the same command also gets the second one alone.
fn check_order<'a>(
    scenario: &'a Scenario,
    row: &'a Row,
    second: Code,
    shown: &mut Shown<'a>,
) -> Result<(), String> {
    let (name, first) = row.subject();
    let content = row.content();
    let alone = scenario.steps.iter().any(|step| match &step.kind {
        StepKind::Submit(other) => other.subject().1 == second.word() && other.content() == content,
        _ => false,
    });
    if !alone {
        return Err(format!(
            "the scenario does not show that {name} is answered {} otherwise",
            second.word()
        ));
    }
    if !precedes(name, first, second) {
        return Err(format!("{first} does not stand before {} among the refusals of {name}", second.word()));
    }
    shown.orders.insert((name, first, second.word()));
    Ok(())
}

/// Whether the tables say that `first` is checked before `second`.
fn precedes(name: &str, first: &str, second: Code) -> bool {
    const FIRST: &[Code] =
        &[Code::IdReused, Code::ResolvedAbsent, Code::IdExpired, Code::DeadlinePassed, Code::Overloaded];
    let own = COMMANDS.iter().find(|spec| spec.name == name).map_or(&[][..], |spec| spec.refusals);
    let order: Vec<Code> = FIRST.iter().chain(own).copied().collect();
    let place = |word: &str| order.iter().position(|code| code.word() == word);
    matches!((place(first), place(second.word())), (Some(a), Some(b)) if a < b)
}
