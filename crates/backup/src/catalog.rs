//! Which backups a store has, and how far each of them leads.

use crate::log::LogEnd;
use crate::manifest::{MANIFEST_BYTES_MAX, Manifest, PartitionPart};
use crate::store::StoreError;
use crate::{BackupError, Vault};

pub(crate) const MANIFESTS: &str = "backups/";
const SUFFIX: &str = ".manifest";

/// A backup in a store.
#[derive(Debug)]
pub struct Listed {
    /// Its name.
    pub id: String,
    /// What it consists of, or why that cannot be read.
    pub manifest: Result<Manifest, BackupError>,
    /// Whether the manifest was compared with its checksum, which takes the key where it is encrypted.
    pub is_checked: bool,
}

pub(crate) fn manifest_name(id: &str) -> String {
    format!("{MANIFESTS}{id}{SUFFIX}")
}

/// When a backup was begun, by its name.
pub(crate) fn begun_at_ms(id: &str) -> Option<u64> {
    let id = id.trim_start_matches(|digit: char| !digit.is_ascii_digit());
    let at = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", id.split('-').next()?).ok()?;
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    u64::try_from(at.timestamp().as_millisecond()).ok()
}

/// A time in Unix milliseconds, for people.
pub(crate) fn shown_time(at_ms: u64) -> String {
    let at = i64::try_from(at_ms).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    at.map_or_else(|| at_ms.to_string(), |at| at.to_string())
}

/// All backups of a store, in the order in which they were made.
///
/// # Errors
/// When the store cannot be listed.
pub fn list(vault: &Vault) -> Result<Vec<Listed>, BackupError> {
    let mut found = Vec::new();
    for object in vault.store.list(MANIFESTS)? {
        let id = object.name.strip_prefix(MANIFESTS).and_then(|name| name.strip_suffix(SUFFIX));
        let Some(id) = id.filter(|id| !id.starts_with('.')) else { continue };
        let decoded = match vault.read(&object.name, MANIFEST_BYTES_MAX) {
            // It was removed meanwhile.
            Err(BackupError::Store(StoreError::Missing { .. })) => continue,
            Err(error @ BackupError::Store(_)) => return Err(error),
            bytes => bytes
                .and_then(|bytes| Manifest::decode(&bytes, &vault.store.locate(&object.name), &vault.keys)),
        };
        let (manifest, is_checked) = match decoded {
            Ok((manifest, is_checked)) => (Ok(manifest), is_checked),
            Err(error) => (Err(error), false),
        };
        found.push(Listed { id: id.to_owned(), manifest, is_checked });
    }
    found.sort_by_key(|listed| {
        let made = listed.manifest.as_ref();
        let made = made.map_or((0, 0), |manifest| (manifest.number, manifest.begun_at_ms));
        (made, listed.id.clone())
    });
    Ok(found)
}

impl Manifest {
    /// Whether all that had happened by this time is in it: its events go on beyond, or it was begun later and nothing
    /// was left to the next one.
    #[must_use]
    pub fn covers_time(&self, at: u64) -> bool {
        let covers = |part: &PartitionPart| part.last_at_ms > at || (self.begun_at_ms > at && !part.is_cut);
        self.partitions.iter().all(covers)
    }

    /// The last sequence of a partition, with the log that follows it.
    pub(crate) fn last_sequence(&self, partition: u32, log: &LogEnd) -> Option<u64> {
        let found = self.partitions.iter().find(|part| part.partition == partition)?;
        Some(found.last_sequence.max(log.sequences.get(&partition).copied().unwrap_or(0)))
    }

    /// Whether these sequences can be restored, with the log that follows it.
    pub(crate) fn covers(&self, wanted: &[(u32, u64)], log: &LogEnd) -> bool {
        wanted.iter().all(|(partition, sequence)| {
            let found = self.partitions.iter().find(|part| part.partition == *partition);
            let last = log.sequences.get(partition).copied().unwrap_or(0);
            found.is_some_and(|part| {
                (part.reaches_back_to()..=part.last_sequence.max(last)).contains(sequence)
            })
        })
    }

    /// How far it leads with the log that follows it, for people.
    pub(crate) fn ends(&self, log: &LogEnd) -> String {
        let each = self.partitions.iter().map(|part| {
            let (from, to) = (part.reaches_back_to(), self.last_sequence(part.partition, log).unwrap_or(0));
            format!("partition {} from sequence {from} to {to}", part.partition)
        });
        let each: Vec<_> = each.collect();
        let through = match log.parts {
            0 => String::new(),
            _ => format!(", whose log goes to {},", shown_time(log.taken_at_ms)),
        };
        format!("begun at {}{through} with {}", shown_time(self.begun_at_ms), each.join(", "))
    }
}

impl crate::PartitionPart {
    /// The first sequence to which it can be restored.
    #[must_use]
    pub fn reaches_back_to(&self) -> u64 {
        if self.first_sequence <= 1 {
            return 0;
        }
        let bases =
            self.snapshots.iter().filter(|sequence| sequence.saturating_add(1) >= self.first_sequence);
        bases.min().copied().unwrap_or(self.last_sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_backup_tells_when_it_was_begun() {
        assert_eq!(begun_at_ms("20261122T100000Z-0a1b2c3d"), Some(1_795_341_600_000));
        assert_eq!(begun_at_ms(".unfinished-20261122T100000Z-0a1b2c3d"), Some(1_795_341_600_000));
        assert_eq!(begun_at_ms("nonsense"), None);
    }
}
