//! Determines what may come next in a partially typed command.
//!
//! It asks the command's own parser: once with the words so far, once with an additional word that is never
//! valid. The parser's error shows what it expects, so no second grammar can diverge.

use scarce_core::command::shapes::CalendarUnit;
use scarce_core::command::{ArgumentSpec, Command, CommandSpec, Invalid};
use scarce_core::outcome::Durability;

/// A word that is valid nowhere.
const NOWHERE: &[u8] = b"\x01";

/// What the parser expects after some words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// This argument, or this part of one; with the allowed words, if only certain words are valid.
    Needs(&'static str, Vec<&'static str>),
    /// Nothing, or an option; and whether an argument of many words may continue.
    Options {
        /// The last argument accepts more words.
        goes_on: bool,
    },
    /// A word is invalid.
    Wrong(Invalid),
}

/// What may follow the words after a command's name.
pub(super) fn next(spec: &'static CommandSpec, words: &[&[u8]]) -> Next {
    let parse = |words: &[&[u8]]| Command::parse(spec, words).map(drop);
    let with = |words: &[&[u8]]| parse(&[words, &[NOWHERE]].concat()).err();
    let complaint = with(words);
    let takes_options = complaint.as_ref().is_some_and(|complaint| complaint.argument == "option");
    match parse(words) {
        Ok(()) => Next::Options { goes_on: !takes_options },
        Err(invalid) if takes_options && !is_missing(&invalid) => Next::Wrong(invalid),
        Err(_) if takes_options => Next::Options { goes_on: false },
        Err(invalid) if is_missing(&invalid) => Next::Needs(invalid.argument, fitting(complaint.as_ref())),
        Err(invalid) => {
            // If any other word in its place is just as invalid, the last word or an earlier one is at fault.
            let is_at_fault =
                words.split_last().is_some_and(|(_, before)| with(before).as_ref() == Some(&invalid));
            match complaint {
                Some(complaint) if !is_at_fault && complaint == invalid => {
                    Next::Needs(invalid.argument, fitting(Some(&complaint)))
                }
                _ => Next::Wrong(invalid),
            }
        }
    }
}

fn is_missing(invalid: &Invalid) -> bool {
    invalid.reason.starts_with("is missing") || invalid.reason.starts_with("are missing")
}

/// The valid words that an error names.
fn fitting(complaint: Option<&Invalid>) -> Vec<&'static str> {
    let Some(complaint) = complaint else { return Vec::new() };
    if complaint.argument == "window" {
        return std::iter::once("NONE").chain(CalendarUnit::ALL.iter().map(|unit| unit.word())).collect();
    }
    if complaint.argument == "DURABILITY" {
        return Durability::ALL.map(Durability::word).to_vec();
    }
    let known = known_words();
    let mut found = Vec::new();
    for word in complaint.reason.split(|c: char| c.is_whitespace() || c == '|') {
        if let Some(word) = known.iter().find(|known| **known == word).filter(|word| !found.contains(*word)) {
            found.push(*word);
        }
    }
    found
}

/// The keywords in the table's syntax.
fn known_words() -> Vec<&'static str> {
    let syntax = scarce_core::command::COMMANDS.iter().flat_map(|spec| spec.arguments);
    let syntax = syntax.filter_map(|argument| argument.syntax);
    let words = syntax.flat_map(|syntax| syntax.split(|c: char| !c.is_ascii_uppercase() && c != '_'));
    words.filter(|word| word.len() > 1).collect()
}

/// The options that may still follow, each with its usage.
pub(super) fn options(spec: &'static CommandSpec, words: &[&[u8]]) -> Vec<(&'static str, String)> {
    let is_used = |token: &str| words.iter().any(|word| word.eq_ignore_ascii_case(token.as_bytes()));
    let own = spec.arguments.iter().filter_map(|argument| {
        let token = argument.token?;
        (!is_used(token) || repeats(argument)).then(|| (token, usage(argument)))
    });
    let common = spec.common_options().iter().filter(|(token, _)| !is_used(token));
    own.chain(common.map(|(token, value)| (*token, format!("{token} {value}")))).collect()
}

fn repeats(argument: &ArgumentSpec) -> bool {
    argument.syntax.is_some_and(|syntax| syntax.ends_with("...]"))
}

fn usage(argument: &ArgumentSpec) -> String {
    let value = argument.syntax.unwrap_or(argument.name);
    match argument.token {
        Some(token) if value.is_empty() => token.to_owned(),
        Some(token) => format!("{token} {value}"),
        None => value.to_owned(),
    }
}

/// The rest of the usage line.
pub(super) fn rest(spec: &'static CommandSpec, words: &[&[u8]]) -> String {
    let positional: Vec<_> = spec.arguments.iter().filter(|argument| argument.token.is_none()).collect();
    let mut parts = Vec::new();
    match next(spec, words) {
        Next::Wrong(_) => return String::new(),
        Next::Needs(name, fitting) => match positional.iter().position(|argument| argument.name == name) {
            Some(at) => parts.extend(positional[at..].iter().map(|argument| usage(argument))),
            None => {
                parts.push(if fitting.is_empty() { name.to_owned() } else { fitting.join("|") });
                let within = positional.iter().position(|argument| mentions(argument, name));
                parts.extend(
                    positional.iter().skip(within.map_or(positional.len(), |at| at + 1)).map(|a| usage(a)),
                );
            }
        },
        Next::Options { goes_on: true } => {
            let syntax = positional.last().and_then(|argument| argument.syntax).unwrap_or_default();
            parts.extend(syntax.split_once('[').map(|(_, more)| format!("[{more}")));
        }
        Next::Options { goes_on: false } => {}
    }
    parts.extend(options(spec, words).into_iter().map(|(_, usage)| format!("[{usage}]")));
    parts.join(" ")
}

/// Whether a part of this name belongs to an argument of several words.
fn mentions(argument: &ArgumentSpec, part: &str) -> bool {
    let words = argument.syntax.unwrap_or_default().split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    // The method of a cut is written as its keywords.
    words.into_iter().any(|word| word == part) || (argument.name == "cut" && part == "method")
}

#[cfg(test)]
mod tests {
    use scarce_core::command::{COMMANDS, table};

    use super::*;

    fn after(line: &str) -> (&'static CommandSpec, Vec<&[u8]>) {
        let mut words = line.split_whitespace();
        let spec = words.next().and_then(|name| table::find(name.as_bytes())).expect("a command");
        (spec, words.map(str::as_bytes).collect())
    }

    fn next_of(line: &str) -> Next {
        let (spec, words) = after(line);
        next(spec, &words)
    }

    fn rest_of(line: &str) -> String {
        let (spec, words) = after(line);
        rest(spec, &words)
    }

    #[test]
    fn the_next_argument_is_named_with_the_words_that_fit() {
        assert_eq!(next_of("STOCK.TAKE"), Next::Needs("sku", vec![]));
        assert_eq!(next_of("STOCK.TAKE sku"), Next::Needs("quantity", vec![]));
        assert_eq!(next_of("ORDER.PLACE m o u"), Next::Needs("side", vec!["BUY", "SELL"]));
        assert_eq!(next_of("ORDER.PLACE m o u buy"), Next::Needs("pricing", vec!["LIMIT", "MARKET"]));
        assert_eq!(next_of("ORDER.PLACE m o u BUY LIMIT"), Next::Needs("price", vec![]));
        assert_eq!(
            next_of("ORDER.PLACE m o u BUY LIMIT 1 2 TIF"),
            Next::Needs("tif", vec!["GTC", "IOC", "FOK", "POST"])
        );
        assert_eq!(next_of("PACKET.CREATE c EUR"), Next::Needs("cut", vec!["PLAN", "AMOUNTS"]));
        assert_eq!(
            next_of("PACKET.CREATE c EUR PLAN 100 10"),
            Next::Needs("method", vec!["EVEN", "DOUBLE_MEAN", "LINE_CUT"])
        );
        assert_eq!(next_of("STOCK.ADJUST s -1"), Next::Needs("reason", vec!["REASON"]));
        assert_eq!(next_of("COUPON.CLAIM c"), Next::Needs("subject", vec!["USER"]));
        assert_eq!(next_of("COUPON.CREATE c LIMIT l 5"), Next::Needs("limit", vec!["PER"]));
        let levels = vec!["memory", "replicated", "synced"];
        assert_eq!(next_of("STOCK.TAKE s 1 u DURABILITY"), Next::Needs("DURABILITY", levels));
        let windows = vec!["NONE", "HOUR", "DAY", "WEEK", "MONTH"];
        assert_eq!(next_of("COUPON.CREATE c LIMIT l 5 PER - WINDOW"), Next::Needs("window", windows));
        assert_eq!(next_of("OPERATION.GET op"), Next::Needs("resource", vec!["ON"]));
    }

    #[test]
    fn options_come_when_all_is_there() {
        assert_eq!(next_of("STOCK.TAKE s 1 u"), Next::Options { goes_on: false });
        assert_eq!(
            next_of("COUPON.CREATE c"),
            Next::Options { goes_on: false },
            "LIMIT is written as an option"
        );
        assert_eq!(next_of("COUPON.CLAIM c USER u"), Next::Options { goes_on: true });
        assert_eq!(next_of("DIGEST"), Next::Options { goes_on: true });
        let (spec, words) = after("STOCK.CREATE s 5 PEROWNER 2");
        let tokens: Vec<_> = options(spec, &words).into_iter().map(|(token, _)| token).collect();
        assert_eq!(tokens, ["START", "END", "ID", "DEADLINE", "DURABILITY"]);
        let (spec, words) = after("COUPON.CREATE c LIMIT l 5 PER - WINDOW NONE");
        assert!(
            options(spec, &words).iter().any(|(token, _)| *token == "LIMIT"),
            "a limit may follow a limit"
        );
        let (spec, words) = after("STOCK.GET s");
        assert!(options(spec, &words).is_empty());
    }

    #[test]
    fn what_is_wrong_is_told_at_once() {
        for line in [
            "STOCK.TAKE s abc",
            "STOCK.TAKE s abc u",
            "ORDER.PLACE m o u HOLD",
            "STOCK.TAKE s 1 u NOT",
            "PACKET.CREATE c EUR PLAN 5 10 EVEN",
        ] {
            assert!(matches!(next_of(line), Next::Wrong(_)), "{line}: {:?}", next_of(line));
        }
    }

    #[test]
    fn the_rest_is_told_as_in_a_usage_line() {
        assert_eq!(
            rest_of("STOCK.RESERVE s"),
            "reservation quantity owner ttl_ms [ID operation-id] [DEADLINE ms] [DURABILITY level]"
        );
        assert_eq!(
            rest_of("ORDER.PLACE m o u BUY LIMIT"),
            "price quantity [TIF GTC|IOC|FOK|POST] [STP NONE|CANCEL_TAKER|CANCEL_MAKER|CANCEL_BOTH|DECREMENT] [ID operation-id] [DEADLINE ms] [DURABILITY level]"
        );
        assert_eq!(
            rest_of("COUPON.CLAIM c USER u"),
            "[dim value ...] [ID operation-id] [DEADLINE ms] [DURABILITY level]"
        );
        assert_eq!(rest_of("DIGEST"), "[resource]");
        assert_eq!(rest_of("STOCK.TAKE s 1 u ID op DEADLINE 5"), "[DURABILITY level]");
        assert_eq!(
            rest_of("STOCK.TAKE s 1 u DURABILITY"),
            "memory|replicated|synced [ID operation-id] [DEADLINE ms]"
        );
        assert_eq!(rest_of("STOCK.TAKE s 1 u ID op DEADLINE 5 DURABILITY synced"), "");
        for spec in COMMANDS {
            // For every command, the first argument is shown before anything is typed.
            let shown = rest(spec, &[]);
            assert!(
                spec.usage().ends_with(&shown) && spec.usage().len() <= spec.name.len() + 1 + shown.len(),
                "{shown}"
            );
        }
    }
}
