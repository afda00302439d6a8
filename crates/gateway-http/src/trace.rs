//! Which request an answer and a line of the log belong to, and of whose trace it is part.

use std::net::IpAddr;
use std::time::Instant;

use axum::body::HttpBody as _;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use scarce_gateway::Caller;
use scarce_outflow::{TRACEPARENT, TraceParent};
use tracing::Level;
use uuid::Uuid;

use super::{auditing, guard};

/// The header of a request's id.
const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum length of an id that a caller gives.
const ID_BYTES_MAX: usize = 128;

/// The id of a request: the caller's, else that of the caller's trace, else a new one.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(HeaderValue);

impl RequestId {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let given = headers.get(X_REQUEST_ID).filter(|id| is_id(id.as_bytes())).cloned();
        let of_trace = || HeaderValue::from_str(trace_parent(headers)?.trace_id()).ok();
        let made = || HeaderValue::from_str(&Uuid::new_v4().simple().to_string()).ok();
        let id = given.or_else(of_trace).or_else(made);
        Self(id.unwrap_or(HeaderValue::from_static("unknown")))
    }

    /// Answers with it.
    pub(super) fn tell(self, headers: &mut HeaderMap) {
        headers.insert(X_REQUEST_ID, self.0);
    }

    /// The id as text.
    pub(super) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

/// Whether a caller's id can stand in a header and a line of the log as it is.
fn is_id(id: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:/+=".contains(byte);
    (1..=ID_BYTES_MAX).contains(&id.len()) && id.iter().all(is_plain)
}

/// The caller's trace context, if it is valid and given once.
pub(super) fn trace_parent(headers: &HeaderMap) -> Option<TraceParent> {
    let mut given = headers.get_all(TRACEPARENT).into_iter();
    let parent = TraceParent::parse(given.next()?.to_str().ok()?)?;
    given.next().is_none().then_some(parent)
}

/// Gives each request its id, answers with it, and logs the request where the access log is on.
pub(super) async fn trace(mut request: Request, next: Next) -> Response {
    let id = RequestId::of(request.headers());
    request.extensions_mut().insert(id.clone());
    let access = tracing::enabled!(target: "access", Level::DEBUG).then(|| Access::begin(&request));
    let mut response = next.run(request).await;
    if let Some(access) = access {
        access.log(&id, &response);
    }
    id.tell(response.headers_mut());
    response
}

/// Who sent a request, for the access log.
#[derive(Clone, Debug)]
pub(super) struct Sender(pub(super) Caller);

/// A line of the access log. Its path names resources, so it is one of the level debug.
struct Access {
    begun: Instant,
    method: Method,
    path: String,
    trace_id: String,
    peer: IpAddr,
}

impl Access {
    fn begin(request: &Request) -> Self {
        Self {
            begun: Instant::now(),
            method: request.method().clone(),
            path: auditing::without_secrets(request.uri().path()),
            trace_id: trace_parent(request.headers())
                .map(|its| its.trace_id().to_owned())
                .unwrap_or_default(),
            peer: guard::peer(request.extensions()),
        }
    }

    /// A stream of events is logged when it begins.
    fn log(self, id: &RequestId, response: &Response) {
        let Self { begun, method, path, trace_id, peer } = self;
        let took_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        let key = response.extensions().get::<Sender>().and_then(|sender| sender.0.key()).unwrap_or_default();
        let (status, bytes) = (response.status().as_u16(), response.body().size_hint().exact());
        let request_id = id.as_str();
        tracing::debug!(target: "access", request_id, trace_id, %peer, key, %method, path, status, bytes, took_us, "request");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn id(name: impl TryInto<HeaderName>, value: &str) -> String {
        let name = name.try_into().ok().expect("a name");
        let headers = HeaderMap::from_iter([(name, HeaderValue::from_str(value).expect("a header"))]);
        RequestId::of(&headers).as_str().to_owned()
    }

    #[test]
    fn a_request_keeps_its_id_or_has_that_of_its_trace_or_a_new_one() {
        assert_eq!(id(X_REQUEST_ID, "shop-7/a.b:c"), "shop-7/a.b:c");
        assert_eq!(id(TRACEPARENT, PARENT), "4bf92f3577b34da6a3ce929d0e0e4736");
        let made = [RequestId::of(&HeaderMap::new()), RequestId::of(&HeaderMap::new())];
        assert!(made[0].as_str().len() == 32 && made[0].as_str() != made[1].as_str());
    }

    #[test]
    fn an_id_or_a_trace_that_is_malformed_is_not_taken() {
        for wrong in ["a b", "<script>", "", &"a".repeat(129)] {
            assert_ne!(id(X_REQUEST_ID, wrong), wrong);
        }
        assert_ne!(
            id(TRACEPARENT, "00-4bf92f3577b34da6a3ce929d0e0e4736"),
            "4bf92f3577b34da6a3ce929d0e0e4736"
        );
        let twice =
            [(); 2].map(|()| (HeaderName::from_static(TRACEPARENT), HeaderValue::from_static(PARENT)));
        let mut headers = HeaderMap::new();
        for (name, value) in twice {
            headers.append(name, value);
        }
        assert_eq!(trace_parent(&headers), None);
    }
}
