//! The report as a page of its own, without scripts or anything from elsewhere.

use crate::report::{CheckState, Report};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1c1e21}\
    table{border-collapse:collapse;width:100%;margin:1rem 0}th,td{text-align:left;padding:.3rem .6rem;\
    border-bottom:1px solid #d8dade;vertical-align:top;overflow-wrap:anywhere}th{font-weight:600}\
    .equal{color:#176b34}.different{color:#a3141f;font-weight:600}.skipped{color:#6b5a00}";

/// A page of tables.
#[derive(Debug)]
pub struct Page(String);

impl Page {
    /// Begins a page with a title and a sentence.
    #[must_use]
    pub fn new(title: &str, text: &str) -> Self {
        Self(format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\
             <style>{STYLE}</style></head><body>\n<h1>{0}</h1>\n<p>{1}</p>\n",
            safe(title),
            safe(text)
        ))
    }

    /// Adds a heading.
    pub fn heading(&mut self, text: &str) {
        self.0.push_str(&format!("<h2>{}</h2>\n", safe(text)));
    }

    /// Adds a table. The cells are markup: texts of callers must be made [`safe`].
    pub fn table(&mut self, heads: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        table(&mut self.0, heads, rows);
    }

    /// The whole page.
    #[must_use]
    pub fn end(mut self) -> String {
        self.0.push_str("</body></html>\n");
        self.0
    }
}

/// The page.
pub(crate) fn page(report: &Report) -> String {
    let text = format!("Deployment {}. {}", report.deployment_id, conclusion(report));
    let mut page = Page::new("Reconciliation", &text);
    page.table(
        &["check", "state", "compared", "differences", "notes"],
        report.checks.iter().map(|its| {
            let class = match its.state {
                CheckState::Equal => "equal",
                CheckState::Different => "different",
                CheckState::Skipped => "skipped",
            };
            let state = format!("<span class=\"{class}\">{}</span>", its.state.word());
            let notes = its.notes.iter().map(|note| safe(note)).collect::<Vec<_>>().join("<br>");
            vec![
                its.kind.word().to_owned(),
                state,
                its.compared.to_string(),
                its.differences.to_string(),
                notes,
            ]
        }),
    );
    page.table(
        &["partition", "begins after", "log", "tables", "topic"],
        report.reaches.iter().map(|its| {
            let reached = |its: Option<u64>| its.map(|sequence| sequence.to_string()).unwrap_or_default();
            let [partition, begins_after, log] =
                [its.partition.to_string(), its.begins_after.to_string(), its.log.to_string()];
            vec![partition, begins_after, log, reached(its.tables), reached(its.topic)]
        }),
    );
    if !report.findings.is_empty() {
        page.heading("Differences");
        let heads = ["check", "resource", "value", "expected", "found", "first event after which they part"];
        page.table(
            &heads,
            report.findings.iter().map(|its| {
                let value =
                    |value: &Option<String>| value.as_deref().map_or_else(|| "(none)".to_owned(), safe);
                let first = its.first_event.as_ref().map(ToString::to_string).unwrap_or_default();
                let resource = its.resource.as_deref().map(safe).unwrap_or_default();
                vec![
                    its.check.word().to_owned(),
                    resource,
                    safe(&its.field),
                    value(&its.expected),
                    value(&its.found),
                    safe(&first),
                ]
            }),
        );
    }
    page.end()
}

fn conclusion(report: &Report) -> String {
    match report.differences() {
        0 => "Everything that was compared is equal.".to_owned(),
        1 => "There is 1 difference.".to_owned(),
        count => format!("There are {count} differences."),
    }
}

fn table(page: &mut String, heads: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let row = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
        let cells: String = cells.map(|cell| format!("<{tag}>{cell}</{tag}>")).collect();
        format!("<tr>{cells}</tr>\n")
    };
    page.push_str("<table>\n");
    page.push_str(&row("th", &mut heads.iter().copied()));
    rows.for_each(|cells| page.push_str(&row("td", &mut cells.iter().map(String::as_str))));
    page.push_str("</table>\n");
}

/// A text as a page shows it, whatever a caller wrote. Control characters are escaped: a page must not have them, and would
/// show none of them. So are those that turn the direction of the text around them.
#[must_use]
pub fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for its in text.chars() {
        match its {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            _ if its.is_control() || is_turning(its) => safe.extend(its.escape_unicode()),
            _ => safe.push(its),
        }
    }
    safe
}

/// Whether a character changes the direction of the text around it.
fn is_turning(its: char) -> bool {
    matches!(its, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Check, CheckKind, EventPlace, Finding};

    #[test]
    fn names_of_callers_are_shown_as_text() {
        let finding = Finding {
            check: CheckKind::Tables,
            partition: Some(0),
            resource: Some("<script>".to_owned()),
            field: "accounts.balance".to_owned(),
            expected: Some("1 & 2\u{1b}[31m\u{0}\u{202e}".to_owned()),
            found: None,
            first_event: Some(EventPlace { partition: 0, sequence: 7, event: Some("account.credited") }),
        };
        let check = Check {
            kind: CheckKind::Tables,
            state: CheckState::Different,
            compared: 1,
            differences: 1,
            notes: Vec::new(),
        };
        let report = Report {
            deployment_id: "00".to_owned(),
            reaches: Vec::new(),
            checks: vec![check],
            findings: vec![finding],
            repair: None,
        };
        let page = report.html();
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script"), "{page}");
        assert!(page.contains("1 &amp; 2\\u{1b}[31m\\u{0}\\u{202e}<"), "{page}");
        assert!(!page.contains(['\u{1b}', '\u{0}', '\u{202e}']), "{page}");
        assert!(page.contains("1 &amp; 2") && page.contains("7 in partition 0, account.credited"), "{page}");
    }
}
