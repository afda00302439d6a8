//! What the port says of itself: its description, an explorer for it, and what codes mean. The explorer's
//! files are in the binary; a browser asks nobody else.

use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION};
use axum::http::{HeaderValue, Response as HttpResponse, StatusCode};
use axum::response::Response;
use scarce_api::openapi;
use scarce_api::problem::PortCode;
use scarce_core::outcome::Code;
use scarce_glossary::Language;
use serde_json::{Value, json};
use utoipa_swagger_ui::Config;

use super::exchange::Speech;
use super::reply;

/// The explorer styles elements from its scripts, which a policy calls inline.
const EXPLORER_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
);

static ENGLISH: LazyLock<Value> =
    LazyLock::new(|| openapi::document(env!("CARGO_PKG_VERSION"), Language::English));
static CHINESE: LazyLock<Value> =
    LazyLock::new(|| openapi::document(env!("CARGO_PKG_VERSION"), Language::Chinese));

/// What a path names, where it is UTF-8.
type Named = Result<Path<String>, PathRejection>;

/// `/openapi.json`, with `?lang=zh` in Chinese.
pub(super) async fn openapi(RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let asked = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "lang");
    let language = asked.and_then(|(_, tag)| Language::from_tag(&tag)).unwrap_or_default();
    reply::json(
        200,
        match language {
            Language::English => &ENGLISH,
            Language::Chinese => &CHINESE,
        },
    )
}

/// `/problems/{code}`: where the `type` of a problem document leads.
pub(super) async fn explain(word: Named, speech: Speech) -> Response {
    let Ok(Path(word)) = word else { return reply::of_port(PortCode::NotFound, speech) };
    let own = Code::from_word(&word).filter(|code| code.word() == word && *code != Code::Applied);
    let port = PortCode::ALL.iter().find(|code| code.word() == word);
    let (status, retryable, cause, advice, facts) = match (own, port) {
        (Some(code), _) => {
            (code.http_status(), code.is_retryable(), code.cause(), code.advice(), code.facts())
        }
        (None, Some(code)) => (code.status(), false, code.cause(), code.advice(), &[][..]),
        (None, None) => return reply::of_port(PortCode::NotFound, speech),
    };
    let body = json!({
        "code": word,
        "status": status,
        "retryable": retryable,
        "cause": cause.get(speech.0),
        "advice": advice.get(speech.0),
        "facts": facts,
    });
    reply::json(200, &body)
}

/// `/docs` leads to `/docs/`, below which the explorer finds its files.
pub(super) async fn docs_root() -> Response {
    let mut response = reply::text(308, String::new());
    response.headers_mut().insert(LOCATION, HeaderValue::from_static("/docs/"));
    response
}

/// The explorer's page.
pub(super) async fn docs_index(speech: Speech) -> Response {
    docs("index.html", speech)
}

/// A file of the explorer.
pub(super) async fn docs_file(file: Named, speech: Speech) -> Response {
    match file {
        Ok(Path(file)) => docs(&file, speech),
        Err(_) => reply::of_port(PortCode::NotFound, speech),
    }
}

fn docs(file: &str, speech: Speech) -> Response {
    let config = Config::new(["/openapi.json"]).try_it_out_enabled(true).validator_url("none");
    let Ok(Some(found)) = utoipa_swagger_ui::serve(file, Arc::new(config)) else {
        return reply::of_port(PortCode::NotFound, speech);
    };
    let mut response = HttpResponse::new(Body::from(found.bytes.into_owned()));
    *response.status_mut() = StatusCode::OK;
    let headers = response.headers_mut();
    if let Ok(kind) = HeaderValue::from_str(&found.content_type) {
        headers.insert(CONTENT_TYPE, kind);
    }
    headers.insert(CONTENT_SECURITY_POLICY, EXPLORER_POLICY);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
