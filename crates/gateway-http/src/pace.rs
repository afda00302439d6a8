//! How long a connection may wait for its next request, and for the rest of one that has begun.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

use super::reader::Held;

/// How long the line and the headers of a request may take to arrive, so that a slow sender holds no place for long.
pub(super) const HEAD_TIMEOUT: Duration = Duration::from_secs(20);

/// How often it is looked whether a request has begun meanwhile.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Late {
    /// No request came.
    Idle,
    /// A request began, and its head did not arrive.
    Head,
}

/// The requests of a connection.
#[derive(Debug)]
struct Requests {
    in_progress: usize,
    idle_since: Instant,
    head_begun: Option<Instant>,
    /// Whether what arrives between requests is the head of one, as in HTTP/1.1.
    has_heads: bool,
}

/// How long a connection waits for its caller.
#[derive(Debug)]
pub(super) struct Pace {
    keep_alive: Duration,
    requests: Mutex<Requests>,
}

impl Pace {
    pub(super) fn new(keep_alive: Duration) -> Arc<Self> {
        let idle_since = Instant::now();
        let requests = Requests { in_progress: 0, idle_since, head_begun: None, has_heads: true };
        Arc::new(Self { keep_alive, requests: Mutex::new(requests) })
    }

    /// The caller speaks HTTP/2, in which connections have frames of their own between requests.
    pub(super) fn speak_http2(&self) {
        let mut requests = self.requests();
        (requests.has_heads, requests.head_begun) = (false, None);
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that something arrived.
    pub(super) fn note_arrived(&self) {
        let mut requests = self.requests();
        if requests.has_heads && requests.in_progress == 0 {
            requests.head_begun.get_or_insert_with(Instant::now);
        }
    }

    /// Notes that a head has arrived. The request is in progress until its answer is sent, which drops what is returned.
    pub(super) fn begin(self: &Arc<Self>) -> InProgress {
        let mut requests = self.requests();
        requests.in_progress += 1;
        requests.head_begun = None;
        InProgress(self.clone())
    }

    /// What the caller is late with, or when it would be.
    fn look(&self, now: Instant) -> Result<Instant, Late> {
        let requests = self.requests();
        let (due, late) = match requests.head_begun {
            _ if requests.in_progress > 0 => return Ok(now + LOOK_INTERVAL),
            Some(begun) => (begun + HEAD_TIMEOUT, Late::Head),
            None => (requests.idle_since + self.keep_alive, Late::Idle),
        };
        if due <= now { Err(late) } else { Ok(due.min(now + LOOK_INTERVAL)) }
    }

    /// Waits until the caller is late.
    pub(super) async fn late(&self) -> Late {
        loop {
            match self.look(Instant::now()) {
                Err(late) => return late,
                Ok(next) => tokio::time::sleep_until(next.into()).await,
            }
        }
    }
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct InProgress(Arc<Pace>);

impl Drop for InProgress {
    fn drop(&mut self) {
        let mut requests = self.0.requests();
        requests.in_progress -= 1;
        requests.idle_since = Instant::now();
    }
}

/// The body of an answer, with the request that it ends.
pub(super) struct Answer {
    body: Body,
    _in_progress: InProgress,
    _held: Option<Held>,
}

impl Answer {
    pub(super) fn new(body: Body, in_progress: InProgress, held: Option<Held>) -> Self {
        Self { body, _in_progress: in_progress, _held: held }
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP_ALIVE: Duration = Duration::from_secs(75);

    #[test]
    fn a_connection_may_be_idle_for_longer_than_a_head_may_take() {
        let (pace, second) = (Pace::new(KEEP_ALIVE), Duration::from_secs(1));
        let begun = Instant::now();
        assert!(pace.look(begun + 70 * second).is_ok());
        assert_eq!(pace.look(begun + 76 * second), Err(Late::Idle));
        pace.note_arrived();
        let arrived = Instant::now();
        assert!(pace.look(arrived + 19 * second).is_ok());
        assert_eq!(pace.look(arrived + 21 * second), Err(Late::Head));
        let request = pace.begin();
        pace.note_arrived();
        assert!(pace.look(arrived + 1_000 * second).is_ok(), "its answer takes long");
        drop(request);
        assert!(pace.look(Instant::now() + 70 * second).is_ok());
        assert_eq!(pace.look(Instant::now() + 76 * second), Err(Late::Idle));
    }

    #[test]
    fn what_arrives_between_requests_of_http_2_is_no_head() {
        let pace = Pace::new(KEEP_ALIVE);
        pace.speak_http2();
        pace.note_arrived();
        assert!(pace.look(Instant::now() + Duration::from_secs(70)).is_ok());
    }
}
