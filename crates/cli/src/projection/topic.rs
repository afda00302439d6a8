//! The work of `scarce projection follow`: from the topic of events into the tables, without a server.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use scarce_engine::random::hex;
use scarce_kafka::KafkaSettings;
use scarce_kafka::events::{self, Following};
use scarce_projection::{DatabaseError, Projection, ProjectionError, ProjectionOptions};
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::super::config::{kafka, load, sql_url};
use super::super::{Ended, Exit, Failed, stop_on_signals};
use super::follow::Follow;

/// How often to check the progress and whether to stop.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

pub(super) fn run(options: &Follow) -> Ended {
    let settings = load(&options.settings.0)?.settings;
    let url = sql_url(&settings)?;
    let kafka = source_of(kafka(&settings)?)?;
    let stop = stop_on_signals()?;
    Runtime::new()?.block_on(follow(options, &kafka, &url, &stop))
}

/// The settings for Kafka; the deployment is that of the first event in the topic.
fn source_of(mut kafka: KafkaSettings) -> Result<KafkaSettings, Failed> {
    let found = events::source(&kafka).map_err(|error| Failed::new(Exit::Unreachable, &error))?;
    let nothing = || {
        let text = format!(
            "the topic '{}' holds no event yet, so that it is not known whose it is",
            kafka.topics.events
        );
        Failed::text(Exit::Failed, text)
    };
    kafka.source = found.ok_or_else(nothing)?;
    Ok(kafka)
}

/// A mistyped address names no database: nothing is made unless that is asked for.
async fn open(options: &Follow, url: &str, deployment_id: &str) -> Result<Projection, Failed> {
    let of_projection = ProjectionOptions::default();
    if options.create {
        return Ok(Projection::open(url, deployment_id, of_projection).await?);
    }
    match Projection::open_existing(url, deployment_id, of_projection).await {
        Err(ProjectionError::Database(DatabaseError::NoTables { database, what, .. })) => {
            let text = format!("{database} has no {what}; check the address, or make them with --create");
            Err(Failed::text(Exit::Failed, text))
        }
        opened => Ok(opened?),
    }
}

async fn follow(options: &Follow, kafka: &KafkaSettings, url: &str, stop: &Arc<AtomicBool>) -> Ended {
    let deployment_id = kafka.source.rsplit('/').next().unwrap_or_default();
    let projection = open(options, url, deployment_id).await?;
    let kafka = &KafkaSettings { group: group(kafka, &projection), ..kafka.clone() };
    let goal =
        if options.once { Some(events::ends(kafka).map_err(|error| unreachable(&error))?) } else { None };
    let following = Arc::new(Following::default());
    let (ending, ended) = watch::channel(false);
    let task = tokio::spawn({
        let (kafka, following) = (kafka.clone(), following.clone());
        async move { events::follow(&kafka, |partition| projection.consumer(partition), &following, ended).await }
    });
    let bar = ProgressBar::new_spinner();
    if let Ok(style) =
        ProgressStyle::with_template("{spinner} {pos} events in the tables {per_sec} {wide_msg}")
    {
        bar.set_style(style);
    }
    let mut lacking = None;
    while !stop.load(Ordering::Relaxed) && !task.is_finished() {
        let levels = following.levels();
        lacking = levels.lacking.filter(|_| options.once);
        if lacking.is_some() {
            break;
        }
        bar.set_position(levels.positions.values().map(|position| position.sequence).sum());
        tell(&bar, levels.trouble);
        let is_there = |goal: &events::Ends| {
            goal.iter().all(|(partition, end)| levels.positions.get(partition).is_some_and(|its| its >= end))
        };
        if goal.as_ref().is_some_and(is_there) {
            break;
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
    bar.finish_and_clear();
    // A task that has ended itself receives nothing.
    let _ = ending.send(true);
    match task.await {
        Ok(Ok(())) => lacking.map_or(Ok(Exit::Done), |lacking| Err(Failed::text(Exit::Refused, lacking))),
        Ok(Err(error)) => Err(unreachable(&error)),
        Err(error) => Err(Failed::new(Exit::Failed, &error)),
    }
}

/// Processes that fill the same database share the partitions; those of another database need all of them
/// too.
fn group(kafka: &KafkaSettings, projection: &Projection) -> String {
    let digest = Sha256::digest(projection.database());
    format!("{}.projection.{}", kafka.topics.events, hex(&digest[..6]))
}

fn unreachable(error: &scarce_kafka::KafkaError) -> Failed {
    Failed::new(Exit::Unreachable, error)
}

/// Shows a problem; only once without a terminal.
fn tell(bar: &ProgressBar, trouble: Option<String>) {
    let trouble = trouble.unwrap_or_default();
    if bar.message() != trouble {
        if bar.is_hidden() && !trouble.is_empty() {
            // If stderr is closed, nobody wants to know.
            let _ = writeln!(std::io::stderr(), "{trouble}");
        }
        bar.set_message(trouble);
    }
}
