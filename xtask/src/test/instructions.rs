//! The instructions per command against those that are kept in the repository.

use std::error::Error;

use super::packages;
use super::step::{Log, Tally};
use crate::bench::instructions::{self, Counts};

/// Compares, where valgrind is installed and the compiler is the one that the counts were kept with.
pub fn step(log: &mut Log) -> Result<Tally, Box<dyn Error>> {
    if let Err(error) = packages::program(log, "valgrind", &["valgrind"]) {
        log.write(&error.to_string());
        return Ok(Tally::skipped("valgrind is not installed"));
    }
    let kept = Counts::read(&std::fs::read_to_string(instructions::file())?)?;
    let counts = Counts::count()?;
    if !counts.is_comparable(&kept) {
        let reason = format!(
            "counted with {}, not with this compiler; run 'cargo xtask bench --instructions --write'",
            kept.compiler()
        );
        return Ok(Tally::skipped(&reason));
    }
    let mut tally = Tally::default();
    for comparison in counts.compare(&kept) {
        log.write(&comparison.line);
        tally.passed += usize::from(!comparison.has_failed);
        tally.failed += usize::from(comparison.has_failed);
    }
    if tally.failed > 0 {
        log.write(&instructions::advice());
    }
    Ok(tally)
}
