//! How bytes pass a caller's socket: as they are, or in TLS.

use std::io::{self, ErrorKind, Read, Write};
use std::time::Instant;

use mio::net::TcpStream;
use rustls::ServerConnection;
use scarce_gateway::Records;

/// How much may be encrypted and wait for the socket; the rest waits as it is, where it is counted.
const ENCRYPTED_BYTES_MAX: usize = 16 << 10;

/// How much may come without any content, such as new keys, before it counts as something that is not whole.
const CONTENTLESS_BYTES_MAX: usize = 1 << 10;

/// A caller's socket.
pub(super) enum Transport {
    /// Bytes as they are.
    Plain(TcpStream),
    /// In TLS, after the handshake.
    Tls(Box<Encrypted>),
}

/// A socket whose bytes are encrypted.
pub(super) struct Encrypted {
    socket: TcpStream,
    tls: ServerConnection,
    records: Records,
    /// What came since there was content, and the last of it.
    contentless_bytes: usize,
    arrived_at: Instant,
    /// When that began which is not whole.
    begun_at: Option<Instant>,
}

/// What came of a record that is not whole, or of a message in several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begun {
    /// When its first byte came.
    pub(super) at: Instant,
    /// When its last byte came until now.
    pub(super) arrived_at: Instant,
    /// How much came.
    pub(super) bytes: usize,
}

impl Transport {
    /// TLS over a socket whose handshake is done, and where in its records that ended.
    pub(super) fn encrypted(socket: TcpStream, mut tls: ServerConnection, records: Records) -> Self {
        tls.set_buffer_limit(Some(ENCRYPTED_BYTES_MAX));
        let (contentless_bytes, arrived_at) = (records.held_bytes(), Instant::now());
        let begun_at = (contentless_bytes > 0).then_some(arrived_at);
        Self::Tls(Box::new(Encrypted { socket, tls, records, contentless_bytes, arrived_at, begun_at }))
    }

    /// What came and is not whole, so that nothing can be read of it.
    pub(super) fn begun(&self) -> Option<Begun> {
        let Self::Tls(encrypted) = self else { return None };
        let (arrived_at, bytes) = (encrypted.arrived_at, encrypted.contentless_bytes);
        encrypted.begun_at.map(|at| Begun { at, arrived_at, bytes })
    }

    /// The socket, to be announced by the system.
    pub(super) fn socket(&mut self) -> &mut TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(encrypted) => &mut encrypted.socket,
        }
    }

    /// Whether a read of so many bytes into room for so many leaves some, which nothing announces again.
    pub(super) fn may_have_more(&self, read: usize, room: usize) -> bool {
        match self {
            Self::Plain(_) => read == room,
            // It gives what is decrypted, however much is left.
            Self::Tls(_) => true,
        }
    }

    /// Memory for what is encrypted and was not taken by the socket.
    pub(super) fn unsent_bytes(&self) -> usize {
        match self {
            Self::Tls(encrypted) if encrypted.tls.wants_write() => ENCRYPTED_BYTES_MAX,
            Self::Plain(_) | Self::Tls(_) => 0,
        }
    }

    /// Says that nothing more is sent.
    pub(super) fn end(&mut self) {
        if let Self::Tls(encrypted) = self {
            encrypted.tls.send_close_notify();
            // A caller that takes nothing any more learns it from the closed connection.
            let _ = encrypted.flush();
        }
    }
}

impl Read for Transport {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(room),
            Self::Tls(encrypted) => encrypted.read(room),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(encrypted) => encrypted.write(bytes),
        }
    }

    /// Sends what is encrypted.
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Tls(encrypted) => encrypted.flush(),
        }
    }
}

impl Encrypted {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.tls.reader().read(room) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // The connection ended without the caller saying so; what came before is whole.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                read => return read,
            }
            let (socket, records) = (&mut self.socket, &mut self.records);
            let count = self.tls.read_tls(&mut Noted { socket, records })?;
            let decrypted = self.tls.process_new_packets();
            let has_content = decrypted.as_ref().is_ok_and(|state| state.plaintext_bytes_to_read() > 0);
            self.note(count, has_content);
            // Keys or errors may have to be sent to it.
            match self.flush() {
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
                _ => {}
            }
            decrypted.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        }
    }

    /// Notes what came, and whether it has content.
    fn note(&mut self, count: usize, has_content: bool) {
        self.arrived_at = Instant::now();
        if has_content {
            self.begun_at = None;
            self.contentless_bytes = self.records.held_bytes();
        } else {
            self.contentless_bytes += count;
        }
        if self.records.held_bytes() == 0 && self.contentless_bytes <= CONTENTLESS_BYTES_MAX {
            self.begun_at = None;
        } else {
            self.begun_at.get_or_insert(self.arrived_at);
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.flush()?;
        let count = self.tls.writer().write(bytes)?;
        match self.flush() {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(count),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut self.socket) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// A socket of which is noted what comes.
struct Noted<'a> {
    socket: &'a mut TcpStream,
    records: &'a mut Records,
}

impl Read for Noted<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.socket.read(room)?;
        self.records.note(&room[..count]);
        Ok(count)
    }
}
