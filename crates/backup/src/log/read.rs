//! Reading the log that follows a backup, to restore from it or to see whether it is whole.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use super::end::parts_of;
use super::{LogHead, decode, part_bytes_max};
use crate::{BackupError, Manifest, Vault};

/// Reads the parts of the log that follows a backup one after the other, up to the first that cannot be used; gives
/// what is wrong with that one.
///
/// # Errors
/// When the store fails, the key is not there, or `take` fails.
pub(crate) fn for_each_part(
    vault: &Vault,
    manifest: &Manifest,
    take: &mut dyn FnMut(LogHead, Vec<u8>) -> Result<(), BackupError>,
) -> Result<Option<BackupError>, BackupError> {
    let (parts, gap) = parts_of(vault, manifest)?;
    for object in parts {
        let place = vault.store.locate(&object.name);
        let bytes = vault.read(&object.name, part_bytes_max(manifest));
        match bytes.and_then(|bytes| decode(&object, &place, &bytes, (manifest, &vault.keys))) {
            Ok((head, content)) => take(head, content)?,
            Err(error @ BackupError::Damaged { .. }) => return Ok(Some(error)),
            Err(error) => return Err(error),
        }
    }
    Ok(gap.map(BackupError::NotFound))
}

/// The log that follows a backup, read and checked, in a local file.
pub struct ShippedLog {
    spool: File,
    files: BTreeMap<(u32, String), ShippedFile>,
    /// All that was durable at this time is in it, in Unix milliseconds; 0 if there is no log.
    pub taken_at_ms: u64,
    /// The last sequence of each partition of which there is any.
    pub sequences: BTreeMap<u32, u64>,
    /// Why it goes no further, if there is more that cannot be used.
    pub problem: Option<BackupError>,
}

/// What a file gains by the log.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShippedFile {
    pub(crate) length: u64,
    chunks: Vec<Chunk>,
}

#[derive(Clone, Copy, Debug)]
struct Chunk {
    /// Where in the file.
    offset: u64,
    bytes: u64,
    /// Where in the spool.
    at: u64,
}

/// Reads the log that follows a backup into an empty local file.
///
/// # Errors
/// When the store fails, the key is not there, or the local file cannot be written.
pub fn read_log(vault: &Vault, manifest: &Manifest, spool: File) -> Result<ShippedLog, BackupError> {
    let mut log = ShippedLog {
        spool,
        files: BTreeMap::new(),
        taken_at_ms: 0,
        sequences: BTreeMap::new(),
        problem: None,
    };
    let mut end = 0;
    log.problem = for_each_part(vault, manifest, &mut |head, content| log.take(head, &content, &mut end))?;
    Ok(log)
}

impl ShippedLog {
    fn take(&mut self, head: LogHead, content: &[u8], end: &mut u64) -> Result<(), BackupError> {
        self.spool.write_all_at(content, *end).map_err(BackupError::Spool)?;
        for part in head.partitions {
            self.sequences.insert(part.partition, part.last_sequence);
            for file in part.files {
                let its = self.files.entry((part.partition, file.name)).or_default();
                its.length = file.length;
                its.chunks.push(Chunk { offset: file.offset, bytes: file.bytes, at: *end });
                *end += file.bytes;
            }
        }
        self.taken_at_ms = head.taken_at_ms;
        Ok(())
    }

    /// The files of a partition that gain by it.
    pub(crate) fn files_of(&self, partition: u32) -> impl Iterator<Item = (&str, &ShippedFile)> {
        let its = self.files.iter().filter(move |((of, _), _)| *of == partition);
        its.map(|((_, name), file)| (name.as_str(), file))
    }

    /// Overwrites what the log has of a stretch of a file.
    pub(crate) fn overlay(&self, file: &ShippedFile, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        let end = offset + buffer.len() as u64;
        for chunk in &file.chunks {
            let (from, to) = (chunk.offset.max(offset), (chunk.offset + chunk.bytes).min(end));
            if from < to {
                let index = |at: u64| usize::try_from(at - offset).unwrap_or(usize::MAX);
                let target = &mut buffer[index(from)..index(to)];
                self.spool.read_exact_at(target, chunk.at + (from - chunk.offset))?;
            }
        }
        Ok(())
    }
}
