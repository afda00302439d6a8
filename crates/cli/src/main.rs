//! The `scarce` binary: parses the command line and runs the subcommand.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use scarce::{Arguments, run};

/// Serves the owner's small allocations faster than the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(exit) => exit.into(),
        Err(failed) => {
            if !failed.message.is_empty() {
                // If stderr is gone, there is nobody left to tell.
                let _ = writeln!(std::io::stderr(), "scarce: {}", failed.message);
            }
            failed.exit.into()
        }
    }
}
