//! Suggestions during typing: completions, and a hint of what comes next.

use scarce_core::command::{COMMANDS, table};
use scarce_core::outcome::Code;
use scarce_gateway_resp::CONTROLS;

use super::grammar::{self, Next};
use super::words::{Word, split};

/// A possible word at the cursor, and its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The word.
    pub(super) word: &'static str,
    /// Its meaning; may be empty.
    pub(super) about: String,
}

/// The commands that need no server, with usage and summary.
pub(super) const LOCAL: &[(&str, &str, &str)] = &[
    ("help", "help [COMMAND|GROUP]", "Shows how a command is used."),
    ("explain", "explain CODE", "Says what an outcome code means and what to do."),
    ("exit", "exit", "Ends; so does Ctrl-D."),
];

/// The words before the cursor, and the partial word at it.
struct Typed {
    before: Vec<Word>,
    partial: String,
    start: usize,
}

impl Typed {
    fn of(line: &str) -> Option<Self> {
        let mut before = split(line).ok()?;
        // A cursor directly behind a word is still part of it.
        match before.pop_if(|last| last.place.end == line.len()) {
            Some(last) => Some(Self { start: last.place.start, partial: last.text, before }),
            None => Some(Self { start: line.len(), partial: String::new(), before }),
        }
    }

    fn is_first(&self) -> bool {
        self.before.is_empty()
    }

    fn name(&self) -> &str {
        self.before.first().map_or("", |word| &word.text)
    }

    /// The words after the command's name, without the partial one.
    fn arguments(&self) -> Vec<&[u8]> {
        self.before.iter().skip(1).map(|word| word.text.as_bytes()).collect()
    }
}

fn begins(word: &str, partial: &str) -> bool {
    word.get(..partial.len()).is_some_and(|head| head.eq_ignore_ascii_case(partial))
}

/// The start of the word at the cursor, and the possible words there.
pub(super) fn candidates(line: &str) -> (usize, Vec<Candidate>) {
    let Some(typed) = Typed::of(line) else { return (line.len(), Vec::new()) };
    let mut all = if typed.is_first() { first_words() } else { later_words(&typed) };
    all.retain(|candidate| begins(candidate.word, &typed.partial));
    (typed.start, all)
}

fn first_words() -> Vec<Candidate> {
    let commands = COMMANDS.iter().map(|spec| (spec.name, spec.summary));
    let controls = CONTROLS.iter().map(|control| (control.name, control.usage));
    let local = LOCAL.iter().map(|(name, _, about)| (*name, *about));
    let all = commands.chain(controls).chain(local);
    all.map(|(word, about)| Candidate { word, about: about.to_owned() }).collect()
}

fn later_words(typed: &Typed) -> Vec<Candidate> {
    if typed.name().eq_ignore_ascii_case("help") && typed.before.len() == 1 {
        let groups = COMMANDS.iter().map(|spec| spec.group()).collect::<std::collections::BTreeSet<_>>();
        let groups = groups.into_iter().map(|word| Candidate { word, about: String::new() });
        return first_words().into_iter().chain(groups).collect();
    }
    if typed.name().eq_ignore_ascii_case("explain") && typed.before.len() == 1 {
        let codes = Code::ALL.iter();
        return codes
            .map(|code| Candidate { word: code.word(), about: code.cause().en.to_owned() })
            .collect();
    }
    let Some(spec) = table::find(typed.name().as_bytes()) else { return Vec::new() };
    let arguments = typed.arguments();
    match grammar::next(spec, &arguments) {
        Next::Needs(name, fitting) => {
            fitting.into_iter().map(|word| Candidate { word, about: name.to_owned() }).collect()
        }
        Next::Options { .. } => {
            let options = grammar::options(spec, &arguments).into_iter();
            options.map(|(word, about)| Candidate { word, about }).collect()
        }
        Next::Wrong(_) => Vec::new(),
    }
}

/// The hint behind the cursor: the rest of the usage line, or an error.
pub(super) fn hint(line: &str) -> Option<String> {
    let typed = Typed::of(line)?;
    let text = if typed.is_first() { first_hint(&typed.partial) } else { later_hint(&typed) };
    text.filter(|text| !text.is_empty())
}

fn first_hint(partial: &str) -> Option<String> {
    if partial.is_empty() {
        return None;
    }
    let all = first_words();
    let mut fitting = all.iter().filter(|candidate| begins(candidate.word, partial));
    let exact = all.iter().find(|candidate| candidate.word.eq_ignore_ascii_case(partial));
    let chosen = exact.or_else(|| fitting.next().filter(|_| fitting.next().is_none()))?;
    Some(format!("{}{}", &chosen.word[partial.len()..], usage_after(chosen.word)))
}

/// A command's usage without its name.
fn usage_after(name: &str) -> String {
    let of_table = table::find(name.as_bytes()).map(|spec| format!(" {}", grammar::rest(spec, &[])));
    let of_controls = || {
        let usage = CONTROLS.iter().find(|known| known.name == name).map(|known| known.usage);
        let usage =
            usage.or_else(|| LOCAL.iter().find(|(known, ..)| *known == name).map(|(_, usage, _)| *usage));
        usage.and_then(|usage| usage.get(name.len()..)).unwrap_or_default().to_owned()
    };
    of_table.unwrap_or_else(of_controls)
}

fn later_hint(typed: &Typed) -> Option<String> {
    let spec = table::find(typed.name().as_bytes())?;
    let mut arguments = typed.arguments();
    if typed.partial.is_empty() {
        return match grammar::next(spec, &arguments) {
            Next::Wrong(invalid) => Some(wrong(&invalid)),
            _ => Some(grammar::rest(spec, &arguments)),
        };
    }
    let before = later_words(typed);
    let completed = before.iter().find(|candidate| begins(candidate.word, &typed.partial));
    arguments.push(completed.map_or(typed.partial.as_bytes(), |candidate| candidate.word.as_bytes()));
    let ending = completed.map_or("", |candidate| &candidate.word[typed.partial.len()..]);
    match grammar::next(spec, &arguments) {
        Next::Wrong(invalid) => Some(format!("  {}", wrong(&invalid))),
        _ => Some(format!("{ending} {}", grammar::rest(spec, &arguments)).trim_end().to_owned()),
    }
}

fn wrong(invalid: &scarce_core::command::Invalid) -> String {
    format!("✗ {invalid}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<&'static str> {
        candidates(line).1.into_iter().map(|candidate| candidate.word).collect()
    }

    #[test]
    fn commands_are_completed_in_any_case() {
        assert_eq!(words("stock.ta"), ["STOCK.TAKE"]);
        assert_eq!(words("exp"), ["explain"]);
        assert_eq!(words("MULT"), ["MULTI"]);
        assert!(words("ACC").iter().all(|word| word.starts_with("ACCOUNT.")));
        assert_eq!(candidates("  stock.ta").0, 2);
    }

    #[test]
    fn words_and_options_are_completed_where_they_fit() {
        assert_eq!(words("ORDER.PLACE m o u "), ["BUY", "SELL"]);
        assert_eq!(words("ORDER.PLACE m o u s"), ["SELL"]);
        assert_eq!(words("order.place m o u SELL MARKET 5 TIF F"), ["FOK"]);
        assert_eq!(words("PACKET.CREATE c EUR PLAN 100 10 L"), ["LINE_CUT"]);
        assert_eq!(words("STOCK.CREATE s 5 "), ["PEROWNER", "START", "END", "ID", "DEADLINE", "DURABILITY"]);
        assert_eq!(words("STOCK.TAKE s 5 u i"), ["ID"]);
        assert_eq!(words("STOCK.TAKE s 5 u DURABILITY s"), ["synced"]);
        assert_eq!(words("STOCK.TAKE "), [""; 0], "an id may be anything");
        assert_eq!(words("explain SOLD"), ["SOLD_OUT"]);
        assert_eq!(words("help STOC").first(), Some(&"STOCK.CREATE"));
    }

    #[test]
    fn hints_tell_what_comes_next() {
        assert_eq!(
            hint("STOCK.TAKE").as_deref(),
            Some(" sku quantity owner [ID operation-id] [DEADLINE ms] [DURABILITY level]")
        );
        assert_eq!(
            hint("stock.tak").as_deref(),
            Some("E sku quantity owner [ID operation-id] [DEADLINE ms] [DURABILITY level]")
        );
        assert_eq!(
            hint("STOCK.TAKE s").as_deref(),
            Some(" quantity owner [ID operation-id] [DEADLINE ms] [DURABILITY level]")
        );
        assert_eq!(
            hint("STOCK.TAKE s ").as_deref(),
            Some("quantity owner [ID operation-id] [DEADLINE ms] [DURABILITY level]")
        );
        assert_eq!(hint("STOCK.TAKE s x").as_deref().map(|hint| hint.contains("✗ quantity")), Some(true));
        assert_eq!(hint("STOCK.GET s"), None);
        assert_eq!(
            hint("ORDER.PLACE m o u B").map(|hint| hint.starts_with("UY LIMIT price|MARKET quantity")),
            Some(true)
        );
        assert_eq!(
            hint("STOCK.CREATE s 5 PER").map(|hint| hint.starts_with("OWNER per_owner_max")),
            Some(true)
        );
        assert_eq!(hint("BATCH.ID").as_deref(), Some(" id [DEADLINE ms] [DURABILITY level]"));
        assert_eq!(hint("explain").as_deref(), Some(" CODE"));
        assert_eq!(hint(""), None);
        assert_eq!(hint("ECHO \"open"), None);
    }
}
