//! `scarce dead-letters`: commands from Kafka that could never be decided, with the reason, and sending them again.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use scarce_api::message::{Content, DeadLetter, Place};
use scarce_kafka::KafkaSettings;
use scarce_kafka::commands::{Choice, Replayed, replay};
use serde_json::{Value, json};

use super::config::{kafka, load};
use super::files::print_rows;
use super::{Ended, Exit, Failed};
use crate::setting_flags::KafkaFlags;

/// `scarce dead-letters`.
#[derive(Debug, Subcommand)]
pub enum DeadLetters {
    /// List them, with the reason why each could not be decided.
    List(List),
    /// Send commands again: those of one place, corrected if need be, or all. A command that was applied after all
    /// is answered by its id and not applied again.
    Replay(Replay),
}

/// `scarce dead-letters list`.
#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    /// Where Kafka is.
    pub settings: KafkaFlags,
    /// Print JSON, a whole dead letter on each line.
    #[arg(long)]
    pub json: bool,
}

/// `scarce dead-letters replay`.
#[derive(Debug, Args)]
pub struct Replay {
    #[command(flatten)]
    /// Where Kafka is.
    pub settings: KafkaFlags,
    /// Only the one at this place of the topic of dead letters, as the list shows it.
    #[arg(long, value_name = "PARTITION/OFFSET", required_unless_present = "all", conflicts_with = "all")]
    pub at: Option<String>,
    /// Send this file's command in its place, with the key and the headers that it had.
    #[arg(long, value_name = "FILE", requires = "at")]
    pub with: Option<PathBuf>,
    /// All of them.
    #[arg(long)]
    pub all: bool,
}

const COLUMNS: [&str; 5] = ["at", "source", "code", "reason", "value"];

pub(super) fn run(command: &DeadLetters) -> Ended {
    match command {
        DeadLetters::List(options) => list(options),
        DeadLetters::Replay(options) => send_again(options),
    }
}

fn each(
    settings: &KafkaSettings,
    choose: &mut dyn FnMut(&Place, &DeadLetter) -> Choice,
) -> Result<Replayed, Failed> {
    replay(settings, choose).map_err(|error| Failed::new(Exit::Unreachable, &error))
}

fn name(place: &Place) -> String {
    format!("{}/{}", place.partition, place.offset)
}

fn list(options: &List) -> Ended {
    let mut rows = Vec::new();
    each(&kafka(&load(&options.settings.0)?.settings)?, &mut |place, letter| {
        rows.push(if options.json { whole(place, letter) } else { row(place, letter) });
        Choice::Leave
    })?;
    if rows.is_empty() && !options.json {
        writeln!(std::io::stderr(), "there are no dead letters")?;
        return Ok(Exit::Done);
    }
    print_rows(&rows, &COLUMNS, options.json)?;
    Ok(Exit::Done)
}

fn whole(place: &Place, letter: &DeadLetter) -> Value {
    let mut value = serde_json::to_value(letter).unwrap_or_default();
    value["at"] = json!(name(place));
    value
}

fn row(place: &Place, letter: &DeadLetter) -> Value {
    let value = match &letter.value {
        Some(Content::Text(text)) => text.chars().filter(|c| !c.is_control()).take(60).collect(),
        Some(Content::Base64(_)) => format!("{} bytes that are no text", letter.value_bytes),
        None => String::new(),
    };
    json!({
        "at": name(place),
        "source": format!("{}/{}", letter.source.topic, name(&letter.source)),
        "code": letter.reason.code,
        "reason": match &letter.reason.field {
            Some(field) => format!("{field} {}", letter.reason.text),
            None => letter.reason.text.clone(),
        },
        "value": value,
    })
}

fn send_again(options: &Replay) -> Ended {
    let mended = options.with.as_ref().map(std::fs::read).transpose()?;
    let replayed = each(&kafka(&load(&options.settings.0)?.settings)?, &mut |place, _| {
        let is_it = options.at.as_ref().is_none_or(|at| *at == name(place));
        match &mended {
            _ if !is_it => Choice::Leave,
            Some(value) => Choice::ResendAs(value.clone()),
            None => Choice::Resend,
        }
    })?;
    let Replayed { sent, incomplete, .. } = replayed;
    if incomplete > 0 {
        let text = "are kept in part only, because they were larger than the topic takes; send them with --with FILE";
        writeln!(std::io::stderr(), "{incomplete} {text}")?;
    }
    if let (Some(at), 0, 0) = (&options.at, sent, incomplete) {
        let text = format!("there is no dead letter at {at}; 'scarce dead-letters list' shows all");
        return Err(Failed::text(Exit::Failed, text));
    }
    writeln!(std::io::stdout(), "{sent} sent again")?;
    Ok(Exit::Done)
}
