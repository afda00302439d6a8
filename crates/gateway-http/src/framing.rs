//! Where a request's body ends. A proxy before this port may read what is ambiguous in another way, and take a part of one
//! caller's body for another caller's request. The parser refuses most of it, and ends a connection after a request with a
//! length beside chunks.

use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONNECTION, TRANSFER_ENCODING};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use scarce_api::Misshapen;

use super::exchange::Speech;
use super::reply;

/// Refuses a request that can be read in two ways, and ends the connection: nobody knows where the next one begins.
pub(super) async fn check_framing(speech: Speech, request: Request, next: Next) -> Response {
    match ambiguity(request.headers()) {
        None => next.run(request).await,
        Some(misshapen) => {
            let mut response = reply::misshapen(&misshapen, speech);
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            response
        }
    }
}

fn ambiguity(headers: &HeaderMap) -> Option<Misshapen> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    if let Some(coding) = codings.next() {
        let is_chunked = coding.as_bytes().eq_ignore_ascii_case(b"chunked");
        if !is_chunked || codings.next().is_some() {
            return Some(Misshapen::new("Transfer-Encoding", "can only be chunked, once"));
        }
    }
    let is_doubled = headers.get_all(AUTHORIZATION).iter().nth(1).is_some();
    is_doubled.then(|| Misshapen::new("Authorization", "is given twice; show one password or key"))
}
