//! What the port records in the audit log, and `GET /v1/audit`, which shows it.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use scarce_access::Shown;
use scarce_api::{Fields, Misshapen};
use scarce_audit::{Filter, Page, Position};
use scarce_core::types::Natural;
use scarce_engine::Failure;
use scarce_gateway::{Caller, Denied};
use serde_json::json;

use super::command::read_limit;
use super::exchange::Exchange;
use super::{Context, HttpShared, guard, reply, submit};

/// The default and the maximum number of records of a page.
const RECORDS_DEFAULT: u64 = 100;
const RECORDS_MAX: u64 = 1_000;

/// In the extensions of an answer: the scope that the caller's key lacks.
#[derive(Clone, Debug)]
pub(super) struct Lacking(pub(super) String);

/// What a request was, once it has been answered.
pub(super) struct Asked {
    peer: IpAddr,
    what: String,
}

impl Asked {
    pub(super) fn of(request: &Request) -> Self {
        Self { peer: guard::peer(request.extensions()), what: what(request) }
    }

    /// Records that the caller's key lacks a scope, if that is the answer.
    pub(super) fn note_lack(&self, shared: &HttpShared, caller: &Caller, response: &Response) {
        if let Some(Lacking(scope)) = response.extensions().get() {
            let denied = Denied { what: &self.what, outcome: "LACKS_SCOPE", detail: Some(scope) };
            shared.access.deny(Some(caller), self.peer, denied);
        }
    }
}

/// The method and the route, without what the caller put into the path.
fn what(request: &Request) -> String {
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    format!("{} {path}", request.method())
}

/// Records that a request is turned away.
pub(super) fn deny(
    shared: &HttpShared,
    caller: Option<&Caller>,
    request: &Request,
    outcome: &'static str,
    detail: Option<&str>,
) {
    let denied = Denied { what: &what(request), outcome, detail };
    shared.access.deny(caller, guard::peer(request.extensions()), denied);
}

/// A path without the secret of a key, should someone put that where its ID belongs.
pub(super) fn without_secrets(path: &str) -> String {
    let part = |part: &str| match Shown::parse(part.as_bytes()) {
        Some(shown) => shown.id.to_string(),
        None => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// Records what a route without a command changes, unless the caller was turned away from it.
pub(super) async fn note_act(
    State(shared): State<Arc<HttpShared>>,
    caller: Option<Extension<Caller>>,
    request: Request,
    next: Next,
) -> Response {
    let peer = guard::peer(request.extensions());
    let is_act = request.method() != Method::GET;
    let what = format!("{} {}", request.method(), without_secrets(request.uri().path()));
    let response = next.run(request).await;
    if is_act && response.extensions().get::<Lacking>().is_none() {
        let outcome = if response.status().is_success() { "APPLIED" } else { "REFUSED" };
        submit::record(shared.access.other_act(caller.as_deref(), peer, &what, outcome)).await;
    }
    response
}

/// What the caller wants to see.
struct Wanted {
    after: Position,
    is_from_now: bool,
    filter: Filter,
    count_max: usize,
}

/// Answers a page of the audit log.
pub(super) async fn handle(State(shared): Context, exchange: Exchange) -> Response {
    let wanted = match Wanted::read(&exchange) {
        Ok(wanted) => wanted,
        Err(misshapen) => return reply::misshapen(&misshapen, exchange.speech),
    };
    let unavailable = |reason: String| {
        let outcome = Failure::Unavailable { reason }.outcome();
        reply::refusal(&outcome, None, exchange.speech)
    };
    let Some(folder) = shared.access.audit.folder().cloned() else {
        return unavailable("nothing is recorded: the setting audit is false".to_owned());
    };
    match tokio::task::spawn_blocking(move || wanted.page(&folder)).await {
        Ok(Ok(page)) => reply::json(
            200,
            &json!({
                "records": page.records,
                "has_more": page.has_more,
                "is_cut": page.is_cut,
                "cursor": page.next.to_string(),
            }),
        ),
        Ok(Err(error)) => unavailable(format!("the audit log cannot be read: {error}")),
        Err(_) => unavailable("reading the audit log was not finished".to_owned()),
    }
}

impl Wanted {
    fn read(exchange: &Exchange) -> Result<Self, Misshapen> {
        let mut fields = exchange.query_fields();
        let count_max = read_limit(&mut fields, RECORDS_DEFAULT, RECORDS_MAX)?;
        let cursor = parsed::<Position>(&mut fields, "cursor")?;
        let is_from_now = match fields.take_text("from")? {
            None | Some("oldest") => false,
            Some("now") => true,
            Some(_) => return Err(Misshapen::new("from", "must be oldest or now")),
        };
        let filter = Filter {
            kind: parsed(&mut fields, "kind")?,
            who: parsed(&mut fields, "who")?,
            address: parsed(&mut fields, "address")?,
            what: parsed(&mut fields, "what")?,
            resource: parsed(&mut fields, "resource")?,
            outcome: parsed(&mut fields, "outcome")?,
            since_ms: time(&mut fields, "since")?,
            until_ms: time(&mut fields, "until")?,
        };
        fields.check_none()?;
        if is_from_now && cursor.is_some() {
            return Err(Misshapen::new("from", "does not go with cursor; send one of them"));
        }
        let count_max = usize::try_from(count_max).unwrap_or(usize::MAX);
        Ok(Self { after: cursor.unwrap_or_default(), is_from_now, filter, count_max })
    }

    fn page(&self, folder: &scarce_audit::Folder) -> std::io::Result<Page> {
        if self.is_from_now {
            let page = folder.last(&self.filter, 0)?;
            return Ok(Page { records: Vec::new(), has_more: false, ..page });
        }
        folder.page(self.after, &self.filter, self.count_max)
    }
}

fn parsed<T: std::str::FromStr>(fields: &mut Fields<'_>, name: &'static str) -> Result<Option<T>, Misshapen>
where
    T::Err: std::fmt::Display,
{
    let Some(text) = fields.take_text(name)? else { return Ok(None) };
    text.parse().map(Some).map_err(|error: T::Err| Misshapen::new(name, error.to_string()))
}

fn time(fields: &mut Fields<'_>, name: &'static str) -> Result<Option<u64>, Misshapen> {
    let Some(text) = fields.take_text(name)? else { return Ok(None) };
    Ok(Some(Natural::parse(text.as_bytes(), name)?.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_a_path_is_recorded_without_its_secret() {
        let shown = Shown::draw().expect("random bytes");
        let path = without_secrets(&format!("/v1/keys/{}/revoke", shown.reveal()));
        assert_eq!(path, format!("/v1/keys/{}/revoke", shown.id));
        assert_eq!(without_secrets("/v1/stock/sk_1/take"), "/v1/stock/sk_1/take");
    }
}
