//! The format of pages: heads, tables, links.

use scarce_api::glossary::{Language, Term, term_in};

/// The head of a page.
pub fn head(title: &str, table: &str, introduction: &str) -> String {
    format!(
        "<!-- Made by `cargo xtask reference` from `{table}`; change that, not this page. -->\n\n# {title}\n\n{introduction}\n"
    )
}

/// Names in code style, separated by commas.
pub fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A table with a head.
pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    let rows: String = rows.into_iter().map(|row| line(&row)).collect();
    line(&head) + &rule + &rows
}

/// A cell of a table, with characters escaped that would end it.
pub fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A link to a heading that is a name in code style.
pub fn link(page: &str, name: &str) -> String {
    format!("[`{name}`]({page}#{})", anchor(name))
}

/// The anchor that Markdown viewers make from a heading.
pub fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// The explanation of a name in a scope: its unit and its meaning, as two cells.
pub fn explained(scope: &str, name: &str, language: Language) -> [String; 2] {
    let term = term_in(scope, name);
    let unit = term.and_then(|term| term.unit).map_or("", |unit| unit.text().get(language));
    [unit.to_owned(), cell(term.map_or("", |term: &Term| term.meaning.get(language)))]
}
