//! Reads the topic of dead letters, and replays commands from it.

use std::io::Write;

use scarce_api::message::{Content, DeadLetter, TopicPosition};
use scarce_kafka::KafkaSettings;
use scarce_kafka::commands::{Choice, Replayed, replay};
use serde_json::{Value, json};

use super::super::config::{kafka, load};
use super::super::files::print_rows;
use super::super::{Ended, Exit, Failed};
use super::{List, Replay};

/// The code of commands that are too old for the engine to know whether they were executed.
const EXPIRED: &str = "ID_EXPIRED";

const COLUMNS: [&str; 5] = ["at", "source", "code", "reason", "value"];

fn each(
    settings: &KafkaSettings,
    choose: &mut dyn FnMut(&TopicPosition, &DeadLetter) -> Choice,
) -> Result<Replayed, Failed> {
    replay(settings, choose).map_err(|error| Failed::new(Exit::Unreachable, &error))
}

fn name(place: &TopicPosition) -> String {
    format!("{}/{}", place.partition, place.offset)
}

pub(super) fn list(options: &List) -> Ended {
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

fn whole(place: &TopicPosition, letter: &DeadLetter) -> Value {
    let mut value = serde_json::to_value(letter).unwrap_or_default();
    value["at"] = json!(name(place));
    value
}

fn row(place: &TopicPosition, letter: &DeadLetter) -> Value {
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

pub(super) fn send_again(options: &Replay) -> Ended {
    let mended = options.with.as_ref().map(std::fs::read).transpose()?;
    let replayed = each(&kafka(&load(&options.settings.0)?.settings)?, &mut |place, letter| {
        // What may have been executed before is sent only if it is named.
        let is_it = match &options.at {
            Some(at) => *at == name(place),
            None => letter.reason.code != EXPIRED,
        };
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
