//! Commands that need no server: help, explanations, exit.

use std::fmt::Write;

use scarce_api::nearest::nearest;
use scarce_core::command::{AnswerLayout, COMMANDS, CommandSpec, Effect, table};
use scarce_core::outcome::Code;
use scarce_core::outcome::shape::names;
use scarce_gateway_resp::CONTROLS;

use super::super::explain;
use super::super::paint::{Paint, Tone};
use super::outlook::LOCAL;

/// The result of a line that needs no server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Local {
    /// Text to show.
    Shown(String),
    /// An error.
    Wrong(String),
    /// The session ends.
    End,
}

/// Runs a command that needs no server, if the words are one.
pub(super) fn run(words: &[String], paint: Paint) -> Option<Local> {
    let name = words.first()?.to_ascii_lowercase();
    match (name.as_str(), &words[1..]) {
        ("exit" | "quit", []) => Some(Local::End),
        ("help" | "?", []) => Some(Local::Shown(overview(paint))),
        ("help" | "?", [name]) => Some(help(name, paint)),
        ("explain", [code]) => Some(explained(code)),
        ("explain", _) => Some(Local::Wrong("usage: explain CODE".to_owned())),
        _ => None,
    }
}

/// The message for an unknown command.
pub(super) fn unknown(name: &str) -> Option<String> {
    let local = LOCAL.iter().map(|(name, ..)| *name);
    let names: Vec<_> = COMMANDS
        .iter()
        .map(|spec| spec.name)
        .chain(CONTROLS.iter().map(|control| control.name))
        .chain(local)
        .collect();
    let is_known = names.iter().any(|known| known.eq_ignore_ascii_case(name));
    if is_known { None } else { nearest(name, names).map(|near| format!("did you mean {near}?")) }
}

fn overview(paint: Paint) -> String {
    let mut text = String::new();
    let mut group = "";
    for spec in COMMANDS {
        if spec.group() != group {
            group = spec.group();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", paint.paint(Tone::Name, group));
        }
        let _ = writeln!(text, "  {:<20}{}", spec.name, spec.summary);
    }
    let controls: Vec<_> = CONTROLS.iter().map(|control| control.name).collect();
    let _ = writeln!(text, "{}\n  {}", paint.paint(Tone::Name, "connection"), controls.join(" "));
    let _ = writeln!(text, "{}", paint.paint(Tone::Name, "here"));
    for (_, usage, about) in LOCAL {
        let _ = writeln!(text, "  {usage:<24}{about}");
    }
    text
}

fn help(name: &str, paint: Paint) -> Local {
    if let Some(spec) = table::find(name.as_bytes()) {
        return Local::Shown(of_command(spec, paint));
    }
    let group: Vec<_> = COMMANDS.iter().filter(|spec| spec.group().eq_ignore_ascii_case(name)).collect();
    if !group.is_empty() {
        let lines = group.iter().map(|spec| format!("{}\n    {}\n", spec.usage(), spec.summary));
        return Local::Shown(lines.collect());
    }
    if let Some(control) = CONTROLS.iter().find(|known| known.name.eq_ignore_ascii_case(name)) {
        return Local::Shown(format!("{}\n", control.usage));
    }
    let near = unknown(name).unwrap_or_else(|| "'help' lists all".to_owned());
    Local::Wrong(format!("there is no command '{name}'; {near}"))
}

fn of_command(spec: &CommandSpec, paint: Paint) -> String {
    let mut text = format!("{}\n  {}\n", paint.paint(Tone::Name, spec.usage()), spec.summary);
    let mut part = |name: &str, values: &[&str]| {
        if !values.is_empty() {
            let _ =
                writeln!(text, "  {}{}", paint.paint(Tone::Aside, format!("{name:<10}")), values.join(", "));
        }
    };
    part("answers", &names(spec.reply).collect::<Vec<_>>());
    let refusals: Vec<_> = spec.refusals.iter().map(|code| code.word()).collect();
    part("refuses", &refusals);
    part("events", &spec.events.iter().map(|event| event.name).collect::<Vec<_>>());
    let layout = match (spec.effect, spec.answer) {
        (Effect::Write, _) => "the answer begins with 1, a refusal with 0",
        (Effect::Read, AnswerLayout::Map) => "changes nothing; names and values in turn",
        (Effect::Read, _) => "changes nothing",
    };
    part("", &[layout]);
    text
}

fn explained(word: &str) -> Local {
    let Some(code) = Code::from_word(word) else {
        let near = nearest(word, Code::ALL.iter().map(|code| code.word()));
        let near = near
            .map_or_else(|| "'scarce explain' lists all".to_owned(), |near| format!("did you mean {near}?"));
        return Local::Wrong(format!("there is no code '{word}'; {near}"));
    };
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = explain::show(&mut text, code, explain::language_of_environment());
    Local::Shown(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(line: &str) -> Option<Local> {
        run(&line.split(' ').map(str::to_owned).collect::<Vec<_>>(), Paint::PLAIN)
    }

    #[test]
    fn help_knows_commands_groups_and_controls() {
        let shown = |line: &str| match ran(line) {
            Some(Local::Shown(text)) => text,
            other => panic!("{line}: {other:?}"),
        };
        let take = shown("help stock.take");
        assert!(take.contains("STOCK.TAKE sku quantity owner") && take.contains("SOLD_OUT"), "{take}");
        assert!(shown("HELP stock").contains("STOCK.RESTOCK"));
        assert!(shown("help events").contains("EVENTS partition epoch sequence"));
        assert!(COMMANDS.iter().all(|spec| shown("help").contains(spec.name)));
        assert!(shown("explain sold_out").contains("No unit is left."));
    }

    #[test]
    fn a_slip_is_answered_with_what_was_meant() {
        assert_eq!(
            ran("help STOCK.TAEK"),
            Some(Local::Wrong("there is no command 'STOCK.TAEK'; did you mean STOCK.TAKE?".to_owned()))
        );
        assert_eq!(
            ran("explain SOLDOUT"),
            Some(Local::Wrong("there is no code 'SOLDOUT'; did you mean SOLD_OUT?".to_owned()))
        );
        assert_eq!(unknown("ACOUNT.OPEN").as_deref(), Some("did you mean ACCOUNT.OPEN?"));
        assert_eq!(unknown("PING"), None);
        assert_eq!(ran("STOCK.GET s"), None);
        assert_eq!(ran("exit"), Some(Local::End));
    }
}
