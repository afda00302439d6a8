//! The console: a page for operators, which calls this port as any client does. Its files are built from the folder
//! `console` and are in the binary, so a browser loads nothing from elsewhere. They tell nothing of the deployment, so
//! they need no key; what the page asks for with them does.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, IF_NONE_MATCH, LOCATION, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use scarce_api::problem::PortCode;

use super::exchange::Speech;
use super::reply;

/// Nothing from elsewhere, nothing inline, and no page of another site around it.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
);

/// A file of the page: its name, its type, its content.
type File = (&'static str, &'static str, &'static [u8]);

/// The page itself comes first.
const FILES: [File; 5] = [
    ("index.html", "text/html; charset=utf-8", include_bytes!("../../../console/dist/index.html")),
    ("console.js", "text/javascript; charset=utf-8", include_bytes!("../../../console/dist/console.js")),
    ("console.css", "text/css; charset=utf-8", include_bytes!("../../../console/dist/console.css")),
    ("icon.svg", "image/svg+xml", include_bytes!("../../../console/dist/icon.svg")),
    ("licenses.txt", "text/plain; charset=utf-8", include_bytes!("../../../console/dist/licenses.txt")),
];

/// `/console` redirects to `/console/`, below which the page finds its files.
pub(super) async fn root() -> Response {
    let mut response = reply::text(308, String::new());
    response.headers_mut().insert(LOCATION, HeaderValue::from_static("/console/"));
    response
}

/// The page.
pub(super) async fn index(headers: HeaderMap) -> Response {
    answer(&FILES[0], &headers)
}

/// A file that the page loads.
pub(super) async fn file(
    name: Result<Path<String>, PathRejection>,
    speech: Speech,
    headers: HeaderMap,
) -> Response {
    let found = name.ok().and_then(|Path(name)| FILES.iter().find(|(its, ..)| *its == name));
    found.map_or_else(|| reply::of_port(PortCode::NotFound, speech), |file| answer(file, &headers))
}

/// The file, or that the browser has it already: after an upgrade its content is another one under the same name.
fn answer((_, kind, content): &File, asked: &HeaderMap) -> Response {
    let tag = tag(content);
    let is_known = asked.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let mut response = match is_known {
        true => reply::written(StatusCode::NOT_MODIFIED.as_u16(), kind, Vec::new()),
        false => reply::written(StatusCode::OK.as_u16(), kind, content.to_vec()),
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

fn tag(content: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_the_browser_has_is_not_sent_again() {
        let first = answer(&FILES[1], &HeaderMap::new());
        assert_eq!(first.status(), StatusCode::OK);
        let known = first.headers().get(ETAG).expect("a tag").clone();
        let again = answer(&FILES[1], &HeaderMap::from_iter([(IF_NONE_MATCH, known.clone())]));
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        let other = answer(&FILES[2], &HeaderMap::from_iter([(IF_NONE_MATCH, known)]));
        assert_eq!(other.status(), StatusCode::OK);
    }

    #[test]
    fn the_page_loads_only_files_that_are_here() {
        let page = std::str::from_utf8(FILES[0].2).expect("text");
        let named = page.split('"').filter_map(|part| part.strip_prefix("/console/"));
        let named: Vec<&str> = named.collect();
        assert!(named.len() >= 3, "{page}");
        for name in named {
            assert!(FILES.iter().any(|(its, ..)| *its == name), "{name}");
        }
        assert!(!page.contains("<style") && !page.contains("http"), "{page}");
    }
}
