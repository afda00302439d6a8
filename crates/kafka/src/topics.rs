//! Ensures that topics exist with the required partitions, or reports how to create them.

use std::time::Duration;

use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::config::FromClientConfigAndContext;
use rdkafka::types::RDKafkaErrorCode;

use crate::client::Plain;
use crate::reader::{ANSWER_TIMEOUT, Reader};
use crate::{KafkaError, KafkaSettings};

/// How often to check whether the brokers know a new topic.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// A required topic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// Its name.
    pub(crate) topic: &'a str,
    /// How many partitions it is created with.
    pub(crate) partitions: u32,
    /// Whether it must have exactly this many.
    pub(crate) exactly: bool,
}

/// Ensures that topics exist. Missing ones are created if that is allowed.
pub(crate) async fn ensure(settings: &KafkaSettings, wanted: &[Wanted<'_>]) -> Result<(), KafkaError> {
    for its in wanted {
        let found = partitions(settings, its.topic).await?;
        match found {
            0 if settings.creates_topics => {
                create(settings, its).await?;
                wait_until_known(settings, its).await;
            }
            0 => {
                let command = command(settings, its);
                return Err(KafkaError::NoTopic { topic: its.topic.to_owned(), command });
            }
            found if its.exactly && u32::try_from(found) != Ok(its.partitions) => {
                return Err(mismatch(settings, its, found));
            }
            _ => {}
        }
    }
    Ok(())
}

/// How many partitions a topic has; 0 if it does not exist. The request blocks, so it runs on another thread.
async fn partitions(settings: &KafkaSettings, topic: &str) -> Result<usize, KafkaError> {
    let (settings, topic) = (settings.clone(), topic.to_owned());
    let brokers = settings.brokers.clone();
    let asked = tokio::task::spawn_blocking(move || Reader::new(&settings, &topic)?.partitions()).await;
    let is_gone = |_| KafkaError::Unreachable { brokers, reason: "asking was not finished".to_owned() };
    asked.map_err(is_gone)?
}

/// Waits until the brokers know a topic that was just created: each learns of it in its own time, and earlier
/// requests fail. If that takes too long, the later requests report it.
async fn wait_until_known(settings: &KafkaSettings, wanted: &Wanted<'_>) {
    let known = async {
        let mut again = tokio::time::interval(LOOK_INTERVAL);
        while partitions(settings, wanted.topic).await.is_ok_and(|found| found < wanted.partitions as usize) {
            again.tick().await;
        }
    };
    let _ = tokio::time::timeout(ANSWER_TIMEOUT, known).await;
}

async fn create(settings: &KafkaSettings, wanted: &Wanted<'_>) -> Result<(), KafkaError> {
    let config = settings.administrator()?;
    let client = AdminClient::from_config_and_context(&config, Plain::default());
    let client = client.map_err(KafkaError::of_settings)?;
    let partitions = i32::try_from(wanted.partitions).unwrap_or(i32::MAX);
    // -1 stands for the brokers' default.
    let copies = TopicReplication::Fixed(settings.replication.map_or(-1, i32::from));
    // Compaction would drop an event once a later one has the same key.
    let topic = NewTopic::new(wanted.topic, partitions, copies).set("cleanup.policy", "delete");
    let options = AdminOptions::new().operation_timeout(Some(ANSWER_TIMEOUT));
    let created = client.create_topics([&topic], &options).await;
    let reason = match created {
        Ok(results) => match results.into_iter().next() {
            None | Some(Ok(_) | Err((_, RDKafkaErrorCode::TopicAlreadyExists))) => return Ok(()),
            Some(Err((_, code))) => code.to_string(),
        },
        Err(error) => error.to_string(),
    };
    let heard = client.inner().context().heard.last().map(|heard| format!(" ({heard})")).unwrap_or_default();
    Err(KafkaError::NotCreated {
        topic: wanted.topic.to_owned(),
        reason: format!("{reason}{heard}"),
        command: command(settings, wanted),
    })
}

fn mismatch(settings: &KafkaSettings, wanted: &Wanted<'_>, found: usize) -> KafkaError {
    let advice = if found < wanted.partitions as usize {
        format!(
            "add the missing ones with\n  {} --alter --topic {} --partitions {}",
            tool(settings),
            wanted.topic,
            wanted.partitions
        )
    } else {
        "a topic cannot lose partitions, so take another prefix for the topics".to_owned()
    };
    KafkaError::Partitions { topic: wanted.topic.to_owned(), found, wanted: wanted.partitions, advice }
}

fn tool(settings: &KafkaSettings) -> String {
    format!("kafka-topics.sh --bootstrap-server {}", settings.brokers)
}

/// The command that creates a topic.
fn command(settings: &KafkaSettings, wanted: &Wanted<'_>) -> String {
    let Wanted { topic, partitions, .. } = wanted;
    let copies =
        settings.replication.map(|copies| format!(" --replication-factor {copies}")).unwrap_or_default();
    format!(
        "{} --create --topic {topic} --partitions {partitions}{copies} --config cleanup.policy=delete",
        tool(settings)
    )
}
