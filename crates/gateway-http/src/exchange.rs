//! What a handler sees of a request: path, query, body and the relevant headers, each parsed strictly.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::header::{ACCEPT_LANGUAGE, CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method};
use axum::response::Response;
use bytes::BytesMut;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use scarce_api::glossary::Language;
use scarce_api::problem::PortCode;
use scarce_api::{Fields, Misshapen, arguments, strict};
use scarce_core::command::{Command, CommandSpec, Common};
use scarce_core::types::{Natural, OperationId};
use scarce_engine::Failure;
use scarce_gateway::{Acts, Caller};
use scarce_outflow::Traces;
use serde_json::{Map, Value};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::limits::RateLimited;
use super::trace::{self, RequestId};
use super::{BODY_BYTES_MAX, HttpShared, guard, reply};

/// The header of the operation id.
pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The header of the deadline.
pub(super) const DEADLINE: HeaderName = HeaderName::from_static("scarce-deadline");

/// The header of the durability.
pub(super) const DURABILITY: HeaderName = HeaderName::from_static("scarce-durability");

/// How long a body may take to arrive, so that a slow sender does not hold a connection slot indefinitely.
const BODY_TIMEOUT: Duration = Duration::from_secs(20);

/// The part of each body that needs no permit, so that ordinary requests always have room.
const BODY_BYTES_FREE: usize = 16 << 10;

/// The memory of all larger bodies that have not arrived whole, in KiB.
static BODIES_KIB: Semaphore = Semaphore::const_new(8 << 10);

/// The language of the texts a caller receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Speech(pub(super) Language);

impl Speech {
    fn of(headers: &HeaderMap) -> Self {
        let asked = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        // In the order of the header. Weights are rare, and the wrong language does no harm.
        let known =
            asked.split(',').find_map(|tag| Language::from_tag(tag.split(';').next().unwrap_or_default()));
        Self(known.unwrap_or_default())
    }
}

impl<S: Sync> FromRequestParts<S> for Speech {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.headers))
    }
}

/// A parsed request.
pub(crate) struct Exchange {
    pub(super) speech: Speech,
    /// Who asks; unknown where nobody needs to be known.
    pub(super) caller: Option<Caller>,
    /// The caller's address.
    peer: IpAddr,
    /// The limits that count it, if there are any.
    pub(super) limited: Option<RateLimited>,
    id: Option<RequestId>,
    pub(super) headers: HeaderMap,
    path: Vec<(String, String)>,
    query: Vec<(String, String)>,
    takes_body: bool,
    /// The object in the body, if there is one.
    pub(super) body: Option<Map<String, Value>>,
}

impl FromRequest<Arc<HttpShared>> for Exchange {
    type Rejection = Response;

    async fn from_request(request: Request, state: &Arc<HttpShared>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let speech = Speech::of(&parts.headers);
        let path = match RawPathParams::from_request_parts(&mut parts, state).await {
            Ok(path) => path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            Err(_) => return Err(reply::misshapen(&Misshapen::new("path", "is not UTF-8"), speech)),
        };
        let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let query = query.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        let takes_body = takes_body(&parts.method);
        let body = if takes_body {
            read_body(&parts.headers, body, speech).await?
        } else if body.is_end_stream() {
            None
        } else {
            let reason =
                format!("does not go with {}; arguments are in the path and the query", parts.method);
            return Err(reply::misshapen(&Misshapen::new("body", reason), speech));
        };
        let caller = parts.extensions.get::<Caller>().cloned();
        let limited = parts.extensions.get::<RateLimited>().cloned();
        let id = parts.extensions.remove::<RequestId>();
        let (peer, headers) = (guard::peer(&parts.extensions), parts.headers);
        let exchange = Self { speech, caller, peer, limited, id, headers, path, query, takes_body, body };
        exchange.check_admitted(state).map(|()| exchange).map_err(|refused| *refused)
    }
}

/// What the query of a method with a body may hold.
const QUERY_OF_WRITES: [&str; 2] = ["dry_run", "on"];

/// Whether arguments come in the body.
fn takes_body(method: &Method) -> bool {
    [Method::POST, Method::PATCH].contains(method)
}

async fn read_body(
    headers: &HeaderMap,
    body: Body,
    speech: Speech,
) -> Result<Option<Map<String, Value>>, Response> {
    let bytes = match tokio::time::timeout(BODY_TIMEOUT, collect(body)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(Uncollected::TooLarge)) => return Err(reply::of_port(PortCode::PayloadTooLarge, speech)),
        Ok(Err(Uncollected::NoMemory)) => {
            return Err(reply::refusal(&Failure::Overloaded { queue: "bodies" }.outcome(), None, speech));
        }
        Err(_) => return Err(reply::of_port(PortCode::RequestTimeout, speech)),
        Ok(Err(Uncollected::Broken)) => {
            return Err(reply::misshapen(&Misshapen::new("body", "did not arrive whole"), speech));
        }
    };
    // Even without a body: a page of another site can send any other type without being asked back.
    if !is_json(headers) {
        return Err(reply::of_port(PortCode::UnsupportedMediaType, speech));
    }
    if bytes.is_empty() {
        return Ok(None);
    }
    if headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        let misshapen = Misshapen::new("Content-Encoding", "is not taken; send the body as it is");
        return Err(reply::misshapen(&misshapen, speech));
    }
    read_object(&bytes).map(Some).map_err(|misshapen| reply::misshapen(&misshapen, speech))
}

/// Why a body was not read.
enum Uncollected {
    TooLarge,
    NoMemory,
    Broken,
}

/// Reads a body as it arrives. Half-sent bodies together take bounded memory: a caller that finds none is told
/// at once, and not kept waiting for callers that may never finish.
async fn collect(body: Body) -> Result<Bytes, Uncollected> {
    let mut body = Limited::new(body, BODY_BYTES_MAX);
    let mut bytes = BytesMut::new();
    let mut permits: Vec<SemaphorePermit<'static>> = Vec::new();
    let mut permitted = BODY_BYTES_FREE;
    while let Some(frame) = body.frame().await {
        let is_too_large = |error: &BoxError| error.is::<LengthLimitError>();
        let frame = frame.map_err(|error| match is_too_large(&error) {
            true => Uncollected::TooLarge,
            false => Uncollected::Broken,
        })?;
        let Ok(data) = frame.into_data() else { continue };
        bytes.extend_from_slice(&data);
        if bytes.capacity() > permitted {
            let missing_kib = (bytes.capacity() - permitted).div_ceil(1 << 10);
            let missing = u32::try_from(missing_kib).unwrap_or(u32::MAX);
            permits.push(BODIES_KIB.try_acquire_many(missing).map_err(|_| Uncollected::NoMemory)?);
            permitted += missing_kib << 10;
        }
    }
    Ok(bytes.freeze())
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

fn read_object(bytes: &Bytes) -> Result<Map<String, Value>, Misshapen> {
    match strict::read(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Misshapen::new("body", "must be a JSON object")),
        Err(error) => Err(Misshapen::new("body", format!("is no JSON that is taken: {error}"))),
    }
}

impl Exchange {
    /// Checks that what belongs in the body is not in the query.
    ///
    /// # Errors
    /// The first parameter of the query that does.
    pub(super) fn check_query(&self) -> Result<(), Misshapen> {
        let is_known = |name: &str| QUERY_OF_WRITES.contains(&name);
        match self.query.iter().find(|(name, _)| self.takes_body && !is_known(name)) {
            None => Ok(()),
            Some((name, _)) => Err(Misshapen::new(name, "is no parameter here; fields belong in the body")),
        }
    }

    /// Checks that the caller may still go on, after something that was waited for: its key may be over by now.
    ///
    /// # Errors
    /// When it may not.
    pub(super) fn check_admitted(&self, shared: &HttpShared) -> Result<(), Box<Response>> {
        match &self.caller {
            Some(caller) if !shared.access.still_admits(caller) => {
                Err(reply::of_port(PortCode::Unauthenticated, self.speech).into())
            }
            _ => Ok(()),
        }
    }

    /// The request's id, by which the log names it.
    pub(super) fn id(&self) -> &str {
        self.id.as_ref().map_or("", RequestId::as_str)
    }

    /// The fields of path, query and body.
    pub(super) fn fields(&self) -> Fields<'_> {
        let mut fields = Fields::default();
        for (name, value) in self.path.iter().chain(&self.query) {
            fields.add_text(name, value);
        }
        if let Some(body) = &self.body {
            fields.add_object(body);
        }
        fields
    }

    /// The fields of the query alone.
    pub(super) fn query_fields(&self) -> Fields<'_> {
        let mut fields = Fields::default();
        for (name, value) in &self.query {
            fields.add_text(name, value);
        }
        fields
    }

    /// Whether the caller may send a command about any resource.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub(super) fn check_any(&self, spec: &CommandSpec) -> Result<(), Box<Response>> {
        let Some(caller) = &self.caller else {
            return Err(reply::of_port(PortCode::Unauthenticated, self.speech).into());
        };
        caller.check_any(spec).map_err(|lack| guard::lacking(&lack, self.speech).into())
    }

    /// Whether the caller may send commands, each with its row, and may send so many.
    ///
    /// # Errors
    /// What the key lacks for the first that it may not send, the limit that it goes beyond, or that nobody was admitted.
    pub(super) fn check<'a>(
        &self,
        commands: impl Iterator<Item = (&'static CommandSpec, &'a Command)> + Clone,
    ) -> Result<(), Box<Response>> {
        let Some(caller) = &self.caller else {
            return Err(reply::of_port(PortCode::Unauthenticated, self.speech).into());
        };
        let checked = commands.clone().try_for_each(|(spec, command)| caller.check(spec, command));
        checked.map_err(|lack| guard::lacking(&lack, self.speech))?;
        self.limited.as_ref().map_or(Ok(()), |limited| limited.count(caller, commands, self.speech))
    }

    /// The administrative ones among commands that are sent together, for the audit log.
    pub(super) fn acts<'a>(
        &self,
        shared: &HttpShared,
        commands: impl Iterator<Item = &'a Command>,
        common: &Common,
    ) -> Option<Acts> {
        shared.access.acts(self.caller.as_ref(), self.peer, commands, common.operation.as_ref())
    }

    /// The namespace of the caller's operation ids.
    pub(super) fn namespace(&self) -> &str {
        self.caller.as_ref().map_or("", Caller::namespace)
    }

    /// The operation id, the deadline and the durability, from the headers.
    ///
    /// # Errors
    /// When one of them is given twice or is malformed.
    pub(super) fn common(&self) -> Result<Common, Misshapen> {
        let operation = match self.header(&IDEMPOTENCY_KEY, "Idempotency-Key")? {
            Some(text) => Some(OperationId::parse(text, "Idempotency-Key")?),
            None => None,
        };
        let deadline = match self.header(&DEADLINE, "Scarce-Deadline")? {
            Some(text) => Some(Natural::parse(text, "Scarce-Deadline")?.get()),
            None => None,
        };
        let durability = match self.header(&DURABILITY, "Scarce-Durability")? {
            Some(text) => Some(arguments::durability(text, "Scarce-Durability")?),
            None => None,
        };
        Ok(Common { operation, deadline, durability })
    }

    /// Remembers which trace an operation is part of, for what flows out because of it.
    pub(super) fn note_trace(&self, operation: Option<&OperationId>) {
        if let Some((operation, trace)) = operation.zip(trace::trace_parent(&self.headers)) {
            let namespace = self.caller.as_ref().map_or("", Caller::namespace);
            Traces::of_process().note(namespace, operation.as_str(), trace);
        }
    }

    /// A header that may be given at most once.
    ///
    /// # Errors
    /// When it is given twice.
    pub(super) fn header(&self, name: &HeaderName, shown: &'static str) -> Result<Option<&[u8]>, Misshapen> {
        let mut values = self.headers.get_all(name).iter();
        let first = values.next();
        if values.next().is_some() {
            return Err(Misshapen::new(shown, "is given twice"));
        }
        Ok(first.map(axum::http::HeaderValue::as_bytes))
    }
}

/// Whether the caller requests a dry run.
///
/// # Errors
/// When the value is neither true nor false.
pub(super) fn take_dry_run(fields: &mut Fields<'_>) -> Result<bool, Misshapen> {
    match fields.take_text("dry_run")? {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Misshapen::new("dry_run", "must be true or false")),
    }
}
