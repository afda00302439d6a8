//! Answers requests while nothing is served: the engine recovers, or the deployment is elsewhere. The process lives, and
//! is not ready.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use scarce_gateway::{ConnectionPlaces, PortKind, Tls, Unserved};
use tokio::net::{TcpListener, TcpStream};

use super::crowded::Crowded;
use super::exchange::Speech;
use super::guard::Peer;
use super::pace::HEAD_TIMEOUT;
use super::{HEADERS_BYTES_MAX, health, reply, transport};

/// How long to wait when no connection can be accepted, most likely for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until it is dropped.
pub async fn serve(listener: TcpListener, places: Arc<ConnectionPlaces>, text: Unserved, tls: Option<Tls>) {
    let (of_ready, of_others) = (Arc::clone(&text), text);
    let app = Router::new()
        .route("/livez", get(health::live))
        .route("/readyz", get(|| async move { reply::text(503, format!("[-] {}\nnot ready\n", of_ready())) }))
        .fallback(|speech: Speech| async move { reply::refusal(&of_others().outcome(), None, speech) });
    let crowded = Crowded::new(app.clone(), places.clone(), tls.clone());
    loop {
        let Ok((socket, address)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let Some(place) = places.try_take(PortKind::Http) else {
            crowded.serve(socket, Peer(address.ip()));
            continue;
        };
        let (app, tls, accepted_at) = (app.clone(), tls.clone(), Instant::now());
        tokio::spawn(async move {
            serve_connection(socket, tls, app, accepted_at).await;
            drop(place);
        });
    }
}

/// Answers one request: the next one may find the server ready, and comes over a new connection.
async fn serve_connection(socket: TcpStream, tls: Option<Tls>, app: Router, accepted_at: Instant) {
    let Ok(stream) = transport::begin(socket, tls.as_ref(), accepted_at).await else { return };
    let mut protocol = hyper::server::conn::http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(HEADERS_BYTES_MAX);
    let service = TowerToHyperService::new(app);
    // An error here means that the connection itself failed, so there is nobody to report it to.
    let _ = protocol.keep_alive(false).serve_connection(TokioIo::new(stream), service).await;
}
