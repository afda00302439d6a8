//! How a connection in TLS begins.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, Interest};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::{Bounded, HandshakeFailure, Tls};

/// How long a handshake may take, from when the caller was accepted.
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
    /// Shakes hands with a caller that was accepted then. Those that waited for too long or are gone get no signature, which
    /// takes a core for a while: those behind them wait for it too.
    ///
    /// # Errors
    /// When the handshake fails, takes too long or is too large.
    pub async fn accept<S: Socket>(&self, socket: S, accepted_at: Instant) -> io::Result<Accepted<S>> {
        let accepted = self.shake(socket, accepted_at).await;
        match &accepted {
            Ok(Accepted::Encrypted(_)) => {}
            Ok(Accepted::Plain(_)) => self.failures().note(HandshakeFailure::Plain),
            Err(error) => self.failures().note(HandshakeFailure::of(error)),
        }
        accepted
    }

    async fn shake<S: Socket>(&self, socket: S, accepted_at: Instant) -> io::Result<Accepted<S>> {
        let acceptor = TlsAcceptor::from(self.config());
        let until = accepted_at + HANDSHAKE_MAX;
        if Instant::now() >= until {
            return Err(ErrorKind::TimedOut.into());
        }
        let shaken = tokio::time::timeout_at(until.into(), async {
            let mut first = [0];
            if socket.tcp().peek(&mut first).await? == 1 && first[0] != HANDSHAKE {
                return Ok(Accepted::Plain(socket));
            }
            if socket.tcp().ready(Interest::READABLE).await?.is_read_closed() {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let mut stream = acceptor.accept(self.bounded(socket)).await?;
            stream.get_mut().0.release();
            Ok(Accepted::Encrypted(Box::new(stream)))
        });
        shaken.await.map_err(|_| io::Error::from(ErrorKind::TimedOut))?
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rustls::pki_types::ServerName;
    use rustls::server::{ClientHello, ResolvesServerCert};
    use rustls::sign::CertifiedKey;
    use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig};

    use super::*;

    /// Counts the callers for whom a certificate was looked up.
    #[derive(Debug, Default)]
    struct Counting(AtomicUsize);

    impl ResolvesServerCert for Counting {
        fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            None
        }
    }

    fn counting() -> (Arc<Counting>, Tls) {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let counting = Arc::<Counting>::default();
        let builder = builder.expect("versions").with_no_client_auth();
        (Arc::clone(&counting), Tls::of(builder.with_cert_resolver(counting)))
    }

    /// What a caller begins with.
    fn hello() -> Vec<u8> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.expect("versions").with_root_certificates(RootCertStore::empty());
        let name = ServerName::try_from("a.example").expect("a name");
        let caller = ClientConnection::new(Arc::new(builder.with_no_client_auth()), name);
        let mut bytes = Vec::new();
        caller.expect("a caller").write_tls(&mut bytes).expect("memory");
        bytes
    }

    /// What becomes of a caller that sends these bytes, and then stays or goes.
    fn accept(tls: &Tls, bytes: &[u8], stays: bool, accepted_at: Instant) -> ErrorKind {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
            let mut caller =
                std::net::TcpStream::connect(listener.local_addr().expect("an address")).expect("a caller");
            caller.write_all(bytes).expect("sent");
            let caller = stays.then_some(caller);
            let (socket, _) = listener.accept().expect("accepted");
            socket.set_nonblocking(true).expect("set");
            let accepted = tls.accept(TcpStream::from_std(socket).expect("watched"), accepted_at).await;
            drop(caller);
            accepted.err().expect("it fails").kind()
        })
    }

    #[test]
    fn callers_that_waited_for_too_long_or_are_gone_get_no_signature() {
        use HandshakeFailure::{Gone, Late, Other};

        let (counting, tls) = counting();
        let (hello, now) = (hello(), Instant::now());
        assert_eq!(accept(&tls, &hello, false, now), ErrorKind::UnexpectedEof);
        let long_ago = now.checked_sub(HANDSHAKE_MAX).expect("this machine runs for longer");
        assert_eq!(accept(&tls, &hello, true, long_ago), ErrorKind::TimedOut);
        assert_eq!(counting.0.load(Ordering::Relaxed), 0);
        assert_eq!(accept(&tls, &hello, true, now), ErrorKind::InvalidData);
        assert_eq!(counting.0.load(Ordering::Relaxed), 1);
        assert_eq!(accept(&tls, b"", false, now), ErrorKind::UnexpectedEof);
        let count = |failure| tls.handshakes_failed(failure);
        assert_eq!([Gone, Late, Other].map(count), [2, 1, 1]);
    }

    #[test]
    fn a_handshake_that_is_too_large_ends_at_once() {
        let (_, tls) = counting();
        // A message of 64 KiB in records of 16 KiB, of which the end is missing.
        let mut hello = vec![1, 0, 0xff, 0xf0, 3, 3];
        hello.resize(60 << 10, b'a');
        let record = |part: &[u8]| [&[0x16, 3, 1, 0x40, 0], part].concat();
        let bytes: Vec<u8> = hello.chunks_exact(16 << 10).flat_map(record).collect();
        assert_eq!(accept(&tls, &bytes, true, Instant::now()), ErrorKind::FileTooLarge);
    }
}
