//! The log of a running server with the state that it goes on from: in its files, or in its Redis.

use std::sync::Arc;

use scarce_client::{Client, Info};
use scarce_engine::Engine;
use scarce_engine_redis::{RedisEngine, RedisSettings, inspect};
use scarce_reconcile::{EndOf, FilesLog, LogSource, ReconcileError, Served};
use scarce_settings::{EngineChoice, ServerSettings};

use crate::{Exit, Failed};

/// Where these settings say that the log is. It must be that of the server, which `client` asks how far it is durable.
pub(crate) fn of_server(
    settings: &ServerSettings,
    server: &Info,
    client: Client,
) -> Result<Box<dyn LogSource>, Failed> {
    let (log, place): (Box<dyn LogSource>, _) = match settings.engine {
        EngineChoice::Redis => {
            let place = settings.redis_url.to_string();
            (Box::new(Served::new(redis_engine(settings)?)), place)
        }
        EngineChoice::Embedded => {
            let log = FilesLog::open(&settings.data, true);
            let log = log.map_err(|error| Failed::new(Exit::Failed, &error))?;
            (Box::new(log.with_ends(ends_by(client))), settings.data.display().to_string())
        }
    };
    if log.deployment_id() == server.deployment_id {
        return Ok(log);
    }
    let text = format!(
        "{place} holds deployment {}, and the server is {}; name the data of this server",
        log.deployment_id(),
        server.deployment_id
    );
    Err(Failed::text(Exit::Usage, text))
}

/// Asks a server how far its log is durable.
pub(super) fn ends_by(mut client: Client) -> Box<EndOf> {
    Box::new(move |partition| {
        let info =
            Info::ask(&mut client).map_err(|error| ReconcileError::Unanswered { what: error.to_string() })?;
        Ok(info.partitions.get(&partition).and_then(|extent| extent.last))
    })
}

/// The engine inside the Redis of these settings. Nothing is created.
pub(super) fn redis_engine(settings: &ServerSettings) -> Result<Arc<dyn Engine>, Failed> {
    let settings = settings.redis().map_err(|error| Failed::text(Exit::Usage, error))?;
    let settings = RedisSettings { sweeps: false, ..settings };
    let found = inspect::inspect(&settings)?;
    // What is not whole serves nothing, and could not be compared: that is a difference, and no server that is away.
    if !found.damages.is_empty() {
        return Err(Failed::text(Exit::Broken, found.damages.join("\n")));
    }
    // To open an engine creates a deployment where there is none.
    if found.deployment.is_none() {
        let text =
            format!("there is no deployment behind '{}' in this Redis; see --redis-prefix", settings.prefix);
        return Err(Failed::text(Exit::Usage, text));
    }
    Ok(Arc::new(RedisEngine::open(settings)?))
}
