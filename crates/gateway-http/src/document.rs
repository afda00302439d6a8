//! Contents of the binary, which change only with it: a browser asks whether it has one already, and gets it
//! compressed.

use std::io::Write as _;
use std::sync::OnceLock;

use axum::body::Bytes;
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, ETAG, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use xxhash_rust::xxh3::xxh3_64;

use super::negotiation::{has_already, takes_gzip};
use super::reply;

/// Says that a content is compressed.
pub(super) const GZIP: HeaderValue = HeaderValue::from_static("gzip");

/// A content with its type.
pub(super) struct Document {
    kind: &'static str,
    content: Bytes,
    tag: OnceLock<String>,
    gzip: OnceLock<Bytes>,
}

impl Document {
    /// A content that was made from the binary.
    pub(super) const fn new(kind: &'static str, content: Bytes) -> Self {
        Self { kind, content, tag: OnceLock::new(), gzip: OnceLock::new() }
    }

    /// A file of the binary.
    pub(super) const fn of_file(kind: &'static str, content: &'static [u8]) -> Self {
        Self::new(kind, Bytes::from_static(content))
    }

    /// The content as it is.
    #[cfg(test)]
    pub(super) fn content(&self) -> &[u8] {
        &self.content
    }

    /// The content, or that the browser has it already: after an upgrade it is another one under the same name.
    pub(super) fn answer(&self, asked: &HeaderMap) -> Response {
        let tag = self.tag.get_or_init(|| tag(&self.content));
        let mut response = if has_already(asked, tag) {
            reply::written(StatusCode::NOT_MODIFIED.as_u16(), self.kind, Bytes::new())
        } else if takes_gzip(asked) {
            let gzip = self.gzip.get_or_init(|| gzip(&self.content, Compression::best()));
            let mut response = reply::written(StatusCode::OK.as_u16(), self.kind, gzip.clone());
            response.headers_mut().insert(CONTENT_ENCODING, GZIP);
            response
        } else {
            reply::written(StatusCode::OK.as_u16(), self.kind, self.content.clone())
        };
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        insert_tag(headers, tag);
        response
    }
}

/// The tag of a content, weak because it is that of its compressed form too.
pub(super) fn tag(content: &[u8]) -> String {
    format!("W/\"{:016x}\"", xxh3_64(content))
}

/// Adds a content's tag to the headers of its answer.
pub(super) fn insert_tag(headers: &mut HeaderMap, tag: &str) {
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(ETAG, tag);
    }
}

/// A content, compressed.
pub(super) fn gzip(content: &[u8], level: Compression) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(content.len() / 4), level);
    // A vector takes whatever is written to it.
    let _ = encoder.write_all(content);
    encoder.finish().unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::HttpBody as _;
    use axum::http::header::{ACCEPT_ENCODING, IF_NONE_MATCH};

    fn bytes(response: &Response) -> u64 {
        response.body().size_hint().exact().expect("a length")
    }

    #[test]
    fn what_the_browser_has_is_not_sent_again_and_the_rest_compressed_if_it_likes() {
        let document = Document::of_file("text/plain", &[b'a'; 10_000]);
        let first = document.answer(&HeaderMap::new());
        assert_eq!((first.status(), bytes(&first)), (StatusCode::OK, 10_000));
        let known = first.headers().get(ETAG).expect("a tag").clone();
        let again = document.answer(&HeaderMap::from_iter([(IF_NONE_MATCH, known.clone())]));
        assert_eq!((again.status(), bytes(&again)), (StatusCode::NOT_MODIFIED, 0));
        let compressed = document.answer(&HeaderMap::from_iter([(ACCEPT_ENCODING, GZIP)]));
        assert!(bytes(&compressed) < 100 && compressed.headers()[ETAG] == known);
        let other = Document::of_file("text/plain", b"b");
        let other = other.answer(&HeaderMap::from_iter([(IF_NONE_MATCH, known)]));
        assert_eq!(other.status(), StatusCode::OK);
    }
}
