//! The files of the audit log. Several processes may append to them: servers and the command line.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::record::Record;

const LOCK: &str = "lock";
const SUFFIX: &str = ".jsonl";

/// How large a file becomes at most before the next one is begun, and how long one is written to.
const FILE_BYTES_MAX: u64 = 16 << 20;
const FILE_AGE_MAX: Duration = Duration::from_hours(24);

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Files take at most so many bytes together; the oldest are removed.
    pub bytes_max: u64,
    /// Files that were last written to longer ago are removed.
    pub retention: Duration,
}

/// The folder.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A folder, which need not exist.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its files, each with its number, the oldest first.
    pub(crate) fn files(&self) -> io::Result<Vec<(u64, PathBuf)>> {
        let entries = match std::fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name =
                path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(SUFFIX));
            if let Some(number) = name.and_then(|name| name.parse().ok()) {
                files.push((number, path));
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Appends records, which are on the disk when it returns. Begins the next file when it is time.
    ///
    /// # Errors
    /// When the files cannot be written; then some of the records may be there.
    pub fn append(&self, records: &[Record]) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.path)?;
        self.give(&File::open(&self.path)?);
        let lock = self.open(LOCK)?;
        lock.lock()?;
        let files = self.files()?;
        let mut file = match files.last() {
            Some((number, path)) if !is_full(path)? => self.open(&name(*number))?,
            last => self.open(&name(last.map_or(1, |(number, _)| number + 1)))?,
        };
        let mut lines: String = records.iter().map(Record::to_line).collect();
        if !ends_whole(&mut file)? {
            // The power went while a line was written: it is left as it is, and read by nobody.
            lines.insert(0, '\n');
        }
        file.write_all(lines.as_bytes())?;
        file.sync_data()?;
        if files.last().is_none_or(|(_, last)| is_full(last).unwrap_or(false)) {
            File::open(&self.path)?.sync_all()?;
        }
        Ok(())
    }

    /// Removes old files. `now` must be a time that a leap of the clock does not change: what is removed does not come back.
    ///
    /// # Errors
    /// When the files cannot be looked at or removed.
    pub fn remove_old(&self, bounds: Bounds, now: SystemTime) -> io::Result<()> {
        let lock = self.open(LOCK)?;
        lock.lock()?;
        let mut files = self.files()?;
        // The last one is written to.
        files.pop();
        let mut bytes = 0;
        for (_, path) in files.iter().rev() {
            let its = std::fs::metadata(path)?;
            bytes += its.len();
            let age = now.duration_since(its.modified()?).unwrap_or_default();
            if bytes + FILE_BYTES_MAX > bounds.bytes_max || age > bounds.retention {
                std::fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    fn open(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true).mode(0o600);
        let file = options.open(self.path.join(name))?;
        self.give(&file);
        Ok(file)
    }

    /// Gives a file to who has the folder around this one: the command line may run as another user than the server.
    fn give(&self, file: &File) {
        let around = self.path.parent().and_then(|around| std::fs::metadata(around).ok());
        if let Some(around) = around {
            // Only root can; all others create files of their own.
            let _ = fchown(file, Some(around.uid()), Some(around.gid()));
        }
    }
}

fn name(number: u64) -> String {
    format!("{number:08}{SUFFIX}")
}

/// Whether a file is too large or too old to be written to.
fn is_full(path: &Path) -> io::Result<bool> {
    let its = std::fs::metadata(path)?;
    // Not every file system knows when a file was created.
    let age = its.created().ok().and_then(|created| SystemTime::now().duration_since(created).ok());
    Ok(its.len() >= FILE_BYTES_MAX || age.is_some_and(|age| its.len() > 0 && age > FILE_AGE_MAX))
}

fn ends_whole(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
