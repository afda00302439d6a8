//! Plays the conformance tables against the state machine alone.

use std::path::Path;

use scarce_sim::conformance::{CoreTarget, Suite, coverage};

fn suite() -> Suite {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    Suite::load(&folder).unwrap_or_else(|failures| {
        let lines: Vec<String> = failures.iter().map(ToString::to_string).collect();
        panic!("{}", lines.join("\n"))
    })
}

#[test]
fn the_state_machine_answers_as_the_tables_say() {
    let report = suite().run(&mut CoreTarget::new());
    eprintln!("{report}");
    assert!(report.failures.is_empty(), "{} rows are not as the tables say", report.failures.len());
}

#[test]
fn the_tables_show_every_command_refusal_order_and_event() {
    let coverage = coverage::missing(&suite());
    eprintln!("{coverage}");
    assert!(coverage.mistakes.is_empty() && coverage.missing.is_empty(), "the tables are not complete");
}
