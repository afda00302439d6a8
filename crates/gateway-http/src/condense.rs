//! Answers that need not be sent as they are: a read whose answer the caller has already, and what is large.

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use flate2::Compression;
use http_body_util::BodyExt as _;

use super::document::{GZIP, gzip, insert_tag, tag};
use super::negotiation::{has_already, takes_gzip};
use super::reply;

/// Smaller answers fit into a packet as they are.
const PLAIN_BYTES_MAX: u64 = 1 << 10;

/// Larger answers are compressed beside the threads that serve connections.
const QUICK_BYTES_MAX: usize = 32 << 10;

/// Answers 304 where a caller has a read's answer, and compresses large answers for those who take it.
pub(super) async fn condense(request: Request, next: Next) -> Response {
    let is_get = request.method() == Method::GET;
    let takes_gzip = takes_gzip(request.headers());
    if !is_get && !takes_gzip {
        return next.run(request).await;
    }
    let known = known(request.headers());
    let response = next.run(request).await;
    // A stream has no length, and goes on as it is.
    let Some(bytes) = response.body().size_hint().exact() else { return response };
    let headers = response.headers();
    let is_tagged =
        is_get && response.status() == StatusCode::OK && is_json(headers) && !headers.contains_key(ETAG);
    let is_large = takes_gzip && bytes > PLAIN_BYTES_MAX && !headers.contains_key(CONTENT_ENCODING);
    if !is_tagged && !is_large {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // A body with a length is in memory, and arrives.
    let Ok(body) = body.collect().await else { return reply::text(500, "the answer was lost\n".to_owned()) };
    let body = body.to_bytes();
    if is_tagged {
        let tag = tag(&body);
        insert_tag(&mut parts.headers, &tag);
        if has_already(&known, &tag) {
            parts.status = StatusCode::NOT_MODIFIED;
            return Response::from_parts(parts, Body::empty());
        }
    }
    let body = if is_large { compressed(&mut parts.headers, body).await } else { body };
    Response::from_parts(parts, Body::from(body))
}

/// The headers with the tags that a caller has, which hardly any request carries.
fn known(headers: &HeaderMap) -> HeaderMap {
    let tags = headers.get_all(IF_NONE_MATCH).into_iter();
    tags.map(|tag| (IF_NONE_MATCH, tag.clone())).collect()
}

fn is_json(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json")
}

async fn compressed(headers: &mut HeaderMap, body: Bytes) -> Bytes {
    headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    let its = body.clone();
    let gzip = move || gzip(&its, Compression::fast());
    let done = match body.len() > QUICK_BYTES_MAX {
        true => tokio::task::spawn_blocking(gzip).await.ok(),
        false => Some(gzip()),
    };
    let Some(done) = done else { return body };
    headers.insert(CONTENT_ENCODING, GZIP);
    done
}
