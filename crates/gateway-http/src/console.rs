//! The console: a page for operators, which calls this port as any client does. Its files are built from the folder
//! `console` and are in the binary, so a browser loads nothing from elsewhere. They tell nothing of the deployment, so
//! they need no key; what the page asks for with them does.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::{CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use scarce_api::problem::PortCode;

use super::document::Document;
use super::exchange::Speech;
use super::reply;

/// Nothing from elsewhere, nothing inline, and no page of another site around it.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
);

/// The files of the page with their names. The page itself comes first.
static FILES: [(&str, Document); 5] = [
    (
        "index.html",
        Document::of_file("text/html; charset=utf-8", include_bytes!("../../../console/dist/index.html")),
    ),
    (
        "console.js",
        Document::of_file(
            "text/javascript; charset=utf-8",
            include_bytes!("../../../console/dist/console.js"),
        ),
    ),
    (
        "console.css",
        Document::of_file("text/css; charset=utf-8", include_bytes!("../../../console/dist/console.css")),
    ),
    ("icon.svg", Document::of_file("image/svg+xml", include_bytes!("../../../console/dist/icon.svg"))),
    (
        "licenses.txt",
        Document::of_file("text/plain; charset=utf-8", include_bytes!("../../../console/dist/licenses.txt")),
    ),
];

/// `/console` redirects to `/console/`, below which the page finds its files.
pub(super) async fn root() -> Response {
    let mut response = reply::text(308, String::new());
    response.headers_mut().insert(LOCATION, HeaderValue::from_static("/console/"));
    response
}

/// The page.
pub(super) async fn index(headers: HeaderMap) -> Response {
    answer(&FILES[0].1, &headers)
}

/// A file that the page loads.
pub(super) async fn file(
    name: Result<Path<String>, PathRejection>,
    speech: Speech,
    headers: HeaderMap,
) -> Response {
    let found = name.ok().and_then(|Path(name)| FILES.iter().find(|(its, _)| *its == name));
    found.map_or_else(|| reply::of_port(PortCode::NotFound, speech), |(_, file)| answer(file, &headers))
}

fn answer(file: &Document, asked: &HeaderMap) -> Response {
    let mut response = file.answer(asked);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_only_files_that_are_here() {
        let page = std::str::from_utf8(FILES[0].1.content()).expect("text");
        let named = page.split('"').filter_map(|part| part.strip_prefix("/console/"));
        let named: Vec<&str> = named.collect();
        assert!(named.len() >= 3, "{page}");
        for name in named {
            assert!(FILES.iter().any(|(its, _)| *its == name), "{name}");
        }
        assert!(!page.contains("<style") && !page.contains("http"), "{page}");
    }
}
