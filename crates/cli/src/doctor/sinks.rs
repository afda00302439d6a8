//! The database and the brokers that the log flows to.

use std::path::Path;

use scarce_engine::random::hex;
use scarce_mirror::Mirror;
use scarce_projection::{DatabaseError, Projection, ProjectionError, ProjectionOptions};
use scarce_settings::ServerSettings;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use super::finding::Finding;
use crate::files::load_deployment;
use crate::{Exit, Failed};

pub(super) fn examine(settings: &ServerSettings) -> Vec<Finding> {
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return Vec::new() };
    let sql = settings.sql_url().map(|url| database(&runtime, &url));
    sql.into_iter().chain(brokers(&runtime, settings)).chain(mirror(&runtime, settings)).collect()
}

/// Whether the database answers, and whose tables are in it. Nothing is created.
fn database(runtime: &Runtime, url: &str) -> Finding {
    const NAME: &str = "sql";
    let file = url.strip_prefix("sqlite:").map(|rest| rest.trim_start_matches("//"));
    let file = file.map(|rest| rest.split('?').next().unwrap_or_default());
    if file.is_some_and(|file| !Path::new(file).exists()) {
        return Finding::ok(NAME, "the file is not there yet; the server creates it");
    }
    match runtime.block_on(Projection::open_read_only(url, ProjectionOptions::default())) {
        Ok(projection) => Finding::ok(NAME, format!("{} answers and has tables", projection.database())),
        Err(ProjectionError::Database(DatabaseError::NoTables { database, .. })) => {
            Finding::ok(NAME, format!("{database} answers; the server creates the tables"))
        }
        Err(error) => {
            let advice = "put it right, or events wait in the log until changes are refused";
            Finding::fail(NAME, explain(&error), advice).with(json!({ "answers": false }))
        }
    }
}

#[cfg(feature = "kafka")]
fn brokers(runtime: &Runtime, settings: &ServerSettings) -> Option<Finding> {
    const NAME: &str = "kafka";
    let mut kafka = scarce_server::pipeline::kafka::settings_of_clients(settings)?;
    // To look changes nothing.
    kafka.creates_topics = false;
    let opened = runtime.block_on(scarce_kafka::EventTopic::open(&kafka, settings.partitions));
    Some(match opened {
        Ok(_) => Finding::ok(NAME, format!("{} answers and has the topic of events", kafka.brokers)),
        Err(error) if settings.kafka_create_topics => {
            Finding::warn(NAME, explain(&error), "the server creates topics that are missing at its start")
        }
        Err(error) => {
            let advice = "put it right, or events wait in the log until changes are refused";
            Finding::fail(NAME, explain(&error), advice).with(json!({ "answers": false }))
        }
    })
}

#[cfg(not(feature = "kafka"))]
fn brokers(_: &Runtime, settings: &ServerSettings) -> Option<Finding> {
    let advice = "take one of the packages, or build it with --features kafka";
    settings.kafka.as_ref().map(|_| Finding::fail("kafka", "this binary was built without Kafka", advice))
}

/// Whether a server can write the mirror.
fn mirror(runtime: &Runtime, settings: &ServerSettings) -> Option<Finding> {
    const NAME: &str = "mirror";
    let address = settings.mirror.clone()?;
    let advice = "put it right, or events wait in the log until changes are refused";
    let redis = match settings.mirror_redis() {
        Ok(redis) => redis?,
        Err(reason) => return Some(Finding::fail(NAME, reason, "name files that are there")),
    };
    // Where there is no deployment yet, a mirror of any is someone else's.
    let deployment = load_deployment(&settings.data).ok();
    let id = deployment.as_ref().map_or_else(String::new, |its| hex(&its.deployment_id));
    let partitions = deployment.map_or(settings.partitions, |its| its.partitions);
    let mirror = Mirror::new(&redis, partitions, &id);
    Some(match mirror.and_then(|mirror| runtime.block_on(mirror.look())) {
        Ok(true) => Finding::ok(NAME, format!("{address} answers and has the mirror")),
        Ok(false) => Finding::ok(NAME, format!("{address} answers; the server writes the mirror")),
        Err(error) => Finding::fail(NAME, explain(&error), advice).with(json!({ "answers": false })),
    })
}

fn explain(error: &(dyn std::error::Error + 'static)) -> String {
    Failed::new(Exit::Failed, error).message.replace("\n  because", "; because")
}
