//! Runs on a disk in memory: what was written is found, after merges too, and damage is told.

use scarce_core::operations::OldOperation;
use smallvec::SmallVec;

use super::file::{Run, RunHead};
use super::merge::{RunRecords, check, merge};
use super::record::Base;
use super::writer::RunWriter;
use crate::snapshot::SnapshotOwner;
use crate::storage::{FaultyDisk, Storage};

const OWNER: SnapshotOwner = SnapshotOwner { deployment_id: [3; 16], partition: 2 };

/// The record of a number; some are of keys that were used before, some have no outcome, some a large one.
fn record(number: u64) -> OldOperation {
    let word = |salt: u64| (number % 9_000 + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
    let outcome = match number % 11 {
        0 => None,
        1 => Some(SmallVec::from_elem(7, 6_000)),
        length => Some(SmallVec::from_elem(1, usize::try_from(length).expect("small"))),
    };
    OldOperation {
        key: [word(1).wrapping_mul(0xd6e8_feb8_6659_fd93), word(2)],
        number,
        fingerprint: number << 40,
        at: 5_000 + number / 3,
        epoch: 1 + number / 4_000,
        sequence_last: 7 + 2 * number,
        events: u32::from(number.is_multiple_of(5)) + 1,
        outcome,
    }
}

fn write(disk: &FaultyDisk, numbers: std::ops::Range<u64>) -> Run {
    let mut records: Vec<_> = numbers.clone().map(record).collect();
    let base = Base {
        start: numbers.start,
        at: records[0].at,
        sequence: records[0].sequence_last,
        epochs: (records[0].epoch..=records[records.len() - 1].epoch).collect(),
    };
    records.sort_by_key(|old| (old.key, u64::MAX - old.number));
    let head = RunHead { base, end: numbers.end, ..RunHead::default() };
    let mut writer = RunWriter::create(disk, &OWNER, head, records.len() as u64).expect("a file");
    records.iter().for_each(|old| writer.add(old).expect("room"));
    writer.finish(disk).expect("a run")
}

/// The latest record of each key is found, with its own time too, and no other.
fn check_all(run: &Run, numbers: std::ops::Range<u64>) {
    check(run).expect("it is good");
    for number in numbers.clone() {
        let latest = (number..numbers.end).step_by(9_000).last().expect("itself");
        let key = record(number).key;
        assert!(run.may_have(key, Some(record(latest).at + 60_000), 60_000));
        assert_eq!(run.find(key).expect("it is read"), Some(record(latest)), "{number}");
    }
    assert_eq!(run.find([5, 5]).expect("it is read"), None);
    assert_eq!(run.find([u64::MAX, 5]).expect("it is read"), None);
    let last_at = record(numbers.end - 1).at;
    assert!(!run.may_have(record(numbers.start).key, Some(last_at + 60_001), 60_000));
}

#[test]
fn what_was_written_is_found_after_it_was_merged_and_cut_too() {
    let disk = FaultyDisk::new();
    let ends = [0, 3_000, 3_001, 12_500, 13_000];
    let runs: Vec<Run> = ends.windows(2).map(|pair| write(&disk, pair[0]..pair[1])).collect();
    runs.iter().zip(ends.windows(2)).for_each(|(run, pair)| check_all(run, pair[0]..pair[1]));
    let inputs: Vec<&Run> = runs.iter().collect();
    let merged = merge(&disk, &OWNER, &inputs, &(0..13_000), 0, 1).expect("a run");
    check_all(&merged, 0..13_000);
    assert_eq!(merged.head.level, 1);
    let reopened = Run::open(&disk, &merged.name, &OWNER).expect("it is there");
    check_all(&reopened, 0..13_000);
    let cut = merge(&disk, &OWNER, &[&runs[2]], &(3_001..8_000), 0, 0).expect("a run");
    check_all(&cut, 3_001..8_000);
    let kept = merge(&disk, &OWNER, &[&runs[2]], &(3_001..12_500), 5_000, 0).expect("a run");
    assert_eq!((kept.start(), kept.end(), kept.head.records), (3_001, 12_500, 7_500));
    assert_eq!(kept.find(record(4_999).key).expect("it is read"), None);
    assert_eq!(kept.find(record(3_100).key).expect("it is read"), Some(record(12_100)), "the later one");
    assert_eq!(kept.find(record(5_000).key).expect("it is read"), Some(record(5_000)));
}

#[test]
fn every_flipped_bit_is_told() {
    let disk = FaultyDisk::new();
    let run = write(&disk, 0..40);
    let length = disk.content(&run.name).expect("it is there").len() as u64;
    for offset in 0..length {
        let copy = disk.fork();
        assert!(copy.flip_bit(&run.name, offset, (offset % 8) as u8));
        let found = Run::open(&copy, &run.name, &OWNER).and_then(|run| check(&run));
        // Nothing is said by the bytes between the CRC of the index and that of the header.
        assert!(found.is_err(), "the bit at {offset}");
    }
    let other = SnapshotOwner { partition: 3, ..OWNER };
    assert!(Run::open(&disk, &run.name, &other).is_err(), "it is of another partition");
}

#[test]
fn a_damaged_block_is_not_taken_for_an_absent_key() {
    let disk = FaultyDisk::new();
    let run = write(&disk, 0..40);
    assert!(disk.flip_bit(&run.name, 140, 2));
    let run = Run::open(&disk, &run.name, &OWNER).expect("the index is good");
    let first = (0..40).map(|number| record(number).key).min().expect("a key");
    let error = run.find(first).expect_err("its block is damaged").to_string();
    assert!(error.contains(&run.name) && error.contains("backup"), "{error}");
    assert!(RunRecords::new(&run).next().is_err());
    assert!(disk.list().expect("names").contains(&run.name));
}
