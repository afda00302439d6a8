//! The embedded engine: recovered from its data directory, with the RESP port on its owners' threads.

use std::path::Path;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};
use scarce_core::state;
use scarce_engine::Engine;
use scarce_engine::clock::ManualClock;
use scarce_engine_embedded::{self as embedded, ClockChoice, Port, RecoveryProgress};

use super::{Doors, Serve, stop_on_signals};
use crate::cli::{Ended, Exit, Failed};
use crate::gateway::resp::Reactor;
use crate::pipeline::Pipeline;
use crate::settings::Settings;

pub(super) fn run(
    options: &Serve,
    settings: &Settings,
    doors: Doors,
    state: state::StateSettings,
    manual_clock: Option<&ManualClock>,
) -> Ended {
    let usual = embedded::Settings::default();
    let engine_settings = embedded::Settings {
        partitions: settings.partitions,
        state,
        segment_bytes: settings.segment_mib << 20,
        snapshot_bytes: settings.snapshot_mib << 20,
        clock: match manual_clock {
            Some(clock) => ClockChoice::Manual(clock.clone()),
            None => ClockChoice::System { accept_leap: options.accept_clock },
        },
        outflow_lag_max: settings.outflow_lag_max.unwrap_or(usual.outflow_lag_max),
        ..usual
    };
    let recovered = recover(&settings.data, &engine_settings)?;
    let mut shared = None;
    let (engine, running) = recovered.start(|_, engine| {
        let engine: Arc<dyn Engine> = engine.clone();
        let shared = shared.get_or_insert_with(|| doors.shared(engine, manual_clock.cloned()));
        Ok(Box::new(Reactor::new(doors.resp.try_clone()?, shared.clone())?) as Box<dyn Port>)
    })?;
    let engine: Arc<dyn Engine> = engine;
    let pipeline = Arc::new(Pipeline::start(&engine, settings)?);
    stop_on_signals(running.stop_handle(), pipeline.clone())?;
    let http = doors.open_up(engine, &pipeline, &format!("data {}", settings.data.display()))?;
    let ended = running.join();
    if let Some(http) = http {
        http.shut_down();
    }
    pipeline.stop();
    ended?;
    Ok(Exit::Done)
}

fn recover(data: &Path, settings: &embedded::Settings) -> Result<embedded::Recovered, Failed> {
    let style = ProgressStyle::with_template("recovering {bar:40} {bytes}/{total_bytes} {bytes_per_sec}");
    let bar = ProgressBar::new(0);
    if let Ok(style) = style {
        bar.set_style(style);
    }
    let recovered = embedded::open(data, settings, &mut |progress: RecoveryProgress| {
        bar.set_length(progress.bytes_total);
        bar.set_position(progress.bytes_done);
    });
    bar.finish_and_clear();
    Ok(recovered?)
}
