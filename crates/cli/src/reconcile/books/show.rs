//! The report as a table, as JSON and as a page.

use std::io::Write;

use scarce_books::{Finding, Matter, Report, Tally};
use scarce_reconcile::{Page, safe};
use serde_json::{Value, json};

use super::BookFile;
use crate::files::print_rows;
use crate::paint::{Paint, Tone};

const TALLY_COLUMNS: [&str; 4] = ["matter", "count", "open_before", "sum"];
const COLUMNS: [&str; 9] =
    ["matter", "line", "date", "there", "here", "operation", "reference", "since", "id"];

pub(super) fn show(options: &BookFile, report: &Report, source: &str, kept: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    if options.json {
        let mut json = report.json();
        json["file"] = json!(options.file.display().to_string());
        json["source"] = json!(source);
        json["state"] = json!(kept);
        writeln!(out, "{json}")?;
        return out.flush();
    }
    for line in summary(report) {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "compared with {source}\n")?;
    print_rows(&Matter::ALL.map(|matter| tally(report, matter)), &TALLY_COLUMNS, false)?;
    if !report.findings.is_empty() {
        writeln!(out)?;
        let rows: Vec<Value> = report.findings.iter().map(|its| row(report, its)).collect();
        print_rows(&rows, &COLUMNS, false)?;
    }
    if !report.bad.is_empty() {
        writeln!(out)?;
        let bad = report.bad.iter().map(|its| json!({ "bad_line": its.line, "reason": its.reason }));
        print_rows(&bad.collect::<Vec<_>>(), &["bad_line", "reason"], false)?;
    }
    let tone = if report.differences() == 0 { Tone::Good } else { Tone::Bad };
    let text = Paint::for_stream(&std::io::stdout()).paint(tone, conclusion(report)).to_string();
    writeln!(out, "\n{kept}\n{text}")?;
    out.flush()
}

fn conclusion(report: &Report) -> String {
    match report.differences() {
        0 => "both agree".to_owned(),
        1 => "there is 1 difference".to_owned(),
        count => format!("there are {count} differences"),
    }
}

/// What was read and matched.
fn summary(report: &Report) -> [String; 2] {
    let Report { from, through, lines, movements, matched, .. } = report;
    let mut read = format!("{from} to {through}: {lines} lines, {movements} movements");
    let others = [
        (report.bad_count, "bad"),
        (report.skipped, "not booked, without an amount or of other days"),
        (report.foreign, "of other accounts"),
        (report.settled, "settled or closed before"),
    ];
    for (count, what) in others.iter().filter(|its| its.0 > 0) {
        read.push_str(&format!("; {count} {what}"));
    }
    let named = match matched.both_named {
        0 => String::new(),
        count => format!(" ({count} of which name another operation on each side)"),
    };
    if let Some((from, through)) = report.replaces {
        read.push_str(&format!("; this replaces the result of {from} to {through}"));
    }
    let found = format!(
        "matched by operation or item {}, by reference {}, by amount and day {}{named}; {} of them were open before",
        matched.operation, matched.reference, matched.amount_and_day, matched.carried
    );
    [read, found]
}

fn tally(report: &Report, matter: Matter) -> Value {
    let Tally { count, carried, sum } = report.tallies.get(&matter).copied().unwrap_or_default();
    json!({ "matter": matter.word(), "count": count, "open_before": carried, "sum": report.show_sum(sum) })
}

/// A finding without nulls.
fn row(report: &Report, its: &Finding) -> Value {
    let mut row = report.row(its);
    if let Value::Object(members) = &mut row {
        members.values_mut().filter(|value| value.is_null()).for_each(|value| *value = Value::from(""));
    }
    row
}

/// The page.
pub(super) fn page(report: &Report, file: &str) -> String {
    let [read, found] = summary(report);
    let mut page = Page::new(
        &format!("Reconciliation of {file}"),
        &format!("{read}; {found}. In the end, {}.", conclusion(report)),
    );
    let cells = |row: &Value, columns: &[&str]| {
        let cell = |column: &&str| match &row[*column] {
            Value::String(text) => safe(text),
            other => safe(&other.to_string()),
        };
        columns.iter().map(cell).collect::<Vec<_>>()
    };
    page.table(
        &TALLY_COLUMNS,
        Matter::ALL.iter().map(|matter| cells(&tally(report, *matter), &TALLY_COLUMNS)),
    );
    if !report.findings.is_empty() {
        page.heading("What is open");
        page.table(&COLUMNS, report.findings.iter().map(|its| cells(&row(report, its), &COLUMNS)));
    }
    if !report.bad.is_empty() {
        page.heading("Lines that could not be read");
        let bad = report.bad.iter().map(|its| vec![its.line.to_string(), safe(&its.reason)]);
        page.table(&["line", "reason"], bad);
    }
    page.end()
}
