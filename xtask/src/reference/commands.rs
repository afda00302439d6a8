//! The page of commands.

use std::fmt::Write;

use scarce_api::glossary::{Language, command_summary, event_summary};
use scarce_core::command::{AnswerLayout, ArgumentSpec, COMMANDS, CommandSpec, Effect};
use scarce_core::outcome::shape::names as values;

use super::markdown::{anchor, cell, explained, head, link, names, table};
use super::prose::Prose;

/// All commands by group.
pub fn page(language: Language, prose: &Prose) -> String {
    let source = "crates/core/src/command/table.rs";
    let mut page = head(prose.commands_title, source, prose.commands_introduction.trim_end()) + "\n";
    let groups = groups();
    for group in &groups {
        let links: Vec<String> =
            of_group(group).map(|spec| format!("[{}](#{})", spec.name, anchor(spec.name))).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(page, "- **{group}**{}{}", prose.colon, links.join(" · "));
    }
    for group in groups {
        let _ = write!(page, "\n## {group}{}\n", prose.group_suffix);
        of_group(group).for_each(|spec| page.push_str(&describe(spec, language, prose)));
    }
    page
}

/// The groups in the order of the table.
fn groups() -> Vec<&'static str> {
    let mut groups: Vec<&'static str> = Vec::new();
    for spec in COMMANDS {
        if !groups.contains(&spec.group()) {
            groups.push(spec.group());
        }
    }
    groups
}

fn of_group(group: &str) -> impl Iterator<Item = &'static CommandSpec> {
    COMMANDS.iter().copied().filter(move |spec| spec.group() == group)
}

/// The command's HTTP route.
fn http_of(spec: &CommandSpec) -> Option<String> {
    scarce_api::routes::of(spec.name).map(|route| format!("{} {}", route.method.word(), route.path))
}

fn describe(spec: &CommandSpec, language: Language, prose: &Prose) -> String {
    let effect = if spec.effect == Effect::Write { "" } else { prose.changes_nothing };
    let summary = command_summary(spec.name).map_or(spec.summary, |summary| summary.get(language));
    let mut text = format!("\n### {}\n\n{summary}{effect}\n\n    {}\n\n", spec.name, spec.usage());
    if let Some(route) = http_of(spec) {
        let _ = writeln!(text, "{}{}`{route}`\n", prose.over_http, prose.colon);
    }
    if !spec.arguments.is_empty() {
        let head = [prose.argument, prose.written, prose.needed, prose.unit, prose.meaning];
        let rows = spec.arguments.iter().map(|argument| argument_row(spec, argument, language, prose));
        text.push_str(&table(&head, rows));
        text.push('\n');
    }
    let _ = writeln!(text, "{}{}{}", prose.answer, prose.colon, answer(spec, prose));
    if !spec.reply.is_empty() {
        let rows = values(spec.reply).map(|name| {
            let [unit, meaning] = explained(spec.name, name, language);
            vec![format!("`{name}`"), unit, meaning]
        });
        text.push('\n');
        text.push_str(&table(&[prose.value, prose.unit, prose.meaning], rows));
    }
    text + &refusals(spec, language, prose) + &events(spec, language, prose)
}

fn argument_row(
    spec: &CommandSpec,
    argument: &ArgumentSpec,
    language: Language,
    prose: &Prose,
) -> Vec<String> {
    let value = argument.syntax.unwrap_or(argument.name);
    let written = match argument.token {
        Some(token) if value.is_empty() => token.to_owned(),
        Some(token) => format!("{token} {value}"),
        None => value.to_owned(),
    };
    let needed = if argument.optional { prose.no } else { prose.yes };
    let [unit, meaning] = explained(spec.name, argument.name, language);
    vec![argument.name.to_owned(), format!("`{}`", cell(&written)), needed.to_owned(), unit, meaning]
}

fn answer(spec: &CommandSpec, prose: &Prose) -> String {
    let values = values(spec.reply).collect::<Vec<_>>().join(", ");
    match spec.answer {
        AnswerLayout::Array if values.is_empty() => "`[1]`".to_owned(),
        AnswerLayout::Array => format!("`[1, {values}]`"),
        AnswerLayout::Map => format!("{}{}{}", prose.a_map, prose.colon, names(self::values(spec.reply))),
        AnswerLayout::Bare if spec.reply.len() == 1 => format!("`{values}`{}", prose.an_array),
        AnswerLayout::Bare => format!("`[{values}]`"),
    }
}

/// The command's own refusals in the order of the checks.
fn refusals(spec: &CommandSpec, language: Language, prose: &Prose) -> String {
    if spec.refusals.is_empty() {
        return String::new();
    }
    let after = if spec.effect == Effect::Write {
        format!("{}{}", prose.comma, prose.common_checks)
    } else {
        String::new()
    };
    let mut text = format!("\n{}{after}{}\n\n", prose.outcomes, prose.colon.trim_end());
    for (at, code) in spec.refusals.iter().enumerate() {
        let facts = names(values(code.facts()));
        let facts = if facts.is_empty() { facts } else { format!(" {facts}") };
        let cause = code.cause().get(language);
        let _ = writeln!(text, "{}. {}{facts}{}{cause}", at + 1, link("codes.md", code.word()), prose.colon);
    }
    text
}

fn events(spec: &CommandSpec, language: Language, prose: &Prose) -> String {
    if spec.events.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}{}\n\n", prose.events, prose.colon.trim_end());
    for event in spec.events.iter().map(|event| event.name) {
        let summary = event_summary(event).map_or("", |summary| summary.get(language));
        let _ = writeln!(text, "- {}{}{summary}", link("events.md", event), prose.colon);
    }
    text
}
