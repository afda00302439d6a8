//! Digests of one entity of every kind, after fixed commands. The records are those of
//! `docs/reference/digest.md`, written there by a program in another language; a published digest must
//! never change.

use scarce_core::command::{Body, Command, Envelope, table};
use scarce_core::machine::{Machine, MachineAnswer};
use scarce_core::state::StateSettings;
use scarce_core::types::Id;
use xxhash_rust::xxh3::xxh3_128;

const PAGE: &str = include_str!("../../../docs/reference/digest.md");

/// The indented lines between `begin` and `end` of the page.
fn listed(begin: &str, end: &str) -> Vec<&'static str> {
    let rest = PAGE.split_once(begin).expect("the section begins").1;
    let section = rest.split_once(end).expect("the section ends").0;
    section.lines().filter_map(|line| line.strip_prefix("    ")).collect()
}

/// The page's commands, executed by an empty machine at the stamp 1000 with a secret of zeros.
fn machine() -> Machine {
    let mut machine = Machine::new(StateSettings::default(), 0);
    let mut log = Vec::new();
    for line in listed("### Commands", "### Records") {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let spec = table::find(words[0]).expect("a command");
        let (command, common) = Command::parse(spec, &words[1..]).expect("well-formed");
        let envelope = Envelope::new("", common, Body::Single(command), &[0; 32]).expect("a cut");
        let MachineAnswer::Receipt(receipt) = machine.submit(&envelope, 1_000, &mut log) else {
            panic!("{line} was seen before");
        };
        assert!(receipt.outcome.is_applied(), "{line}: {}", receipt.outcome);
    }
    machine
}

fn bytes(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("ASCII"));
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal")).collect()
}

/// The sum of the page's records for each resource; the page gives each record's digest next to it.
fn sums() -> Vec<(&'static str, u128)> {
    let mut kinds = Vec::new();
    let mut sums: Vec<(&str, u128)> = Vec::new();
    for line in listed("### Records", "### Sums") {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, resource, record, digest] = words[..] else { panic!("{line} has other columns") };
        let record = bytes(record);
        let found = xxh3_128(&record);
        assert_eq!(format!("{found:032x}"), digest, "{name} of {resource}");
        kinds.push(record[0]);
        match sums.iter_mut().find(|(its, _)| *its == resource) {
            Some((_, sum)) => *sum = sum.wrapping_add(found),
            None => sums.push((resource, found)),
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds, (1..=14).collect::<Vec<u8>>(), "a record of every kind");
    sums
}

#[test]
fn digests_are_those_of_the_page() {
    let (machine, mut sums) = (machine(), sums());
    // A caller's id cannot spell the world's name.
    for (resource, sum) in sums.iter().filter(|(its, _)| !its.starts_with('$')) {
        let id = Id::parse(resource.as_bytes(), "resource").expect("an id");
        assert_eq!(machine.state().digest(Some(&id)), *sum, "{resource}");
    }
    let all = sums.iter().fold(0_u128, |all, (_, sum)| all.wrapping_add(*sum));
    assert_eq!(machine.state().digest(None), all, "the records are all there is");
    sums.push(("everything", all));
    let found: Vec<String> = sums.iter().map(|(resource, sum)| format!("{resource} {sum:032x}")).collect();
    let on_page = listed("### Sums", "## Stability");
    let on_page: Vec<String> =
        on_page.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(on_page, found);
}

/// Fixed here too, so that page and code cannot change together unnoticed.
#[test]
fn the_whole_is_what_was_published_first() {
    let digest = machine().state().digest(None);
    assert_eq!(format!("{digest:032x}"), "582051450f0b51a463ce137d3c4b78ac");
}
