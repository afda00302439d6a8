//! The steps that run cargo.

use std::error::Error;
use std::process::Command;

use super::binaries::{self, Run};
use super::step::{Log, Tally};
use super::{packages, servers};
use crate::place;

type Ended = Result<Tally, Box<dyn Error>>;

/// The features that everything is built with, so that every part is tested: they are those of the packages, with the
/// system's OpenSSL.
pub const FEATURES: [&str; 2] = ["--features", "scarce/kafka-tls,scarce/s3"];

fn cargo(words: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(words).current_dir(place::root()).env("CARGO_TERM_COLOR", "never");
    command
}

pub fn format(log: &mut Log) -> Ended {
    log.check(&mut cargo(&["fmt", "--all", "--check"]))
}

/// What `cargo clippy -- --deny warnings` tells its driver.
const CLIPPY_ARGUMENTS: &str = "--deny__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

/// Runs beside the tests, at a low priority. Lints with what was compiled for them: `cargo clippy` would check all
/// dependencies once more.
pub fn lints(log: &mut Log) -> Ended {
    let mut command = Command::new("nice");
    command.args(["cargo", "build", "--release", "--workspace", "--all-targets"]).args(FEATURES);
    command.current_dir(place::root()).env("CARGO_TERM_COLOR", "never");
    command.env("RUSTC_WORKSPACE_WRAPPER", place::root().join("xtask/src/test/clippy.sh"));
    log.check(command.env("CLIPPY_ARGS", CLIPPY_ARGUMENTS))
}

/// A command that runs this program itself: cargo might compile it again, with only this package's features.
fn xtask(words: &[&str]) -> Command {
    let mut command = Command::new(place::xtask());
    command.args(words).current_dir(place::root());
    command
}

pub fn house_rules(log: &mut Log) -> Ended {
    log.check(&mut xtask(&["lint"]))
}

pub fn build(log: &mut Log) -> Ended {
    packages::openssl(log)?;
    let tally = log.check(cargo(&["build", "--release", "--workspace", "--all-targets"]).args(FEATURES))?;
    binaries::all(log)?;
    Ok(tally)
}

/// How many test binaries run at once: most wait for servers rather than compute.
const BINARIES_MAX: usize = 3;

pub fn tests(log: &mut Log) -> Ended {
    let jars = servers::all(log)?;
    let binaries = binaries::all(log)?;
    let variables = [(servers::JARS_VARIABLE, jars)];
    Ok(Run { filter: &[], variables: &variables, binaries_max: BINARIES_MAX }.all(log, &binaries))
}

pub fn doc_tests(log: &mut Log) -> Ended {
    log.tests(cargo(&["test", "--release", "--workspace", "--doc"]).args(FEATURES))
}

pub fn reference(log: &mut Log) -> Ended {
    log.check(&mut xtask(&["reference", "--check"]))
}

pub fn deny(log: &mut Log) -> Ended {
    if !place::has_program("cargo-deny") {
        return Ok(Tally::skipped("cargo-deny is not installed"));
    }
    // The advisories would need another download, which may be unreachable; these checks need only the crates.
    log.check(&mut cargo(&["deny", "check", "bans", "licenses", "sources"]))
}
