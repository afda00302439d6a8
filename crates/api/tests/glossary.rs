//! Every name of the tables is explained in every language, and nothing else is.

use scarce_api::glossary::shapes::SHAPES;
use scarce_api::glossary::{
    Again, Term, all, answered_beside, command_summary, event_summary, group_of, kind, term, term_in,
};
use scarce_core::command::COMMANDS;
use scarce_core::event::EVENTS;
use scarce_core::language::{Language, Text};
use scarce_core::outcome::Code;
use scarce_core::outcome::shape::{Shape, names};

/// Every name with the command, event, code or shape that contains it.
fn uses() -> Vec<(&'static str, &'static str)> {
    let mut uses = Vec::new();
    for spec in COMMANDS {
        let arguments = spec.arguments.iter().map(|argument| argument.name);
        uses.extend(arguments.chain(names(spec.reply)).map(|name| (spec.name, name)));
    }
    for value in COMMANDS.iter().flat_map(|spec| spec.reply) {
        if let Shape::Rows(row) = value.value_type.shape {
            uses.extend(names(row.values).map(|name| (row.name, name)));
        }
    }
    for code in Code::ALL {
        uses.extend(names(code.facts()).map(|name| (code.word(), name)));
    }
    for spec in EVENTS {
        uses.extend(spec.field_names().map(|name| (spec.name, name)));
    }
    for shape in SHAPES {
        uses.extend(shape.fields.iter().map(|name| (shape.name, *name)));
    }
    uses
}

fn check(what: &str, text: Text) {
    for language in Language::ALL {
        assert!(!text.get(*language).trim().is_empty(), "{what} says nothing in {}", language.tag());
    }
    assert!(text.en.is_ascii() || !has_chinese(text.en), "{what} has Chinese in its English: {}", text.en);
    assert!(has_chinese(text.zh), "{what} has no Chinese: {}", text.zh);
}

fn has_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

#[test]
fn every_name_has_a_term() {
    for (scope, name) in uses() {
        assert!(term(name).is_some(), "{name}, as in {scope}, has no term that holds everywhere");
        assert!(term_in(scope, name).is_some(), "{name} in {scope}");
    }
    assert_eq!(term("#seed"), term("seed"), "a field that is never public is the same name");
    assert_eq!(term("no_such_name"), None);
}

#[test]
fn no_term_is_unused() {
    let uses = uses();
    let is_reached = |wanted: &Term| uses.iter().any(|(scope, name)| term_in(scope, name) == Some(wanted));
    let is_named =
        |wanted: &Term| wanted.scope.is_empty() && uses.iter().any(|(_, name)| *name == wanted.name);
    for term in all() {
        assert!(is_reached(term) || is_named(term), "nothing means {} in '{}'", term.name, term.scope);
    }
}

#[test]
fn no_term_is_said_twice() {
    let mut said: Vec<_> = all().map(|term| (term.scope, term.name)).collect();
    said.sort_unstable();
    assert!(said.windows(2).all(|pair| pair[0] != pair[1]), "{said:?}");
}

#[test]
fn every_text_is_there_in_every_language() {
    for term in all() {
        check(&format!("{} in '{}'", term.name, term.scope), term.meaning);
        if let Some(unit) = term.unit {
            check(term.name, unit.text());
        }
        for text in [term.meaning.en, term.meaning.zh] {
            assert!(!text.ends_with(['.', '。']), "a meaning is a phrase: {text}");
        }
    }
    for code in Code::ALL {
        for text in [code.cause(), code.advice(), kind(*code), Again::after(*code).text()] {
            check(code.word(), text);
        }
        if let Some(text) = answered_beside(*code) {
            check(code.word(), text);
        }
    }
    for spec in COMMANDS {
        check(spec.name, command_summary(spec.name).unwrap_or_else(|| panic!("{} in Chinese", spec.name)));
    }
    for spec in EVENTS {
        check(spec.name, event_summary(spec.name).unwrap_or_else(|| panic!("{} in Chinese", spec.name)));
    }
    assert_eq!(command_summary("NO.SUCH"), None);
}

#[test]
fn the_particular_comes_before_the_group_and_the_group_before_the_general() {
    let meaning = |scope, name| term_in(scope, name).expect("a term").meaning.en;
    assert!(meaning("STOCK.RESERVATION", "status").contains("confirmed"));
    assert!(meaning("reservation.placed", "quantity").contains("units"));
    assert!(meaning("SOLD_OUT", "requested").contains("units"));
    assert!(meaning("fill", "price").contains("maker"));
    assert_eq!(meaning("COUPON.GET", "starts_at"), term("starts_at").expect("a term").meaning.en);
    assert_eq!(group_of("hold.placed"), Some("ACCOUNT"));
    assert_eq!(group_of("SOLD_OUT"), Some("STOCK"));
    assert_eq!(group_of("OVERFLOW"), None);
}
