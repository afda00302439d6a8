//! The audit log to Kafka: what is on the disk goes on from there, so that a broker that is away holds up nothing and loses
//! nothing.

use std::time::Duration;

use scarce_audit::{Filter, Folder, Page, Sent};
use scarce_engine::random::{self, hex};
use scarce_kafka::KafkaSettings;
use scarce_kafka::audit::{AuditMessage, AuditTopic};
use scarce_outflow::Backoff;
use tokio::sync::watch;

/// How often is looked for new records: the command line writes some, too.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// How many are sent together.
const TOGETHER_MAX: usize = 500;

/// The first and the longest delay before a broker is asked again.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(10));

/// Sends the log of a folder until asked to stop.
pub(super) async fn send(folder: Folder, settings: KafkaSettings, mut ending: watch::Receiver<bool>) {
    let mut backoff = Backoff::new(RETRY_DELAYS.0, RETRY_DELAYS.1);
    let (mut topic, mut told) = (None, String::new());
    loop {
        let pause = match step(&folder, &settings, &mut topic).await {
            Ok(has_more) => {
                backoff = Backoff::new(RETRY_DELAYS.0, RETRY_DELAYS.1);
                told.clear();
                if has_more { Duration::ZERO } else { LOOK_INTERVAL }
            }
            Err(reason) => {
                if reason != told {
                    tracing::warn!(reason, "the audit log does not reach Kafka; it retries");
                    told = reason;
                }
                backoff.next_delay()
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = ending.wait_for(|ending| *ending) => return,
        }
    }
}

/// Sends the next records. Whether there are more.
async fn step(
    folder: &Folder,
    settings: &KafkaSettings,
    topic: &mut Option<AuditTopic>,
) -> Result<bool, String> {
    let its = folder.clone();
    let (sent, page) = blocking(move || next(&its)).await?;
    if page.is_cut {
        tracing::warn!(
            "records of the audit log were removed before they reached Kafka; raise audit_max_mib"
        );
    }
    if !page.records.is_empty() {
        let topic = match topic {
            Some(topic) => topic,
            None => topic.insert(AuditTopic::open(settings).await.map_err(|error| error.to_string())?),
        };
        topic.send(&messages(&sent, &page)).await?;
    }
    if page.next != sent.through {
        let (its, sent) = (folder.clone(), Sent { through: page.next, ..sent });
        blocking(move || its.keep_sent(&sent)).await?;
    }
    Ok(page.has_more)
}

/// How far the log was sent, and what comes next. A log that was never sent is given a name.
fn next(folder: &Folder) -> std::io::Result<(Sent, Page)> {
    let sent = match folder.sent()? {
        Some(sent) => sent,
        None => Sent { log: hex(&random::bytes::<8>()?), through: scarce_audit::Position::default() },
    };
    let page = folder.page(sent.through, &Filter::default(), TOGETHER_MAX)?;
    if page.next != sent.through {
        // Its name is known before anything is sent under it.
        folder.keep_sent(&sent)?;
    }
    Ok((sent, page))
}

fn messages(sent: &Sent, page: &Page) -> Vec<AuditMessage> {
    let message = |(record, end): (&scarce_audit::Record, &scarce_audit::Position)| AuditMessage {
        id: format!("{}-{end}", sent.log),
        log: sent.log.clone(),
        at_ms: record.at_ms,
        value: record.to_line().trim_end().as_bytes().to_vec(),
    };
    page.records.iter().zip(&page.ends).map(message).collect()
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| error.to_string())?.map_err(|error| format!("the files of the audit log: {error}"))
}
