//! The port's own documents: its OpenAPI description, an explorer for it, and explanations of codes. The
//! explorer's files are in the binary; the browser loads nothing from elsewhere.

use std::sync::LazyLock;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, Request};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION};
use axum::response::{Html, IntoResponse as _, Response};
use scarce_api::glossary::Language;
use scarce_api::openapi;
use scarce_api::problem::PortCode;
use scarce_core::outcome::Code;
use scarce_core::outcome::shape::names;
use serde_json::{Value, json};
use swagger_ui_dist::{ApiDefinition, OpenApiSource, generate_routes};
use tower::ServiceExt as _;

use super::exchange::Speech;
use super::reply;

/// The explorer styles elements from its scripts, which a content security policy counts as inline.
const EXPLORER_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
);

static ENGLISH: LazyLock<Value> =
    LazyLock::new(|| openapi::document(env!("CARGO_PKG_VERSION"), Language::English));
static CHINESE: LazyLock<Value> =
    LazyLock::new(|| openapi::document(env!("CARGO_PKG_VERSION"), Language::Chinese));

/// The files of Swagger UI that the page uses. Swagger UI's own page has an inline script, which the policy
/// forbids.
const SWAGGER_FILES: [&str; 2] = ["swagger-ui.css", "swagger-ui-bundle.js"];

static SWAGGER: LazyLock<Router> = LazyLock::new(|| {
    generate_routes(ApiDefinition {
        uri_prefix: "/docs",
        api_definition: OpenApiSource::Uri("/openapi.json"),
        title: None,
    })
});

/// A path parameter, if it is UTF-8.
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
pub(super) async fn docs_file(file: Named, speech: Speech) -> Response {
    match file {
        Ok(Path(file)) if file == "explorer.js" => {
            with_policy(([(CONTENT_TYPE, "text/javascript")], include_str!("explorer.js")).into_response())
        }
        Ok(Path(file)) if SWAGGER_FILES.contains(&file.as_str()) => with_policy(swagger(&file).await),
        _ => reply::of_port(PortCode::NotFound, speech),
    }
}

/// Takes a file from the crate that carries Swagger UI, which offers its files as routes.
async fn swagger(file: &str) -> Response {
    let asked = Request::new(Body::empty());
    let (mut parts, body) = asked.into_parts();
    parts.uri = format!("/docs/{file}").parse().expect("the names of the files are paths");
    match SWAGGER.clone().oneshot(Request::from_parts(parts, body)).await {
        Ok(found) => found,
        Err(never) => match never {},
    }
}

fn with_policy(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, EXPLORER_POLICY);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
