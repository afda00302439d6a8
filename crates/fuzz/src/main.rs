//! The program that libFuzzer drives. `SCARCE_FUZZ` names the target, `SCARCE_FUZZ_INPUTS` the folder
//! for its examples, where libFuzzer looks for the first inputs. Without `SCARCE_FUZZ` it prints the targets.

#![no_main]
#![allow(
    unsafe_code,
    clippy::panic,
    reason = "the macro defines the function that libFuzzer calls; a fault ends the run"
)]

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use scarce_fuzz::{TARGETS, Target};

const TARGET_VARIABLE: &str = "SCARCE_FUZZ";

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var(TARGET_VARIABLE).unwrap_or_default();
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| {
        let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        panic!("SCARCE_FUZZ names no target: '{name}'; known are {}", known.join(", "))
    })
});

/// Before libFuzzer looks at anything.
fn begin() {
    if std::env::var_os(TARGET_VARIABLE).is_none() {
        let mut out = std::io::stdout().lock();
        let printed =
            TARGETS.iter().try_for_each(|target| writeln!(out, "{}\t{}", target.name, target.about));
        std::process::exit(i32::from(printed.is_err()));
    }
    write_examples();
}

/// Writes the examples before libFuzzer reads the folder.
fn write_examples() {
    let Some(folder) = std::env::var_os("SCARCE_FUZZ_INPUTS").map(PathBuf::from) else { return };
    for (at, example) in (TARGET.examples)().iter().enumerate() {
        let path = folder.join(format!("example-{at}"));
        std::fs::write(&path, example).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

libfuzzer_sys::fuzz_target!(
    init: begin(),
    |bytes: &[u8]| (TARGET.check)(bytes)
);
