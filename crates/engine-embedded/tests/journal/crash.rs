//! The power goes at every call of a workload, and again during recovery.

use scarce_engine_embedded::journal::{JournalError, RecoveryStart};
use scarce_engine_embedded::storage::FaultyDisk;
use scarce_engine_embedded::storage::faulty::Fault;

use super::support::{Opened, Written, append_next, assert_prefix, open_from};

/// What a workload got done before its end.
#[derive(Default)]
pub(crate) struct Story {
    /// All frames whose append was tried.
    pub(crate) tried: Vec<Written>,
    /// What was acknowledged.
    pub(crate) durable_through: u64,
    /// A snapshot was taken here, as far as the journal is concerned.
    pub(crate) snapshot: u64,
}

impl Story {
    pub(crate) fn start(&self) -> RecoveryStart {
        match self.snapshot {
            0 => RecoveryStart::beginning(),
            snapshot => RecoveryStart::after_snapshot(snapshot),
        }
    }

    pub(crate) fn expected(&self) -> Vec<Written> {
        self.tried.iter().filter(|frame| frame.first > self.snapshot).cloned().collect()
    }

    /// Opens and checks that what came back is what was written and reaches what was acknowledged.
    pub(crate) fn check(&self, disk: &FaultyDisk, context: &str) -> Opened {
        let opened = open_from(disk.storage(), self.start());
        let opened = opened.unwrap_or_else(|error| panic!("{context}: {error:?}"));
        let durable = if self.durable_through > self.snapshot { self.durable_through } else { 0 };
        assert_prefix(&opened.frames, &self.expected(), durable, context);
        opened
    }
}

/// Appends, syncs, rolls, prepares spares, snapshots, retires.
pub(crate) fn work(disk: &FaultyDisk, story: &mut Story, generation: u8) -> Result<(), JournalError> {
    let mut writer = open_from(disk.storage(), story.start())?.recovered.writer;
    for at in 0..60 {
        let next = super::support::frame(writer.next_sequence(), generation);
        story.tried.push(next);
        append_next(&mut writer, &mut Vec::new(), generation)?;
        if at % 3 == 1 {
            story.durable_through = writer.sync()?;
        }
        if at % 8 == 3 {
            writer.journal().prepare_spare()?;
        }
        if at % 10 == 5 {
            writer.record_synced()?;
        }
        if at == 25 || at == 45 {
            story.snapshot = story.durable_through;
            writer.journal().retire(story.snapshot)?;
        }
    }
    story.durable_through = writer.sync()?;
    Ok(())
}

/// Continues after a recovery; frames that were cut may not come back under the new ones.
fn go_on(disk: &FaultyDisk, story: &Story, opened: Opened, seed: u64, context: &str) {
    let mut after = Story { tried: story.tried.clone(), ..Story::default() };
    after.snapshot = story.snapshot;
    let mut writer = opened.recovered.writer;
    after.tried.retain(|frame| frame.last < writer.next_sequence());
    for at in 0..12 {
        append_next(&mut writer, &mut after.tried, 77).unwrap_or_else(|error| panic!("{context}: {error:?}"));
        if at == 8 {
            after.durable_through = writer.sync().unwrap_or_else(|error| panic!("{context}: {error:?}"));
        }
    }
    disk.crash(seed);
    after.check(disk, context);
}

#[test]
fn the_power_goes_at_every_call() {
    let disk = FaultyDisk::new();
    let mut story = Story::default();
    work(&disk, &mut story, 0).unwrap();
    assert!(story.snapshot > 0);
    for call in 0..disk.call_count() {
        let disk = FaultyDisk::new();
        let mut story = Story::default();
        disk.inject(call, Fault::PowerCut);
        work(&disk, &mut story, 0).unwrap_err();
        assert_eq!(disk.fired_count(), 1);
        for seed in 0..6 {
            let context = format!("power cut at call {call}, seed {seed}");
            let copy = disk.fork();
            copy.crash(seed);
            let opened = story.check(&copy, &context);
            go_on(&copy, &story, opened, seed + 100, &context);
        }
    }
}

#[test]
fn the_power_goes_three_times_nested_during_recovery() {
    let disk = FaultyDisk::new();
    let mut story = Story::default();
    work(&disk, &mut story, 0).unwrap();
    let calls = disk.call_count();
    let mut interrupted = 0;
    for call in (0..calls).step_by(3) {
        let disk = FaultyDisk::new();
        let mut story = Story::default();
        disk.inject(call, Fault::PowerCut);
        work(&disk, &mut story, 0).unwrap_err();
        disk.crash(call);
        for later in 0..14 {
            let copy = disk.fork();
            let context = format!("power cut at call {call}, in recovery after {later}");
            for depth in 0..3 {
                copy.inject(copy.call_count() + later + depth, Fault::PowerCut);
                let failed = open_from(copy.storage(), story.start());
                interrupted += u64::from(failed.is_err());
                copy.clear_faults();
                copy.crash(call * 31 + later * 7 + depth);
            }
            let opened = story.check(&copy, &context);
            go_on(&copy, &story, opened, later, &context);
        }
    }
    assert!(interrupted > 1000, "only {interrupted} recoveries were interrupted");
}

#[test]
fn a_recovered_frame_stays_through_a_crash() {
    for seed in 0..200 {
        let disk = FaultyDisk::new();
        let mut story = Story::default();
        disk.inject(seed, Fault::PowerCut);
        let _ = work(&disk, &mut story, 0);
        disk.clear_faults();
        disk.crash(seed);
        let first = story.check(&disk, &format!("seed {seed}")).recovered.last_sequence;
        disk.crash(seed + 1);
        let second = story.check(&disk, &format!("seed {seed}, second")).recovered.last_sequence;
        assert_eq!(first, second, "seed {seed}: a frame handed out by recovery was lost");
    }
}

#[test]
fn the_same_seed_gives_the_same_disk() {
    let contents = |seed| {
        let disk = FaultyDisk::new();
        disk.inject(100, Fault::PowerCut);
        work(&disk, &mut Story::default(), 0).unwrap_err();
        disk.crash(seed);
        let names = scarce_engine_embedded::storage::Storage::list(&disk).unwrap();
        names.into_iter().map(|name| (disk.content(&name), name)).collect::<Vec<_>>()
    };
    assert_eq!(contents(5), contents(5));
    assert!((0..10).any(|seed| contents(seed) != contents(5)));
}
