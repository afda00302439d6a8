//! Who sends a request: a program, or a page in a browser. A page of another origin may send requests that it
//! cannot read the answers of, and these must not change anything here or cost much.
//!
//! ```text
//!  Origin, Sec-Fetch-Site ─▶ a program, or a page of this server ─▶ served
//!                          ─▶ a page of an origin in the settings ─▶ served, with the headers of CORS
//!                          ─▶ any other page                       ─▶ 403
//! ```

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, HOST, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use scarce_api::problem::PortCode;

use super::HttpShared;
use super::auditing;
use super::exchange::Speech;
use super::reply;

/// Where the page is from that sends a request: `same-origin`, `same-site`, `cross-site`, or `none` if a person
/// typed the address.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// How a browser uses the answer.
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// What a listed page may send and read.
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PATCH, DELETE");
const HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Scarce-Deadline, Scarce-Durability, Scarce-Ticket",
);
const EXPOSED: HeaderValue = HeaderValue::from_static("Idempotency-Key, Idempotency-Replayed, Retry-After");

/// How many seconds a browser remembers what a page may do.
const PREFLIGHT_SECONDS: HeaderValue = HeaderValue::from_static("600");

/// Who sends a request.
#[derive(Debug, PartialEq, Eq)]
enum Sender {
    /// A program, or a page of this server.
    Trusted,
    /// A page of this origin.
    Page(HeaderValue),
    /// A page whose origin is not known.
    Stranger,
}

/// Refuses requests of pages whose origin is not in the settings.
pub(super) async fn check_origin(
    State(shared): State<Arc<HttpShared>>,
    speech: Speech,
    request: Request,
    next: Next,
) -> Response {
    let origin = match Sender::of(&request, shared.is_tls) {
        Sender::Trusted => return next.run(request).await,
        Sender::Page(origin) if shared.access.lists(origin.as_bytes()) => origin,
        Sender::Page(_) | Sender::Stranger => {
            let origin = request.headers().get(ORIGIN).and_then(|origin| origin.to_str().ok());
            auditing::deny(&shared, None, &request, "CROSS_ORIGIN", origin);
            return reply::of_port(PortCode::CrossOrigin, speech);
        }
    };
    let mut response = if is_preflight(&request) { preflight() } else { next.run(request).await };
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    response
}

/// Whether a browser asks what a page may send before it sends it.
fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECONDS);
    response
}

impl Sender {
    fn of(request: &Request, is_tls: bool) -> Self {
        let headers = request.headers();
        let mut origins = headers.get_all(ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (Some(origin), None) if !is_own(origin, headers, is_tls) => Self::Page(origin.clone()),
            (_, Some(_)) => Self::Stranger,
            // A page may not set these headers, and a program has no reason to.
            _ if is_of_this_site(headers) || is_link(request) => Self::Trusted,
            _ => Self::Stranger,
        }
    }
}

/// Whether a page's origin is the host that the request names. A page that came without TLS is not of a server that speaks
/// it; in front of one that does not, something else may.
fn is_own(origin: &HeaderValue, headers: &HeaderMap, is_tls: bool) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let own = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    host.zip(own).is_some_and(|(host, (scheme, own))| {
        host.eq_ignore_ascii_case(own) && (!is_tls || scheme.eq_ignore_ascii_case("https"))
    })
}

fn is_of_this_site(headers: &HeaderMap) -> bool {
    headers.get_all(SITE).iter().all(|site| site == "same-origin" || site == "none")
}

/// Whether a person followed a link here, to a page of its own: only links of other sites are marked so.
fn is_link(request: &Request) -> bool {
    let is =
        |name: HeaderName, wanted: &str| request.headers().get(name).is_some_and(|value| value == wanted);
    request.method() == Method::GET && is(MODE, "navigate") && is(DESTINATION, "document")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(method: &str, headers: &[(&str, &str)]) -> Sender {
        sender_over(false, method, headers)
    }

    fn sender_over(is_tls: bool, method: &str, headers: &[(&str, &str)]) -> Sender {
        let mut request = Request::builder().method(method).header(HOST, "localhost:7380");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Sender::of(&request.body(Body::empty()).expect("a request"), is_tls)
    }

    #[test]
    fn programs_and_own_pages_are_trusted() {
        assert_eq!(sender("POST", &[]), Sender::Trusted);
        let own = ("Origin", "http://LOCALHOST:7380");
        assert_eq!(sender("POST", &[own]), Sender::Trusted);
        assert_eq!(sender("POST", &[own, ("Sec-Fetch-Site", "same-origin")]), Sender::Trusted);
        assert_eq!(sender("GET", &[("Sec-Fetch-Site", "none")]), Sender::Trusted);
        let link = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")];
        assert_eq!(sender("GET", &[link[0], link[1], ("Sec-Fetch-Dest", "document")]), Sender::Trusted);
    }

    #[test]
    fn a_page_that_came_without_tls_is_not_of_a_server_that_speaks_it() {
        let (plain, encrypted) = ("http://localhost:7380", "https://localhost:7380");
        assert_eq!(sender_over(true, "POST", &[("Origin", encrypted)]), Sender::Trusted);
        let page = Sender::Page(HeaderValue::from_static(plain));
        assert_eq!(sender_over(true, "POST", &[("Origin", plain)]), page);
        // Something in front of the server may speak it.
        assert_eq!(sender_over(false, "POST", &[("Origin", encrypted)]), Sender::Trusted);
    }

    #[test]
    fn a_page_of_another_origin_is_known_by_it_or_a_stranger() {
        for other in
            ["http://localhost:7381", "https://shop.example", "null", "http://localhost", "localhost:7380"]
        {
            assert_eq!(sender("POST", &[("Origin", other)]), Sender::Page(HeaderValue::from_static(other)));
        }
        let strange: &[&[(&str, &str)]] = &[
            &[("Sec-Fetch-Site", "cross-site")],
            &[("Sec-Fetch-Site", "same-site")],
            &[("Sec-Fetch-Site", "")],
            &[("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "cross-site")],
            &[("Origin", "http://localhost:7380"), ("Sec-Fetch-Site", "cross-site")],
            &[("Origin", "http://localhost:7380"), ("Origin", "null")],
        ];
        for headers in strange {
            assert_eq!(sender("GET", headers), Sender::Stranger, "{headers:?}");
        }
        let navigation = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")];
        let frame = [navigation[0], navigation[1], ("Sec-Fetch-Dest", "iframe")];
        assert_eq!(sender("GET", &frame), Sender::Stranger);
        let form = [navigation[0], navigation[1], ("Sec-Fetch-Dest", "document")];
        assert_eq!(sender("POST", &form), Sender::Stranger);
    }
}
