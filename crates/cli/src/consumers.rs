//! `scarce consumers`: who consumes the log of a server, and how far each consumer is.

mod gaps;
mod held;
mod rebase;
mod shared;

use std::io::Write;

use clap::{Args, Subcommand};
use serde_json::{Map, Value};

use super::args::Target;
use super::call::json as answer_json;
use super::files::print_rows;
use super::{Ended, Exit, Failed};
pub use rebase::Rebase;
use scarce_client::Reply;

/// `scarce consumers`.
#[derive(Debug, Subcommand)]
pub enum Consumers {
    /// List them, with how many events each has before it.
    List(List),
    /// Forget one that is gone for good, so that the log is no longer kept for it.
    Forget(Forget),
    /// Show what one holds of a history that the log does not have, or misses of its own, and set it onto the log that is
    /// there.
    Rebase(Rebase),
}

/// `scarce consumers list`.
#[derive(Debug, Args)]
pub struct List {
    /// Which server.
    #[command(flatten)]
    pub target: Target,
    /// Print JSON, an object on each line.
    #[arg(long)]
    pub json: bool,
}

/// `scarce consumers forget`.
#[derive(Debug, Args)]
pub struct Forget {
    /// Which server.
    #[command(flatten)]
    pub target: Target,
    /// The consumer's name, as the list shows it.
    pub name: String,
}

/// The columns of the list, in the order of the answer.
const COLUMNS: [&str; 11] = [
    "consumer",
    "partition",
    "epoch",
    "sequence",
    "confirmed_at_ms",
    "lag_events",
    "holder",
    "diverged",
    "state",
    "troubled_since_ms",
    "reason",
];

pub(super) fn run(consumers: &Consumers) -> Ended {
    match consumers {
        Consumers::List(options) => list(options),
        Consumers::Forget(options) => forget(options),
        Consumers::Rebase(options) => rebase::run(options),
    }
}

fn ask(target: &Target, words: &[&str]) -> Result<redis::Value, Failed> {
    let value = target.connect()?.call(words)?;
    match Reply::of(value.clone()) {
        Reply::Error(message) => Err(Failed::text(Exit::Failed, message)),
        _ => Ok(value),
    }
}

fn list(options: &List) -> Ended {
    let answer = answer_json(&ask(&options.target, &["CONSUMER", "LIST"])?);
    let row = |row: &Value| -> Value {
        let values = row.as_array().into_iter().flatten().cloned();
        COLUMNS.iter().map(|name| (*name).to_owned()).zip(values).collect::<Map<_, _>>().into()
    };
    let rows: Vec<Value> = answer.as_array().into_iter().flatten().map(row).collect();
    if rows.is_empty() && !options.json {
        writeln!(std::io::stderr(), "nobody consumes the log; it is kept for readers only")?;
        return Ok(Exit::Done);
    }
    print_rows(&rows, &COLUMNS, options.json)?;
    Ok(Exit::Done)
}

fn forget(options: &Forget) -> Ended {
    let known = ask(&options.target, &["CONSUMER", "FORGET", &options.name])?;
    if known == redis::Value::Int(0) {
        let text = format!("no consumer '{}' is known; 'scarce consumers list' names all", options.name);
        return Err(Failed::text(Exit::Failed, text));
    }
    writeln!(std::io::stderr(), "forgotten; if it runs, it makes itself known again")?;
    Ok(Exit::Done)
}
