//! Takes records while a server runs, and has a thread of its own write them. No thread that serves requests waits for that
//! disk; who must not be answered before a record is there says what is to be done then.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::flood::Flood;
use super::folder::{Bounds, Folder};
use super::record::{Kind, Record, Who};

/// How many records wait for the disk at most.
const WAITING_MAX: usize = 16_384;

/// How many are written together.
const TOGETHER_MAX: usize = 1_024;

/// How often counts that are due are looked for, and how often a failure to write is logged.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
const LOG_INTERVAL: Duration = Duration::from_mins(1);

/// How long the end waits for the disk.
const END_MAX: Duration = Duration::from_secs(5);

/// What is done once a record is on the disk, or it is known that it will not be.
struct Kept(Option<Box<dyn FnOnce() + Send>>);

/// However the record leaves the writer.
impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(then) = self.0.take() {
            then();
        }
    }
}

/// A record on its way to the disk.
struct Noted {
    record: Record,
    _kept: Kept,
}

/// The audit log of a running server. One that is the default records nothing.
#[derive(Clone, Debug, Default)]
pub struct AuditLog(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    folder: Folder,
    sender: Sender<Option<Noted>>,
    flood: Mutex<Flood>,
    figures: AuditFigures,
    /// Disconnected once the thread that writes has ended.
    ended: Mutex<Option<Receiver<()>>>,
}

/// What became of records.
#[derive(Debug, Default)]
pub struct AuditFigures {
    /// Those on the disk.
    pub written: AtomicU64,
    /// Denials that were counted only.
    pub left_out: AtomicU64,
    /// Those that are lost: the disk was too slow or failed.
    pub lost: AtomicU64,
}

impl AuditLog {
    /// Records to a folder. What is too old there is so by `steady_ms`, which gives Unix milliseconds and does not leap: evidence that was
    /// removed does not come back.
    ///
    /// # Errors
    /// When there is no thread for it.
    pub fn start(folder: Folder, bounds: Bounds, steady_ms: fn() -> u64) -> std::io::Result<Self> {
        let (sender, receiver) = bounded(WAITING_MAX);
        let flood = Mutex::new(Flood::new(Instant::now()));
        let (is_writing, ended) = bounded::<()>(0);
        let (figures, ended) = (AuditFigures::default(), Mutex::new(Some(ended)));
        let inner = Arc::new(Inner { folder, sender, flood, figures, ended });
        let writer = Writer { inner: inner.clone(), bounds, steady_ms, untold: 0, logged_at: None };
        std::thread::Builder::new().name("audit".to_owned()).spawn(move || {
            writer.run(&receiver);
            drop(is_writing);
        })?;
        Ok(Self(Some(inner)))
    }

    /// Whether anything is recorded.
    #[inline]
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Where it is, if there is one.
    #[must_use]
    pub fn folder(&self) -> Option<&Folder> {
        self.0.as_ref().map(|inner| &inner.folder)
    }

    /// What became of records.
    #[must_use]
    pub fn figures(&self) -> Option<&AuditFigures> {
        self.0.as_ref().map(|inner| &inner.figures)
    }

    /// Records an act.
    pub fn note(&self, record: Record) {
        if let Some(inner) = &self.0 {
            inner.hand_over(record, Kept(None));
        }
    }

    /// Records acts, and does something once they are on the disk: on the thread that writes, so it must not block. It is done
    /// as well where they are lost, and at once where nothing is recorded.
    pub fn note_then(&self, records: Vec<Record>, then: impl FnOnce() + Send + 'static) {
        let mut kept = Some(Kept(Some(Box::new(then))));
        let Some(inner) = &self.0 else { return };
        let count = records.len();
        for (at, record) in records.into_iter().enumerate() {
            // They are written in this order, so the last one stands for all.
            let kept = kept.take_if(|_| at + 1 == count);
            inner.hand_over(record, kept.unwrap_or(Kept(None)));
        }
    }

    /// Records a denial, or counts it where there are too many of its address.
    pub fn deny(&self, address: Option<IpAddr>, make: impl FnOnce() -> Record) {
        let Some(inner) = &self.0 else { return };
        let noted = inner.flood.lock().unwrap_or_else(PoisonError::into_inner).note(address, Instant::now());
        match noted {
            Some(left_out) => inner.hand_over(Record { address, left_out, ..make() }, Kept(None)),
            None => {
                inner.figures.left_out.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Writes what waits, and ends. What comes after that is lost, and what the disk does not take in a while: neither it nor a
    /// process that has locked the folder holds up the end of a server.
    pub fn end(&self) {
        let Some(inner) = &self.0 else { return };
        let ended = inner.ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(ended) = ended else { return };
        let until = Instant::now() + END_MAX;
        // If the writer is gone, its panic was already logged.
        let _ = inner.sender.send_deadline(None, until);
        if ended.recv_deadline(until) == Err(RecvTimeoutError::Timeout) {
            let folder = inner.folder.path().display();
            tracing::error!(%folder, "the last records of the audit log are not written: its disk does not answer, or another process has locked it");
        }
    }
}

impl Inner {
    fn hand_over(&self, record: Record, kept: Kept) {
        let record = Record { at_ms: now_ms(), ..record };
        if self.sender.try_send(Some(Noted { record, _kept: kept })).is_err() {
            self.figures.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts of denials that are due by themselves.
    fn counts(&self, is_end: bool) -> impl Iterator<Item = Record> + use<> {
        let due = self.flood.lock().unwrap_or_else(PoisonError::into_inner).due(Instant::now(), is_end);
        due.into_iter().map(|(address, left_out)| {
            let record = Record::new(Kind::Gap, Who::Nobody(None), "server", "denials", "LEFT_OUT");
            Record { at_ms: now_ms(), address, left_out, ..record }
        })
    }
}

/// The thread that writes.
struct Writer {
    inner: Arc<Inner>,
    bounds: Bounds,
    steady_ms: fn() -> u64,
    /// How many lost records the log does not mention yet.
    untold: u64,
    logged_at: Option<Instant>,
}

impl Writer {
    fn run(mut self, receiver: &Receiver<Option<Noted>>) {
        let mut is_end = false;
        while !is_end {
            let mut noted = Vec::new();
            match receiver.recv_timeout(LOOK_INTERVAL) {
                Ok(Some(one)) => noted.push(one),
                Ok(None) | Err(RecvTimeoutError::Disconnected) => is_end = true,
                Err(RecvTimeoutError::Timeout) => {}
            }
            while noted.len() < TOGETHER_MAX {
                match receiver.try_recv() {
                    Ok(Some(one)) => noted.push(one),
                    Ok(None) => is_end = true,
                    Err(_) => break,
                }
            }
            let counts = self.inner.counts(is_end);
            self.write(noted.iter().map(|noted| noted.record.clone()).chain(counts).collect());
            // Who waits for them goes on from here.
            drop(noted);
        }
    }

    fn write(&mut self, mut records: Vec<Record>) {
        let lost = self.inner.figures.lost.load(Ordering::Relaxed);
        if lost > self.untold {
            let record = Record::new(Kind::Gap, Who::Server, "server", "records", "LOST");
            records.push(Record { at_ms: now_ms(), left_out: lost - self.untold, ..record });
        }
        if records.is_empty() {
            return;
        }
        let count = records.len() as u64;
        match self.inner.folder.append(&records) {
            Ok(()) => {
                self.untold = lost;
                self.inner.figures.written.fetch_add(count, Ordering::Relaxed);
                let now = UNIX_EPOCH + Duration::from_millis((self.steady_ms)());
                let removed = self.inner.folder.remove_old(self.bounds, now);
                removed.err().iter().for_each(|error| self.tell(error));
            }
            Err(error) => {
                let gap = u64::from(lost > self.untold);
                self.inner.figures.lost.fetch_add(count - gap, Ordering::Relaxed);
                self.tell(&error);
            }
        }
    }

    fn tell(&mut self, error: &std::io::Error) {
        if self.logged_at.is_none_or(|at| at.elapsed() >= LOG_INTERVAL) {
            self.logged_at = Some(Instant::now());
            let (folder, lost) = (self.inner.folder.path().display(), &self.inner.figures.lost);
            let lost = lost.load(Ordering::Relaxed);
            tracing::error!(%folder, lost, %error, "the audit log cannot be written; free space there, or give the folder back to the server's user");
        }
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Filter, Position};

    const BOUNDS: Bounds = Bounds { bytes_max: 1 << 30, retention: Duration::from_hours(24) };

    fn denial() -> Record {
        Record::new(Kind::Denial, Who::Nobody(None), "resp", "AUTH", "WRONG_PASSWORD")
    }

    #[test]
    fn what_was_noted_is_there_after_the_end_and_a_flood_is_counted() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(place.path().join("audit"));
        let log = AuditLog::start(folder.clone(), BOUNDS, now_ms).expect("a thread");
        let address = "203.0.113.7".parse().ok();
        (0..500).for_each(|_| log.deny(address, denial));
        log.note(Record::new(Kind::Act, Who::Password, "resp", "STOCK.CREATE", "APPLIED"));
        log.end();
        let records = folder.page(Position::default(), &Filter::default(), 999).expect("a page").records;
        let of = |kind| records.iter().filter(move |record| record.kind == kind);
        assert_eq!((of(Kind::Act).count(), of(Kind::Denial).count()), (1, 20));
        assert_eq!(
            of(Kind::Gap).map(|gap| (gap.address, gap.left_out)).collect::<Vec<_>>(),
            [(address, 480)]
        );
        log.note(denial());
        log.end();
    }

    #[test]
    fn what_the_disk_does_not_take_is_counted_and_named_once_it_does() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("audit");
        std::fs::write(&path, "in the way").expect("a file");
        let log = AuditLog::start(Folder::new(path.clone()), BOUNDS, now_ms).expect("a thread");
        log.note(denial());
        let figures = log.figures().expect("it is on");
        while figures.lost.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        std::fs::remove_file(&path).expect("removed");
        log.note(denial());
        log.end();
        let records =
            Folder::new(path).page(Position::default(), &Filter::default(), 9).expect("a page").records;
        assert_eq!(records.iter().map(|record| record.left_out).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn the_end_does_not_wait_for_who_has_locked_the_folder() {
        let place = tempfile::tempdir().expect("a folder");
        let held = std::fs::File::create(place.path().join("lock")).expect("a file");
        held.lock().expect("the lock");
        let log = AuditLog::start(Folder::new(place.path().to_owned()), BOUNDS, now_ms).expect("a thread");
        log.note(denial());
        log.end();
        assert_eq!(log.figures().expect("it is on").written.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn who_waits_for_records_goes_on_once_they_can_be_read_or_are_lost() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(place.path().join("audit"));
        let act = || Record::new(Kind::Act, Who::Password, "resp", "STOCK.CREATE", "APPLIED");
        let seen = |log: &AuditLog, records: Vec<Record>| {
            let (sender, receiver) = bounded(1);
            let folder = folder.clone();
            log.note_then(records, move || {
                let page = folder.page(Position::default(), &Filter::default(), 99);
                sender.send(page.map_or(0, |page| page.records.len())).expect("it is waited for");
            });
            receiver.recv_timeout(Duration::from_mins(1)).expect("it is told")
        };
        let log = AuditLog::start(folder.clone(), BOUNDS, now_ms).expect("a thread");
        assert_eq!(seen(&log, vec![act()]), 1);
        assert_eq!(seen(&log, vec![act(), act(), act()]), 4);
        assert_eq!(seen(&log, Vec::new()), 4);
        log.end();
        assert_eq!(seen(&log, vec![act()]), 4, "after the end it is lost");
        assert_eq!(seen(&AuditLog::default(), vec![act()]), 4, "nothing is recorded");
    }

    #[test]
    fn a_log_that_is_off_records_nothing() {
        let log = AuditLog::default();
        log.note(denial());
        log.deny(None, || panic!("it is not made"));
        assert!(!log.is_on() && log.folder().is_none());
        log.end();
    }
}
