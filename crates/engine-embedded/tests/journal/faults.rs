//! Calls that fail while the process lives on.

use scarce_engine_embedded::journal::JournalError;
use scarce_engine_embedded::storage::faulty::Fault;
use scarce_engine_embedded::storage::{FaultyDisk, FileStorage, Storage};

use super::crash::{Story, work};
use super::support::{append_next, fill, open, open_from, settings};

#[test]
fn every_fault_at_every_call() {
    let disk = FaultyDisk::new();
    work(&disk, &mut Story::default(), 0).unwrap();
    let calls = disk.call_count();
    let faults = [Fault::WriteError, Fault::WriteShort, Fault::SyncError, Fault::DirectorySyncError];
    for fault in faults {
        let mut fired = 0;
        for call in 0..calls {
            let disk = FaultyDisk::new();
            let mut story = Story::default();
            disk.inject(call, fault);
            let worked = work(&disk, &mut story, 0);
            fired += disk.fired_count();
            assert_eq!(worked.is_err(), disk.fired_count() == 1, "{fault:?} at call {call} was swallowed");
            disk.clear_faults();
            let crashed = disk.fork();
            crashed.crash(call);
            story.check(&crashed, &format!("{fault:?} at call {call}, then the power"));
            // The process restarts, sees its cache, and answers for what it sees; then the power goes.
            disk.kill();
            let context = format!("{fault:?} at call {call}, then a restart");
            let seen = story.check(&disk, &context).recovered.last_sequence;
            disk.crash(call + 1);
            let kept = story.check(&disk, &context).recovered.last_sequence;
            assert_eq!(seen, kept, "{context}, then the power: recovered frames were lost");
        }
        assert!(fired > 0, "{fault:?} never happened");
    }
}

#[test]
fn a_failed_sync_ends_the_writer() {
    let disk = FaultyDisk::new();
    let (mut writer, mut truth) = fill(&disk, 5, 0);
    let durable_through = writer.synced_through();
    append_next(&mut writer, &mut truth, 0).unwrap();
    disk.inject(disk.call_count(), Fault::SyncError);
    assert!(matches!(writer.sync(), Err(JournalError::Storage(_))));
    assert_eq!(disk.fired_count(), 1);
    for _ in 0..3 {
        assert!(writer.sync().unwrap_err().is_poisoned());
        assert!(append_next(&mut writer, &mut truth, 0).unwrap_err().is_poisoned());
        assert!(writer.roll().unwrap_err().is_poisoned());
        assert!(writer.record_synced().unwrap_err().is_poisoned());
    }
    assert!(writer.is_poisoned());
    assert_eq!(writer.synced_through(), durable_through);
    assert_eq!(writer.journal().reader().read_from(1, durable_through, u64::MAX).unwrap().len(), 5);
}

#[test]
fn a_failed_write_ends_the_writer() {
    for fault in [Fault::WriteError, Fault::WriteShort] {
        let disk = FaultyDisk::new();
        let (mut writer, mut truth) = fill(&disk, 5, 0);
        disk.inject(disk.call_count(), fault);
        assert!(matches!(append_next(&mut writer, &mut truth, 0), Err(JournalError::Storage(_))));
        assert_eq!(disk.fired_count(), 1);
        assert!(writer.sync().unwrap_err().is_poisoned());
        assert_eq!(open(&disk).unwrap().frames, truth);
    }
}

#[test]
fn a_failed_write_names_the_segment_and_not_the_spare_that_it_was() {
    let disk = FaultyDisk::new();
    let (mut writer, mut truth) = fill(&disk, 5, 0);
    writer.roll().unwrap();
    disk.inject(disk.call_count(), Fault::WriteError);
    let refused = format!("{:?}", append_next(&mut writer, &mut truth, 0).unwrap_err());
    assert!(refused.contains("journal-") && !refused.contains("spare"), "{refused}");

    let directory = tempfile::tempdir().unwrap();
    let storage = FileStorage::open(directory.path()).unwrap();
    let mut file = storage.create("spare").unwrap();
    storage.rename("spare", "segment").unwrap();
    file.note_name("segment");
    // No file has such an offset.
    let refused = file.write_at(u64::MAX, b"x").unwrap_err();
    assert_eq!(refused.path, storage.locate("segment"));
}

#[test]
fn a_full_disk_is_met_before_the_write_and_gone_on_from() {
    let disk = FaultyDisk::new();
    let (mut writer, mut truth) = fill(&disk, 5, 0);
    assert!(writer.journal().prepare_spare().unwrap());
    disk.set_capacity(Some(2 * settings().segment_bytes + 100));
    let refused = loop {
        if let Err(error) = append_next(&mut writer, &mut truth, 0) {
            break error;
        }
    };
    assert!(refused.is_full(), "{refused:?}");
    assert_eq!(writer.journal().segment_count(), 2, "the spare was used up first");
    assert!(!writer.is_poisoned());
    assert!(append_next(&mut writer, &mut truth, 0).unwrap_err().is_full());
    let through = writer.sync().unwrap();
    assert_eq!(through, truth.last().unwrap().last, "what fitted is durable");
    assert_eq!(writer.journal().reader().read_from(1, through, u64::MAX).unwrap().len(), truth.len());
    assert!(writer.journal().prepare_spare().unwrap_err().is_full());
    disk.set_capacity(None);
    append_next(&mut writer, &mut truth, 0).unwrap();
    writer.sync().unwrap();
    assert_eq!(open(&disk).unwrap().frames, truth);
}

#[test]
fn a_process_without_descriptors_goes_on_once_it_has_one() {
    let disk = FaultyDisk::new();
    let (mut writer, mut truth) = fill(&disk, 5, 0);
    writer.journal().prepare_spare().unwrap();
    disk.inject(disk.call_count(), Fault::NoDescriptor);
    writer.roll().unwrap();
    assert_eq!(disk.fired_count(), 0, "a spare that is ready has its descriptor");
    let refused = writer.journal().prepare_spare().unwrap_err();
    assert!(matches!(refused, JournalError::NoDescriptor { .. }), "{refused:?}");
    append_next(&mut writer, &mut truth, 0).unwrap();
    for _ in 0..3 {
        disk.inject(disk.call_count(), Fault::NoDescriptor);
        let refused = writer.roll().unwrap_err();
        assert!(refused.is_full() && !writer.is_poisoned(), "{refused:?}");
    }
    assert_eq!(disk.fired_count(), 4);
    append_next(&mut writer, &mut truth, 0).unwrap();
    writer.roll().unwrap();
    append_next(&mut writer, &mut truth, 0).unwrap();
    writer.sync().unwrap();
    assert_eq!(open(&disk).unwrap().frames, truth);
}

#[test]
fn a_full_disk_at_any_allocation_does_no_harm() {
    let disk = FaultyDisk::new();
    work(&disk, &mut Story::default(), 0).unwrap();
    let mut fired = 0;
    for call in 0..disk.call_count() {
        let disk = FaultyDisk::new();
        let mut story = Story::default();
        disk.inject(call, Fault::Full);
        if let Err(error) = work(&disk, &mut story, 0) {
            assert!(error.is_full(), "call {call}: {error:?}");
            fired += disk.fired_count();
        }
        disk.crash(call);
        story.check(&disk, &format!("full at call {call}"));
    }
    assert!(fired > 0);
}

#[test]
fn a_read_error_during_recovery_is_an_error_and_changes_nothing() {
    let disk = FaultyDisk::new();
    let (_, truth) = fill(&disk, 30, 2);
    let mut failed = 0;
    for call in 0..40 {
        let copy = disk.fork();
        copy.inject(copy.call_count() + call, Fault::ReadError);
        match open(&copy) {
            Err(error) => {
                assert!(matches!(error, JournalError::Storage(_)), "call {call}: {error:?}");
                assert_eq!(copy.fired_count(), 1);
                failed += 1;
            }
            Ok(opened) => assert_eq!(opened.frames, truth),
        }
        copy.clear_faults();
        copy.kill();
        assert_eq!(open_from(copy.storage(), Story::default().start()).unwrap().frames, truth, "call {call}");
    }
    assert!(failed > 10, "{failed}");
}
