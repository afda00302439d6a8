//! What a caller may send while it shakes hands: little, so that those who never finish take little memory, and the larger
//! handshakes together only so much.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::Socket;
use super::records::Records;

/// How many bytes a handshake may have.
const HANDSHAKE_BYTES_MAX: usize = 16 << 10;

/// How many it may have where callers show certificates.
const HANDSHAKE_WITH_CERTIFICATE_BYTES_MAX: usize = 32 << 10;

/// A handshake that takes no more than this is not large. Those of almost all callers do not.
const HANDSHAKE_BYTES_FREE: usize = 4 << 10;

/// How many bytes large handshakes may have beyond that, all together.
const LARGE_BYTES_MAX: usize = 8 << 20;

/// What a handshake has sent. When it is over, its memory is free again.
struct Handshake {
    received: usize,
    max: usize,
    /// What all large handshakes have beyond what is free.
    large_bytes: Arc<AtomicUsize>,
}

impl Handshake {
    /// How many more bytes may come.
    ///
    /// # Errors
    /// When none may.
    fn room(&self) -> io::Result<usize> {
        let is_large = self.received >= HANDSHAKE_BYTES_FREE;
        if is_large && self.large_bytes.load(Ordering::Relaxed) > LARGE_BYTES_MAX {
            return Err(io::Error::new(ErrorKind::OutOfMemory, "too many large handshakes at once"));
        }
        match self.max - self.received {
            0 => Err(io::Error::new(ErrorKind::FileTooLarge, "the handshake is too large")),
            room => Ok(room),
        }
    }

    fn note(&mut self, count: usize) {
        let before = self.beyond();
        self.received += count;
        self.large_bytes.fetch_add(self.beyond() - before, Ordering::Relaxed);
    }

    fn beyond(&self) -> usize {
        self.received.saturating_sub(HANDSHAKE_BYTES_FREE)
    }
}

impl Drop for Handshake {
    fn drop(&mut self) {
        self.large_bytes.fetch_sub(self.beyond(), Ordering::Relaxed);
    }
}

/// A socket whose caller shakes hands, and afterwards the socket as it is.
pub struct Bounded<S> {
    socket: S,
    records: Records,
    handshake: Option<Handshake>,
}

impl<S> Bounded<S> {
    pub(super) fn new(socket: S, shows_certificate: bool, large_bytes: Arc<AtomicUsize>) -> Self {
        let max = if shows_certificate { HANDSHAKE_WITH_CERTIFICATE_BYTES_MAX } else { HANDSHAKE_BYTES_MAX };
        let handshake = Some(Handshake { received: 0, max, large_bytes });
        Self { socket, records: Records::default(), handshake }
    }

    /// The handshake is over.
    pub(super) fn release(&mut self) {
        self.handshake = None;
    }

    /// The socket, and where in the caller's records the handshake ended.
    #[must_use]
    pub fn into_parts(self) -> (S, Records) {
        (self.socket, self.records)
    }
}

impl<S: Socket> Socket for Bounded<S> {
    fn tcp(&self) -> &TcpStream {
        self.socket.tcp()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Bounded<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let Some(handshake) = &mut this.handshake else {
            return Pin::new(&mut this.socket).poll_read(context, buffer);
        };
        let room = handshake.room()?.min(buffer.remaining());
        let mut bounded = ReadBuf::new(buffer.initialize_unfilled_to(room));
        let read = Pin::new(&mut this.socket).poll_read(context, &mut bounded);
        let bytes = bounded.filled();
        this.records.note(bytes);
        handshake.note(bytes.len());
        let count = bytes.len();
        buffer.advance(count);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Bounded<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(context, slices)
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

    #[test]
    fn a_handshake_may_have_so_many_bytes_and_large_ones_so_many_together() {
        let large = Arc::new(AtomicUsize::new(0));
        let handshake = |received| {
            let mut handshake =
                Handshake { received: 0, max: HANDSHAKE_BYTES_MAX, large_bytes: Arc::clone(&large) };
            handshake.note(received);
            handshake
        };
        let small: Vec<_> = (0..5_000).map(|_| handshake(HANDSHAKE_BYTES_FREE)).collect();
        assert_eq!(large.load(Ordering::Relaxed), 0);
        assert_eq!(handshake(HANDSHAKE_BYTES_MAX - 1).room().ok(), Some(1));
        assert!(handshake(HANDSHAKE_BYTES_MAX).room().is_err());
        let others: Vec<_> = (0..700).map(|_| handshake(HANDSHAKE_BYTES_MAX)).collect();
        assert!(large.load(Ordering::Relaxed) > LARGE_BYTES_MAX);
        assert!(
            small.iter().all(|small| small.room().is_err()),
            "what is large from here on waits for others"
        );
        assert!(handshake(HANDSHAKE_BYTES_FREE - 1).room().is_ok(), "usual ones do not");
        drop(others);
        assert_eq!(large.load(Ordering::Relaxed), 0);
        assert!(small.iter().all(|small| small.room().is_ok()));
    }
}
