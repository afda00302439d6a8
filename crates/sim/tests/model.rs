//! The core against the model.

use scarce_sim::compare::{Comparison, Coverage, report};
use scarce_sim::random::Sequence;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn core_and_model_agree() {
    let (seed, count) = (number("SCARCE_SEED", 1), number("SCARCE_SEQUENCES", 300));
    println!("seeds from {seed}, {count} sequences");
    let (comparison, mut coverage) = (Comparison::default(), Coverage::new());
    let mut reports = Vec::new();
    for seed in seed..seed + count {
        let sequence = Sequence::random(seed, 200);
        if comparison.run(&sequence, &mut coverage).is_err() {
            reports.push(format!("seed {seed}: {}", report(&comparison, &sequence)));
        }
        if reports.len() as u64 == number("SCARCE_REPORTS", 1) {
            break;
        }
    }
    assert!(reports.is_empty(), "{}", reports.join("\n"));
    for (code, count) in coverage {
        println!("{count} {}", code.word());
    }
}
