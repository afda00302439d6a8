//! The steps of the web console: its code, and its pages in a real browser on a real server.

use std::error::Error;
use std::process::Command;

use super::packages;
use super::step::{Log, Tally};
use crate::{console, place};

type Ended = Result<Tally, Box<dyn Error>>;

/// Its types, its unit tests, and that the files in the binary are built from it.
pub fn code(log: &mut Log) -> Ended {
    packages::program(log, "node", &["nodejs"])?;
    packages::program(log, "npm", &["npm"])?;
    console::install()?;
    let types = log.check(&mut console::npm(&["run", "check"]))?;
    let units = log.tests(&mut console::npm(&["test"]))?;
    let mut check = Command::new(place::xtask());
    let files = log.check(check.args(["console", "--check"]).current_dir(place::root()))?;
    let parts = [types, units, files];
    Ok(Tally {
        passed: parts.iter().map(|part| part.passed).sum(),
        failed: parts.iter().map(|part| part.failed).sum(),
        skipped: None,
    })
}

/// Its pages.
pub fn pages(log: &mut Log) -> Ended {
    packages::program(log, "node", &["nodejs"])?;
    packages::program(log, "npm", &["npm"])?;
    packages::program(log, "chromium", &["chromium"])?;
    console::install()?;
    let tally = log.tests(console::npm(&["run", "browse"]).env("SCARCE_BINARY", place::scarce()))?;
    if tally == Tally::default() { Err("no test was run".into()) } else { Ok(tally) }
}
