//! HTTP/2: requests beside each other, each with bounds of its own.

use std::pin::Pin;
use std::sync::Arc;

use axum::body::HttpBody as _;
use axum::http::HeaderValue;
use axum::http::header::HOST;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tower::ServiceExt as _;

use super::super::HEADERS_BYTES_MAX;
use super::super::pace::{Answer, Pace};
use super::super::reader::Reader;
use super::super::stream::UnreadStreams;
use super::{Connection, Stream};

/// How many requests of a connection are in progress at a time. Further ones wait at the caller.
const STREAMS_MAX: u32 = 100;

/// How many requests a caller may give up again before they were looked at; beyond it, the connection ends.
const RESETS_MAX: usize = 20;

/// How often a caller may break the protocol in single requests before the connection ends.
const BREACHES_MAX: usize = 128;

/// How much of a request's body may arrive before it is read, and of all bodies of a connection.
const STREAM_WINDOW_BYTES: u32 = 64 << 10;
const CONNECTION_WINDOW_BYTES: u32 = 1 << 20;

/// How much of an answer is written ahead of what its caller takes.
const SEND_BYTES_MAX: usize = 64 << 10;

impl Connection {
    pub(super) async fn serve_2(mut self, stream: Stream, pace: Arc<Pace>, reader: Arc<Reader>) {
        reader.has_several_answers();
        let unread = Arc::new(UnreadStreams::new(self.unread_max));
        let (given, its_unread) = (self.given(&pace, &reader), unread.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            let (given, in_progress) = (given.clone(), given.pace.begin());
            given.prepare(&mut request, its_unread.join());
            name_host(&mut request);
            async move {
                let response = given.app.oneshot(request).await?;
                let held = response.body().size_hint().exact().map(|bytes| given.kept.reader.hold(bytes));
                let answer = response.map(|body| Answer::new(body, in_progress, held));
                Ok::<_, std::convert::Infallible>(answer)
            }
        });
        let mut protocol = Builder::new(TokioExecutor::new());
        protocol
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS_MAX)
            .max_pending_accept_reset_streams(RESETS_MAX)
            .max_local_error_reset_streams(BREACHES_MAX)
            .max_header_list_size(u32::try_from(HEADERS_BYTES_MAX).unwrap_or(u32::MAX))
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_send_buf_size(SEND_BYTES_MAX);
        let mut served = std::pin::pin!(protocol.serve_connection(TokioIo::new(stream), service));
        // An error here means that the connection itself failed, so there is nobody to report it to.
        tokio::select! {
            _ = served.as_mut() => return,
            () = unread.overdue() => return reader.note_stalled(self.unread_max),
            () = reader.cut_off() => return,
            _ = pace.late() => {}
            _ = self.ending.wait_for(|ending| *ending) => {}
        }
        Pin::as_mut(&mut served).graceful_shutdown();
        let _ = served.await;
    }
}

/// Names the host where HTTP/1.1 does, for what looks at it there. A host that is named besides stays, and is looked at as well.
fn name_host(request: &mut Request<Incoming>) {
    let Some(authority) = request.uri().authority() else { return };
    let Ok(host) = HeaderValue::from_str(authority.as_str()) else { return };
    if let Some(other) = request.headers_mut().insert(HOST, host.clone()).filter(|other| *other != host) {
        request.headers_mut().append(HOST, other);
    }
}
