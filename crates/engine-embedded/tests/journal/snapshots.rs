use std::io::{self, Read, Write};

use scarce_engine_embedded::snapshot::{
    SnapshotError, SnapshotInfo, SnapshotOwner, list, load, newest_good, retain, write,
};
use scarce_engine_embedded::storage::faulty::Fault;
use scarce_engine_embedded::storage::{FaultyDisk, FileStorage, Storage};

const OWNER: SnapshotOwner = SnapshotOwner { deployment_id: [7; 16], partition: 3 };

fn info(sequence: u64) -> SnapshotInfo {
    let digest = u128::from(sequence) << 70;
    SnapshotInfo { owner: OWNER, epoch: 2, sequence, stamp_ms: 1_700_000, digest, payload_bytes: 0 }
}

fn payload(sequence: u64, length: usize) -> Vec<u8> {
    (0..length as u64).map(|at| u8::try_from((at * 31 + sequence) % 251).expect("small")).collect()
}

fn save(storage: &dyn Storage, sequence: u64, length: usize) -> Result<SnapshotInfo, SnapshotError> {
    write(storage, &info(sequence), &mut |sink| sink.write_all(&payload(sequence, length)))
}

#[test]
fn a_snapshot_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let storage = FileStorage::open(directory.path()).unwrap();
    for (sequence, length) in [(1, 0), (2, 1), (3, 1 << 20), (4, (3 << 20) + 17)] {
        let written = save(&storage, sequence, length).unwrap();
        assert_eq!(written.payload_bytes, length as u64);
        let mut reader = load(&storage, &written.name(), &OWNER).unwrap();
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        assert!(bytes == payload(sequence, length), "sequence {sequence}");
        assert_eq!(reader.finish().unwrap(), written);
    }
    let newest = newest_good(&storage, &OWNER).unwrap();
    assert_eq!(newest.snapshot.unwrap().1.digest, info(4).digest);
}

#[test]
fn damaged_snapshots_are_passed_over_and_named() {
    let disk = FaultyDisk::new();
    let length = 300;
    save(&disk, 1, length).unwrap();
    let newer = save(&disk, 2, length).unwrap().name();
    let bytes = disk.content(&newer).unwrap().len() as u64;
    for offset in 0..bytes {
        let copy = disk.fork();
        assert!(copy.flip_bit(&newer, offset, 6));
        match newest_good(&copy, &OWNER) {
            Ok(found) => {
                assert_eq!(found.durable_through(), 2);
                let (listed, _) = found.snapshot.unwrap();
                let padding = (84..512).contains(&offset);
                assert_eq!(listed.sequence, if padding { 2 } else { 1 }, "offset {offset}");
                assert_eq!(found.damaged.len(), usize::from(!padding));
            }
            Err(other) => panic!("offset {offset}: {other}"),
        }
    }
}

#[test]
fn the_power_goes_at_every_call_of_a_snapshot() {
    for call in 0.. {
        let disk = FaultyDisk::new();
        save(&disk, 1, 3000).unwrap();
        disk.inject(disk.call_count() + call, Fault::PowerCut);
        let saved = save(&disk, 2, 3000);
        if disk.fired_count() == 0 {
            saved.unwrap();
            return;
        }
        assert!(saved.is_err());
        for seed in 0..10 {
            let copy = disk.fork();
            copy.crash(seed);
            let found = newest_good(&copy, &OWNER).unwrap();
            assert!(found.damaged.is_empty(), "call {call}, seed {seed}: a name without its content");
            assert!(found.snapshot.is_some());
            save(&copy, 2, 3000).unwrap();
            copy.crash(seed + 1);
            assert_eq!(newest_good(&copy, &OWNER).unwrap().snapshot.unwrap().0.sequence, 2);
        }
    }
}

#[test]
fn failed_calls_leave_the_older_snapshot() {
    let mut fired = 0;
    for fault in
        [Fault::WriteError, Fault::WriteShort, Fault::SyncError, Fault::DirectorySyncError, Fault::ReadError]
    {
        for call in 0..20 {
            let disk = FaultyDisk::new();
            save(&disk, 1, 3000).unwrap();
            disk.inject(disk.call_count() + call, fault);
            let saved = save(&disk, 2, 3000);
            assert_eq!(saved.is_err(), disk.fired_count() == 1, "{fault:?} at {call}");
            fired += disk.fired_count();
            disk.clear_faults();
            disk.crash(call);
            let found = newest_good(&disk, &OWNER).unwrap();
            assert!(found.snapshot.is_some(), "{fault:?} at {call}");
        }
    }
    assert!(fired > 10);
}

#[test]
fn a_full_disk_gives_the_room_back() {
    let disk = FaultyDisk::new();
    save(&disk, 1, 3000).unwrap();
    disk.set_capacity(Some(5000));
    assert!(save(&disk, 2, 3000).unwrap_err().is_full());
    assert_eq!(disk.list().unwrap().len(), 1);
}

#[test]
fn an_abandoned_payload_leaves_nothing() {
    let disk = FaultyDisk::new();
    let refused = write(&disk, &info(1), &mut |_: &mut dyn Write| Err(io::Error::other("no state")));
    assert!(matches!(refused, Err(SnapshotError::Payload { sequence: 1, .. })));
    assert!(disk.list().unwrap().is_empty());
}

#[test]
fn one_more_than_needed_is_kept() {
    let disk = FaultyDisk::new();
    for sequence in 1..=6 {
        save(&disk, sequence, 100).unwrap();
    }
    disk.flip_bit(&info(5).name(), 600, 0);
    assert_eq!(retain(&disk, &OWNER, 2).unwrap(), Some(3), "6, 4 and 3 are good");
    let left: Vec<_> = list(&disk).unwrap().into_iter().map(|listed| listed.sequence).collect();
    assert_eq!(left, [3, 4, 5, 6]);
}

#[test]
fn other_owners_are_refused() {
    let disk = FaultyDisk::new();
    let name = save(&disk, 1, 100).unwrap().name();
    for other in [SnapshotOwner { partition: 4, ..OWNER }, SnapshotOwner { deployment_id: [8; 16], ..OWNER }]
    {
        assert!(matches!(load(&disk, &name, &other), Err(SnapshotError::Foreign { .. })));
        assert!(matches!(newest_good(&disk, &other), Err(SnapshotError::Foreign { .. })));
    }
}

#[test]
fn a_newer_format_is_refused() {
    let disk = FaultyDisk::new();
    let name = save(&disk, 1, 100).unwrap().name();
    let mut header = disk.content(&name).unwrap()[..84].to_vec();
    header[8] = 3;
    let crc = crc32c::crc32c(&header[..80]);
    header[80..].copy_from_slice(&crc.to_le_bytes());
    disk.open(&name).unwrap().write_at(0, &header).unwrap();
    assert!(matches!(newest_good(&disk, &OWNER), Err(SnapshotError::Newer { found: 3, .. })));
}
