//! Answers callers while nothing is served: `-LOADING`, as Redis does while it loads its data, or `-MIGRATED`.

use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_engine::Failure;
use scarce_gateway::{ConnectionPlaces, PortKind, Tls, Unserved};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::handshakes::accept;
use super::request::{LIMITS_BEFORE_AUTH, ParseProgress, Parser};

/// How long to wait when no connection can be accepted, most likely for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until it is dropped.
pub async fn serve(listener: TcpListener, places: Arc<ConnectionPlaces>, text: Unserved, tls: Option<Tls>) {
    loop {
        let Ok((socket, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (place, text, tls) = (places.take(PortKind::Resp), Arc::clone(&text), tls.clone());
        let accepted_at = Instant::now();
        tokio::spawn(async move {
            if let Some(_place) = place {
                // A caller that is gone needs no answer.
                let _ = greet(socket, tls, &text, accepted_at).await;
            }
        });
    }
}

async fn greet(socket: TcpStream, tls: Option<Tls>, text: &Unserved, accepted_at: Instant) -> Result<()> {
    let told = || match text() {
        moved @ Failure::Migrated { .. } => format!("-MIGRATED {moved}\r\n"),
        loading => format!("-LOADING {loading}\r\n"),
    };
    match tls {
        None => answer(socket, told).await,
        Some(tls) => answer(accept(socket, &tls, accepted_at).await?, told).await,
    }
}

/// Answers the same to every request, whatever it asks.
pub(super) async fn answer(
    mut socket: impl AsyncRead + AsyncWrite + Unpin,
    text: impl Fn() -> String,
) -> Result<()> {
    let (mut parser, mut input, mut piece) = (Parser::default(), Vec::new(), [0; 1_024]);
    loop {
        loop {
            let read = parser.read(&input, LIMITS_BEFORE_AUTH);
            match read.map_err(|_| Error::from(ErrorKind::InvalidData))? {
                ParseProgress::Incomplete => break,
                ParseProgress::Complete(bytes) => {
                    let is_empty = parser.words().is_empty();
                    parser.reset();
                    input.drain(..bytes);
                    if !is_empty {
                        socket.write_all(text().as_bytes()).await?;
                        socket.flush().await?;
                    }
                }
            }
        }
        match socket.read(&mut piece).await? {
            0 => return Ok(()),
            count => input.extend_from_slice(&piece[..count]),
        }
    }
}
