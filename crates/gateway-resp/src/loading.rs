//! Answers callers while the engine recovers: `-LOADING`, as Redis does while it loads its data.

use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::time::Duration;

use scarce_gateway::{ConnectionPlaces, LoadingText};
use tokio::net::{TcpListener, TcpStream};

use super::request::{LIMITS_BEFORE_AUTH, ParseProgress, Parser};

/// How long to wait when no connection can be accepted, most likely for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until it is dropped.
pub async fn serve(listener: TcpListener, places: Arc<ConnectionPlaces>, text: LoadingText) {
    loop {
        let Ok((socket, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (place, text) = (places.take(), Arc::clone(&text));
        tokio::spawn(async move {
            if let Some(_place) = place {
                // A caller that is gone needs no answer.
                let _ = answer(&socket, &text).await;
            }
        });
    }
}

async fn answer(socket: &TcpStream, text: &LoadingText) -> Result<()> {
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
                        write(socket, format!("-LOADING {}\r\n", text()).as_bytes()).await?;
                    }
                }
            }
        }
        socket.readable().await?;
        match socket.try_read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => input.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

async fn write(socket: &TcpStream, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        socket.writable().await?;
        match socket.try_write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
