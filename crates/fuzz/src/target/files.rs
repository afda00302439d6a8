//! The files of a data directory. Their checksums would refuse nearly every input, so that the input says which bits
//! of good files are flipped: five bytes each, an offset and a bit.

use std::io::Read;
use std::sync::LazyLock;

use scarce_engine_embedded::journal::{Frame, JournalSettings, RecoveryStart, inspect, recover};
use scarce_engine_embedded::snapshot::{SnapshotInfo, SnapshotOwner, list, load, newest_good, write};
use scarce_engine_embedded::storage::{FaultyDisk, Storage};

use super::Target;

pub(super) const JOURNAL: Target = Target {
    name: "journal",
    about: "segments of the journal with flipped bits: what is recovered was written, in its order",
    examples,
    check: check_journal,
    weight: 50,
};

pub(super) const SNAPSHOT: Target = Target {
    name: "snapshot",
    about: "snapshot files with flipped bits: what is loaded was written",
    examples,
    check: check_snapshot,
    weight: 50,
};

const OWNER: SnapshotOwner = SnapshotOwner { deployment_id: [7; 16], partition: 0 };

fn examples() -> Vec<Vec<u8>> {
    let offsets = [0_u32, 9, 60, 512, 600, 4_096, 4_104, 4_152, 4_160, 9_000];
    offsets.map(|offset| [&offset.to_le_bytes()[..], &[3]].concat()).to_vec()
}

/// Flips the bits that the input names in any of the files.
fn damaged(disk: &FaultyDisk, bytes: &[u8]) -> FaultyDisk {
    let disk = disk.fork();
    let names = disk.list().unwrap_or_default();
    for flip in bytes.chunks_exact(5) {
        let (offset, bit) = (u32::from_le_bytes([flip[0], flip[1], flip[2], flip[3]]) as usize, flip[4]);
        let name = &names[usize::from(bit >> 3) % names.len()];
        let length = disk.content(name).map_or(1, |content| content.len().max(1));
        disk.flip_bit(name, (offset % length) as u64, bit & 7);
    }
    disk
}

fn journal_settings() -> JournalSettings {
    JournalSettings { deployment_id: [7; 16], partition: 0, segment_bytes: 8_192, index_bytes: 512 }
}

/// The payloads of the frames that a recovery finds, unless it refuses.
fn frames(disk: &FaultyDisk) -> Option<Vec<Vec<u8>>> {
    let mut frames = Vec::new();
    let mut keep = |frame: &Frame<'_>| {
        if frame.last_sequence >= frame.first_sequence {
            frames.push(frame.payload.to_vec());
        }
        Ok(())
    };
    let start = RecoveryStart::beginning();
    recover(disk.storage(), journal_settings(), start, &mut keep, &mut |_| {}).ok()?;
    Some(frames)
}

/// A journal of several segments, the last frames of which were never synced.
fn journal() -> (FaultyDisk, Vec<Vec<u8>>) {
    let disk = FaultyDisk::new();
    let start = RecoveryStart::beginning();
    let opened = recover(disk.storage(), journal_settings(), start, &mut |_| Ok(()), &mut |_| {});
    let mut writer = opened.unwrap_or_else(|error| panic!("{error}")).writer;
    let payloads: Vec<Vec<u8>> = (1..=24_u8).map(|at| vec![at; usize::from(at) * 37]).collect();
    for (sequence, payload) in (1..).zip(&payloads) {
        let written = writer.append(1, sequence, sequence, payload);
        let synced = if sequence < 20 { writer.sync().map(drop) } else { Ok(()) };
        written.and(synced).unwrap_or_else(|error| panic!("{error}"));
    }
    (disk, payloads)
}

fn check_journal(bytes: &[u8]) {
    static GOOD: LazyLock<(FaultyDisk, Vec<Vec<u8>>)> = LazyLock::new(journal);
    let (good, written) = &*GOOD;
    let disk = damaged(good, bytes);
    let _ = inspect(&disk);
    if let Some(found) = frames(&disk) {
        assert!(written.starts_with(&found), "what is recovered was written, in its order");
        assert_eq!(frames(&disk), Some(found), "a second recovery finds the same");
    }
}

fn payload(sequence: u64) -> Vec<u8> {
    (0..700).map(|at| ((at * 31 + sequence) % 251).to_le_bytes()[0]).collect()
}

/// Two snapshots.
fn snapshots() -> FaultyDisk {
    let disk = FaultyDisk::new();
    for sequence in [1, 2] {
        let info =
            SnapshotInfo { owner: OWNER, epoch: 1, sequence, stamp_ms: 5, digest: 9, payload_bytes: 0 };
        let saved = write(&disk, &info, &mut |sink| sink.write_all(&payload(sequence)));
        saved.unwrap_or_else(|error| panic!("{error}"));
    }
    disk
}

fn check_snapshot(bytes: &[u8]) {
    static GOOD: LazyLock<FaultyDisk> = LazyLock::new(snapshots);
    let disk = damaged(&GOOD, bytes);
    let _ = newest_good(&disk, &OWNER);
    for listed in list(&disk).unwrap_or_default() {
        let Ok(mut reader) = load(&disk, &listed.name, &OWNER) else { continue };
        let mut found = Vec::new();
        if reader.read_to_end(&mut found).is_ok() && reader.finish().is_ok() {
            assert!(found == payload(listed.sequence), "what is loaded was written");
        }
    }
}
