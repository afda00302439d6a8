//! HTTP/1.1: one request after the other.

use std::pin::Pin;
use std::sync::Arc;

use axum::body::HttpBody as _;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tower::ServiceExt as _;

use super::super::HEADERS_BYTES_MAX;
use super::super::pace::{Answer, HEAD_TIMEOUT, Late, Pace};
use super::super::reader::Reader;
use super::super::stream::Unread;
use super::super::unparsed::{read_rest, tell_late};
use super::{Connection, Stream};

/// How a connection ends.
enum End {
    /// It is over; perhaps because a request could not be read.
    Over { is_refused: bool },
    /// Its caller is late.
    Late(Late),
    /// The port ends.
    Asked,
}

impl Connection {
    pub(super) async fn serve_1(mut self, stream: Stream, pace: Arc<Pace>, reader: Arc<Reader>) {
        let unread = Arc::new(Unread::new(self.unread_max));
        let (given, its_unread) = (self.given(&pace, &reader), unread.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            let (given, in_progress) = (given.clone(), given.pace.begin());
            given.prepare(&mut request, its_unread.clone());
            async move {
                let response = given.app.oneshot(request).await?;
                given.kept.reader.note_answer(response.body().size_hint().exact());
                let answer = response.map(|body| Answer::new(body, in_progress, None));
                Ok::<_, std::convert::Infallible>(answer)
            }
        });
        let mut protocol = Builder::new();
        protocol.timer(TokioTimer::new()).max_buf_size(HEADERS_BYTES_MAX);
        // Only the beginning of a request that came together with the one before can wait so long.
        protocol.header_read_timeout(self.keep_alive + HEAD_TIMEOUT);
        let mut served = protocol.serve_connection(TokioIo::new(stream), service).with_upgrades();
        let end = tokio::select! {
            // Any other error means that the connection itself failed, so there is nobody to report it to.
            over = &mut served => End::Over { is_refused: over.is_err_and(|error| error.is_parse()) },
            () = unread.overdue() => return reader.note_stalled(unread.max()),
            () = reader.cut_off() => return,
            late = pace.late() => End::Late(late),
            _ = self.ending.wait_for(|ending| *ending) => End::Asked,
        };
        match end {
            End::Over { is_refused: false } => {}
            End::Over { is_refused: true } => {
                if let Some(parts) = served.into_parts() {
                    read_rest(parts.io.into_inner()).await;
                }
            }
            End::Late(Late::Head) => {
                if let Some(parts) = served.into_parts() {
                    tell_late(parts.io.into_inner()).await;
                }
            }
            End::Late(Late::Idle) | End::Asked => {
                Pin::new(&mut served).graceful_shutdown();
                let _ = served.await;
            }
        }
    }
}
