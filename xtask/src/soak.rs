//! `cargo xtask soak`: the seeded simulation, then the kill loop, each for half of the time.

use std::process::Command;
use std::time::{Duration, Instant};

use clap::Args;

use crate::{Ended, process, screen};

/// What to run, and for how long.
#[derive(Debug, Args)]
pub struct Options {
    /// Seed of all random choices; the same seed repeats the same run.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How long all of it takes.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..))]
    minutes: u64,
    /// Run only this one, for all of the time.
    #[arg(long, value_parser = ["simulation", "kill-loop"])]
    only: Option<String>,
}

/// Runs the programs one after the other.
pub fn run(options: &Options) -> Ended {
    let wanted = |name: &str| options.only.as_deref().is_none_or(|only| only == name);
    let minutes = if options.only.is_some() { options.minutes } else { options.minutes / 2 };
    let simulated = !wanted("simulation") || simulation(options.seed, minutes)?;
    let killed = !wanted("kill-loop") || kill_loop(options.seed, minutes)?;
    Ok(simulated && killed)
}

/// The core against the naive model, which watches the time itself.
fn simulation(seed: u64, minutes: u64) -> Ended {
    let mut command = Command::new("cargo");
    command.args(["run", "--release", "--package", "scarce-sim", "--bin", "soak", "--"]);
    command.args(["--seed", &seed.to_string(), "--minutes", &minutes.to_string()]);
    step(&mut command)
}

/// The real server, killed again and again, with one seed after another until the time is up.
fn kill_loop(seed: u64, minutes: u64) -> Ended {
    let (started, time) = (Instant::now(), Duration::from_secs(60 * minutes));
    for seed in seed.. {
        let mut command = Command::new("cargo");
        command.args([
            "test",
            "--release",
            "--package",
            "scarce",
            "--test",
            "kill_loop",
            "--",
            "--nocapture",
        ]);
        command.env("SCARCE_SEED", seed.to_string()).env("SCARCE_KILLS", "100");
        if !step(&mut command)? {
            return Ok(false);
        }
        if started.elapsed() >= time {
            break;
        }
    }
    Ok(true)
}

fn step(command: &mut Command) -> Ended {
    let line = process::shown(command);
    screen::say(&format!("==> {line}"));
    let succeeded = command.current_dir(crate::place::root()).status()?.success();
    if !succeeded {
        screen::say(&format!("failed; to repeat it: {line}"));
    }
    Ok(succeeded)
}
