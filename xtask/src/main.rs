//! Project tasks: `cargo xtask test`, `lint`, `reference`, `console`, `soak`, `fuzz`, `bench`, `package`.

mod bench;
mod console;
mod fuzz;
mod lint;
mod package;
mod place;
mod process;
mod reference;
mod screen;
mod soak;
mod test;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Runs the tests and lints, generates the reference, soaks, fuzzes and benchmarks.
#[derive(Debug, Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Install what the tests need, and run all of them.
    Test(test::Options),
    /// Check what clippy does not: lengths, words, commits, dependencies.
    Lint(lint::Options),
    /// Write docs/reference/{commands,codes,events}.md and docs/schemas from the tables in the code.
    Reference(reference::Options),
    /// Build the web console into console/dist, which the binary embeds.
    Console(console::Options),
    /// Run the seeded simulation and the kill loop for a while.
    Soak(soak::Options),
    /// Let libFuzzer look for bytes from outside that break what reads them.
    Fuzz(fuzz::Options),
    /// Compare with Redis on this machine, in turn, by redis-benchmark.
    Bench(bench::Options),
    /// Make the packages that people install: Debian's, archives, a list of what is in them, checksums.
    Package(package::Options),
}

/// The end of a task: whether all went well, or why it could not continue.
type Ended = Result<bool, Box<dyn Error>>;

fn main() -> ExitCode {
    let ended = match Arguments::parse().task {
        Task::Test(options) => test::run(&options),
        Task::Lint(options) => lint::run(&options),
        Task::Reference(options) => reference::run(&options),
        Task::Console(options) => console::run(&options),
        Task::Soak(options) => soak::run(&options),
        Task::Fuzz(options) => fuzz::run(&options),
        Task::Bench(options) => bench::run(&options),
        Task::Package(options) => package::run(&options),
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            screen::warn(&format!("xtask: {error}"));
            ExitCode::FAILURE
        }
    }
}
