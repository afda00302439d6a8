//! Turns answers into HTTP responses.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, Response as HttpResponse, StatusCode};
use axum::response::Response;
use scarce_api::Misshapen;
use scarce_api::problem::{PortCode, Problem};
use scarce_core::outcome::Outcome;
use serde_json::Value;

use super::exchange::{IDEMPOTENCY_KEY, Speech};

/// Says that this is a repeated request's original answer.
const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// A JSON answer.
pub(super) fn json(status: u16, body: &Value) -> Response {
    written(status, "application/json", serde_json::to_vec(body).unwrap_or_default())
}

/// A text answer.
pub(super) fn text(status: u16, body: String) -> Response {
    written(status, "text/plain; charset=utf-8", body.into_bytes())
}

/// An answer that is already encoded as bytes.
pub(super) fn written(status: u16, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = HttpResponse::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A problem document.
pub(super) fn problem(problem: &Problem, speech: Speech) -> Response {
    let body = serde_json::to_vec(&problem.body).unwrap_or_default();
    let mut response = written(problem.status, "application/problem+json", body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_LANGUAGE, HeaderValue::from_static(speech.0.tag()));
    if let Some(retry_after_s) = problem.retry_after_s {
        headers.insert(RETRY_AFTER, HeaderValue::from(retry_after_s));
    }
    if problem.status == PortCode::Unauthenticated.status() {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// A problem of the port itself.
pub(super) fn of_port(code: PortCode, speech: Speech) -> Response {
    problem(&Problem::of_port(code, speech.0), speech)
}

/// A refusal or a failure.
pub(super) fn refusal(outcome: &Outcome, operation: Option<&str>, speech: Speech) -> Response {
    problem(&Problem::of(outcome, operation, speech.0), speech)
}

/// A malformed request.
pub(super) fn misshapen(misshapen: &Misshapen, speech: Speech) -> Response {
    refusal(&misshapen.outcome(), None, speech)
}

/// Adds the operation id, and whether this is the original answer to a repeated request.
pub(super) fn with_operation(mut response: Response, operation: &str, replayed: bool) -> Response {
    if let Ok(value) = HeaderValue::from_str(operation) {
        response.headers_mut().insert(IDEMPOTENCY_KEY, value);
    }
    if replayed {
        response.headers_mut().insert(IDEMPOTENCY_REPLAYED, HeaderValue::from_static("true"));
    }
    response
}
