//! `cargo xtask soak`: the seeded simulation, then the kill loop, each for half of the time.

use std::process::Command;

use clap::Args;

use crate::{Ended, place, process, screen};

/// What to run, and for how long.
#[derive(Debug, Args)]
pub struct Options {
    /// Decides all that is left to chance; the same seed does the same again.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How long all of it takes.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    minutes: u64,
    /// Run only this one.
    #[arg(long, value_name = "BIN")]
    only: Option<String>,
}

/// The programs of the simulation's package.
const BINS: [&str; 2] = ["soak", "kill_loop"];

/// Runs the programs one after the other.
pub fn run(options: &Options) -> Ended {
    let bins: Vec<&str> =
        BINS.into_iter().filter(|bin| options.only.as_deref().is_none_or(|only| only == *bin)).collect();
    let share = (options.minutes / bins.len().max(1) as u64).max(1);
    process::must(cargo().args(["build", "--release", "--package", "scarce"]))?;
    let mut succeeded = !bins.is_empty();
    for bin in bins {
        let mut command = cargo();
        command.args(["run", "--release", "--package", "scarce-sim", "--bin", bin, "--"]);
        command.args(["--seed", &options.seed.to_string(), "--minutes", &share.to_string()]);
        command.env("SCARCE_BIN", place::scarce());
        let line = process::shown(&command);
        screen::say(&format!("==> {line}"));
        if !command.status()?.success() {
            screen::say(&format!("{bin} failed with seed {}; again with: {line}", options.seed));
            succeeded = false;
        }
    }
    Ok(succeeded)
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(place::root());
    command
}
