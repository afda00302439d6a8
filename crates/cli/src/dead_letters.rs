//! `scarce dead-letters`: lists commands from Kafka that could not be decided, with the reason, and replays
//! them.

#[cfg(feature = "kafka")]
mod replay;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Ended;
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
    /// All of them, except those that are too old for the engine to know whether they were executed.
    #[arg(long)]
    pub all: bool,
}

#[cfg(feature = "kafka")]
pub(super) fn run(command: &DeadLetters) -> Ended {
    match command {
        DeadLetters::List(options) => replay::list(options),
        DeadLetters::Replay(options) => replay::send_again(options),
    }
}

#[cfg(not(feature = "kafka"))]
pub(super) fn run(_: &DeadLetters) -> Ended {
    Err(scarce_server::pipeline::PipelineError::WithoutKafka.into())
}
