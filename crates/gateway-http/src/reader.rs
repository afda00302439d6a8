//! Callers of the HTTP port that do not read: their answers take bounded memory together. The caller that has taken nothing for longest
//! is disconnected first.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use scarce_gateway::ConnectionPlaces;

/// About what a connection holds for an answer without an end: what is written and not sent, and the next frame.
const STREAM_BYTES: u64 = 64 << 10;

/// Callers whose sockets take nothing more, by the time since when.
#[derive(Default)]
struct Waiting {
    callers: BTreeMap<(Instant, u64), (u64, IpAddr, Arc<Notify>)>,
    bytes: u64,
}

/// All callers of the port.
pub(super) struct Readers {
    places: Arc<ConnectionPlaces>,
    ids: AtomicU64,
    waiting: Mutex<Waiting>,
}

impl Readers {
    pub(super) fn new(places: Arc<ConnectionPlaces>) -> Arc<Self> {
        Arc::new(Self { places, ids: AtomicU64::new(0), waiting: Mutex::default() })
    }

    /// A new connection.
    pub(super) fn join(self: &Arc<Self>, peer: IpAddr) -> Arc<Reader> {
        Arc::new(Reader {
            readers: self.clone(),
            id: self.ids.fetch_add(1, Ordering::Relaxed),
            peer,
            held_bytes: AtomicU64::new(STREAM_BYTES),
            is_waiting: AtomicBool::new(false),
            since: Mutex::default(),
            answers: Mutex::default(),
            has_several: AtomicBool::new(false),
            cut_off: Arc::default(),
        })
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, since: Instant, reader: &Reader, bytes: u64) {
        let unread = &self.places.unread;
        let mut waiting = self.waiting();
        waiting.callers.insert((since, reader.id), (bytes, reader.peer, reader.cut_off.clone()));
        waiting.bytes += bytes;
        unread.note(0, bytes);
        while waiting.bytes > unread.max_of_port() {
            let Some((_, (bytes, peer, cut_off))) = waiting.callers.pop_first() else { return };
            waiting.bytes -= bytes;
            unread.note(bytes, 0);
            unread.note_closed(peer, bytes);
            cut_off.notify_one();
        }
    }

    /// Whether it was there: otherwise it was cut off.
    fn leave(&self, since: Instant, reader: &Reader) -> bool {
        let mut waiting = self.waiting();
        let Some((bytes, ..)) = waiting.callers.remove(&(since, reader.id)) else { return false };
        waiting.bytes -= bytes;
        self.places.unread.note(bytes, 0);
        true
    }
}

/// The caller of a connection.
pub(super) struct Reader {
    readers: Arc<Readers>,
    id: u64,
    peer: IpAddr,
    /// What the answer under way takes.
    held_bytes: AtomicU64,
    is_waiting: AtomicBool,
    since: Mutex<Option<Instant>>,
    /// The answers that it has not taken, where it may have several under way.
    answers: Mutex<Answers>,
    /// Whether it may have several, so that its socket says little of them.
    has_several: AtomicBool,
    cut_off: Arc<Notify>,
}

/// Answers of a connection that has several under way, as in HTTP/2: its caller can leave each of them unread although the
/// socket takes more.
#[derive(Default)]
struct Answers {
    last: u64,
    /// When each was ready, and its size.
    held: BTreeMap<u64, (Instant, u64)>,
    /// Since when the connection counts among those that wait.
    counted: Option<Instant>,
    /// Its last answers end with it, and count no more.
    is_cut_off: bool,
}

/// An answer that is under way until this is dropped.
pub(super) struct Held {
    reader: Arc<Reader>,
    number: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.reader.change_answers(|answers| {
            answers.held.remove(&self.number);
        });
    }
}

impl Reader {
    /// Notes the size of an answer; none has no end.
    pub(super) fn note_answer(&self, bytes: Option<u64>) {
        self.held_bytes.store(bytes.unwrap_or(STREAM_BYTES), Ordering::Relaxed);
    }

    /// From now on answers are noted one by one.
    pub(super) fn has_several_answers(&self) {
        self.note(false);
        self.has_several.store(true, Ordering::Relaxed);
    }

    /// Notes an answer of so many bytes, of several that may be under way.
    pub(super) fn hold(self: &Arc<Self>, bytes: u64) -> Held {
        let mut number = 0;
        self.change_answers(|answers| {
            answers.last += 1;
            number = answers.last;
            answers.held.insert(number, (Instant::now(), bytes));
        });
        Held { reader: self.clone(), number }
    }

    /// Counts the connection by its oldest answer, with what all of them take.
    fn change_answers(&self, change: impl FnOnce(&mut Answers)) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut answers);
        if let Some(since) = answers.counted.take() {
            answers.is_cut_off |= !self.readers.leave(since, self);
        }
        let oldest = answers.held.values().map(|(since, _)| *since).min();
        if let Some(since) = oldest.filter(|_| !answers.is_cut_off) {
            answers.counted = Some(since);
            self.readers.enter(since, self, answers.held.values().map(|(_, bytes)| bytes).sum());
        }
    }

    /// Notes that the connection is closed because its caller has taken nothing for so long.
    pub(super) fn note_stalled(&self, limit: Duration) {
        self.readers.places.unread.note_stalled(self.peer, limit);
    }

    /// Waits until the connection is to be closed.
    pub(super) async fn cut_off(&self) {
        self.cut_off.notified().await;
    }

    /// Notes whether the socket takes what is written.
    fn note(&self, is_blocked: bool) {
        if self.has_several.load(Ordering::Relaxed)
            || self.is_waiting.swap(is_blocked, Ordering::Relaxed) == is_blocked
        {
            return;
        }
        let now = Instant::now();
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        if is_blocked {
            *since = Some(now);
            self.readers.enter(now, self, self.held_bytes.load(Ordering::Relaxed));
        } else if let Some(since) = since.take() {
            self.readers.leave(since, self);
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.note(false);
    }
}

/// A socket that notes when its caller does not read.
pub(super) struct WatchedSocket {
    pub(super) socket: TcpStream,
    pub(super) reader: Arc<Reader>,
}

impl WatchedSocket {
    fn noted<T>(&self, result: Poll<T>) -> Poll<T> {
        self.reader.note(result.is_pending());
        result
    }
}

impl AsyncRead for WatchedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, buffer)
    }
}

impl AsyncWrite for WatchedSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.noted(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.socket).poll_write_vectored(context, slices);
        self.noted(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    /// A connection whose caller has not read what was written, as much as the system takes.
    async fn unread(
        readers: &Arc<Readers>,
        listener: &TcpListener,
        bytes: u64,
    ) -> (TcpStream, WatchedSocket) {
        let caller = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("a caller");
        let (socket, address) = listener.accept().await.expect("a connection");
        let reader = readers.join(address.ip());
        reader.note_answer(Some(bytes));
        let mut watched = WatchedSocket { socket, reader };
        let chunk = vec![0; 1 << 20];
        while !watched.reader.is_waiting.load(Ordering::Relaxed) {
            std::future::poll_fn(|context| {
                let _ = Pin::new(&mut watched).poll_write(context, &chunk);
                Poll::Ready(())
            })
            .await;
        }
        (caller, watched)
    }

    #[test]
    fn who_has_read_nothing_for_longest_is_cut_off_first_and_who_reads_on_is_not() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let places = ConnectionPlaces::new(10, 8 << 20);
            let readers = Readers::new(places.clone());
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let mut connections = Vec::new();
            for _ in 0..4 {
                connections.push(unread(&readers, &listener, 1 << 20).await);
            }
            assert_eq!((places.unread.bytes(), places.unread.closed()), (4 << 20, 0));
            // The first one reads on, and then nothing is unread of it until it stops again.
            let (caller, watched) = &mut connections[0];
            let mut buffer = vec![0; 64 << 10];
            while watched.reader.is_waiting.load(Ordering::Relaxed) {
                caller.read_exact(&mut buffer).await.expect("what was written");
                let write = tokio::time::timeout(std::time::Duration::ZERO, watched.write(b"more"));
                let _ = write.await;
            }
            assert_eq!(places.unread.bytes(), 3 << 20);
            connections.push(unread(&readers, &listener, 1 << 20).await);
            assert_eq!(places.unread.closed(), 0);
            connections.push(unread(&readers, &listener, 1 << 20).await);
            assert_eq!((places.unread.bytes(), places.unread.closed()), (4 << 20, 1));
            connections[1].1.reader.cut_off().await;
            drop(connections);
            assert_eq!(places.unread.bytes(), 0);
        });
    }
}
