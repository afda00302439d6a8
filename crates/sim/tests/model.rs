//! The core against the model: random sequences, sequences that once differed, and a check that the
//! comparison notices planted differences.
#![allow(clippy::print_stdout, reason = "a failed run says from which seed it began")]

use scarce_core::outcome::{Code, Outcome};
use scarce_core::state::StateSettings;
use scarce_sim::compare::{Comparison, Coverage, report};
use scarce_sim::random::Sequence;

/// The length of the random sequences.
const STEPS: usize = 200;

/// Codes that no sequence of commands to one intact partition ever returns.
const OUT_OF_REACH: &[Code] =
    &[Code::CrossPartition, Code::Unavailable, Code::Unknown, Code::Migrated, Code::StockInconsistent];

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn core_and_model_agree_and_every_outcome_is_met() {
    let (first, count) = (number("SCARCE_SEED", 1), number("SCARCE_SEQUENCES", 300));
    println!("seeds from {first}, {count} sequences");
    let (comparison, mut coverage) = (Comparison::default(), Coverage::new());
    let mut reports = Vec::new();
    for seed in first..first + count {
        let sequence = Sequence::random(seed, STEPS);
        if comparison.run(&sequence, &mut coverage).is_err() {
            reports.push(format!("seed {seed}: {}", report(&comparison, &sequence)));
        }
        if reports.len() as u64 == number("SCARCE_REPORTS", 1) {
            break;
        }
    }
    assert!(reports.is_empty(), "{}", reports.join("\n"));
    let missing: Vec<_> = Code::ALL
        .iter()
        .filter(|code| !OUT_OF_REACH.contains(code) && !coverage.contains_key(code))
        .map(|code| code.word())
        .collect();
    assert!(missing.is_empty() || count < 300, "never met: {missing:?} in {coverage:?}");
}

#[test]
fn sequences_that_once_differed_agree() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sequences");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let mut differences = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let sequence = Sequence::parse(&text).unwrap_or_else(|| panic!("{} is no sequence", file.display()));
        if let Err(difference) = Comparison::default().run(&sequence, &mut Coverage::new()) {
            differences.push(format!("{}: {difference}", file.display()));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn a_seed_gives_one_sequence_and_its_text_gives_it_again() {
    for seed in 0..20 {
        let sequence = Sequence::random(seed, STEPS);
        assert_eq!(sequence, Sequence::random(seed, STEPS));
        assert_ne!(sequence.steps, Sequence::random(seed + 1, STEPS).steps);
        let read = Sequence::parse(&sequence.to_string()).expect("what was written");
        assert_eq!((&read.steps, &read.settings), (&sequence.steps, &sequence.settings));
    }
}

#[test]
fn a_planted_difference_is_found_and_shrunk() {
    fn alter(outcome: &mut Outcome) {
        if outcome.code == Code::LimitReached {
            outcome.facts[1] = 0_u64.into();
        }
    }
    let comparison = Comparison { alter, ..Comparison::default() };
    let found = (1..50)
        .map(|seed| Sequence::random(seed, STEPS))
        .find(|sequence| comparison.run(sequence, &mut Coverage::new()).is_err());
    let (shortest, difference) = scarce_sim::compare::shrink(&comparison, &found.expect("a difference"));
    assert!(shortest.steps.len() < 30, "{shortest}");
    assert_eq!(difference.map(|difference| difference.step + 1), Some(shortest.steps.len()));
}

#[test]
fn a_model_of_other_settings_is_told_apart() {
    let wrong: [fn(&mut StateSettings); 6] = [
        |settings| settings.retention_ms += 1,
        |settings| settings.window_ms += 1,
        |settings| settings.operations_max = 3,
        |settings| settings.due_per_command_max = 1,
        |settings| settings.receipts_per_audit_max = 1,
        |settings| settings.receipt_retention_ms += 1,
    ];
    for (at, change) in wrong.into_iter().enumerate() {
        let told = (1..400).any(|seed| {
            let sequence = Sequence::random(seed, STEPS);
            let mut settings = sequence.settings.clone();
            change(&mut settings);
            let comparison = Comparison { model_settings: Some(settings), ..Comparison::default() };
            comparison.run(&sequence, &mut Coverage::new()).is_err()
        });
        assert!(told, "the wrong setting in place {at} was not noticed");
    }
}
