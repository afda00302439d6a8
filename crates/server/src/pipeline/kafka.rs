//! Kafka, out and in, even if no broker answers when the server starts.

use std::sync::Arc;
use std::time::Duration;

use scarce_core::event::Position;
use scarce_engine::Engine;
use scarce_gateway::{Limiting, steady_ms};
use scarce_gateway_http::{CommandCounter, CommandCounts};
use scarce_kafka::commands::Arriving;
use scarce_kafka::events::TopicCopy;
use scarce_kafka::{Admission, Commands, EventTopic, EventWriter, KafkaSettings, Topics};
use scarce_limits::rooms::NotAdmitted;
use scarce_outflow::{Backoff, Batch, Consumer, HeldStretch, LogCopy, Outflow, Start, Trouble};
use scarce_settings::{Password, ServerSettings};
use tokio::sync::{OnceCell, watch};
use tokio::task::JoinHandle;

use super::{KAFKA, PipelineError, Serve, audit};

/// The first and the longest delay before an unresponsive broker is asked again.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(10));

/// How many bytes of log are sent to Kafka at a time.
const BATCH_BYTES: u64 = 1 << 20;

/// Starts what the settings ask for: the log to the topic, and commands to the engine.
pub(super) fn start(
    serve: &Serve<'_>,
    engine: &Arc<dyn Engine>,
    settings: &ServerSettings,
    counter: &CommandCounter,
    ended: &watch::Receiver<bool>,
) -> Result<(Option<Outflow>, Vec<JoinHandle<()>>), PipelineError> {
    let Some(kafka) = settings_of(&**engine, settings) else { return Ok((None, Vec::new())) };
    let auditing = (settings.kafka_audit && settings.audit).then(|| {
        serve.runtime.spawn(audit::send(crate::serve::audit::folder(settings), kafka.clone(), ended.clone()))
    });
    let events = Events::new(&kafka, engine.partitions());
    let outflow = serve.run(KAFKA, Start::Oldest, BATCH_BYTES, |partition| events.consumer(partition));
    let take = |admission| take_commands((kafka, admission), engine.clone(), counter.clone(), ended.clone());
    let taking =
        settings.kafka_commands.then(|| serve.runtime.spawn(take(admission(serve.limiting.clone()))));
    Ok((Some(outflow), taking.into_iter().chain(auditing).collect()))
}

/// Waiting rooms guard resources against commands from Kafka, too.
fn admission(limiting: Arc<Limiting>) -> Admission {
    Arc::new(move |arriving: Arriving<'_>| {
        let now_ms = steady_ms();
        let sent_ms = arriving.sent_ms.unwrap_or(now_ms);
        let checked = limiting.check_sent(arriving.commands, arriving.tickets, (sent_ms, now_ms));
        checked.map_err(|refused| {
            let NotAdmitted { room, user, wait_ms } = *refused;
            match wait_ms {
                Some(wait_ms) => format!("the waiting room '{room}' admits '{user}' in {wait_ms} ms; send it again then"),
                None => format!(
                    "the waiting room '{room}' wants a ticket of '{user}' that was good when this was sent; send one along"
                ),
            }
        })
    })
}

/// The Kafka settings of an engine's deployment, if Kafka is configured.
fn settings_of(engine: &dyn Engine, settings: &ServerSettings) -> Option<KafkaSettings> {
    let mut kafka = settings_of_clients(settings)?;
    kafka.source = format!("/scarce/{}", engine.deployment_id());
    Some(kafka)
}

/// The Kafka settings for use without an engine, if Kafka is configured.
#[must_use]
pub fn settings_of_clients(settings: &ServerSettings) -> Option<KafkaSettings> {
    let brokers = settings.kafka.as_ref()?;
    let mut extra = settings.kafka_properties.0.clone();
    if let Some(password) = settings.kafka_password.as_ref().map(Password::reveal) {
        extra.push(("sasl.password".to_owned(), password.to_owned()));
    }
    let mut kafka = KafkaSettings::new(brokers);
    kafka.topics = Topics::with_prefix(&settings.kafka_prefix);
    kafka.creates_topics = settings.kafka_create_topics;
    kafka.replication = settings.kafka_replication.and_then(|copies| u16::try_from(copies).ok());
    kafka.group = format!("{}-commands", settings.kafka_prefix);
    kafka.extra = extra;
    Some(kafka)
}

/// The topic of events as it is, to be compared with the log of this deployment, if Kafka is configured.
///
/// # Errors
/// When no client can be made of the settings.
pub fn event_copy(
    settings: &ServerSettings,
    deployment_id: &str,
) -> Result<Option<Box<dyn LogCopy>>, PipelineError> {
    let Some(mut kafka) = settings_of_clients(settings) else { return Ok(None) };
    kafka.source = format!("/scarce/{deployment_id}");
    let copy = TopicCopy::new(&kafka).map_err(|error| PipelineError::Kafka(error.to_string()))?;
    Ok(Some(Box::new(copy)))
}

/// The topic of events. It is looked up when first needed, and again until it exists.
#[derive(Clone)]
struct Events {
    settings: Arc<KafkaSettings>,
    partitions: u32,
    topic: Arc<OnceCell<EventTopic>>,
}

impl Events {
    fn new(settings: &KafkaSettings, partitions: u32) -> Self {
        Self { settings: Arc::new(settings.clone()), partitions, topic: Arc::default() }
    }

    /// The consumer that sends the log of a partition there.
    fn consumer(&self, partition: u32) -> EventsConsumer {
        EventsConsumer { events: self.clone(), partition, writer: None }
    }
}

/// Sends the log of a partition to the topic.
struct EventsConsumer {
    events: Events,
    partition: u32,
    writer: Option<EventWriter>,
}

impl EventsConsumer {
    async fn writer(&mut self) -> Result<&mut EventWriter, Trouble> {
        let Events { settings, partitions, topic } = &self.events;
        let open = || EventTopic::open(settings, *partitions);
        let topic = topic.get_or_try_init(open).await.map_err(|error| Trouble::new(error.to_string()))?;
        Ok(self.writer.get_or_insert_with(|| topic.writer(self.partition)))
    }
}

impl Consumer for EventsConsumer {
    async fn position(&mut self) -> Result<Option<Position>, Trouble> {
        self.writer().await?.position().await
    }

    fn starts_over(&self) -> bool {
        self.writer.as_ref().is_some_and(Consumer::starts_over)
    }

    async fn held_after(&mut self, after: Position) -> Result<Vec<HeldStretch>, Trouble> {
        self.writer().await?.held_after(after).await
    }

    async fn consume(&mut self, batch: &Batch) -> Result<(), Trouble> {
        self.writer().await?.consume(batch).await
    }
}

/// Consumes commands until asked to stop; starts as soon as a broker answers, and then reports its metrics.
async fn take_commands(
    (settings, admission): (KafkaSettings, Admission),
    engine: Arc<dyn Engine>,
    counter: CommandCounter,
    mut ending: watch::Receiver<bool>,
) {
    let mut backoff = Backoff::new(RETRY_DELAYS.0, RETRY_DELAYS.1);
    let mut told = String::new();
    let commands = loop {
        match Commands::start_guarded(&settings, engine.clone(), admission.clone()).await {
            Ok(commands) => break commands,
            Err(error) => {
                let reason = error.to_string();
                if reason != told {
                    tracing::warn!(reason, "no commands are taken from Kafka yet; it retries");
                    told = reason;
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(backoff.next_delay()) => {}
            _ = ending.wait_for(|ending| *ending) => return,
        }
    };
    tracing::info!("commands are taken from Kafka");
    let figures = commands.figures().clone();
    counter.get_or_init(|| {
        Box::new(move || CommandCounts {
            applied: figures.applied(),
            refused: figures.refused(),
            replayed: figures.replayed(),
            dead: figures.dead(),
            removed: figures.removed(),
            retried: figures.retried(),
            in_flight: figures.in_flight(),
            partitions: figures.partitions(),
        })
    });
    // If nobody is left who could request the end, that is the end too.
    let _ = ending.wait_for(|ending| *ending).await;
    let _ = tokio::task::spawn_blocking(move || commands.shut_down()).await;
}
