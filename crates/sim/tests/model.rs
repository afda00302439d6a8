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
    for seed in seed..seed + count {
        let sequence = Sequence::random(seed, 200);
        if comparison.run(&sequence, &mut coverage).is_err() {
            panic!("seed {seed}: {}", report(&comparison, &sequence));
        }
    }
    for (code, count) in coverage {
        println!("{count} {}", code.word());
    }
}
