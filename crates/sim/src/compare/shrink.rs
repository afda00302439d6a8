//! Shrinks a sequence that differs, and searches for one continuously.

use std::time::{Duration, Instant};

use super::{Comparison, Coverage, Difference};
use crate::random::{Sequence, Step};

/// The number of steps of a sequence in a soak.
const SOAK_STEPS: usize = 400;

/// Drops every step that can be dropped while the sequence still differs.
#[must_use]
pub fn shrink(comparison: &Comparison, sequence: &Sequence) -> (Sequence, Option<Difference>) {
    let differs = |sequence: &Sequence| comparison.run(sequence, &mut Coverage::new()).err();
    let mut best = sequence.clone();
    let Some(mut difference) = differs(&best) else { return (best, None) };
    best.steps.truncate(difference.step + 1);
    let mut size = best.steps.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        let mut shorter = false;
        while at < best.steps.len() {
            let mut less = best.clone();
            less.steps.drain(at..(at + size).min(best.steps.len()));
            if let Some(found) = differs(&less) {
                (best, difference, shorter) = (less, found, true);
                best.steps.truncate(difference.step + 1);
            } else {
                at += size;
            }
        }
        if size == 1 && !shorter {
            break;
        }
        size = (size / 2).max(1);
    }
    simplify(&differs, &mut best, &mut difference);
    (best, Some(difference))
}

/// Drops lines of batches and options that do not matter.
fn simplify(
    differs: &impl Fn(&Sequence) -> Option<Difference>,
    best: &mut Sequence,
    difference: &mut Difference,
) {
    for at in 0..best.steps.len() {
        let Step::Submit { lines, .. } = &best.steps[at] else { continue };
        for line in (0..=lines.len()).rev() {
            let mut less = best.clone();
            if let Step::Submit { lines, options, .. } = &mut less.steps[at] {
                match lines.len() {
                    _ if line == lines.len() => options.clear(),
                    0 | 1 => continue,
                    _ => drop(lines.remove(line)),
                }
            }
            if let Some(found) = differs(&less).filter(|found| found.step + 1 == less.steps.len()) {
                (*best, *difference) = (less, found);
            }
        }
    }
}

/// A difference with its shortest sequence, for printing and for a file.
#[must_use]
pub fn report(comparison: &Comparison, sequence: &Sequence) -> String {
    match shrink(comparison, sequence) {
        (shortest, Some(difference)) => format!("{difference}\n{shortest}"),
        (_, None) => format!("differs no more\n{sequence}"),
    }
}

/// The result of a soak.
#[derive(Debug, Default)]
pub struct Soak {
    /// The number of sequences run.
    pub sequences: u64,
    /// How often each outcome was seen.
    pub coverage: Coverage,
    /// The first difference with its shortest sequence.
    pub difference: Option<String>,
}

/// Compares sequence after sequence, from `seed` on, for the given number of minutes or until a
/// difference is found. `progress` is called after each.
pub fn soak(seed: u64, minutes: u64, mut progress: impl FnMut(&Soak)) -> Soak {
    let (comparison, started) = (Comparison::default(), Instant::now());
    let mut soak = Soak::default();
    while started.elapsed() < Duration::from_secs(minutes * 60) && soak.difference.is_none() {
        let sequence = Sequence::random(seed.wrapping_add(soak.sequences), SOAK_STEPS);
        if comparison.run(&sequence, &mut soak.coverage).is_err() {
            soak.difference = Some(report(&comparison, &sequence));
        }
        soak.sequences += 1;
        progress(&soak);
    }
    soak
}
