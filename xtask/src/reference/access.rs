//! The page of what each command and route needs of a caller's key.

use scarce_api::glossary::Language;
use scarce_api::history::HISTORIES;
use scarce_core::command::rules::Verb;
use scarce_core::command::{COMMANDS, CommandSpec};
use scarce_core::resource::ResourceKind;

use super::markdown::{head, link, table};
use super::prose::Prose;

/// A row for each command with its route, and one for each history.
pub fn page(language: Language, prose: &Prose) -> String {
    let source = "crates/core/src/command/table.rs";
    let mut page = head(prose.access_title, source, prose.access_introduction.trim_end()) + "\n";
    let verbs: Vec<String> = Verb::ALL.iter().map(|verb| format!("`{}`", verb.word())).collect();
    let names = [prose.command, "HTTP", prose.resource_kind];
    let head: Vec<&str> = names.into_iter().chain(verbs.iter().map(String::as_str)).collect();
    let commands = COMMANDS.iter().map(|spec| of_command(spec));
    let histories = HISTORIES.iter().map(|history| {
        let verb = if history.resource.is_some() { Verb::Read } else { Verb::Operate };
        let summary = history.summary.get(language).trim_end_matches(['.', '。']).to_owned();
        let kind = history.resource.map_or("`*`".to_owned(), kind);
        row([summary, format!("`GET {}`", history.path), kind], |its| its == verb)
    });
    page.push_str(&table(&head, commands.chain(histories)));
    page
}

fn of_command(spec: &CommandSpec) -> Vec<String> {
    let route = scarce_api::routes::of(spec.name);
    let route = route.map(|route| format!("`{} {}`", route.method.word(), route.path)).unwrap_or_default();
    let is_any = spec.verb() == Verb::Any;
    let kind = spec.resource.map_or("`*`".to_owned(), kind);
    row([link("commands.md", spec.name), route, kind], |verb| match verb {
        Verb::Operate => false,
        Verb::Read if is_any => spec.effect == scarce_core::command::Effect::Read,
        verb => is_any || verb == spec.verb(),
    })
}

fn row(names: [String; 3], may: impl Fn(Verb) -> bool) -> Vec<String> {
    let marks = Verb::ALL.iter().map(|verb| if may(*verb) { "✓" } else { "–" }.to_owned());
    names.into_iter().chain(marks).collect()
}

fn kind(kind: ResourceKind) -> String {
    let word = match kind {
        ResourceKind::Account => "account",
        ResourceKind::Stock => "stock",
        ResourceKind::Campaign => "campaign",
        ResourceKind::Coupon => "coupon",
        ResourceKind::Market => "market",
    };
    format!("`{word}`")
}
