//! Snapshots that are written in slices while random commands go on are of the moment at which they were begun, byte
//! for byte.

use scarce_core::machine::{Machine, Outline, Slices, StateRow};
use scarce_core::markets::Order;
use scarce_core::state::StateSettings;
use scarce_core::types::Id;
use scarce_sim::compare::envelope;
use scarce_sim::random::{Random, Sequence, Step};

/// A snapshot under way, and what it must be.
struct Underway {
    slices: Slices,
    expected: Vec<u8>,
    digest: u128,
    written: Vec<u8>,
}

fn bytes(machine: &Machine) -> Vec<u8> {
    let mut out = Vec::new();
    machine.put(&mut out);
    out
}

fn take_step(machine: &mut Machine, step: &Step) {
    let mut log = Vec::new();
    match step {
        Step::Submit { clock, namespace, options, lines } => {
            if let Ok(envelope) = envelope(namespace, options, lines) {
                machine.dry_run(&envelope, *clock, &mut log);
                machine.submit(&envelope, *clock, &mut log);
            }
        }
        Step::Expire { clock, limit } => drop(machine.expire(*limit, *clock, &mut log)),
        Step::Reload | Step::Fold => {}
    }
}

/// Writes one more slice, and compares the snapshot when it is whole.
fn go_on(machine: &mut Machine, underway: Underway, rows: u64, settings: &StateSettings) -> Option<Underway> {
    let Underway { mut slices, expected, digest, mut written } = underway;
    if !machine.put_slice(&mut slices, rows, &mut written) {
        return Some(Underway { slices, expected, digest, written });
    }
    assert!(written == expected, "the snapshot of sequence {}", slices.sequence);
    let loaded = Machine::load(settings.clone(), &written).expect("a machine");
    assert!(bytes(&loaded) == expected, "what is loaded is what was written");
    check_outline(&loaded, &written, digest, settings);
    None
}

/// Gives the next piece of a snapshot, if there is one.
type Next<'a> = dyn FnMut(&mut Vec<u8>) -> bool + 'a;

/// A row without its place in the machine's memory, which an order has.
fn shown(row: &StateRow<'_>) -> String {
    match row {
        StateRow::Order { id, market, name, order } => {
            let Order { owner, side, price, remaining, filled, tif, stp, status, reason, ended_at, .. } =
                order;
            let figures = (owner, side, price, remaining, filled, tif, stp, status, reason, ended_at);
            format!("{id} {market:?} {name} {figures:?}")
        }
        row => format!("{row:?}"),
    }
}

/// What is read row by row is what the machine is.
fn check_outline(machine: &Machine, written: &[u8], digest: u128, settings: &StateSettings) {
    let reading = |pieces: &mut dyn FnMut(&mut Next<'_>)| {
        let mut left = written.chunks(100);
        pieces(&mut |out| left.next().map(|piece| out.extend_from_slice(piece)).is_some());
    };
    let mut outline = None;
    reading(&mut |next| outline = Some(Outline::read(settings.clone(), next).expect("an outline")));
    let outline = outline.expect("it was read");
    let operations = &machine.state().operations;
    assert!(operations.sequences_in_log(0).eq(outline.receipts_in_log().iter().copied()));
    assert_eq!((outline.sequence(), outline.at()), (machine.sequence(), machine.state().at));
    let ids = ["a", "b", "s", "m"].map(|name| Id::parse(name.as_bytes(), "id").expect("an id"));
    for only in [None].into_iter().chain(ids.iter().map(Some)) {
        let mut found = 0;
        reading(&mut |next| found = outline.digest(only, next).expect("a digest"));
        assert_eq!(found, machine.state().digest(only), "{only:?}");
    }
    assert_eq!(machine.state().digest(None), digest);
    let (mut expected, mut given) = (Vec::new(), Vec::new());
    machine.rows(&mut |row| expected.push(shown(&row)));
    reading(&mut |next| {
        outline.rows(next, &mut |row| given.push(shown(&row))).expect("rows");
    });
    expected.sort_unstable();
    given.sort_unstable();
    assert!(given == expected, "the rows that are read are those of the machine");
    assert_eq!(outline.moment(), machine.moment());
}

#[test]
fn a_snapshot_in_slices_is_of_the_moment_at_which_it_was_begun() {
    let mut made = 0;
    for seed in 1..=40 {
        let (sequence, mut random) = (Sequence::random(seed, 400), Random::new(seed));
        let mut machine = Machine::new(sequence.settings.clone(), 0);
        let mut underway: Option<Underway> = None;
        for step in &sequence.steps {
            underway = match underway.take() {
                Some(underway) => go_on(&mut machine, underway, random.below(5), &sequence.settings),
                None if random.percent(20) => {
                    made += 1;
                    let (expected, digest) = (bytes(&machine), machine.state().digest(None));
                    let slices = machine.begin_slices();
                    Some(Underway { slices, expected, digest, written: Vec::new() })
                }
                None => None,
            };
            // One that is given up leaves nothing behind.
            if underway.is_some() && random.percent(1) {
                machine.end_slices();
                underway = None;
            }
            take_step(&mut machine, step);
        }
    }
    assert!(made > 300, "{made} snapshots");
}
