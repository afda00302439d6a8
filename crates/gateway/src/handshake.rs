//! How a connection in TLS begins.

use std::io::{self, ErrorKind};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::{Bounded, Tls};

/// How long a handshake may take.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// What a handshake begins with.
const HANDSHAKE: u8 = 0x16;

/// How long a caller that speaks no TLS is listened to.
pub const PLAIN_MAX: Duration = Duration::from_secs(3);

/// What a connection turned out to be.
pub enum Accepted<S> {
    /// TLS.
    Encrypted(Box<TlsStream<Bounded<S>>>),
    /// No TLS; the caller may be told so in its own language, within [`PLAIN_MAX`].
    Plain(S),
}

/// What TLS runs over.
pub trait Socket: AsyncRead + AsyncWrite + Unpin {
    /// The socket itself.
    fn tcp(&self) -> &TcpStream;
}

impl Socket for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Tls {
    /// Shakes hands.
    ///
    /// # Errors
    /// When the handshake fails, takes too long or is too large.
    pub async fn accept<S: Socket>(&self, socket: S) -> io::Result<Accepted<S>> {
        let acceptor = TlsAcceptor::from(self.config());
        let shaken = tokio::time::timeout(HANDSHAKE_MAX, async {
            let mut first = [0];
            if socket.tcp().peek(&mut first).await? == 1 && first[0] != HANDSHAKE {
                return Ok(Accepted::Plain(socket));
            }
            let mut stream = acceptor.accept(self.bounded(socket)).await?;
            stream.get_mut().0.release();
            Ok(Accepted::Encrypted(Box::new(stream)))
        });
        shaken.await.map_err(|_| io::Error::from(ErrorKind::TimedOut))?
    }
}
