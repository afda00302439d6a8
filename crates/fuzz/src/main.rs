//! The program that libFuzzer drives. `SCARCE_FUZZ` names the target, `SCARCE_FUZZ_INPUTS` the folder
//! for its examples, where libFuzzer looks for the first inputs.

#![no_main]
#![allow(
    unsafe_code,
    clippy::panic,
    reason = "the macro defines the function that libFuzzer calls; a fault ends the run"
)]

use std::path::PathBuf;
use std::sync::LazyLock;

use scarce_fuzz::{TARGETS, Target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("SCARCE_FUZZ").unwrap_or_default();
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| {
        let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        panic!("SCARCE_FUZZ names no target: '{name}'; known are {}", known.join(", "))
    })
});

/// Writes the examples before libFuzzer reads the folder.
fn write_examples() {
    let Some(folder) = std::env::var_os("SCARCE_FUZZ_INPUTS").map(PathBuf::from) else { return };
    for (at, example) in (TARGET.examples)().iter().enumerate() {
        let path = folder.join(format!("example-{at}"));
        std::fs::write(&path, example).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

libfuzzer_sys::fuzz_target!(
    init: write_examples(),
    |bytes: &[u8]| (TARGET.check)(bytes)
);
