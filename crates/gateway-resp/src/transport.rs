//! How bytes pass a caller's socket: as they are, or in TLS.

use std::io::{self, ErrorKind, Read, Write};

use mio::net::TcpStream;
use rustls::ServerConnection;

/// How much may be encrypted and wait for the socket; the rest waits as it is, where it is counted.
const ENCRYPTED_BYTES_MAX: usize = 16 << 10;

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
}

impl Transport {
    /// TLS over a socket whose handshake is done.
    pub(super) fn encrypted(socket: TcpStream, mut tls: ServerConnection) -> Self {
        tls.set_buffer_limit(Some(ENCRYPTED_BYTES_MAX));
        Self::Tls(Box::new(Encrypted { socket, tls }))
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
            self.tls.read_tls(&mut self.socket)?;
            let decrypted = self.tls.process_new_packets();
            // Keys or errors may have to be sent to it.
            match self.flush() {
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
                _ => {}
            }
            decrypted.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
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
