//! The disk's sync latency, its free space, and its file system.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::HumanBytes;
use scarce_settings::ServerSettings;
use serde_json::json;

use super::finding::Finding;
use super::mounts::{self, Mount};

/// How many appends to time.
const APPENDS: usize = 64;

/// The size of one append: a small batch of commands.
const APPEND_BYTES: usize = 4_096;

/// After this time no further append starts, however few were timed.
const PATIENCE: Duration = Duration::from_secs(5);

/// A median above this is slow even for a spinning disk.
const MEDIAN_SLOW: Duration = Duration::from_millis(20);

/// Every caller that waits for a sync notices a longer one.
const P99_SLOW: Duration = Duration::from_millis(100);

pub(super) fn examine(settings: &ServerSettings) -> Vec<Finding> {
    let directory = nearest_directory(&settings.data);
    vec![latency(&directory), file_system(&directory), room(&directory, settings)]
}

/// The data directory, or the existing parent in which it will be created.
pub(super) fn nearest_directory(data: &Path) -> std::path::PathBuf {
    let absolute = std::path::absolute(data).unwrap_or_else(|_| data.to_owned());
    absolute.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("/")).to_owned()
}

fn latency(directory: &Path) -> Finding {
    const NAME: &str = "disk sync";
    match time_syncs(directory) {
        Err(error) => Finding::fail(
            NAME,
            format!("a file in {} cannot be written and synced: {error}", directory.display()),
            "let this user write there, or choose another directory with --data",
        ),
        Ok(times) => {
            let (median, p99) = (percentile(&times, 50), percentile(&times, 99));
            let found = format!(
                "median {}, p99 {} over {} appends of 4 KiB with fdatasync",
                shown(median),
                shown(p99),
                times.len()
            );
            Finding::ok(NAME, found)
                .warn_if(
                    median > MEDIAN_SLOW || p99 > P99_SLOW,
                    "every answer waits for a sync: use a local SSD, and let no other program sync much to it",
                )
                .with(json!({
                    "median_us": u64::try_from(median.as_micros()).unwrap_or(u64::MAX),
                    "p99_us": u64::try_from(p99.as_micros()).unwrap_or(u64::MAX),
                    "appends": times.len(),
                }))
        }
    }
}

/// Times appends like the journal's, into a file preallocated with zeros. Returns at least one time, in
/// ascending order.
fn time_syncs(directory: &Path) -> io::Result<Vec<Duration>> {
    // Unnamed: it disappears with this process, even after kill -9.
    let file: File = tempfile::tempfile_in(directory)?;
    file.write_all_at(&vec![0; APPENDS * APPEND_BYTES], 0)?;
    file.sync_all()?;
    let (bytes, started_at) = ([0x5c; APPEND_BYTES], Instant::now());
    let mut times = Vec::new();
    for at in 0..APPENDS {
        let before = Instant::now();
        file.write_all_at(&bytes, (at * APPEND_BYTES) as u64)?;
        file.sync_data()?;
        times.push(before.elapsed());
        if started_at.elapsed() > PATIENCE {
            break;
        }
    }
    times.sort_unstable();
    Ok(times)
}

/// The smallest time that this percentage does not exceed.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

fn shown(time: Duration) -> String {
    match time.as_micros() {
        micros if micros < 1_000 => format!("{micros} µs"),
        micros => format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100),
    }
}

fn file_system(directory: &Path) -> Finding {
    const NAME: &str = "file system";
    let Some(Mount { point, kind, is_read_only }) = mounts::of(directory) else {
        return Finding::ok(NAME, "not known: /proc/self/mountinfo cannot be read");
    };
    let found = format!("{kind}, mounted at {}", point.display());
    let figures = json!({ "type": kind, "mount": point });
    if is_read_only {
        return Finding::fail(NAME, format!("{found}, read-only"), "mount it for writing").with(figures);
    }
    match mounts::objection(&kind) {
        Some((what, advice)) => Finding::warn(NAME, format!("{found}: {what}"), advice),
        None => Finding::ok(NAME, found),
    }
    .with(figures)
}

fn room(directory: &Path, settings: &ServerSettings) -> Finding {
    const NAME: &str = "disk space";
    let found = match rustix::fs::statvfs(directory) {
        Ok(found) => found,
        Err(error) => return Finding::warn(NAME, format!("cannot be read: {error}"), "check the directory"),
    };
    let available = found.f_bavail.saturating_mul(found.f_frsize);
    let (least, wanted) = needed(settings);
    let text = format!("{} available in {}", HumanBytes(available), directory.display());
    let figures = json!({ "available_bytes": available, "needed_bytes": least, "wanted_bytes": wanted });
    if available < least {
        let advice = format!(
            "a segment and its spare for each partition take {}: make room, or lower --segment-mib",
            HumanBytes(least)
        );
        return Finding::fail(NAME, text, advice).with(figures);
    }
    let advice = format!(
        "until snapshots let old segments go, a journal takes up to {}: make room, or lower --snapshot-mib",
        HumanBytes(wanted)
    );
    Finding::ok(NAME, text).warn_if(available < wanted, advice).with(figures)
}

/// The space required to start, and the size of the journal between two snapshots, in bytes.
fn needed(settings: &ServerSettings) -> (u64, u64) {
    let mib = |count: u64| count.saturating_mul(1 << 20).saturating_mul(u64::from(settings.partitions));
    let start = settings.segment_mib.saturating_mul(2);
    (mib(start), mib(start.saturating_add(settings.snapshot_mib.saturating_mul(2))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let times: Vec<_> = (1..=64).map(Duration::from_millis).collect();
        assert_eq!(percentile(&times, 50), Duration::from_millis(32));
        assert_eq!(percentile(&times, 99), Duration::from_millis(64));
        assert_eq!(percentile(&times[..1], 99), Duration::from_millis(1));
    }

    #[test]
    fn times_are_shown_in_a_fitting_unit() {
        assert_eq!(shown(Duration::from_micros(999)), "999 µs");
        assert_eq!(shown(Duration::from_micros(1_960)), "1.9 ms");
    }

    #[test]
    fn what_does_not_exist_yet_is_looked_for_further_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let absent = folder.path().join("not/yet");
        assert_eq!(nearest_directory(&absent), folder.path());
        assert!(!time_syncs(&nearest_directory(&absent)).expect("times").is_empty());
        assert_eq!(std::fs::read_dir(folder.path()).expect("a list").count(), 0, "nothing is left behind");
    }
}
