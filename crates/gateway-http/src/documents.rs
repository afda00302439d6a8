//! The port's own documents: its OpenAPI description, an explorer for it, and explanations of codes. The
//! explorer's files are in the binary; the browser loads nothing from elsewhere.

use std::sync::LazyLock;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, Request};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, LOCATION};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse as _, Response};
use http_body_util::BodyExt as _;
use scarce_api::glossary::Language;
use scarce_api::openapi;
use scarce_api::problem::PortCode;
use scarce_core::outcome::Code;
use scarce_core::outcome::shape::names;
use serde_json::json;
use swagger_ui_dist::{ApiDefinition, OpenApiSource, generate_routes};
use tokio::sync::OnceCell;
use tower::ServiceExt as _;

use super::document::Document;
use super::exchange::Speech;
use super::reply;

/// The explorer styles elements from its scripts, which a content security policy counts as inline.
const EXPLORER_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
);

static ENGLISH: LazyLock<Document> = LazyLock::new(|| description(Language::English));
static CHINESE: LazyLock<Document> = LazyLock::new(|| description(Language::Chinese));

/// The port's description in a language.
fn description(language: Language) -> Document {
    let description = openapi::document(env!("CARGO_PKG_VERSION"), language);
    Document::new("application/json", serde_json::to_vec(&description).unwrap_or_default().into())
}

/// The files of Swagger UI that the page uses, with their types. Swagger UI's own page has an inline script, which the
/// policy forbids.
static SWAGGER_FILES: [(&str, &str, OnceCell<Document>); 2] = [
    ("swagger-ui.css", "text/css; charset=utf-8", OnceCell::const_new()),
    ("swagger-ui-bundle.js", "text/javascript; charset=utf-8", OnceCell::const_new()),
];

static EXPLORER: Document =
    Document::of_file("text/javascript; charset=utf-8", include_bytes!("explorer.js"));

/// A path parameter, if it is UTF-8.
type Named = Result<Path<String>, PathRejection>;

/// `/openapi.json`, with `?lang=zh` in Chinese.
pub(super) async fn openapi(RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let query = query.unwrap_or_default();
    let asked = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "lang");
    let language = asked.and_then(|(_, tag)| Language::from_tag(&tag)).unwrap_or_default();
    match language {
        Language::English => ENGLISH.answer(&headers),
        Language::Chinese => CHINESE.answer(&headers),
    }
}

/// `/problems/{code}`: where the `type` of a problem document points.
pub(super) async fn explain(word: Named, speech: Speech) -> Response {
    let Ok(Path(word)) = word else { return reply::of_port(PortCode::NotFound, speech) };
    let own = Code::from_word(&word).filter(|code| code.word() == word && *code != Code::Applied);
    let port = PortCode::ALL.iter().find(|code| code.word() == word);
    let (status, retryable, cause, advice, facts) = match (own, port) {
        (Some(code), _) => {
            (code.http_status(), code.is_retryable(), code.cause(), code.advice(), code.facts())
        }
        (None, Some(code)) => (code.status(), code.is_retryable(), code.cause(), code.advice(), &[][..]),
        (None, None) => return reply::of_port(PortCode::NotFound, speech),
    };
    let body = json!({
        "code": word,
        "status": status,
        "retryable": retryable,
        "cause": cause.get(speech.0),
        "advice": advice.get(speech.0),
        "facts": names(facts).collect::<Vec<_>>(),
    });
    reply::json(200, &body)
}

/// `/docs` redirects to `/docs/`, below which the explorer finds its files.
pub(super) async fn docs_root() -> Response {
    let mut response = reply::text(308, String::new());
    response.headers_mut().insert(LOCATION, HeaderValue::from_static("/docs/"));
    response
}

/// The explorer's page.
pub(super) async fn docs_index() -> Response {
    with_policy(Html(include_str!("explorer.html")).into_response())
}

/// A file of the explorer: our own start script, or a file of Swagger UI.
pub(super) async fn docs_file(file: Named, speech: Speech, headers: HeaderMap) -> Response {
    let Ok(Path(file)) = file else { return reply::of_port(PortCode::NotFound, speech) };
    if file == "explorer.js" {
        return with_policy(EXPLORER.answer(&headers));
    }
    let Some((name, kind, its)) = SWAGGER_FILES.iter().find(|(name, ..)| *name == file) else {
        return reply::of_port(PortCode::NotFound, speech);
    };
    match its.get_or_try_init(|| swagger(name, kind)).await {
        Ok(document) => with_policy(document.answer(&headers)),
        Err(_) => reply::of_port(PortCode::NotFound, speech),
    }
}

/// Takes a file from the crate that carries Swagger UI, which offers its files as routes.
///
/// # Errors
/// When it has no such file.
async fn swagger(file: &str, kind: &'static str) -> Result<Document, axum::Error> {
    let asked = Request::new(Body::empty());
    let (mut parts, body) = asked.into_parts();
    parts.uri = format!("/docs/{file}").parse().expect("the names of the files are paths");
    let routes: Router = generate_routes(ApiDefinition {
        uri_prefix: "/docs",
        api_definition: OpenApiSource::Uri("/openapi.json"),
        title: None,
    });
    match routes.oneshot(Request::from_parts(parts, body)).await {
        Ok(found) if found.status() == StatusCode::OK => {
            let content = found.into_body().collect().await?.to_bytes();
            Ok(Document::new(kind, content))
        }
        Ok(found) => Err(axum::Error::new(format!("{file}: {}", found.status()))),
        Err(never) => match never {},
    }
}

fn with_policy(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, EXPLORER_POLICY);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
