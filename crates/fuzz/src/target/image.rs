//! The state in a snapshot.

use scarce_core::machine::Machine;
use scarce_core::state::StateSettings;

use super::{Target, commands};

pub(super) const TARGET: Target = Target {
    name: "image",
    about: "the state of a partition, as in snapshots",
    examples,
    check,
    weight: 200,
};

fn examples() -> Vec<Vec<u8>> {
    commands::scripts().iter().map(|script| written(&commands::run(script.as_bytes()).0)).collect()
}

fn written(machine: &Machine) -> Vec<u8> {
    let mut bytes = Vec::new();
    machine.put(&mut bytes);
    bytes
}

fn check(bytes: &[u8]) {
    let Ok(machine) = Machine::load(StateSettings::default(), bytes) else { return };
    let again = Machine::load(StateSettings::default(), &written(&machine));
    let digest = again.map(|again| again.state().digest(None)).ok();
    assert_eq!(digest, Some(machine.state().digest(None)), "written and loaded again");
}
