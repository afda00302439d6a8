//! The page of every name in commands, answers, codes and events, with its meaning.

use scarce_api::glossary::{Language, all};

use super::markdown::{cell, head, table};
use super::prose::Prose;

/// The terms in the order of their names; a general meaning comes before those of single commands.
pub fn page(language: Language, prose: &Prose) -> String {
    let source = "crates/api/src/glossary/terms";
    let mut page = head(prose.glossary_title, source, prose.glossary_introduction.trim_end()) + "\n";
    let mut terms: Vec<_> = all().collect();
    terms.sort_by_key(|term| (term.name, term.scope));
    let rows = terms.into_iter().map(|term| {
        let scope = if term.scope.is_empty() { String::new() } else { format!("`{}`", term.scope) };
        let unit = term.unit.map_or("", |unit| unit.text().get(language));
        vec![format!("`{}`", term.name), scope, unit.to_owned(), cell(term.meaning.get(language))]
    });
    page.push_str(&table(&[prose.name, prose.scope, prose.unit, prose.meaning], rows));
    page
}
