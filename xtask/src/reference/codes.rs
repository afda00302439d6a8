//! The page of outcome codes.

use std::fmt::Write;

use scarce_api::glossary::{Again, Language, answered_beside, commands_of, kind, resp_form};
use scarce_core::outcome::Code;
use scarce_core::outcome::shape::names as facts;

use super::markdown::{anchor, explained, head, link, names, table};
use super::prose::Prose;

/// All codes: an overview, then each with the action to take.
pub fn page(language: Language, prose: &Prose) -> String {
    let source = "crates/core/src/outcome/codes.rs";
    let mut page = head(prose.codes_title, source, prose.codes_introduction.trim_end()) + "\n";
    let columns = [prose.number, prose.code, prose.kind, "HTTP", prose.retryable, prose.facts];
    page.push_str(&table(&columns, Code::ALL.iter().map(|code| overview(*code, language, prose))));
    Code::ALL.iter().for_each(|code| page.push_str(&describe(*code, language, prose)));
    page
}

fn overview(code: Code, language: Language, prose: &Prose) -> Vec<String> {
    vec![
        code.number().to_string(),
        format!("[`{}`](#{})", code.word(), anchor(code.word())),
        kind(code).get(language).to_owned(),
        code.http_status().to_string(),
        if code.is_retryable() { prose.yes } else { prose.no }.to_owned(),
        names(facts(code.facts())),
    ]
}

fn describe(code: Code, language: Language, prose: &Prose) -> String {
    let mut text = format!("\n## {}\n\n", code.word());
    let again = Again::after(code).text().get(language);
    for (label, said) in [
        (prose.cause, code.cause().get(language)),
        (prose.advice, code.advice().get(language)),
        (prose.again, again),
        (prose.over_resp, &format!("`{}`", resp_form(code))),
        (prose.over_http, &code.http_status().to_string()),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- {label}{}{said}", prose.colon);
    }
    let beside = answered_beside(code).map(|text| text.get(language).to_owned());
    let commands = commands_of(code).map(|spec| link("commands.md", spec.name));
    let answered: Vec<String> = beside.into_iter().chain(commands).collect();
    let _ = writeln!(text, "- {}{}{}", prose.answered_by, prose.colon, answered.join(prose.comma));
    if !code.facts().is_empty() {
        let rows = facts(code.facts()).map(|name| {
            let [unit, meaning] = explained(code.word(), name, language);
            vec![format!("`{name}`"), unit, meaning]
        });
        text.push('\n');
        text.push_str(&table(&[prose.fact, prose.unit, prose.meaning], rows));
    }
    text
}
