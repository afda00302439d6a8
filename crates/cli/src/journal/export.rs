//! `scarce journal export`: every event as one line.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use scarce_api::event;
use scarce_core::event::Entry;
use scarce_engine_embedded::journal::{self, JournalError};
use scarce_engine_embedded::{EmbeddedError, PartitionFiles, Refusal, read_entries};
use serde_json::Value;

use crate::files::{Files, Opened, advance, failed, progress_bar};
use crate::{Ended, Exit, Failed};

/// `scarce journal export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The data directory, or a copy of one; a server may be running on it.
    #[arg(long, env = "SCARCE_DATA", default_value = "scarce-data", value_name = "DIR")]
    pub data: PathBuf,
    /// Only this partition.
    #[arg(long, value_name = "N")]
    pub partition: Option<u32>,
    /// Begin at this sequence instead of the oldest that is there.
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
    pub from: Option<u64>,
    /// How lines are written. CSV has one column for all fields, as JSON.
    #[arg(long, value_name = "FORMAT", default_value = "ndjson")]
    pub format: Format,
    /// Write to this file instead of stdout.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A JSON object on each line.
    Ndjson,
    /// Comma-separated values under a header.
    Csv,
}

pub(super) fn run(options: &Export) -> Ended {
    let files = Files { data: options.data.clone(), partition: options.partition, json: false };
    let opened = files.open()?;
    if options.from.is_some() && opened.partitions().count() > 1 {
        let text = "--from goes with --partition, since each partition counts for itself";
        return Err(Failed::text(Exit::Usage, text));
    }
    let out: Box<dyn Write> = match &options.out {
        None => Box::new(io::stdout().lock()),
        Some(path) => Box::new(File::create(path).map_err(|error| {
            Failed::text(Exit::Usage, format!("cannot write to {}: {error}", path.display()))
        })?),
    };
    let mut lines = Lines { out: BufWriter::new(out), format: options.format, count: 0 };
    match export(options, &opened, &mut lines) {
        Ok(held_back) => {
            report(lines.count, held_back)?;
            Ok(Exit::Done)
        }
        // The reader has enough, like 'head'.
        Err(Stopped::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(Stopped::Output(error)) => Err(error.into()),
        Err(Stopped::Input(failed)) => Err(failed),
    }
}

fn report(count: u64, held_back: u64) -> io::Result<()> {
    let mut err = io::stderr().lock();
    writeln!(err, "exported {count} events")?;
    if held_back > 0 {
        writeln!(err, "left out {held_back} of the running server that may not be on disk yet")?;
    }
    Ok(())
}

/// Why an export ended early.
enum Stopped {
    Output(io::Error),
    Input(Failed),
}

/// Exports all partitions, and returns how many events were held back.
fn export(options: &Export, opened: &Opened, lines: &mut Lines) -> Result<u64, Stopped> {
    lines.head().map_err(Stopped::Output)?;
    let mut held_back = 0;
    for files in opened.partitions() {
        let bar = match options.out.is_none() && io::stdout().is_terminal() {
            true => ProgressBar::hidden(),
            false => progress_bar("exporting", files.partition),
        };
        let from = options.from.unwrap_or(0);
        let oldest = journal::oldest(&*files.storage).map_err(|error| Stopped::Input(failed(error)))?;
        if let Some(oldest) = oldest.filter(|oldest| from > 0 && from < oldest.first_sequence) {
            let text = format!(
                "partition {} has its events from sequence {} on; earlier ones were dropped behind a snapshot",
                files.partition, oldest.first_sequence
            );
            return Err(Stopped::Input(Failed::text(Exit::Failed, text)));
        }
        let mut part = Part { files: &files, lines, next: from, waiting: VecDeque::new(), output: None };
        let read = opened.look(|| part.read(opened.is_served, &bar));
        bar.finish_and_clear();
        if let Some(error) = part.output.take() {
            return Err(Stopped::Output(error));
        }
        read.map_err(|error| Stopped::Input(failed(error)))?;
        held_back += part.waiting.iter().map(|entry| entry.events.len() as u64).sum::<u64>();
    }
    lines.out.flush().map_err(Stopped::Output)?;
    Ok(held_back)
}

/// The export of one partition.
struct Part<'a> {
    files: &'a PartitionFiles<'a>,
    lines: &'a mut Lines,
    /// The next sequence to write; 0 for the oldest.
    next: u64,
    /// Entries of a running server that are not yet known to be durable.
    waiting: VecDeque<Entry>,
    /// An error of the output.
    output: Option<io::Error>,
}

impl Part<'_> {
    /// Continues reading where the previous attempt ended.
    fn read(&mut self, is_served: bool, bar: &ProgressBar) -> Result<(), EmbeddedError> {
        if self.output.is_some() {
            return Ok(());
        }
        self.waiting.clear();
        let (files, from) = (self.files, self.next);
        let read = read_entries(
            files,
            from,
            &mut |synced_through, entries| {
                self.waiting.extend(entries);
                self.write(if is_served { synced_through } else { u64::MAX })
            },
            &mut advance(bar),
        );
        match read {
            Err(EmbeddedError::Journal(JournalError::Consumer { .. })) if self.output.is_some() => Ok(()),
            Err(error) => Err(error),
            // An idle server's last frame has no events and says up to where everything is durable.
            Ok(read) => {
                if self.write(read.synced_through).is_err() {
                    self.waiting.clear();
                }
                Ok(())
            }
        }
    }

    /// Writes the waiting entries that are durable.
    fn write(&mut self, durable_through: u64) -> Result<(), Refusal> {
        while let Some(entry) = self.waiting.front().filter(|entry| entry.sequence_last() <= durable_through)
        {
            let written = self.lines.entry(self.files.partition, entry, self.next);
            if let Err(error) = written {
                self.output = Some(error);
                return Err("the output failed".into());
            }
            self.next = entry.sequence_last() + 1;
            self.waiting.pop_front();
        }
        Ok(())
    }
}

/// The output.
struct Lines {
    out: BufWriter<Box<dyn Write>>,
    format: Format,
    count: u64,
}

impl Lines {
    fn head(&mut self) -> io::Result<()> {
        match self.format {
            Format::Ndjson => Ok(()),
            Format::Csv => writeln!(self.out, "{}", event::MEMBERS.join(",")),
        }
    }

    /// Writes the events of an entry from a sequence on, in the format of the HTTP port.
    fn entry(&mut self, partition: u32, entry: &Entry, from: u64) -> io::Result<()> {
        for (_, event) in event::of_entry(partition, entry, from.saturating_sub(1)) {
            match self.format {
                Format::Ndjson => writeln!(self.out, "{event}")?,
                Format::Csv => writeln!(self.out, "{}", row(&event))?,
            }
            self.count += 1;
        }
        Ok(())
    }
}

/// An event as a CSV line: the members of its JSON.
fn row(event: &Value) -> String {
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    event::MEMBERS.map(|name| cell(&text(&event[name]))).join(",")
}

/// A CSV cell.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
