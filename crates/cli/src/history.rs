//! `scarce history`: past events, read from the database into which the log is projected. The server need not
//! run.

use std::io::Write;

use clap::Args;
use scarce_api::Fields;
use scarce_api::history::{self, Asked, HISTORIES};
use scarce_projection::{Projection, ProjectionOptions};
use tokio::runtime::Runtime;

use super::config::{load, sql_url};
use super::files::print_rows;
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
    let mut fields = Fields::default();
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
        print_rows(&rows, &columns, false)?;
    }
    if let Some(cursor) = left {
        writeln!(std::io::stderr(), "there is more; --all shows it, or go on with cursor={cursor}")?;
    }
    Ok(Exit::Done)
}
