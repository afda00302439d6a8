//! The Redis engine: nothing is kept here, so the ports serve from threads of their own and hand every
//! command over.

use std::io::Write;
use std::sync::Arc;

use scarce_core::state;
use scarce_engine::Engine;
use scarce_engine::clock::ManualClock;
use scarce_engine::stop::Stop;
use scarce_engine_redis::{self as redis, RedisEngine, RedisError};

use super::{Doors, stop_on_signals};
use crate::cli::{Ended, Exit, Failed};
use crate::gateway::resp::Reactor;
use crate::pipeline::Pipeline;
use crate::settings::Settings;

pub(super) fn run(
    settings: &Settings,
    doors: Doors,
    state: state::StateSettings,
    manual_clock: Option<ManualClock>,
) -> Ended {
    let engine = RedisEngine::open(redis::Settings {
        state,
        clock: manual_clock.clone(),
        ..settings.redis().map_err(|reason| Failed::text(Exit::Failed, reason))?
    })?;
    for warning in &engine.warnings {
        writeln!(std::io::stderr(), "scarce: {warning}; see scarce doctor")?;
    }
    let engine = Arc::new(engine);
    let shared = doors.shared(engine.clone(), manual_clock);
    let port = Reactor::new(doors.resp.try_clone()?, shared)?;
    let stop = Stop::default();
    stop.add(port.waker());
    let engine: Arc<dyn Engine> = engine;
    let pipeline = Arc::new(Pipeline::start(&engine, settings)?);
    stop_on_signals(stop.clone(), pipeline.clone())?;
    let http = doors.open_up(engine, &pipeline, &format!("redis {}", settings.redis_url))?;
    port.run(&stop)?;
    if let Some(http) = http {
        http.shut_down();
    }
    pipeline.stop();
    Ok(Exit::Done)
}

impl From<RedisError> for Failed {
    fn from(error: RedisError) -> Self {
        let exit = if matches!(error, RedisError::Server(_)) { Exit::Unreachable } else { Exit::Failed };
        Self::new(exit, &error)
    }
}
