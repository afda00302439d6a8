//! How connections begin: in TLS, if the port speaks it.

use std::io::{self, ErrorKind};
use std::time::Instant;

use scarce_gateway::{Accepted, Bounded, HTTP_2, PLAIN_MAX, Socket, Tls};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;

use super::HEADERS_BYTES_MAX;
use super::reader::WatchedSocket;

/// What a caller is told who speaks no TLS.
const PLAIN: &str = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 35\r\n\r\n\
                     this port speaks TLS; use https://\n";

/// A caller's connection, as it is or in TLS.
pub(super) type Transport<S> = Either<S, Box<TlsStream<Bounded<S>>>>;

/// Whether HTTP/2 was agreed on in the handshake, if there was one.
pub(super) fn is_http2<S>(transport: &Transport<S>) -> Option<bool> {
    match transport {
        Either::Left(_) => None,
        Either::Right(stream) => Some(stream.get_ref().1.alpn_protocol() == Some(HTTP_2)),
    }
}

impl Socket for WatchedSocket {
    fn tcp(&self) -> &TcpStream {
        &self.socket
    }
}

/// Begins a connection that was accepted then.
///
/// # Errors
/// When the handshake fails or takes too long, or the caller speaks no TLS and was told so.
pub(super) async fn begin<S: Socket>(
    socket: S,
    tls: Option<&Tls>,
    accepted_at: Instant,
) -> io::Result<Transport<S>> {
    let Some(tls) = tls else { return Ok(Either::Left(socket)) };
    match tls.accept(socket, accepted_at).await? {
        Accepted::Encrypted(stream) => Ok(Either::Right(stream)),
        Accepted::Plain(socket) => {
            tokio::time::timeout(PLAIN_MAX, tell(socket)).await??;
            Err(ErrorKind::InvalidData.into())
        }
    }
}

async fn tell(mut socket: impl Socket) -> io::Result<()> {
    socket.write_all(PLAIN.as_bytes()).await?;
    socket.shutdown().await?;
    // A socket that is closed with bytes unread takes the answer back.
    tokio::io::copy(&mut socket.take(HEADERS_BYTES_MAX as u64), &mut tokio::io::sink()).await?;
    Ok(())
}
