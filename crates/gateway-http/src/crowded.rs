//! What is answered when all places for connections are taken: whether the process lives and is ready, over a few places of
//! their own, and to all others that there is no place.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use scarce_gateway::{ConnectionPlaces, Tls};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

use super::HEADERS_BYTES_MAX;
use super::guard::Peer;
use super::transport::{self, Transport};

/// How many connections beyond all places are asked what they want.
const PLACES: usize = 8;

/// How long such a connection may take for its handshake, its one request and the answer.
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
        let accepted_at = Instant::now();
        let task = tokio::spawn(async move {
            let served = async {
                let heard = hear(socket, tls.as_ref(), accepted_at).await;
                // It is dropped once the answer is sent. Without it, there is nothing to answer.
                let Some(_place) = lock(&its).take() else { return };
                let Some(stream) = heard else { return };
                let mut protocol = hyper::server::conn::http1::Builder::new();
                protocol.timer(TokioTimer::new()).max_buf_size(HEADERS_BYTES_MAX).keep_alive(false);
                let service = TowerToHyperService::new(app);
                // A caller that is gone is not answered.
                let _ = protocol.serve_connection(TokioIo::new(stream), service).await;
            };
            // Nor is one that takes longer.
            let _ = tokio::time::timeout_at((accepted_at + REQUEST_TIMEOUT).into(), served).await;
            lock(&its).take();
        });
        self.note_silent(silent, task.abort_handle());
    }
}

/// Waits for the beginning of a request, which a handshake of TLS does not count as.
async fn hear(
    socket: TcpStream,
    tls: Option<&Tls>,
    accepted_at: Instant,
) -> Option<BufReader<Transport<TcpStream>>> {
    let stream = transport::begin(socket, tls, accepted_at).await.ok()?;
    let mut stream = BufReader::new(stream);
    let is_over = stream.fill_buf().await.ok()?.is_empty();
    (!is_over).then_some(stream)
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
