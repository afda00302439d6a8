//! The steps that cargo does.

use std::error::Error;
use std::process::Command;

use super::servers;
use super::step::{Log, Tally};
use crate::place;

type Ended = Result<Tally, Box<dyn Error>>;

fn cargo(words: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(words).current_dir(place::root()).env("CARGO_TERM_COLOR", "never");
    command
}

pub fn format(log: &mut Log) -> Ended {
    log.check(&mut cargo(&["fmt", "--all", "--check"]))
}

pub fn lints(log: &mut Log) -> Ended {
    log.check(&mut cargo(&[
        "clippy",
        "--release",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ]))
}

pub fn house_rules(log: &mut Log) -> Ended {
    log.check(&mut cargo(&["xtask", "lint"]))
}

pub fn build(log: &mut Log) -> Ended {
    log.check(&mut cargo(&["build", "--release", "--workspace", "--all-targets"]))
}

pub fn tests(log: &mut Log) -> Ended {
    let jars = servers::all(log)?;
    let words = ["test", "--release", "--workspace", "--no-fail-fast", "--lib", "--bins", "--tests"];
    log.tests(cargo(&words).env(servers::JARS_VARIABLE, jars))
}

pub fn doc_tests(log: &mut Log) -> Ended {
    log.tests(&mut cargo(&["test", "--release", "--workspace", "--doc"]))
}

pub fn reference(log: &mut Log) -> Ended {
    log.check(&mut cargo(&["xtask", "reference", "--check"]))
}

pub fn deny(log: &mut Log) -> Ended {
    if !place::has_program("cargo-deny") {
        return Ok(Tally::skipped("cargo-deny is not at hand"));
    }
    // Advisories come from a repository that may be out of reach; licenses and sources need the crates alone.
    log.check(&mut cargo(&["deny", "check", "bans", "licenses", "sources"]))
}
