//! `cargo xtask test`: installs what the tests need, and runs all of them, step by step.

mod cargo;
mod clients;
mod packages;
mod releases;
mod servers;
mod step;
mod tools;
mod tour;

use std::time::{Duration, Instant};

use clap::Args;

use crate::{Ended, screen};
use step::{Log, STEPS, Step, Tally};

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

/// A step that was run.
struct Done {
    step: &'static Step,
    tally: Tally,
    took: Duration,
}

/// Runs the steps, also after one has failed, and ends with a table of them.
pub fn run(options: &Options) -> Ended {
    if options.list {
        let rows: Vec<_> = STEPS.iter().map(|step| format!("{:<16}{}", step.name, step.about)).collect();
        screen::say(&rows.join("\n"));
        return Ok(true);
    }
    if let Some(unknown) = options.only.iter().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        return Err(format!("there is no step '{unknown}'; --list names all").into());
    }
    let wanted = |step: &&Step| options.only.is_empty() || options.only.iter().any(|name| name == step.name);
    let steps: Vec<&'static Step> = STEPS.iter().filter(wanted).collect();
    let mut done = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        screen::say(&format!("==> {}/{} {}: {}", at + 1, steps.len(), step.name, step.about));
        done.push(run_step(step)?);
    }
    Ok(conclude(&done))
}

fn run_step(step: &'static Step) -> Result<Done, Box<dyn std::error::Error>> {
    let mut log = Log::new(step.name)?;
    let started = Instant::now();
    let tally = (step.run)(&mut log).unwrap_or_else(|error| {
        log.write(&error.to_string());
        Tally { failed: 1, ..Tally::default() }
    });
    let took = started.elapsed();
    if tally.failed > 0 {
        screen::say(&log.shown());
        screen::say(&format!("    the whole output: {}", log.path().display()));
        if let Some(command) = log.last_command() {
            screen::say(&format!("    the command:      {command}"));
        }
        screen::say(&format!("    this step alone:  cargo xtask test --only {}", step.name));
    }
    screen::say(&format!("    {} in {}", tally.verdict(), seconds(took)));
    Ok(Done { step, tally, took })
}

/// Prints the table and the closing line. Gives whether nothing failed.
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

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}
