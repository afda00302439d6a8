//! Checks that precede every handler.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, SEC_WEBSOCKET_PROTOCOL};
use axum::http::uri::Authority;
use axum::http::{Extensions, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt as _;
use scarce_access::{Lack, Need};
use scarce_api::problem::{PortCode, Problem};
use scarce_gateway::{Caller, Login, now_ms};
use serde_json::{Map, Value};

use super::HttpShared;
use super::auditing;
use super::exchange::Speech;
use super::limits::RateLimited;
use super::reply;
use super::trace::Sender;

/// The address of a request's caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// The address in a request's extensions.
pub(super) fn peer(extensions: &Extensions) -> IpAddr {
    extensions.get::<Peer>().map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |peer| peer.0)
}

/// Requires the password or a key, if there are any, and notes who the caller is. A stream of events ends with its key.
pub(super) async fn authenticate(
    State(shared): State<Arc<HttpShared>>,
    speech: Speech,
    request: Request,
    next: Next,
) -> Response {
    let peer = peer(request.extensions());
    if let Some(stranger) = shared.access.stranger() {
        return admit(stranger, peer, request, next, shared).await;
    }
    match shown(&request).map(|shown| shared.access.log_in(peer, &shown, now_ms())) {
        Some(Login::Admitted(caller)) => admit(caller, peer, request, next, shared).await,
        None => {
            auditing::deny(&shared, None, &request, "NO_KEY", None);
            reply::of_port(PortCode::Unauthenticated, speech)
        }
        Some(Login::Wrong) => reply::of_port(PortCode::Unauthenticated, speech),
        Some(Login::Delayed(_)) => reply::of_port(PortCode::TooManyAttempts, speech),
    }
}

/// Goes on with a request, of which it is now known who sent it.
async fn admit(
    caller: Caller,
    peer: IpAddr,
    mut request: Request,
    next: Next,
    shared: Arc<HttpShared>,
) -> Response {
    let limited = RateLimited::of(&shared.access, peer);
    request.extensions_mut().insert(caller.clone());
    if let Some(limited) = &limited {
        request.extensions_mut().insert(limited.clone());
    }
    let asked = auditing::Asked::of(&request);
    let mut response = next.run(request).await;
    asked.note_lack(&shared, &caller, &response);
    if let Some(limited) = &limited {
        limited.tell(&mut response);
    }
    response.extensions_mut().insert(Sender(caller.clone()));
    until_ended(response, shared, caller, limited)
}

/// Ends a stream of events when its caller may not go on.
fn until_ended(
    response: Response,
    shared: Arc<HttpShared>,
    caller: Caller,
    limited: Option<RateLimited>,
) -> Response {
    let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    if kind != Some(b"text/event-stream") {
        return response;
    }
    let ended = async move {
        // A stream is in progress until it ends.
        let _limited = limited;
        shared.access.ended(&caller).await;
    };
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(ended))))
}

/// Requires that the caller's key allows what a route does that is no command.
pub(super) async fn permit(
    State(need): State<Need>,
    caller: Option<Extension<Caller>>,
    limited: Option<Extension<RateLimited>>,
    speech: Speech,
    path: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let path = path.as_ref().map_or("", MatchedPath::as_str);
    let Some(Extension(caller)) = caller else { return reply::of_port(PortCode::Unauthenticated, speech) };
    if let Err(lack) = caller.check_need(need, None, path) {
        return lacking(&lack, speech);
    }
    match limited.map_or(Ok(()), |Extension(limited)| limited.count_other(&caller, need, speech)) {
        Ok(()) => next.run(request).await,
        Err(refused) => *refused,
    }
}

/// What is answered to a caller whose key lacks a scope.
pub(super) fn lacking(lack: &Lack, speech: Speech) -> Response {
    let mut response = reply::problem(&lack_problem(lack, speech), speech);
    response.extensions_mut().insert(auditing::Lacking(lack.to_string()));
    response
}

/// The same as a problem document.
pub(super) fn lack_problem(lack: &Lack, speech: Speech) -> Problem {
    let facts = Map::from_iter([
        ("scope".to_owned(), Value::from(lack.to_string())),
        ("verb".to_owned(), lack.verb.into()),
        ("kind".to_owned(), lack.kind.into()),
        ("resource".to_owned(), lack.resource.as_str().into()),
    ]);
    Problem::of_port_with(PortCode::Forbidden, facts, speech.0)
}

/// The password or the key in a request: a bearer token, or basic authentication with any user name.
fn shown(request: &Request) -> Option<Vec<u8>> {
    let Some(value) = request.headers().get(AUTHORIZATION) else { return shown_by_page(request) };
    let value = value.to_str().ok()?;
    let (scheme, credentials) = value.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(credentials.trim().as_bytes().to_vec());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = STANDARD.decode(credentials.trim()).ok()?;
    let at = pair.iter().position(|byte| *byte == b':')?;
    Some(pair[at + 1..].to_vec())
}

/// The key in the handshake of a WebSocket: a page can set no other header of it.
fn shown_by_page(request: &Request) -> Option<Vec<u8>> {
    let protocols = request.headers().get(SEC_WEBSOCKET_PROTOCOL)?.to_str().ok()?;
    let key = protocols.split(',').find_map(|protocol| protocol.trim().strip_prefix("bearer."))?;
    Some(key.as_bytes().to_vec())
}

/// Without a password, a page of another site could reach this port by pointing its own host name here (DNS
/// rebinding). Such a request carries the site's name as its host, so only addresses and localhost are
/// answered.
pub(super) async fn check_host(
    State(shared): State<Arc<HttpShared>>,
    speech: Speech,
    request: Request,
    next: Next,
) -> Response {
    let mut hosts = request.headers().get_all(HOST).iter().peekable();
    let is_local = hosts.peek().is_some() && hosts.all(|host| host.to_str().is_ok_and(is_local));
    if shared.access.requires_login() || is_local {
        return next.run(request).await;
    }
    reply::of_port(PortCode::Misdirected, speech)
}

fn is_local(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_localhost_are_this_machine_and_names_are_not() {
        for local in ["localhost", "localhost:7380", "127.0.0.1:7380", "[::1]:7380", "10.0.0.5"] {
            assert!(is_local(local), "{local}");
        }
        for other in ["evil.example", "evil.example:7380", "localhost.evil.example", "", "a b"] {
            assert!(!is_local(other), "{other}");
        }
    }
}
