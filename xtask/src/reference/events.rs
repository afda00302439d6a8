//! The page of events.

use std::fmt::Write;

use scarce_core::command::COMMANDS;
use scarce_core::event::EVENTS;

use super::{anchor, head, names};

const INTRODUCTION: &str = "\
Every change of state is an event. Events of a partition are numbered without gaps by `(epoch, sequence)`, and are what
`EVENTS`, streams and the journal are made of. Numbers and names never change; a field is added at the end only. A field
that is *never public* is in the journal and in the state, and in no stream.

`EVENTS partition epoch sequence [COUNT n]` answers the events after that cursor, each as
`[partition, epoch, sequence, at, operation id or nil, name, [field, value, …]]`. Epoch 0 stands for any.

";

/// All events: an overview, then each with its fields.
pub fn page() -> String {
    let mut page = head("Events", "`crates/core/src/event/table.rs`") + INTRODUCTION;
    page.push_str("| number | event | what happened |\n|---:|---|---|\n");
    for spec in EVENTS {
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| {} | [`{}`](#{}) | {} |",
            spec.number,
            spec.name,
            anchor(spec.name),
            spec.summary
        );
    }
    for spec in EVENTS {
        let _ = write!(page, "\n## {}\n\n{}\n\n", spec.name, spec.summary);
        let (hidden, public): (Vec<&str>, Vec<&str>) =
            spec.fields.iter().copied().partition(|field| field.starts_with('#'));
        let public = if public.is_empty() { "none".to_owned() } else { names(public) };
        let _ = writeln!(page, "- Fields: {public}");
        if !hidden.is_empty() {
            let hidden = names(hidden.iter().map(|field| field.trim_start_matches('#')));
            let _ = writeln!(page, "- Never public: {hidden}");
        }
        let made = makers(spec.name);
        if !made.is_empty() {
            let _ = writeln!(page, "- Made by: {made}");
        }
    }
    page
}

fn makers(event: &str) -> String {
    let makers = COMMANDS.iter().filter(|spec| spec.events.contains(&event));
    let links = makers.map(|spec| format!("[`{}`](commands.md#{})", spec.name, anchor(spec.name)));
    links.collect::<Vec<_>>().join(", ")
}
