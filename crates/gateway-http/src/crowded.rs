//! What is answered when all places for connections are taken: whether the process lives and is ready, over a few places of
//! their own, and to all others that there is no place.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use scarce_gateway::ConnectionPlaces;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use super::HEADERS_BYTES_MAX;
use super::guard::Peer;

/// How many connections beyond all places are asked what they want.
pub(super) const PLACES: usize = 4;

/// How long such a connection may take for its one request and the answer.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);

/// What those are told for whom there is no place.
pub(super) const NO_PLACE: &str = "all places for connections are taken\n";

/// Serves what is beyond the places.
pub(super) struct Crowded {
    app: Router,
    all: Arc<ConnectionPlaces>,
    places: Arc<Semaphore>,
}

impl Crowded {
    /// `app` answers what is asked of the server's health, and refuses all else.
    pub(super) fn new(app: Router, all: Arc<ConnectionPlaces>) -> Self {
        Self { app, all, places: Arc::new(Semaphore::new(PLACES)) }
    }

    /// Answers one request of a connection for which there is no place.
    pub(super) fn serve(&self, socket: TcpStream, peer: Peer) {
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            self.all.note_refused();
            return refuse(&socket);
        };
        let all = self.all.clone();
        let app = self.app.clone();
        let app = tower::ServiceExt::<Request<Incoming>>::map_request(
            app,
            move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(peer);
                request
            },
        );
        let app = tower::ServiceExt::<Request<Incoming>>::map_response(
            app,
            move |response: axum::response::Response| {
                if response.extensions().get::<Refused>().is_some() {
                    all.note_refused();
                }
                response
            },
        );
        tokio::spawn(async move {
            let mut protocol = hyper::server::conn::http1::Builder::new();
            protocol.timer(TokioTimer::new()).max_buf_size(HEADERS_BYTES_MAX).keep_alive(false);
            let served = protocol.serve_connection(TokioIo::new(socket), TowerToHyperService::new(app));
            // A caller that takes longer, or is gone, is not answered.
            let _ = tokio::time::timeout(REQUEST_TIMEOUT, served).await;
            drop(place);
        });
    }
}

/// Marks an answer that refuses a request for want of a place.
#[derive(Clone, Copy)]
pub(super) struct Refused;

/// Answers a connection without asking what it wants.
pub(super) fn refuse(socket: &TcpStream) {
    let head = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n";
    let answer =
        format!("{head}Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{NO_PLACE}", NO_PLACE.len());
    // A caller that is gone already needs no answer.
    let _ = socket.try_write(answer.as_bytes());
}
