//! `scarce explain`: what a code means, whether and how to retry, and what to do.

mod labels;
mod nearest;

use std::io::Write;

use clap::Args;
use scarce_api::glossary::{Again, Language, Term, answered_beside, commands_of, kind, resp_form, term_in};
use scarce_core::outcome::Code;
use scarce_core::outcome::shape::names;
use serde_json::{Value, json};

use super::{Ended, Exit, Failed};
use labels::{LABELS, Labels, padded};

/// `scarce explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// The code, such as SOLD_OUT; without one, all are listed.
    pub code: Option<String>,
    /// In which language; without it, that of LC_ALL, LC_MESSAGES or LANG.
    #[arg(long, value_name = "en|zh", value_parser = language)]
    pub lang: Option<Language>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

fn language(tag: &str) -> Result<Language, String> {
    Language::from_tag(tag).ok_or_else(|| "texts are in en and zh".to_owned())
}

/// The language of messages according to the environment: the first of these variables that is set decides,
/// as usual.
pub(super) fn language_of_environment() -> Language {
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(set);
    locale.and_then(|locale| Language::from_tag(&locale)).unwrap_or_default()
}

pub(super) fn run(options: &Explain) -> Ended {
    let language = options.lang.unwrap_or_else(language_of_environment);
    let labels = LABELS.get(language);
    let mut out = std::io::stdout().lock();
    match &options.code {
        None if options.json => {
            let codes = Code::ALL.iter().map(|code| document(*code, language));
            writeln!(out, "{}", Value::from_iter(codes))?;
        }
        None => {
            list(&mut out, language, labels)?;
            writeln!(std::io::stderr(), "{}", labels.next_step)?;
        }
        Some(word) => {
            let code = Code::from_word(word).ok_or_else(|| unknown(word, labels))?;
            if options.json {
                writeln!(out, "{}", document(code, language))?;
            } else {
                show(&mut out, code, language)?;
            }
        }
    }
    Ok(Exit::Done)
}

fn list(out: &mut impl Write, language: Language, labels: &Labels) -> std::io::Result<()> {
    let kinds = Code::ALL.iter().map(|code| labels::width(kind(*code).get(language)));
    let kind_width = kinds.chain([labels::width(labels.kind)]).max().unwrap_or_default() + 2;
    let (code, kind_label) = (padded(labels.code, 24), padded(labels.kind, kind_width));
    writeln!(out, "{code}{:<6}{kind_label}{}", "HTTP", labels.cause)?;
    Code::ALL.iter().try_for_each(|code| {
        let kind = padded(kind(*code).get(language), kind_width);
        let cause = code.cause().get(language);
        writeln!(out, "{:<24}{:<6}{kind}{cause}", code.word(), code.http_status())
    })
}

/// Shows everything about a code.
pub(super) fn show(out: &mut impl Write, code: Code, language: Language) -> std::io::Result<()> {
    let labels = LABELS.get(language);
    writeln!(out, "{} ({} {}, {})", code.word(), labels.number, code.number(), kind(code).get(language))?;
    let status = code.http_status().to_string();
    for (label, text) in [
        (labels.cause, code.cause().get(language)),
        (labels.advice, code.advice().get(language)),
        (labels.again, Again::after(code).text().get(language)),
        (labels.resp, &resp_form(code)),
        (labels.http, &status),
    ] {
        writeln!(out, "  {}{text}", padded(label, labels.width))?;
    }
    for (at, term) in facts(code).enumerate() {
        let label = if at == 0 { labels.facts } else { "" };
        writeln!(out, "  {}{:<14}{}", padded(label, labels.width), term.name, meaning(term, language))?;
    }
    let commands: Vec<_> = commands_of(code).map(|spec| spec.name).collect();
    let beside = answered_beside(code).map(|text| text.get(language).to_owned());
    let lines = commands.chunks(COMMANDS_PER_LINE).map(|names| names.join(", "));
    for (at, line) in beside.into_iter().chain(lines).enumerate() {
        let label = if at == 0 { labels.commands } else { "" };
        writeln!(out, "  {}{line}", padded(label, labels.width))?;
    }
    Ok(())
}

/// As many names as fit on a line of a terminal.
const COMMANDS_PER_LINE: usize = 5;

fn facts(code: Code) -> impl Iterator<Item = &'static Term> {
    names(code.facts()).filter_map(move |name| term_in(code.word(), name))
}

fn meaning(term: &Term, language: Language) -> String {
    let meaning = term.meaning.get(language);
    match (term.unit, language) {
        (None, _) => meaning.to_owned(),
        (Some(unit), Language::English) => format!("{meaning} ({})", unit.text().en),
        (Some(unit), Language::Chinese) => format!("{meaning}（{}）", unit.text().zh),
    }
}

fn document(code: Code, language: Language) -> Value {
    let again = Again::after(code);
    let facts = facts(code).map(|term| {
        let unit = term.unit.map(|unit| unit.text().get(language));
        json!({ "name": term.name, "meaning": term.meaning.get(language), "unit": unit })
    });
    json!({
        "code": code.word(),
        "number": code.number(),
        "kind": kind(code).get(Language::English),
        "http_status": code.http_status(),
        "resp": resp_form(code),
        "retryable": code.is_retryable(),
        "again": again.word(),
        "again_text": again.text().get(language),
        "language": language.tag(),
        "cause": code.cause().get(language),
        "advice": code.advice().get(language),
        "facts": Value::from_iter(facts),
        "answered_by": answered_beside(code).map(|text| text.get(language)),
        "commands": Value::from_iter(commands_of(code).map(|spec| spec.name)),
    })
}

fn unknown(word: &str, labels: &Labels) -> Failed {
    Failed::text(Exit::Usage, labels.unknown(word, &nearest::codes(word)))
}
