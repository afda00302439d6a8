//! The embedded engine: recovered from its data directory, with the RESP port on its owners' threads.

use std::sync::Arc;
use std::time::Duration;

use scarce_core::state;
use scarce_engine::Engine;
use scarce_engine_embedded::{self as embedded, ClockChoice, EmbeddedSettings, Port, SystemClock};
use scarce_gateway_resp::RespShared;
use scarce_settings::ServerSettings;

use super::ports::Ports;
use super::{Options, ServeError, StartFrom, Started, machine, memory};
use crate::relocation::Arrived;

pub(super) fn start(
    settings: &ServerSettings,
    options: &Options,
    ports: &Ports,
    state: state::StateSettings,
    from: StartFrom<'_>,
) -> Result<Started, ServeError> {
    machine::refuse_huge_pages();
    let engine_settings = engine_settings(settings, options, state);
    let loading = ports.loading()?;
    let recovered = match from {
        StartFrom::Files(progress) => embedded::open(&settings.data, &engine_settings, &mut |at| {
            loading.note(at);
            progress(at);
        })?,
        StartFrom::Served(take_over) => {
            let address =
                take_over.address.map_or_else(|| ports.addresses().map(|(resp, _)| resp.to_string()), Ok)?;
            let Arrived { lock, standbys, rested } = take_over.arrival.hand_over(&address)?;
            let rested_ms = u64::try_from(rested.as_millis()).unwrap_or(u64::MAX);
            tracing::info!(
                rested_ms,
                address,
                "the deployment has arrived; changes were not taken for so long"
            );
            embedded::open_standbys(&settings.data, lock, standbys, &engine_settings)?
        }
    };
    drop(loading);
    let (mut shared, warnings) = (None, recovered.clock_notices());
    let (engine, running) = recovered.start(|_, engine| {
        let engine: Arc<dyn Engine> = engine.clone();
        let its: Arc<RespShared> = match &shared {
            Some(shared) => Arc::clone(shared),
            None => ports.shared(engine, options.manual_clock.clone())?,
        };
        shared = Some(its.clone());
        Ok(Box::new(ports.reactor(its)?) as Box<dyn Port>)
    })?;
    Ok(Started {
        embedded: Some(engine.clone()),
        engine,
        stop: running.stop_handle(),
        join: Box::new(|| Ok(running.join()?)),
        state_at: format!("data {}", settings.data.display()),
        warnings,
    })
}

fn engine_settings(
    settings: &ServerSettings,
    options: &Options,
    state: state::StateSettings,
) -> EmbeddedSettings {
    let usual = EmbeddedSettings::default();
    EmbeddedSettings {
        partitions: settings.partitions,
        state,
        segment_bytes: settings.segment_mib << 20,
        snapshot_bytes: settings.snapshot_mib << 20,
        operations_in_memory_max: memory::operations_in_memory_max(settings),
        log_retention: Duration::from_millis(settings.log_retention_ms),
        clock: match &options.manual_clock {
            Some(clock) => ClockChoice::Manual(clock.clone()),
            None => ClockChoice::System(SystemClock {
                accepts_wall: options.accept_clock,
                steady_span: Duration::from_millis(settings.clock_steady_ms),
                ..SystemClock::default()
            }),
        },
        memory: memory::budget(settings),
        slow: settings.slow(),
        outflow_lag_max: settings.outflow_lag_max.unwrap_or(usual.outflow_lag_max),
        ..usual
    }
}
