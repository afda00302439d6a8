use scarce_engine_embedded::journal::{JournalError, RecoveryStart, SegmentState, inspect};
use scarce_engine_embedded::storage::{FaultyDisk, Storage};

use super::support::{append_next, assert_prefix, fill, open, open_from, segment_names};

/// Where each frame of the last segment lies.
fn frame_offsets(disk: &FaultyDisk) -> Vec<u64> {
    let content = disk.content(segment_names(disk).last().expect("there is a segment")).expect("exists");
    let starts = (4096..content.len()).step_by(8).filter(|&at| content[at..].starts_with(b"SCFR"));
    starts.map(|at| at as u64).collect()
}

#[test]
fn a_bad_tail_that_was_never_synced_is_cut_for_good() {
    let disk = FaultyDisk::new();
    let (_, mut truth) = fill(&disk, 8, 4);
    let name = segment_names(&disk)[0].clone();
    let offsets = frame_offsets(&disk);
    disk.flip_bit(&name, offsets[5] + 60, 1);
    assert!(
        matches!(inspect(&disk).unwrap()[0].state, SegmentState::Torn { offset, .. } if offset == offsets[5])
    );
    let reopened = open(&disk).unwrap();
    assert_eq!(reopened.frames, truth[..5]);
    let cut = reopened.recovered.cut.unwrap();
    assert_eq!((cut.offset, cut.sequence), (offsets[5], truth[5].first));
    truth.truncate(5);
    let mut writer = reopened.recovered.writer;
    append_next(&mut writer, &mut truth, 9).unwrap();
    writer.sync().unwrap();
    let reopened = open(&disk).unwrap();
    assert_eq!(reopened.frames, truth, "frames from before the cut must not come back");
    assert_eq!(reopened.recovered.cut, None);
}

#[test]
fn a_bad_frame_that_had_been_synced_is_refused_with_its_place() {
    let disk = FaultyDisk::new();
    let (_, truth) = fill(&disk, 8, 2);
    let name = segment_names(&disk)[0].clone();
    let offsets = frame_offsets(&disk);
    // The seventh frame was written when the sixth was synced.
    for at in 0..6 {
        let copy = disk.fork();
        assert!(copy.flip_bit(&name, offsets[at] + 20, 3));
        match open(&copy).err() {
            Some(JournalError::Corrupt { path, offset, sequence, .. }) => {
                assert_eq!((path, offset, sequence), (name.clone(), offsets[at], truth[at].first));
            }
            other => panic!("frame {at}: {other:?}"),
        }
        assert!(matches!(inspect(&copy).unwrap()[0].state, SegmentState::Corrupt { .. }));
    }
}

#[test]
fn a_torn_later_frame_still_testifies() {
    let disk = FaultyDisk::new();
    fill(&disk, 8, 2);
    let name = segment_names(&disk)[0].clone();
    let offsets = frame_offsets(&disk);
    disk.flip_bit(&name, offsets[3] + 20, 3);
    for &offset in &offsets[4..] {
        disk.flip_bit(&name, offset + 52, 0);
    }
    assert!(matches!(open(&disk).err(), Some(JournalError::Corrupt { .. })));
}

#[test]
fn what_the_snapshot_knows_counts() {
    let disk = FaultyDisk::new();
    let (_, truth) = fill(&disk, 8, 0);
    let name = segment_names(&disk)[0].clone();
    disk.flip_bit(&name, frame_offsets(&disk)[7] + 20, 3);
    let durable_through = truth[7].last;
    let start = RecoveryStart { durable_through, ..RecoveryStart::beginning() };
    assert!(matches!(open_from(disk.storage(), start).err(), Some(JournalError::Corrupt { .. })));
    assert_eq!(open(&disk).unwrap().frames, truth[..7], "without that knowledge it is a torn tail");
}

#[test]
fn a_recorded_sync_protects_the_last_frames() {
    let disk = FaultyDisk::new();
    let (mut writer, _) = fill(&disk, 8, 0);
    assert!(writer.record_synced().unwrap());
    assert!(!writer.record_synced().unwrap(), "once is enough");
    let name = segment_names(&disk)[0].clone();
    disk.flip_bit(&name, frame_offsets(&disk)[7] + 20, 3);
    assert!(matches!(open(&disk).err(), Some(JournalError::Corrupt { .. })));
}

#[test]
fn missing_segments_are_noticed() {
    let disk = FaultyDisk::new();
    let (_, truth) = fill(&disk, 60, 0);
    let names = segment_names(&disk);
    for name in &names {
        let copy = disk.fork();
        copy.remove(name).unwrap();
        let refused = open(&copy).err();
        assert!(matches!(refused, Some(JournalError::Incomplete { .. })), "{name}: {refused:?}");
    }
    let copy = disk.fork();
    names.iter().for_each(|name| copy.remove(name).unwrap());
    let start = RecoveryStart::after_snapshot(truth[3].last);
    assert!(matches!(open_from(copy.storage(), start).err(), Some(JournalError::Incomplete { .. })));
    let start = RecoveryStart { create: false, ..RecoveryStart::beginning() };
    assert!(matches!(open_from(copy.storage(), start).err(), Some(JournalError::Incomplete { .. })));
}

#[test]
fn a_spare_shows_that_the_segment_before_it_is_missing() {
    let disk = FaultyDisk::new();
    let (writer, _) = fill(&disk, 3, 0);
    writer.journal().prepare_spare().unwrap();
    assert_eq!(segment_names(&disk).len(), 1);
    disk.remove(&segment_names(&disk)[0]).unwrap();
    assert!(matches!(open(&disk).err(), Some(JournalError::Incomplete { .. })));
}

#[test]
fn swapped_segments_are_noticed() {
    let disk = FaultyDisk::new();
    fill(&disk, 60, 0);
    let names = segment_names(&disk);
    disk.rename(&names[1], "aside").unwrap();
    disk.rename(&names[2], &names[1]).unwrap();
    disk.rename("aside", &names[2]).unwrap();
    assert!(matches!(open(&disk).err(), Some(JournalError::Corrupt { offset: 0, .. })));
}

#[test]
fn segments_of_two_histories_do_not_mix() {
    let one = FaultyDisk::new();
    fill(&one, 60, 0);
    let other = FaultyDisk::new();
    let mut writer = open(&other).unwrap().recovered.writer;
    let mut truth = Vec::new();
    for _ in 0..60 {
        append_next(&mut writer, &mut truth, 5).unwrap();
    }
    let name = segment_names(&one)[1].clone();
    assert_eq!(segment_names(&other)[1], name, "both histories number their segments alike");
    let content = other.content(&name).unwrap();
    one.open(&name).unwrap().write_at(0, &content).unwrap();
    assert!(matches!(open(&one).err(), Some(JournalError::Incomplete { .. } | JournalError::Corrupt { .. })));
}

#[test]
fn newer_formats_are_refused() {
    let disk = FaultyDisk::new();
    fill(&disk, 5, 0);
    let name = segment_names(&disk)[0].clone();
    disk.open(&name).unwrap().write_at(8, &2_u32.to_le_bytes()).unwrap();
    assert!(matches!(open(&disk).err(), Some(JournalError::Newer { found: 2, supported: 1, .. })));
}

/// One flipped bit anywhere: an error, a cut above all that is recorded as synced, or no effect.
#[test]
fn no_flipped_bit_yields_wrong_frames() {
    let disk = FaultyDisk::new();
    let (mut writer, truth) = fill(&disk, 20, 2);
    let durable_through = writer.synced_through();
    assert!(durable_through < truth.last().unwrap().last);
    assert_eq!(writer.journal().segment_count(), 2);
    writer.record_synced().unwrap();
    let (mut refused, mut cut, mut unaffected) = (0, 0, 0);
    for name in segment_names(&disk) {
        for offset in 0..8192_u64 {
            let copy = disk.fork();
            let bit = u8::try_from(offset * 5 % 8).unwrap();
            assert!(copy.flip_bit(&name, offset, bit));
            let context = format!("bit {bit} of {name} at {offset}");
            match open(&copy) {
                Ok(reopened) => {
                    assert_prefix(&reopened.frames, &truth, durable_through, &context);
                    if reopened.frames.len() < truth.len() { cut += 1 } else { unaffected += 1 }
                }
                Err(
                    JournalError::Corrupt { .. }
                    | JournalError::Incomplete { .. }
                    | JournalError::Newer { .. },
                ) => {
                    refused += 1;
                }
                Err(other) => panic!("{context}: {other}"),
            }
        }
    }
    assert!(refused > 1000 && cut > 100 && unaffected > 1000, "{refused} {cut} {unaffected}");
}
