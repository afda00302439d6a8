use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use scarce_engine_embedded::journal::{
    JournalError, JournalSettings, RecoveryStart, SegmentState, inspect, newest_payload, verify,
};
use scarce_engine_embedded::storage::{FaultyDisk, Storage};

use super::support::{append_next, fill, frame, open, open_from, segment_names, settings};

#[test]
fn frames_come_back_in_order_across_segments() {
    let disk = FaultyDisk::new();
    let (writer, truth) = fill(&disk, 60, 0);
    assert!(writer.journal().segment_count() > 3, "the test must span several segments");
    let reopened = open(&disk).unwrap();
    assert_eq!(reopened.frames, truth);
    assert_eq!(reopened.recovered.last_sequence, truth.last().unwrap().last);
    assert_eq!(reopened.recovered.last_epoch, 1);
    assert_eq!(reopened.recovered.cut, None);
}

#[test]
fn the_newest_payload_is_that_of_the_last_frame() {
    let disk = FaultyDisk::new();
    assert_eq!(newest_payload(&*disk.storage()).unwrap(), None);
    let (mut writer, truth) = fill(&disk, 60, 0);
    assert_eq!(newest_payload(&*disk.storage()).unwrap(), Some(truth.last().unwrap().payload.clone()));
    assert!(writer.record_synced().unwrap(), "a frame without a payload");
    assert_eq!(newest_payload(&*disk.storage()).unwrap(), Some(truth.last().unwrap().payload.clone()));
}

#[test]
fn recovery_starts_after_the_snapshot() {
    let disk = FaultyDisk::new();
    let (_, truth) = fill(&disk, 60, 0);
    for at in [0, 1, 29, 58] {
        let start = RecoveryStart::after_snapshot(truth[at].last);
        assert_eq!(open_from(disk.storage(), start).unwrap().frames, truth[at + 1..], "after frame {at}");
    }
}

#[test]
fn frames_on_both_sides_of_the_start_come_whole() {
    let disk = FaultyDisk::new();
    let (_, truth) = fill(&disk, 60, 0);
    let at = truth.iter().rposition(|frame| frame.last > frame.first).unwrap();
    let start = RecoveryStart { sequence: truth[at].first + 1, durable_through: 0, create: false };
    assert_eq!(open_from(disk.storage(), start).unwrap().frames, truth[at..]);
}

#[test]
fn progress_ends_at_the_total() {
    let disk = FaultyDisk::new();
    fill(&disk, 60, 0);
    let mut last = None;
    let start = RecoveryStart::beginning();
    scarce_engine_embedded::journal::recover(
        disk.storage(),
        settings(),
        start,
        &mut |_| Ok(()),
        &mut |progress| {
            last = Some(progress);
        },
    )
    .unwrap();
    let last = last.unwrap();
    assert_eq!(last.bytes_done, last.bytes_total);
}

#[test]
fn misnumbered_and_oversized_frames_are_refused_without_harm() {
    let disk = FaultyDisk::new();
    let mut writer = open(&disk).unwrap().recovered.writer;
    writer.append(5, 1, 2, b"one").unwrap();
    for (epoch, first, last) in [(5, 2, 2), (5, 4, 4), (5, 3, 1), (4, 3, 3), (5, 3, u64::MAX)] {
        let refused = writer.append(epoch, first, last, b"x");
        assert!(matches!(refused, Err(JournalError::Misnumbered { .. })), "{epoch} {first} {last}");
    }
    let limit = settings().payload_bytes_max();
    let refused = writer.append(5, 3, 3, &vec![1; usize::try_from(limit).unwrap() + 1]);
    assert!(matches!(refused, Err(JournalError::TooLarge { .. })));
    writer.append(5, 3, 3, &vec![1; usize::try_from(limit).unwrap()]).unwrap();
    assert_eq!(writer.sync().unwrap(), 3);
    assert_eq!(open(&disk).unwrap().recovered.last_sequence, 3);
}

#[test]
fn a_frame_may_cover_no_sequence() {
    let disk = FaultyDisk::new();
    let mut writer = open(&disk).unwrap().recovered.writer;
    writer.append(1, 1, 0, b"before anything").unwrap();
    writer.append(1, 1, 4, b"four").unwrap();
    writer.append(2, 5, 4, b"").unwrap();
    writer.append(2, 5, 5, b"five").unwrap();
    let durable_through = writer.sync().unwrap();
    let mut seen = Vec::new();
    let start = RecoveryStart::beginning();
    let mut keep = |frame: &scarce_engine_embedded::journal::Frame<'_>| {
        seen.push(frame.payload.to_vec());
        Ok(())
    };
    scarce_engine_embedded::journal::recover(disk.storage(), settings(), start, &mut keep, &mut |_| {})
        .unwrap();
    assert_eq!(seen, [b"before anything".to_vec(), b"four".to_vec(), b"five".to_vec()]);
    let frames = writer.journal().reader().read_from(1, durable_through, u64::MAX).unwrap();
    assert_eq!(frames.len(), 2, "a reader skips what covers nothing");
}

#[test]
fn readers_find_every_sequence() {
    let disk = FaultyDisk::new();
    let (writer, truth) = fill(&disk, 60, 0);
    let through = writer.synced_through();
    let reopened = open(&disk).unwrap().recovered.writer;
    for journal in [writer.journal(), reopened.journal()] {
        let mut reader = journal.reader();
        for sequence in (1..=through).rev() {
            let found = reader.read_one(sequence, through).unwrap().unwrap();
            let expected = truth.iter().find(|frame| (frame.first..=frame.last).contains(&sequence)).unwrap();
            assert_eq!((found.first_sequence, &found.payload), (expected.first, &expected.payload));
        }
        let all = reader.read_from(1, through, u64::MAX).unwrap();
        assert_eq!(all.len(), truth.len());
        assert!(reader.read_from(through + 1, through, u64::MAX).unwrap().is_empty());
    }
}

#[test]
fn a_reader_stops_at_what_is_durable_and_at_its_budget() {
    let disk = FaultyDisk::new();
    let (writer, truth) = fill(&disk, 30, 10);
    let through = writer.synced_through();
    let mut reader = writer.journal().reader();
    let frames = reader.read_from(1, through, u64::MAX).unwrap();
    assert_eq!(frames.last().unwrap().last_sequence, through);
    assert!(frames.len() < truth.len());
    let mut next = 1;
    while next <= through {
        let frames = reader.read_from(next, through, 1).unwrap();
        assert!(frames[..frames.len() - 1].iter().all(|frame| frame.payload.is_empty()));
        next = frames.last().unwrap().last_sequence + 1;
    }
}

#[test]
fn retiring_drops_whole_segments_and_keeps_a_spare() {
    let disk = FaultyDisk::new();
    let (mut writer, mut truth) = fill(&disk, 60, 0);
    let journal = writer.journal().clone();
    let before = journal.segment_count();
    let middle = truth[30].first;
    let retired = journal.retire(middle).unwrap();
    assert!(retired.segments > 1 && journal.spare_ready());
    assert_eq!(journal.segment_count() as u64, before as u64 - retired.segments);
    assert!(journal.first_available() <= middle);
    let lost = journal.reader().read_one(1, writer.synced_through());
    assert!(matches!(lost, Err(JournalError::Retired { sequence: 1, .. })), "{lost:?}");
    for _ in 0..30 {
        append_next(&mut writer, &mut truth, 1).unwrap();
    }
    writer.sync().unwrap();
    let start = RecoveryStart::after_snapshot(middle - 1);
    assert_eq!(open_from(disk.storage(), start).unwrap().frames, truth[30..]);
    let needs_all = open(&disk).err().unwrap();
    assert!(matches!(needs_all, JournalError::Incomplete { .. }), "{needs_all}");
}

#[test]
fn a_recycled_segment_replays_nothing() {
    let disk = FaultyDisk::new();
    let mut writer = open(&disk).unwrap().recovered.writer;
    // Equal lengths, so that old frames lie exactly where new ones would be expected.
    while writer.journal().segment_count() < 3 {
        let next = writer.next_sequence();
        writer.append(1, next, next, &[9; 200]).unwrap();
    }
    writer.sync().unwrap();
    let snapshot = writer.synced_through();
    writer.journal().retire(snapshot).unwrap();
    writer.roll().unwrap();
    let next = writer.next_sequence();
    writer.append(1, next, next, &[9; 200]).unwrap();
    writer.sync().unwrap();
    let recycled = disk.content(segment_names(&disk).last().unwrap()).unwrap();
    let magics = recycled.windows(4).filter(|bytes| bytes == b"SCFR").count();
    assert!(magics > 5, "the file must be full of old frames");
    let start = RecoveryStart::after_snapshot(snapshot);
    let reopened = open_from(disk.storage(), start).unwrap();
    assert_eq!(reopened.recovered.last_sequence, next);
    let again = open_from(disk.storage(), start).unwrap();
    assert_eq!(again.recovered.cut, None, "the first recovery wiped the old frames");
}

#[test]
fn inspect_and_verify_describe_without_changing() {
    let disk = FaultyDisk::new();
    let (_, truth) = fill(&disk, 60, 3);
    let names = segment_names(&disk);
    let before: Vec<_> = names.iter().map(|name| disk.content(name)).collect();
    let summaries = inspect(&disk).unwrap();
    assert_eq!(summaries.iter().map(|summary| summary.frames).sum::<u64>(), 60);
    let (last, sealed) = summaries.split_last().unwrap();
    assert_eq!(last.state, SegmentState::Open);
    assert!(sealed.iter().all(|summary| summary.state == SegmentState::Sealed));
    let verified = verify(&disk, &settings(), 0, &mut |_| Ok(()), &mut |_| {}).unwrap();
    assert_eq!((verified.frames, verified.last_sequence), (60, truth.last().unwrap().last));
    assert_eq!(before, names.iter().map(|name| disk.content(name)).collect::<Vec<_>>());
}

#[test]
fn a_consumer_that_refuses_stops_the_recovery() {
    let disk = FaultyDisk::new();
    fill(&disk, 5, 0);
    let start = RecoveryStart::beginning();
    let refused = scarce_engine_embedded::journal::recover(
        disk.storage(),
        settings(),
        start,
        &mut |_| Err("no".into()),
        &mut |_| {},
    );
    assert!(matches!(refused.err().unwrap(), JournalError::Consumer { sequence: 1, .. }));
}

#[test]
fn other_owners_and_odd_settings_are_refused() {
    let disk = FaultyDisk::new();
    fill(&disk, 5, 0);
    let open_with = |settings: JournalSettings| {
        let start = RecoveryStart::beginning();
        scarce_engine_embedded::journal::recover(
            disk.storage(),
            settings,
            start,
            &mut |_| Ok(()),
            &mut |_| {},
        )
        .err()
    };
    let foreign = [
        JournalSettings { partition: 4, ..settings() },
        JournalSettings { deployment_id: [8; 16], ..settings() },
    ];
    for settings in foreign {
        assert!(matches!(open_with(settings), Some(JournalError::Foreign { .. })));
    }
    for segment_bytes in [0, 4096, 10_000] {
        let odd = open_with(JournalSettings { segment_bytes, ..settings() });
        assert!(matches!(odd, Some(JournalError::Settings { .. })));
    }
    assert!(open_with(JournalSettings { segment_bytes: 16384, ..settings() }).is_none(), "sizes may change");
}

#[test]
fn nothing_leaves_while_the_sync_is_blocked() {
    let disk = FaultyDisk::new();
    let (mut writer, _) = fill(&disk, 5, 0);
    let journal = writer.journal().clone();
    let durable = Arc::new(AtomicU64::new(writer.synced_through()));
    let before = durable.load(Ordering::Acquire);
    let next = frame(writer.next_sequence(), 0);
    disk.block_syncs();
    let thread = {
        let durable = Arc::clone(&durable);
        std::thread::spawn(move || {
            writer.append(1, next.first, next.last, &next.payload).unwrap();
            durable.store(writer.sync().unwrap(), Ordering::Release);
        })
    };
    disk.wait_for_blocked_syncs(1);
    let mut reader = journal.reader();
    let through = durable.load(Ordering::Acquire);
    assert_eq!(through, before);
    assert!(reader.read_from(before + 1, through, u64::MAX).unwrap().is_empty());
    disk.release_syncs();
    thread.join().unwrap();
    let through = durable.load(Ordering::Acquire);
    assert_eq!(reader.read_from(before + 1, through, u64::MAX).unwrap().len(), 1);
}

#[test]
fn the_format_has_not_changed() {
    let disk = FaultyDisk::new();
    let mut writer = open(&disk).unwrap().recovered.writer;
    writer.append(2, 1, 3, b"golden").unwrap();
    writer.sync().unwrap();
    writer.append(2, 4, 3, b"").unwrap();
    writer.roll().unwrap();
    assert_eq!(disk.list().unwrap()[0], "journal-00000001-0000000000000001.seg");
    let content = disk.content("journal-00000001-0000000000000001.seg").unwrap();
    assert_eq!(crc32c::crc32c(&content), 0x75f4_5df9, "bytes on disk changed: raise the format's version");
}
