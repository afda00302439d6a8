//! Random commands on all resources: the digest of what the mirror's keys hold is the engine's, at the same sequence.

use scarce_engine::Request;
use scarce_sim::compare::envelope;
use scarce_sim::random::{Sequence, Step};

use super::bench::{Bench, server};

const STEPS: usize = 200;

/// After how many steps digests are compared.
const COMPARED_EVERY: usize = 40;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn play(bench: &Bench, step: &Step) {
    match step {
        Step::Reload | Step::Fold => {}
        Step::Expire { clock, limit } => {
            bench.clock.set(*clock);
            let _ = bench.engine.call(0, vec![Request::Expire(*limit)]);
        }
        Step::Submit { clock, namespace, options, lines } => {
            bench.clock.set(*clock);
            if let Ok(envelope) = envelope(namespace, options, lines) {
                bench.submit(&envelope);
            }
        }
    }
}

#[test]
fn the_keys_give_the_digest_of_the_engine_after_random_commands() {
    let server = server();
    let url = server.url();
    for seed in number("SCARCE_SEED", 1)..number("SCARCE_SEED", 1) + number("SCARCE_SEQUENCES", 12) {
        server.ask::<()>(&["FLUSHALL"]).expect("an empty server");
        let sequence = Sequence::random(seed, STEPS);
        let mut bench = Bench::new(&sequence.settings);
        let mut mirrored = bench.start(&url);
        for (at, step) in sequence.steps.iter().enumerate() {
            if matches!(step, Step::Reload) && at % 3 == 0 {
                mirrored.stop(&bench);
                bench = bench.restart();
                mirrored = bench.start(&url);
            }
            play(&bench, step);
            if at % COMPARED_EVERY == 0 {
                mirrored.check(&bench);
            }
        }
        mirrored.check(&bench);
        mirrored.stop(&bench);
    }
}
