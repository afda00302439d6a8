//! The page of events.

use std::fmt::Write;

use scarce_api::glossary::{Language, event_summary};
use scarce_core::command::COMMANDS;
use scarce_core::event::{EVENTS, EventSpec};
use scarce_core::outcome::shape::names;

use super::markdown::{anchor, explained, head, link, table};
use super::prose::Prose;

/// All events: an overview, then each with its fields.
pub fn page(language: Language, prose: &Prose) -> String {
    let source = "crates/core/src/event/table.rs";
    let mut page = head(prose.events_title, source, prose.events_introduction.trim_end()) + "\n";
    let rows = EVENTS.iter().map(|spec| {
        let name = format!("[`{}`](#{})", spec.name, anchor(spec.name));
        vec![spec.number.to_string(), name, summary(spec, language).to_owned()]
    });
    page.push_str(&table(&[prose.number, prose.event, prose.what_happened], rows));
    EVENTS.iter().for_each(|spec| page.push_str(&describe(spec, language, prose)));
    page
}

fn summary(spec: &EventSpec, language: Language) -> &'static str {
    event_summary(spec.name).map_or(spec.summary, |summary| summary.get(language))
}

fn describe(spec: &EventSpec, language: Language, prose: &Prose) -> String {
    let mut text = format!("\n## {}\n\n{}\n\n", spec.name, summary(spec, language));
    if spec.field_names().next().is_none() {
        text.push_str(prose.no_fields);
        text.push('\n');
    } else {
        let row = |field: &str, public: &str| {
            let [unit, meaning] = explained(spec.name, field, language);
            vec![format!("`{field}`"), unit, public.to_owned(), meaning]
        };
        let public = names(spec.fields).map(|field| row(field, prose.yes));
        let secret = spec.secret_fields.iter().map(|field| row(field, prose.no));
        let rows = public.chain(secret);
        text.push_str(&table(&[prose.field, prose.unit, prose.public, prose.meaning], rows));
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n{}{}{}", prose.made_by, prose.colon, makers(spec.name, prose));
    text
}

/// The commands that make an event; some events follow without a command of their own.
fn makers(event: &str, prose: &Prose) -> String {
    let makers = COMMANDS.iter().filter(|spec| spec.events.iter().any(|its| its.name == event));
    let links: Vec<_> = makers.map(|spec| link("commands.md", spec.name)).collect();
    match () {
        () if !links.is_empty() => links.join(", "),
        () if event.ends_with(".expired") || event.ends_with("_forgotten") => prose.made_by_time.to_owned(),
        () => prose.made_by_any.to_owned(),
    }
}
