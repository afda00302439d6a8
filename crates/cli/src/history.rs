//! `scarce history`: past events, read from the database into which the log is projected. The server need not
//! run.

use std::io::Write;

use clap::Args;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use scarce_api::Fields;
use scarce_api::history::HistoryId;
use scarce_api::history::{self, Asked, HISTORIES};
use scarce_projection::history::{PageOrder, Paging, Span};
use scarce_projection::{Projection, ProjectionOptions};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::config::{load, sql_url};
use super::files::print_rows;
use super::show::calendar;
use super::{Ended, Exit, Failed};
use crate::setting_flags::SqlFlags;

/// `scarce history`.
#[derive(Debug, Args)]
pub struct History {
    #[command(flatten)]
    /// Which database.
    pub database: SqlFlags,
    /// Read all pages, not only one.
    #[arg(long)]
    pub all: bool,
    /// From this date or time in UTC on: '2026-11-01' or '2026-11-01T08:30:00Z'; the statement then begins with the balance.
    #[arg(long, value_name = "DATE")]
    pub from: Option<String>,
    /// Before this date or time in UTC.
    #[arg(long, value_name = "DATE")]
    pub to: Option<String>,
    /// Print JSON, an object on each line.
    #[arg(long)]
    pub json: bool,
    /// Which history; without one, all are listed.
    #[arg(value_name = "HISTORY")]
    pub name: Option<String>,
    /// What it is asked for, in order or as NAME=VALUE: 'account-entries u1 from_ms=0 limit=20'.
    #[arg(value_name = "VALUE")]
    pub words: Vec<String>,
}

pub(super) fn run(options: &History) -> Ended {
    let Some(name) = &options.name else { return list() };
    let history = history::find(name).ok_or_else(|| {
        let text = format!("there is no history '{name}'; 'scarce history' lists all");
        Failed::text(Exit::Usage, text)
    })?;
    let span = [("from_ms", &options.from), ("to_ms", &options.to)];
    let span = span.map(|(name, date)| Ok((name, date.as_deref().map(unix_ms).transpose()?)));
    let span: Vec<(&str, Option<String>)> = span.into_iter().collect::<Result<_, Failed>>()?;
    let mut fields = Fields::default();
    for (name, text) in &span {
        if let Some(text) = text {
            fields.add_text(name, text);
        }
    }
    let mut required = history.required();
    for word in &options.words {
        match word.split_once('=') {
            Some((name, value)) => fields.add_text(name, value),
            None => fields.add_text(required.next().unwrap_or(word), word),
        }
    }
    let asked = Asked::read(history, fields).map_err(|misshapen| {
        let text = format!("{} {}; {}", misshapen.field, misshapen.reason, usage(history));
        Failed::text(Exit::Usage, text)
    })?;
    Runtime::new()?.block_on(show(options, asked))
}

/// A date or a time as Unix milliseconds. Without an offset it is in UTC.
pub(super) fn unix_ms(text: &str) -> Result<String, Failed> {
    let in_utc = |time: DateTime| time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    // The name of a zone without its offset would be passed over.
    let civil = || text.parse::<DateTime>().ok().filter(|_| !text.contains('[')).and_then(in_utc);
    let time = text.parse::<Timestamp>().ok().or_else(civil);
    let misshapen = || {
        let text =
            format!("'{text}' is not a date; write 2026-11-01, or a time such as 2026-11-01T08:30:00Z");
        Failed::text(Exit::Usage, text)
    };
    let unix_ms = time.map(Timestamp::as_millisecond).filter(|unix_ms| *unix_ms >= 0);
    Ok(unix_ms.ok_or_else(misshapen)?.to_string())
}

/// The usage of a history.
fn usage(history: &history::History) -> String {
    let required: Vec<String> = history.required().map(|name| format!(" <{name}>")).collect();
    let filters: Vec<String> = history.filters.iter().map(|name| format!(" [{name}=…]")).collect();
    format!("{}{}{}", history.name, required.concat(), filters.concat())
}

fn list() -> Ended {
    let mut out = std::io::stdout().lock();
    let width = HISTORIES.iter().map(|history| usage(history).len()).max().unwrap_or(0);
    for history in HISTORIES {
        let summary = history.summary.get(scarce_api::glossary::Language::English);
        writeln!(out, "{:<width$}  {summary}", usage(history))?;
    }
    writeln!(std::io::stderr(), "\neach also takes limit=1…1000, cursor=…, sort=newest_first|oldest_first")?;
    Ok(Exit::Done)
}

async fn show(options: &History, mut asked: Asked) -> Ended {
    let url = sql_url(&load(&options.database.0)?.settings)?;
    let projection = Projection::open_read_only(&url, ProjectionOptions::default()).await?;
    let columns: Vec<&str> = asked.history.columns.iter().map(|column| column.name).collect();
    if !options.json {
        show_opening(&projection, &asked).await?;
    }
    let mut rows = Vec::new();
    let left = loop {
        let page = projection.history().ask(&asked).await?;
        rows.extend(page.rows);
        if options.json {
            // Page by page: the result may exceed the memory.
            print_rows(&std::mem::take(&mut rows), &columns, true)?;
        }
        match page.cursor {
            Some(cursor) if options.all => {
                asked.go_on(&cursor).map_err(|misshapen| Failed::text(Exit::Failed, misshapen.reason))?;
            }
            left => break left,
        }
    };
    if !options.json {
        rows.iter_mut().for_each(add_dates);
        let columns: Vec<&str> = columns.into_iter().flat_map(|name| [name, dated(name)]).collect();
        print_rows(&rows, &columns.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>(), false)?;
    }
    if let Some(cursor) = left {
        writeln!(std::io::stderr(), "there is more; --all shows it, or go on with cursor={cursor}")?;
    }
    Ok(Exit::Done)
}

/// The balance with which a statement from a time on begins.
async fn show_opening(projection: &Projection, asked: &Asked) -> Result<(), Failed> {
    let (HistoryId::AccountEntries, Some(from_ms)) = (asked.history.id, asked.number("from_ms")) else {
        return Ok(());
    };
    let before = Span { from_ms: None, to_ms: Some(from_ms) };
    let last = Paging { limit: 1, ..Paging::default() };
    let page = projection.history().account_statement(asked.text("account"), before, &last).await?;
    let mut out = std::io::stdout();
    let date = calendar(from_ms).unwrap_or_default();
    match page.rows.first() {
        Some(entry) => writeln!(out, "balance {} before {date}", entry.balance)?,
        None => match begins_after(projection, asked.text("account"), from_ms).await? {
            Some(at_ms) => {
                let begin = calendar(at_ms).unwrap_or_default();
                writeln!(
                    out,
                    "balance unknown before {date}: this history begins at {begin}, with opening balances"
                )?;
            }
            None => writeln!(out, "balance 0 before {date}")?,
        },
    }
    Ok(())
}

/// When the history of an account begins, if that is after a time and not the beginning of the log.
async fn begins_after(projection: &Projection, account: &str, from_ms: i64) -> Result<Option<i64>, Failed> {
    let first = Paging { limit: 1, order: PageOrder::OldestFirst, ..Paging::default() };
    let page = projection.history().account_statement(account, Span::default(), &first).await?;
    let partition = page.rows.first().map(|entry| entry.partition_id);
    let openings = projection.openings().await?;
    // Of an account that never moved the partition is not known here.
    let of_account = openings.iter().filter(|its| partition.is_none_or(|it| it == i64::from(its.partition)));
    Ok(of_account.filter_map(|its| i64::try_from(its.at_ms).ok()).find(|at_ms| *at_ms >= from_ms))
}

/// The name of the readable time beside a stamp; empty for any other column.
fn dated(column: &'static str) -> &'static str {
    column.strip_suffix("_ms").unwrap_or_default()
}

/// Adds a readable time beside each stamp.
fn add_dates(row: &mut Value) {
    let Value::Object(members) = row else { return };
    let stamps: Vec<(String, String)> = members
        .iter()
        .filter_map(|(name, value)| Some((name.strip_suffix("_ms")?.to_owned(), calendar(value.as_i64()?)?)))
        .collect();
    members.extend(stamps.into_iter().map(|(name, time)| (name, Value::from(time))));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_without_an_offset_is_in_utc() {
        let read = |text: &str| unix_ms(text).map_err(|failed| failed.message);
        for text in
            ["2026-11-23T04:24:00Z", "2026-11-23T04:24:00", "2026-11-23 04:24", "2026-11-23T05:24:00+01:00"]
        {
            assert_eq!(read(text), Ok("1795407840000".to_owned()), "{text}");
        }
        assert_eq!(read("2026-11-23"), Ok("1795392000000".to_owned()));
        for text in ["2026-11-31", "yesterday", "2026-11-23T04:24:00[Europe/Berlin]", "1969-12-31"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
