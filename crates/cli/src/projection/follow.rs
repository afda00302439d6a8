//! The arguments of `scarce projection follow`.

use clap::Args;

use super::super::Ended;
use crate::setting_flags::KafkaSqlFlags;

/// `scarce projection follow`.
#[derive(Debug, Args)]
pub struct Follow {
    #[command(flatten)]
    /// From which brokers, into which database.
    pub settings: KafkaSqlFlags,
    /// Make the tables, where the database has none yet.
    #[arg(long)]
    pub create: bool,
    /// End when this process has written everything that was in the topic at the start, or with exit code 3 if the topic lacks what
    /// the tables need.
    #[arg(long)]
    pub once: bool,
}

#[cfg(feature = "kafka")]
pub(super) fn run(options: &Follow) -> Ended {
    super::topic::run(options)
}

#[cfg(not(feature = "kafka"))]
pub(super) fn run(_: &Follow) -> Ended {
    Err(scarce_server::pipeline::PipelineError::WithoutKafka.into())
}
