//! The Redis engine: it keeps no state here, so the RESP port runs on its own thread and hands every command
//! over.

use std::sync::Arc;

use scarce_core::state;
use scarce_engine::stop::Stop;
use scarce_engine_redis::{KnownDeployment, RedisEngine, RedisSettings};
use scarce_settings::ServerSettings;

use super::ports::Ports;
use super::{Options, ServeError, Started};

/// `known` must be in Redis, if it is given. `admit` learns who may come, before anyone can.
pub(super) fn start(
    settings: &ServerSettings,
    options: &Options,
    known: Option<KnownDeployment>,
    ports: &Ports,
    state: state::StateSettings,
    admit: impl FnOnce() -> Result<(), ServeError>,
) -> Result<Started, ServeError> {
    let clock = options.manual_clock.clone();
    let engine = RedisEngine::open(RedisSettings {
        state,
        clock: clock.clone(),
        accepts_clock: options.accept_clock,
        accepts_settings: options.accept_settings,
        known,
        ..settings.redis().map_err(ServeError::RedisSettings)?
    })?;
    admit()?;
    let warnings = engine.warnings.clone();
    let engine = Arc::new(engine);
    let port = ports.reactor(ports.shared(engine.clone(), clock)?)?;
    let stop = Stop::default();
    stop.add(port.waker());
    let stopped = stop.clone();
    let serving = std::thread::Builder::new().name("port".to_owned()).spawn(move || port.run(&stopped))?;
    Ok(Started {
        engine,
        embedded: None,
        stop,
        join: Box::new(|| Ok(serving.join().map_err(|_| ServeError::PortFailed)??)),
        state_at: format!("redis {}", settings.redis_url),
        warnings,
    })
}
