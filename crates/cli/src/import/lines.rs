//! Reads lines of bounded length.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::{Exit, Failed};

/// The maximum length of a line: its command still fits into one request to the server.
pub(super) const LINE_BYTES_MAX: usize = 512 << 10;

/// The size of the read buffer.
const AHEAD_BYTES: usize = 1 << 20;

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Its bytes, without the line break.
    Line(Vec<u8>),
    /// It is longer than [`LINE_BYTES_MAX`] and was skipped.
    TooLong,
}

/// The lines of a file.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    /// The number of bytes read.
    pub(super) bytes: u64,
}

/// Lines of a file or of standard input.
pub(super) type AnyLines = Lines<Box<dyn Read>>;

/// Opens a file, or standard input for `-`; returns its length if known. The input ends early on request.
pub(super) fn open(path: &Path, stop: &Arc<AtomicBool>) -> Result<(AnyLines, Option<u64>), Failed> {
    let stop = stop.clone();
    if path == Path::new("-") {
        return Ok((Lines::new(Box::new(Stoppable { input: io::stdin(), stop })), None));
    }
    let cannot = |error| Failed::text(Exit::Usage, format!("cannot read from {}: {error}", path.display()));
    let input = File::open(path).map_err(cannot)?;
    let metadata = input.metadata().map_err(cannot)?;
    let length = metadata.is_file().then_some(metadata.len());
    Ok((Lines::new(Box::new(Stoppable { input, stop })), length))
}

/// Input that ends when this process is asked to stop, even if the writer has not finished.
struct Stoppable<R> {
    input: R,
    stop: Arc<AtomicBool>,
}

/// How often a reader that waits for input checks whether to stop.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

impl<R: Read + AsFd> Read for Stoppable<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.stop.load(Ordering::Relaxed) {
            match poll(&mut [PollFd::new(&self.input, PollFlags::IN)], Some(&LOOK_EVERY)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return self.input.read(buffer),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(0)
    }
}

impl<R: Read> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader: BufReader::with_capacity(AHEAD_BYTES, reader), bytes: 0 }
    }

    /// Whether the next line is available without waiting for the writer.
    pub(super) fn is_ready(&self) -> bool {
        self.reader.buffer().contains(&b'\n')
    }

    /// The next line, or `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Found>> {
        let mut line = Vec::new();
        let most = LINE_BYTES_MAX as u64 + 1;
        let count = self.reader.by_ref().take(most).read_until(b'\n', &mut line)?;
        self.bytes += count as u64;
        if count == 0 {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if line.len() > LINE_BYTES_MAX {
            self.bytes += self.reader.skip_until(b'\n')? as u64;
            return Ok(Some(Found::TooLong));
        }
        Ok(Some(Found::Line(line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_the_file_too() {
        let mut lines = Lines::new(&b"a\n\nb"[..]);
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push(line);
        }
        assert_eq!(found, [b"a".as_slice(), b"", b"b"].map(|line| Found::Line(line.to_vec())));
        assert_eq!(lines.bytes, 4);
    }

    #[test]
    fn a_line_that_is_too_long_costs_no_memory_and_no_other_line() {
        let longest = vec![b'x'; LINE_BYTES_MAX];
        let text = [&longest[..], b"\n", &longest, b"yz\nlast\n"].concat();
        let mut lines = Lines::new(&text[..]);
        assert_eq!(lines.next().unwrap(), Some(Found::Line(longest)));
        assert_eq!(lines.next().unwrap(), Some(Found::TooLong));
        assert_eq!(lines.next().unwrap(), Some(Found::Line(b"last".to_vec())));
        assert_eq!(lines.next().unwrap(), None);
        assert_eq!(lines.bytes, text.len() as u64);
    }
}
