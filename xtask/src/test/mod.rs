//! `cargo xtask test`: installs what the tests need, and runs all of them, in steps.

mod binaries;
mod cargo;
mod chart;
mod clients;
mod console;
mod install;
mod instructions;
mod libraries;
mod packages;
mod releases;
mod servers;
mod step;
mod tools;
mod tour;
mod unsteady;

use std::time::{Duration, Instant};

use clap::Args;

use crate::{Ended, screen};
use step::{Log, PHASES, STEPS, Step, Tally, seconds};

/// What to run.
#[derive(Debug, Args)]
pub struct Options {
    /// Run only this step; may be given several times.
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// List the steps and run none.
    #[arg(long)]
    list: bool,
}

/// A completed step.
struct Done {
    step: &'static Step,
    tally: Tally,
    took: Duration,
}

/// Runs the steps, even after one has failed, and ends with a table of them.
pub fn run(options: &Options) -> Ended {
    if options.list {
        let rows: Vec<_> = STEPS.iter().map(|step| format!("{:<18}{}", step.name, step.about)).collect();
        screen::say(&rows.join("\n"));
        return Ok(true);
    }
    if let Some(unknown) = options.only.iter().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        return Err(format!("there is no step '{unknown}'; --list names all").into());
    }
    let is_wanted = |name: &str| options.only.is_empty() || options.only.iter().any(|wanted| wanted == name);
    let mut done = Vec::new();
    for lanes in PHASES {
        let steps = |lane| STEPS.iter().filter(move |step| step.lane == lane && is_wanted(step.name));
        done.extend(run_beside(lanes.iter().map(|lane| steps(*lane).collect()).collect())?);
    }
    done.sort_by_key(|done| STEPS.iter().position(|step| step.name == done.step.name));
    Ok(conclude(&done))
}

/// Runs lanes side by side.
fn run_beside(lanes: Vec<Vec<&'static Step>>) -> std::io::Result<Vec<Done>> {
    std::thread::scope(|scope| {
        let running: Vec<_> = lanes.into_iter().map(|steps| scope.spawn(move || run_lane(&steps))).collect();
        let mut done = Vec::new();
        for lane in running {
            done.extend(lane.join().map_err(|_| std::io::Error::other("a lane panicked"))??);
        }
        Ok(done)
    })
}

/// Runs steps one after the other.
fn run_lane(steps: &[&'static Step]) -> std::io::Result<Vec<Done>> {
    steps.iter().map(|step| run_step(step)).collect()
}

fn run_step(step: &'static Step) -> std::io::Result<Done> {
    screen::say(&format!("==> {}: {}", step.name, step.about));
    let mut log = Log::new(step.name)?;
    let started = Instant::now();
    let tally = (step.run)(&mut log).unwrap_or_else(|error| {
        log.write(&error.to_string());
        Tally { failed: 1, ..Tally::default() }
    });
    let took = started.elapsed();
    let mut said = Vec::new();
    if tally.failed > 0 {
        said.push(log.shown());
        said.push(format!("    the whole output: {}", log.path().display()));
        said.extend(
            log.commands_to_repeat().iter().map(|command| format!("    to repeat it:     {command}")),
        );
        said.push(format!("    this step alone:  cargo xtask test --only {}", step.name));
    }
    said.push(format!("<== {}: {} in {}", step.name, tally.verdict(), seconds(took)));
    // Printed in one piece, so that no other step's lines come in between.
    screen::say(&said.join("\n"));
    Ok(Done { step, tally, took })
}

/// Prints the table and the closing line. Returns whether nothing failed.
fn conclude(done: &[Done]) -> bool {
    let head = ["step", "passed", "failed", "time"].map(str::to_owned).to_vec();
    let rows = done.iter().map(|done| {
        let Tally { passed, failed, skipped } = &done.tally;
        let note = skipped.as_ref().map(|reason| format!("skipped: {reason}")).unwrap_or_default();
        vec![done.step.name.to_owned(), passed.to_string(), failed.to_string(), seconds(done.took), note]
    });
    let table: Vec<_> = std::iter::once(head).chain(rows).collect();
    screen::say(&format!("\n{}\n", screen::table(&table)));
    let passed: usize = done.iter().map(|done| done.tally.passed).sum();
    let failed: usize = done.iter().map(|done| done.tally.failed).sum();
    screen::say(&format!("{passed} passed, {failed} failed"));
    failed == 0
}
