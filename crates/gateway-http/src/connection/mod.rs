//! One connection, in HTTP/1.1 or HTTP/2: served until its caller leaves, is late, or does not read.

mod http1;
mod http2;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use scarce_gateway::Tls;
use scarce_gateway::unread::UNSENT_BYTES_MAX;
use socket2::SockRef;
use tokio::sync::watch;

use super::guard::Peer;
use super::live::Kept;
use super::pace::{Late, Pace};
use super::reader::{Reader, WatchedSocket};
use super::stream::Unread;
use super::transport::{self, Transport};
use super::unparsed::{Explained, tell_late};

/// A connection that was accepted, and what it goes by.
pub(super) struct Connection {
    pub(super) accepted_at: Instant,
    pub(super) tls: Option<Tls>,
    /// How long it may be without a request.
    pub(super) keep_alive: Duration,
    /// How long a stream of events may be left unread.
    pub(super) unread_max: Duration,
    pub(super) peer: Peer,
    pub(super) app: Router,
    pub(super) ending: watch::Receiver<bool>,
    pub(super) place: Arc<dyn Send + Sync>,
}

/// Its bytes.
type Stream = Explained<Transport<WatchedSocket>>;

/// What each request of a connection is given.
#[derive(Clone)]
struct Given {
    peer: Peer,
    kept: Kept,
    pace: Arc<Pace>,
    app: Router,
}

impl Given {
    /// Prepares a request for the handlers.
    fn prepare(&self, request: &mut Request<Incoming>, unread: Arc<Unread>) {
        let extensions = request.extensions_mut();
        extensions.insert(self.peer);
        extensions.insert(self.kept.clone());
        extensions.insert(unread);
    }
}

/// Serves a connection.
pub(super) async fn serve(watched: WatchedSocket, mut connection: Connection) {
    // Answers are small and callers wait for them. If the system refuses, they only arrive later.
    let _ = watched.socket.set_nodelay(true);
    let _ = SockRef::from(&watched.socket).set_tcp_notsent_lowat(UNSENT_BYTES_MAX);
    let reader = watched.reader.clone();
    let begun = tokio::select! {
        begun = transport::begin(watched, connection.tls.as_ref(), connection.accepted_at) => begun,
        _ = connection.ending.wait_for(|ending| *ending) => return,
    };
    let Ok(transport) = begun else { return };
    let agreed = transport::is_http2(&transport);
    let pace = Pace::new(connection.keep_alive);
    let mut stream = Explained::new(transport, pace.clone());
    let is_http2 = match agreed {
        Some(is_http2) => is_http2,
        None => match connection.listen(&mut stream, &pace, &reader).await {
            Ok(is_http2) => is_http2,
            Err(Some(Late::Head)) => return tell_late(stream).await,
            Err(_) => return,
        },
    };
    if is_http2 {
        pace.speak_http2();
        connection.serve_2(stream, pace, reader).await;
    } else {
        connection.serve_1(stream, pace, reader).await;
    }
}

impl Connection {
    /// Whether the caller speaks HTTP/2, by how it begins.
    ///
    /// # Errors
    /// When it does not begin; with what it is late with, if it is.
    async fn listen(
        &mut self,
        stream: &mut Stream,
        pace: &Pace,
        reader: &Reader,
    ) -> Result<bool, Option<Late>> {
        tokio::select! {
            begun = stream.begins_http2() => begun.map_err(|_| None),
            late = pace.late() => Err(Some(late)),
            () = reader.cut_off() => Err(None),
            _ = self.ending.wait_for(|ending| *ending) => Err(None),
        }
    }

    fn given(&self, pace: &Arc<Pace>, reader: &Arc<Reader>) -> Given {
        Given {
            peer: self.peer,
            kept: Kept { reader: reader.clone(), _place: self.place.clone() },
            pace: pace.clone(),
            app: self.app.clone(),
        }
    }
}
