//! What is answered when all places for connections are taken: whether the process lives and is ready, over a few places of
//! their own, and to all others that there is no place.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use scarce_gateway::{ConnectionPlaces, Tls};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

use super::HEADERS_BYTES_MAX;
use super::guard::Peer;
use super::transport;

/// How many connections beyond all places are asked what they want.
const PLACES: usize = 8;

/// How long such a connection may take for its one request and the answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);

/// What those are told for whom there is no place.
pub(super) const NO_PLACE: &str = "all places for connections are taken\n";

/// Serves what is beyond the places.
pub(super) struct Crowded {
    app: Router,
    all: Arc<ConnectionPlaces>,
    tls: Option<Tls>,
    places: Arc<Semaphore>,
    /// Connections that have sent nothing yet, the oldest first. A connection that finds no place takes one of theirs.
    silent: Mutex<VecDeque<(SilentPlace, AbortHandle)>>,
}

/// The place of a connection that has sent nothing yet; `None` once it has, is over, or was taken away.
type SilentPlace = Arc<Mutex<Option<OwnedSemaphorePermit>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Crowded {
    /// `app` answers what is asked of the server's health, and refuses all else.
    pub(super) fn new(app: Router, all: Arc<ConnectionPlaces>, tls: Option<Tls>) -> Self {
        Self { app, all, tls, places: Arc::new(Semaphore::new(PLACES)), silent: Mutex::default() }
    }

    /// A free place, or that of the connection that has been silent for longest, which is closed.
    fn place(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = self.places.clone().try_acquire_owned() {
            return Some(place);
        }
        let mut silent = lock(&self.silent);
        while let Some((its, task)) = silent.pop_front() {
            if let Some(place) = lock(&its).take() {
                task.abort();
                return Some(place);
            }
        }
        None
    }

    fn note_silent(&self, its: SilentPlace, task: AbortHandle) {
        let mut silent = lock(&self.silent);
        silent.retain(|(its, _)| lock(its).is_some());
        silent.push_back((its, task));
    }

    /// Answers one request of a connection for which there is no place.
    pub(super) fn serve(&self, socket: TcpStream, peer: Peer) {
        let Some(place) = self.place() else {
            self.all.note_refused();
            // In TLS it would not be understood.
            if self.tls.is_none() {
                refuse(&socket);
            }
            return;
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
        let silent = SilentPlace::new(Mutex::new(Some(place)));
        let (its, tls) = (Arc::clone(&silent), self.tls.clone());
        let task = tokio::spawn(async move {
            let mut first = [0];
            let heard = tokio::time::timeout(REQUEST_TIMEOUT, socket.peek(&mut first)).await;
            let place = lock(&its).take();
            if place.is_none() || !matches!(heard, Ok(Ok(1))) {
                return;
            }
            let Ok(stream) = transport::begin(socket, tls.as_ref()).await else { return };
            let mut protocol = hyper::server::conn::http1::Builder::new();
            protocol.timer(TokioTimer::new()).max_buf_size(HEADERS_BYTES_MAX).keep_alive(false);
            let served = protocol.serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
            // A caller that takes longer, or is gone, is not answered.
            let _ = tokio::time::timeout(REQUEST_TIMEOUT, served).await;
            drop(place);
        });
        self.note_silent(silent, task.abort_handle());
    }
}

/// Marks an answer that refuses a request for want of a place.
#[derive(Clone, Copy)]
pub(super) struct Refused;

/// Answers a connection without asking what it wants.
fn refuse(socket: &TcpStream) {
    let head = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n";
    let answer =
        format!("{head}Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{NO_PLACE}", NO_PLACE.len());
    // A caller that is gone already needs no answer.
    let _ = socket.try_write(answer.as_bytes());
}
