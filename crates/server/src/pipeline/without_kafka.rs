//! Replaces `kafka.rs` in a binary built without Kafka: asking for Kafka is an error that says so.

use std::sync::Arc;

use scarce_engine::Engine;
use scarce_gateway_http::CommandCounter;
use scarce_outflow::Outflow;
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
) -> Result<(Option<Outflow>, Option<JoinHandle<()>>), PipelineError> {
    if settings.kafka.is_some() { Err(PipelineError::WithoutKafka) } else { Ok((None, None)) }
}
