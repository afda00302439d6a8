//! Replaces `kafka.rs` in a binary built without Kafka: asking for Kafka is an error that says so.

use std::sync::Arc;

use scarce_engine::Engine;
use scarce_gateway_http::CommandCounter;
use scarce_outflow::{LogCopy, Outflow};
use scarce_settings::ServerSettings;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{PipelineError, Serve};

pub(super) fn start(
    _serve: &Serve<'_>,
    _engine: &Arc<dyn Engine>,
    settings: &ServerSettings,
    _counter: &CommandCounter,
    _ended: &watch::Receiver<bool>,
) -> Result<(Option<Outflow>, Vec<JoinHandle<()>>), PipelineError> {
    if settings.kafka.is_some() { Err(PipelineError::WithoutKafka) } else { Ok((None, Vec::new())) }
}

/// The topic of events cannot be read without Kafka.
///
/// # Errors
/// When Kafka is configured.
pub fn event_copy(
    settings: &ServerSettings,
    _deployment_id: &str,
) -> Result<Option<Box<dyn LogCopy>>, PipelineError> {
    if settings.kafka.is_some() { Err(PipelineError::WithoutKafka) } else { Ok(None) }
}
