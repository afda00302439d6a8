//! Compares the core with the model for a given time: `soak --seed 1 --minutes 60`.

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let option = |name: &str, usual: u64| {
        let at = words.iter().position(|word| word == name);
        at.and_then(|at| words.get(at + 1)).map_or(Some(usual), |word| word.parse().ok())
    };
    let (Some(seed), Some(minutes)) = (option("--seed", 1), option("--minutes", 1)) else {
        let _ = writeln!(std::io::stderr(), "usage: soak [--seed n] [--minutes n]");
        return ExitCode::FAILURE;
    };
    let mut out = std::io::stdout();
    let soak = scarce_sim::compare::soak(seed, minutes, |soak| {
        if soak.sequences.is_multiple_of(1_000) {
            let _ = writeln!(std::io::stdout(), "{} sequences agree", soak.sequences);
        }
    });
    for (code, count) in &soak.coverage {
        let _ = writeln!(out, "{:>12} {}", count, code.word());
    }
    let _ = writeln!(out, "{} sequences from seed {seed}", soak.sequences);
    match soak.difference {
        None => ExitCode::SUCCESS,
        Some(difference) => {
            let _ = writeln!(out, "{difference}");
            ExitCode::FAILURE
        }
    }
}
