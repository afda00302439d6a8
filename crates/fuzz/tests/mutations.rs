//! A cut of fuzzing for every run of the tests: examples, and examples that were damaged at random.
//!
//! `SCARCE_SEED` and `SCARCE_ROUNDS` choose other inputs and more of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use scarce_fuzz::{Mutations, TARGETS, Target};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// The examples, with what was found earlier.
fn examples(target: &Target) -> Vec<Vec<u8>> {
    let mut examples = (target.examples)();
    assert!(!examples.is_empty(), "{} has examples", target.name);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(target.name);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        examples.extend(std::fs::read(entry.path()));
    }
    examples
}

/// Checks an input; says which one it was if it shows a fault.
fn check(target: &Target, bytes: &[u8], origin: &str) {
    if let Err(fault) = catch_unwind(AssertUnwindSafe(|| (target.check)(bytes))) {
        let file = std::env::temp_dir().join(format!("scarce-fuzz-{}-{}", target.name, std::process::id()));
        let kept = std::fs::write(&file, bytes).is_ok();
        let at = if kept { file.display().to_string() } else { format!("{bytes:02x?}") };
        eprintln!(
            "{}, {origin}: the input is {at}; keep it in crates/fuzz/examples/{}",
            target.name, target.name
        );
        std::panic::resume_unwind(fault);
    }
}

fn run(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    // Other inputs each time; the seed is in the message.
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.subsec_nanos());
    let seed = number("SCARCE_SEED").unwrap_or(u64::from(nanos));
    let rounds = number("SCARCE_ROUNDS").unwrap_or(50).saturating_mul(target.weight as u64);
    let examples = examples(target);
    for example in &examples {
        check(target, example, "an example");
    }
    for (round, bytes) in (0..rounds).zip(Mutations::new(examples, seed)) {
        check(target, &bytes, &format!("SCARCE_SEED={seed}, round {round}"));
    }
}

/// A test for each target, so that they run side by side; the last one finds forgotten targets.
macro_rules! targets {
    ($($name:ident),*) => {
        $(#[test] fn $name() { run(stringify!($name)); })*
        #[test]
        fn every_target_has_a_test() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

targets!(request, backup, body, commands, log, image, journal, snapshot, import);
