//! TLS handshakes, beside the thread that decides commands: each takes a signature, and many at once would hold up everyone.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender};
use rustls::ServerConnection;
use scarce_engine::stop::Waker;
use scarce_gateway::{Accepted, Bounded, ConnectionPlace, PLAIN_MAX, Records, Tls};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio_rustls::server::TlsStream;

use super::loading::answer;

/// What a caller is told who speaks no TLS.
const PLAIN: &str = "-ERR this port speaks TLS; connect with TLS, such as redis-cli --tls\r\n";

/// Where handshakes are done.
#[derive(Clone)]
pub struct Handshakes {
    /// The certificate.
    pub tls: Tls,
    /// The threads.
    pub runtime: Handle,
}

/// A connection after its handshake.
pub(super) struct Greeted {
    pub(super) socket: std::net::TcpStream,
    pub(super) tls: ServerConnection,
    /// Where in its records the handshake ended.
    pub(super) records: Records,
    pub(super) address: SocketAddr,
    pub(super) place: ConnectionPlace,
}

/// The handshakes for one reactor.
pub(super) struct Greeter {
    handshakes: Handshakes,
    sender: Sender<Greeted>,
    greeted: Receiver<Greeted>,
    wake: Waker,
}

impl Greeter {
    pub(super) fn new(handshakes: Handshakes, wake: Waker) -> Self {
        let (sender, greeted) = crossbeam_channel::unbounded();
        Self { handshakes, sender, greeted, wake }
    }

    /// Begins a handshake. What does not succeed is closed.
    pub(super) fn begin(&self, socket: std::net::TcpStream, address: SocketAddr, place: ConnectionPlace) {
        let (sender, wake) = (self.sender.clone(), Arc::clone(&self.wake));
        let (tls, accepted_at) = (self.handshakes.tls.clone(), Instant::now());
        self.handshakes.runtime.spawn(async move {
            match shake(socket, &tls, accepted_at).await {
                Ok((socket, tls, records)) => {
                    // The port may have ended; then nobody waits.
                    let _ = sender.send(Greeted { socket, tls, records, address, place });
                    wake();
                }
                Err(error) => tracing::debug!(%address, %error, "a TLS handshake failed"),
            }
        });
    }

    /// The next connection whose handshake is done.
    pub(super) fn next(&self) -> Option<Greeted> {
        self.greeted.try_recv().ok()
    }
}

async fn shake(
    socket: std::net::TcpStream,
    tls: &Tls,
    accepted_at: Instant,
) -> io::Result<(std::net::TcpStream, ServerConnection, Records)> {
    let (bounded, tls) = accept(TcpStream::from_std(socket)?, tls, accepted_at).await?.into_inner();
    let (socket, records) = bounded.into_parts();
    Ok((socket.into_std()?, tls, records))
}

/// Shakes hands with a caller that was accepted then. One that speaks no TLS is told so at every request.
pub(super) async fn accept(
    socket: TcpStream,
    tls: &Tls,
    accepted_at: Instant,
) -> io::Result<Box<TlsStream<Bounded<TcpStream>>>> {
    match tls.accept(socket, accepted_at).await? {
        Accepted::Encrypted(stream) => Ok(stream),
        Accepted::Plain(socket) => {
            tokio::time::timeout(PLAIN_MAX, answer(socket, || PLAIN.to_owned())).await??;
            Err(io::ErrorKind::InvalidData.into())
        }
    }
}
