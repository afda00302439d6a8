//! Reads the audit log, from a position on or from its end.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::net::IpAddr;
use std::str::FromStr;

use scarce_core::types::TimeMs;

use super::folder::Folder;
use super::record::{Kind, Record};

/// How many bytes one page looks at.
const LOOKED_AT_BYTES_MAX: u64 = 4 << 20;

/// Where in the log a reader is: a file, and how much of it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    file: u64,
    offset: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.file, self.offset)
    }
}

impl FromStr for Position {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('-');
        let read = parts.and_then(|(file, offset)| Some((file.parse().ok()?, offset.parse().ok()?)));
        let (file, offset) = read.ok_or("is no cursor of the audit log; take it from a page")?;
        Ok(Self { file, offset })
    }
}

/// Which records are wanted; all where nothing is said.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only of this kind.
    pub kind: Option<Kind>,
    /// Only of this key, by its id or its name, or of this user.
    pub who: Option<String>,
    /// Only from this address.
    pub address: Option<IpAddr>,
    /// Only of this command, route or subcommand; with a `*` at its end, of those that begin so.
    pub what: Option<String>,
    /// Only about this resource.
    pub resource: Option<String>,
    /// Only with this outcome.
    pub outcome: Option<String>,
    /// Only from this time on.
    pub since_ms: Option<TimeMs>,
    /// Only before this time.
    pub until_ms: Option<TimeMs>,
}

impl Filter {
    fn wants(&self, record: &Record) -> bool {
        let is = |asked: &Option<String>, its: &str| asked.as_ref().is_none_or(|asked| asked == its);
        let is_what = self.what.as_ref().is_none_or(|what| match what.strip_suffix('*') {
            Some(front) => record.what.starts_with(front),
            None => record.what.eq_ignore_ascii_case(what),
        });
        let is_who = self.who.as_ref().is_none_or(|who| {
            [record.key.as_ref(), record.name.as_ref(), Some(&record.who)].contains(&Some(who))
        });
        is_what
            && is_who
            && self.kind.is_none_or(|kind| kind == record.kind)
            && self.address.is_none_or(|address| record.address == Some(address))
            && self.resource.as_ref().is_none_or(|resource| record.resources.contains(resource))
            && is(&self.outcome, &record.outcome)
            && self.since_ms.is_none_or(|since| record.at_ms >= since)
            && self.until_ms.is_none_or(|until| record.at_ms < until)
    }
}

/// Some records, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The records that were wanted.
    pub records: Vec<Record>,
    /// Behind each of them.
    pub ends: Vec<Position>,
    /// Behind the last one that was looked at.
    pub next: Position,
    /// Whether there is more to look at now.
    pub has_more: bool,
    /// Whether the log no longer has what was next.
    pub is_cut: bool,
}

impl Folder {
    /// The records behind a position, at most so many.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn page(&self, after: Position, filter: &Filter, count_max: usize) -> io::Result<Page> {
        let files = self.files()?;
        let first = files.first().map_or(after.file, |(number, _)| *number);
        let mut page = Page { next: after, is_cut: after.file > 0 && first > after.file, ..Page::default() };
        let mut left = LOOKED_AT_BYTES_MAX;
        for (number, path) in files.iter().filter(|(number, _)| *number >= after.file) {
            let offset = if *number == after.file { after.offset } else { 0 };
            page.next = Position { file: *number, offset };
            let mut lines = Lines::open(path, offset)?;
            while let Some((line, bytes)) = lines.next_whole()? {
                if page.records.len() >= count_max || left == 0 {
                    page.has_more = true;
                    return Ok(page);
                }
                left = left.saturating_sub(bytes);
                page.next.offset += bytes;
                if let Some(record) = read(&line).filter(|record| filter.wants(record)) {
                    page.records.push(record);
                    page.ends.push(page.next);
                }
            }
        }
        Ok(page)
    }

    /// The last records that are wanted, at most so many, and the position behind the last of all.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn last(&self, filter: &Filter, count_max: usize) -> io::Result<Page> {
        let mut page = Page::default();
        for (at, (number, path)) in self.files()?.iter().rev().enumerate() {
            let (mut lines, mut offset, mut found) = (Lines::open(path, 0)?, 0, Vec::new());
            while let Some((line, bytes)) = lines.next_whole()? {
                offset += bytes;
                found.extend(read(&line).filter(|record| filter.wants(record)));
            }
            if at == 0 {
                page.next = Position { file: *number, offset };
            }
            let wanted = count_max - page.records.len();
            found.drain(..found.len().saturating_sub(wanted));
            page.records.splice(0..0, found);
            if page.records.len() >= count_max {
                page.has_more = true;
                break;
            }
        }
        Ok(page)
    }
}

/// A line that is no record was torn when the power went.
fn read(line: &str) -> Option<Record> {
    serde_json::from_str(line).ok()
}

/// The whole lines of a file.
struct Lines {
    reader: BufReader<File>,
    line: Vec<u8>,
}

impl Lines {
    fn open(path: &std::path::Path, offset: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self { reader: BufReader::new(file), line: Vec::new() })
    }

    /// The next line with the bytes that it takes; none while it is still being written.
    fn next_whole(&mut self) -> io::Result<Option<(String, u64)>> {
        self.line.clear();
        let bytes = self.reader.read_until(b'\n', &mut self.line)?;
        let is_whole = self.line.last() == Some(&b'\n');
        Ok(is_whole.then(|| (String::from_utf8_lossy(&self.line).into_owned(), bytes as u64)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::folder::Bounds;
    use crate::record::Who;

    const BOUNDS: Bounds = Bounds { bytes_max: 1 << 30, retention: Duration::from_hours(24) };

    fn record(at_ms: u64, what: &str, resource: &str) -> Record {
        let record = Record::new(Kind::Act, Who::Password, "resp", what, "APPLIED").about([resource]);
        Record { at_ms, ..record }
    }

    fn times(page: &Page) -> Vec<u64> {
        page.records.iter().map(|record| record.at_ms).collect()
    }

    #[test]
    fn pages_go_through_all_records_and_take_up_what_is_appended() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(place.path().join("audit"));
        assert!(folder.page(Position::default(), &Filter::default(), 5).expect("none").records.is_empty());
        let all: Vec<Record> = (0..7).map(|at| record(at, "STOCK.CREATE", &format!("s{}", at % 2))).collect();
        folder.append(&all[..3]).expect("appended");
        folder.append(&all[3..6]).expect("appended");
        let first = folder.page(Position::default(), &Filter::default(), 4).expect("a page");
        assert_eq!((times(&first), first.has_more), (vec![0, 1, 2, 3], true));
        let next: Position = first.next.to_string().parse().expect("a position");
        let second = folder.page(next, &Filter::default(), 4).expect("a page");
        assert_eq!((times(&second), second.has_more, second.is_cut), (vec![4, 5], false, false));
        assert!(folder.page(second.next, &Filter::default(), 4).expect("a page").records.is_empty());
        folder.append(&all[6..]).expect("appended");
        assert_eq!(times(&folder.page(second.next, &Filter::default(), 4).expect("a page")), [6]);
        let odd = Filter { resource: Some("s1".to_owned()), since_ms: Some(2), ..Filter::default() };
        assert_eq!(times(&folder.page(Position::default(), &odd, 9).expect("a page")), [3, 5]);
        let last = folder.last(&odd, 1).expect("a page");
        assert_eq!((times(&last), last.has_more), (vec![5], true));
        let none = Filter { what: Some("STOCK.CL*".to_owned()), ..Filter::default() };
        assert!(folder.last(&none, 9).expect("a page").records.is_empty());
    }

    #[test]
    fn a_torn_line_is_no_record_and_hides_no_other() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(place.path().to_owned());
        folder.append(&[record(1, "a", "b")]).expect("appended");
        let (_, path) = folder.files().expect("files").remove(0);
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("the file");
        file.write_all(b"{\"at_ms\":2,\"ki").expect("written");
        let page = folder.page(Position::default(), &Filter::default(), 9).expect("a page");
        assert_eq!((times(&page), page.has_more), (vec![1], false), "it may still be written");
        folder.append(&[record(3, "a", "b")]).expect("appended");
        assert_eq!(times(&folder.page(page.next, &Filter::default(), 9).expect("a page")), [3]);
    }

    #[test]
    fn the_oldest_files_go_when_there_is_too_much_and_a_reader_learns_of_it() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(place.path().to_owned());
        let long = "x".repeat(120);
        let many: Vec<Record> = (0..60_000).map(|at| record(at, &long, &long)).collect();
        let bounds = Bounds { bytes_max: 40 << 20, ..BOUNDS };
        folder.append(&many).expect("appended");
        let first = folder.page(Position::default(), &Filter::default(), 1).expect("a page");
        (0..4).for_each(|_| {
            folder.append(&many).expect("appended");
            folder.remove_old(bounds, SystemTime::now()).expect("removed");
        });
        let files = folder.files().expect("files");
        let bytes: u64 = files.iter().map(|(_, path)| std::fs::metadata(path).expect("it").len()).sum();
        assert!(files.len() > 1 && bytes <= 60 << 20, "{} files with {bytes} bytes", files.len());
        assert!(folder.page(first.next, &Filter::default(), 1).expect("a page").is_cut);
        assert!(!folder.page(Position::default(), &Filter::default(), 1).expect("a page").is_cut);
    }

    #[test]
    fn files_go_by_their_age_and_none_is_removed_by_a_look_at_them() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(place.path().to_owned());
        let long = "x".repeat(120);
        let many: Vec<Record> = (0..60_000).map(|at| record(at, &long, &long)).collect();
        (0..2).for_each(|_| folder.append(&many).expect("appended"));
        let count = folder.files().expect("files").len();
        assert!(count > 1);
        let now = SystemTime::now();
        folder.remove_old(BOUNDS, now).expect("nothing to remove");
        folder.remove_old(BOUNDS, now - 9 * BOUNDS.retention).expect("nothing to remove");
        assert_eq!(folder.files().expect("files").len(), count);
        folder.remove_old(BOUNDS, now + 2 * BOUNDS.retention).expect("removed");
        assert_eq!(folder.files().expect("files").len(), 1, "the last one is written to");
    }
}
