use super::bench::{Bench, snapshot};
use super::regroup::{RegroupError, Regrouped, Totals, align, may_go, regroup};
use super::work_tests::{LINES, filled};
use super::*;
use crate::event::epoch;
use crate::pieces::PieceWriter;
use crate::placement;
use crate::types::Id;

/// What a command is about where one partition of many cannot say it: lists, and figures of all accounts of a partition.
const OF_A_PARTITION: [&str; 6] =
    ["ACCOUNT.LIST", "ACCOUNT.WORLD", "STOCK.LIST", "PACKET.LIST", "COUPON.LIST", "MARKET.LIST"];

fn regroup_all(sources: &[Machine], partitions: u32) -> Result<Vec<Machine>, RegroupError> {
    let higher = epoch::next(sources.iter().map(Machine::epoch).max().unwrap_or(0), 7);
    (0..partitions).map(|to| regroup(sources, to, partitions, higher).map(|made| made.machine)).collect()
}

/// A machine as it is after a snapshot of it was read.
fn reread(machine: &Machine) -> Machine {
    Machine::load(StateSettings::default(), &snapshot(machine)).expect("a snapshot")
}

fn bench_of(machine: Machine, like: &Bench) -> Bench {
    let mut bench = like.copy();
    bench.machine = machine;
    bench
}

fn state_bytes(machine: &Machine) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut take = |piece: &[u8]| bytes.extend_from_slice(piece);
    let mut out = PieceWriter::new(&mut take);
    machine.state().put(&mut out);
    out.finish();
    bytes
}

fn id(text: &str) -> Id {
    Id::parse(text.as_bytes(), "id").expect("an id")
}

/// An answer without the partition and the sequence that it is of.
fn content<'a>(line: &str, answer: &'a str) -> &'a str {
    match line.split(' ').next() {
        Some("DIGEST") => answer.rsplit_once(' ').map_or(answer, |(_, digest)| digest),
        Some("MARKET.TICKER") => answer.rsplit_once(' ').map_or(answer, |(figures, _)| figures),
        _ => answer,
    }
}

/// The benches of so many partitions, made of one.
fn parted(from: &Bench, partitions: u32) -> Vec<Bench> {
    let machines = regroup_all(&[from.copy().machine], partitions).expect("regrouped");
    machines.into_iter().map(|machine| bench_of(machine, from)).collect()
}

/// Commands about a resource, with the name that their resource has.
fn of_one_resource() -> impl Iterator<Item = (&'static str, Id)> {
    let lines = LINES.iter().filter(|line| !line.starts_with("ACCOUNT.TRANSFER"));
    let lines = lines.filter(|line| !OF_A_PARTITION.iter().any(|name| line.starts_with(name)));
    lines.map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let name = if line.starts_with("OPERATION") { words[3] } else { words[1] };
        (*line, id(name))
    })
}

#[test]
fn every_command_is_answered_by_the_partition_of_its_resource_as_it_was_by_the_one_before() {
    for partitions in [2, 3, 7] {
        let mut whole = filled(20);
        let mut parts = parted(&filled(20), partitions);
        for (line, resource) in of_one_resource() {
            let part = &mut parts[placement::partition(&resource, partitions) as usize];
            let expected = whole.foretell(line);
            assert!(expected.starts_with("APPLIED"), "{line}: {expected}");
            let answer = part.foretell(line);
            assert_eq!(content(line, &answer), content(line, &expected), "{line} among {partitions}");
        }
    }
}

#[test]
fn nothing_is_lost_and_deadlines_go_along() {
    let whole = filled(20);
    for partitions in [1, 2, 3, 16] {
        let parts = parted(&filled(20), partitions);
        let machines = || parts.iter().map(|part| &part.machine);
        assert_eq!(Totals::of(machines()), Totals::of([&whole.machine]), "among {partitions}");
        assert!(machines().all(|machine| machine.unbalanced().is_empty()));
        let dues = |bench: &Bench| bench.image().1.len();
        assert_eq!(parts.iter().map(dues).sum::<usize>(), dues(&whole));
        for machine in machines() {
            let again = bench_of(reread(machine), &whole);
            assert_eq!(again.image(), bench_of(reread(&again.machine), &whole).image());
            let due = |machine: &Machine| machine.state().deadlines.due(u64::MAX).collect::<Vec<_>>();
            assert_eq!(due(machine), due(&again.machine), "deadlines follow from the snapshot");
        }
    }
    let same = parted(&filled(20), 1);
    assert_eq!(state_bytes(&same[0].machine), state_bytes(&whole.machine));
}

#[test]
fn partitions_that_were_parted_become_one_again() {
    let mut whole = filled(20);
    let parts: Vec<Machine> = parted(&filled(20), 3).into_iter().map(|part| part.machine).collect();
    let [again] = regroup_all(&parts, 1).expect("regrouped").try_into().expect("one");
    assert_eq!(again.state().operations.len(), whole.machine.state().operations.len());
    assert_eq!(Totals::of([&again]), Totals::of([&whole.machine]));
    assert!(again.sequence() >= whole.machine.sequence());
    let mut again = bench_of(again, &whole);
    for line in LINES.iter().filter(|line| !line.starts_with("ACCOUNT.WORLD")) {
        let (answer, expected) = (again.foretell(line), whole.foretell(line));
        assert_eq!(content(line, &answer), content(line, &expected), "{line}");
    }
}

#[test]
fn an_id_has_its_first_answer_wherever_its_resource_went() {
    let lines = |n: u64| {
        [
            format!("ACCOUNT.CREDIT a{n} 5 ID credit{n}"),
            format!("ACCOUNT.DEBIT a{n} 1000 ID refused{n}"),
            format!("ACCOUNT.FREEZE a{n} ID frozen{n}"),
            format!("ACCOUNT.FREEZE a{n} ID again{n}"),
            format!("ORDER.PLACE m{n} y o SELL LIMIT 1 1 ID large{n}"),
            format!("OPERATION.RESOLVE absent{n} ON a{n}"),
        ]
    };
    let mut whole = filled(10);
    let answers: Vec<(String, String)> =
        (1..=10).flat_map(lines).map(|line| (line.clone(), whole.run(&[&line]))).collect();
    let mut parts = parted(&whole, 4);
    for (line, _) in &answers {
        let words: Vec<&str> = line.split(' ').collect();
        let resource = id(if line.starts_with("OPERATION") { words[3] } else { words[1] });
        let part = &mut parts[placement::partition(&resource, 4) as usize];
        let logged = part.log.len();
        assert_eq!(part.run(&[line]), whole.run(&[line]), "{line}");
        assert_eq!(part.log.len(), logged, "{line} is not done again");
        let other = format!("{} ID {}", "ACCOUNT.CREDIT a 7", words.last().expect("an id"));
        if !line.starts_with("OPERATION")
            && placement::partition(&resource, 4) == placement::partition(&id("a"), 4)
        {
            assert!(part.run(&[&other]).starts_with("ID_REUSED"), "{other}");
        }
    }
}

#[test]
fn an_id_that_two_partitions_remember_for_different_operations_keeps_them_apart() {
    let mut one = Bench::new();
    one.run(&["ACCOUNT.OPEN a EUR ID same"]);
    let mut other = Bench::new();
    other.run(&["ACCOUNT.OPEN b EUR ID same"]);
    other.run(&["ACCOUNT.OPEN c EUR ID own"]);
    one.machine.set_epoch(5);
    let mut two = Machine::new(StateSettings::default(), 1);
    other.entries().iter().for_each(|entry| two.apply(entry));
    let refused = regroup_all(&[one.machine, two], 1).expect_err("refused");
    assert_eq!(refused, RegroupError::Ids { count: 1 });
    assert!(refused.to_string().starts_with("1 operation ids were used"));
}

#[test]
fn sequences_and_stamps_are_beyond_those_of_all_partitions_and_old_positions_are_of_another_log() {
    let mut one = filled(2);
    one.clock = 9_000;
    one.run(&["ACCOUNT.CREDIT a 1 ID one"]);
    let mut other = Machine::new(StateSettings::default(), 1);
    filled(3).entries().iter().for_each(|entry| other.apply(entry));
    let sequences = one.machine.sequence() + other.sequence();
    let mut sources = [one.copy().machine, other];
    align(&mut sources);
    let Regrouped { machine, origins } = regroup(&sources, 0, 1, 1 << 40).expect("regrouped");
    assert_eq!((machine.sequence(), machine.now(), origins.len()), (sequences, 9_000, 2));
    assert_eq!(origins[1].shift, one.machine.sequence());
    assert_eq!(machine.histories().has(Position { epoch: 1, sequence: 3 }), Some(false));
    let read = reread(&machine);
    assert_eq!(read.histories().has(Position { epoch: 1, sequence: 3 }), Some(false));
    assert_eq!(read.histories().has(Position { epoch: 1 << 40, sequence: 3 }), Some(true));
}

#[test]
fn an_unfinished_operation_and_too_many_ids_are_refused() {
    let settings = StateSettings { operations_max: 5, ..StateSettings::default() };
    let mut full = Bench::with(settings.clone());
    (0..5).for_each(|n| _ = full.run(&[&format!("ACCOUNT.OPEN a{n} EUR ID {n}")]));
    let mut second = Machine::new(settings, 1);
    let mut more = Bench::new();
    more.run(&["ACCOUNT.OPEN b EUR ID b"]);
    more.entries().iter().for_each(|entry| second.apply(entry));
    let refused = regroup_all(&[full.machine, second], 1).expect_err("refused");
    assert_eq!(refused, RegroupError::TooManyIds { partition: 0, count: 6, max: 5 });
    let mut cut = Bench::with(StateSettings { step_max: 1, ..StateSettings::default() });
    cut.run(&["MARKET.CREATE m"]);
    for order in ["a", "b"] {
        cut.run(&[&format!("ORDER.PLACE m {order} ann SELL LIMIT 100 1")]);
    }
    cut.run(&["ORDER.PLACE m t tom BUY LIMIT 100 2 ID large"]);
    let entries = cut.entries();
    let begun = entries.iter().position(|entry| entry.head.more).expect("steps");
    let unfinished = cut.fold(&entries[..=begun]);
    assert_eq!(
        regroup_all(&[unfinished], 2).expect_err("refused"),
        RegroupError::Unfinished { partition: 0 }
    );
}

#[test]
fn resources_go_from_a_partition_only_where_a_slot_leads() {
    let sources = |to, to_count, from_count: u32| {
        (0..from_count).filter(|from| may_go((*from, from_count), (to, to_count))).collect::<Vec<_>>()
    };
    assert_eq!(sources(5, 8, 4), [1]);
    assert_eq!(sources(1, 4, 8), [1, 5]);
    assert_eq!(sources(0, 3, 2), [0, 1]);
    assert_eq!(sources(3, 6, 4), [1, 3]);
}

#[test]
fn ids_that_left_memory_and_are_taken_back_are_as_they_were() {
    let mut bench = filled(20);
    let before = snapshot(&bench.machine);
    let remembered = bench.machine.state().operations.numbers();
    let outside: Vec<_> = bench.machine.state().operations.from_number(0).collect();
    for count in [1, 7, outside.len()] {
        assert_eq!(bench.machine.let_go(u64::MAX, count), count);
        let numbers = bench.machine.state().operations.numbers();
        assert_eq!((numbers.in_memory, numbers.next), (count as u64, remembered.next));
        let gave: Result<(), ()> = bench.machine.take_back(|take| {
            outside[..count].iter().for_each(take);
            Ok(())
        });
        assert_eq!(gave, Ok(()));
        assert!(snapshot(&bench.machine) == before, "{count} of {}", outside.len());
    }
    assert!(outside.len() >= 20, "too few to show anything");
}
