//! Maps paths to handlers; those of commands are generated from the table of routes.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::RETRY_AFTER;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodFilter, MethodRouter, get, on, post};
use scarce_access::Need;
use scarce_api::history::HISTORIES;
use scarce_api::problem::PortCode;
use scarce_api::{Method, ROUTES};

use super::{
    HttpShared, auditing, batch, command, condense, console, consumers, crowded, deliveries, documents,
    events, framing, guard, health, history, keys, live, metrics, origin, preview, reconciliations, reply,
    rooms, scripts, settings, trace,
};

use Kept::{Acts, Commands};
use Needs::{Always, Asked, Nothing};

/// What the audit log keeps of a route.
#[derive(Clone, Copy)]
enum Kept {
    /// All but its reads, which are administrative acts.
    Acts,
    /// Nothing, or the acts among its commands, which are known by their rows.
    Commands,
}

/// What a route needs of the caller's key.
#[derive(Clone, Copy)]
enum Needs {
    /// Nothing: it tells and changes nothing of the deployment.
    Nothing,
    /// Always the same.
    Always(Need),
    /// Its handler finds out, by what is asked.
    Asked,
}

/// The routes of which each says what it needs.
struct Guarded(Router<Arc<HttpShared>>, Arc<HttpShared>);

impl Guarded {
    fn on(self, path: &str, needs: Needs, kept: Kept, methods: MethodRouter<Arc<HttpShared>>) -> Self {
        let Self(routes, shared) = self;
        let methods = match kept {
            Acts => methods.route_layer(from_fn_with_state(shared.clone(), auditing::note_act)),
            Commands => methods,
        };
        let methods = match needs {
            Nothing | Asked => methods,
            Always(need) => methods.route_layer(from_fn_with_state(need, guard::permit)),
        };
        Self(routes.route(path, methods), shared)
    }
}

/// Every route of the port.
pub(super) fn router(shared: Arc<HttpShared>) -> Router {
    let mut by_path: BTreeMap<&'static str, MethodRouter<Arc<HttpShared>>> = BTreeMap::new();
    for route in ROUTES {
        let handler = move |context, exchange| command::handle(route, context, exchange);
        let methods = by_path.remove(route.path).unwrap_or_default();
        by_path.insert(route.path, methods.merge(on(filter(route.method), handler)));
    }
    let guarded = Guarded(Router::new(), shared.clone());
    let guarded =
        by_path.into_iter().fold(guarded, |all, (path, methods)| all.on(path, Asked, Commands, methods));
    let guarded = HISTORIES.iter().fold(guarded, |all, its| {
        all.on(
            its.path,
            Asked,
            Commands,
            get(move |context, exchange| history::handle(its, context, exchange)),
        )
    });
    let guarded = of_operators(guarded)
        .on("/v1/batch", Asked, Commands, post(batch::handle))
        .on("/v1/packet-previews", Nothing, Commands, post(preview::handle))
        .on("/v1/audit", Always(Need::OPERATE), Commands, get(auditing::handle))
        .on("/v1/events", Always(Need::OPERATE), Commands, get(events::handle))
        .on("/v1/live", Asked, Commands, get(live::stream::handle))
        .on("/ws", Asked, Commands, get(live::socket::connect))
        .on("/v1/consumers", Always(Need::READ_ALL), Commands, get(consumers::handle))
        .on("/v1/waiting-rooms/{room}/tickets", Asked, Commands, post(rooms::join))
        .on("/v1/waiting-rooms/{room}/tickets/{ticket}", Asked, Commands, get(rooms::show))
        .on("/v1/reconciliations", Always(Need::READ_ALL), Commands, get(reconciliations::list))
        .on("/v1/reconciliations", Always(Need::OPERATE), Acts, post(reconciliations::request))
        .on("/v1/reconciliations/{id}", Always(Need::READ_ALL), Commands, get(reconciliations::show))
        .on("/v1/scripts", Asked, Commands, get(scripts::list))
        .on("/v1/scripts/{script}", Asked, Commands, get(scripts::show))
        .on("/v1/scripts/{script}", Asked, Acts, post(scripts::register).delete(scripts::remove))
        .on("/v1/scripts/{script}/run", Asked, Commands, post(scripts::run))
        .on("/metrics", Always(Need::READ_ALL), Commands, get(metrics::handle))
        .0
        .layer(from_fn(condense::condense))
        .layer(from_fn_with_state(shared.clone(), guard::authenticate));
    let open = Router::new()
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/openapi.json", get(documents::openapi))
        .route("/problems/{code}", get(documents::explain))
        .route("/docs", get(documents::docs_root))
        .route("/docs/", get(documents::docs_index))
        .route("/docs/{*file}", get(documents::docs_file))
        .route("/console", get(console::root))
        .route("/console/", get(console::index))
        .route("/console/{file}", get(console::file));
    guarded
        .merge(open)
        .fallback(|speech| async move { reply::of_port(PortCode::NotFound, speech) })
        .method_not_allowed_fallback(
            |speech| async move { reply::of_port(PortCode::MethodNotAllowed, speech) },
        )
        .layer(from_fn_with_state(shared.clone(), origin::check_origin))
        .layer(from_fn_with_state(shared.clone(), guard::check_host))
        .layer(from_fn(framing::check_framing))
        .layer(from_fn(trace::trace))
        .with_state(shared)
}

/// The routes of those who operate the server.
fn of_operators(guarded: Guarded) -> Guarded {
    guarded
        .on("/v1/settings", Always(Need::OPERATE), Commands, get(settings::list))
        .on("/v1/keys", Always(Need::OPERATE), Commands, get(keys::list))
        .on("/v1/keys", Always(Need::EVERYTHING), Acts, post(keys::create))
        .on("/v1/keys/{key}/rotate", Always(Need::EVERYTHING), Acts, post(keys::rotate))
        .on("/v1/keys/{key}/revoke", Always(Need::EVERYTHING), Acts, post(keys::revoke))
        .on("/v1/webhooks", Always(Need::OPERATE), Commands, get(deliveries::endpoints))
        .on("/v1/webhooks/{endpoint}/pause", Always(Need::OPERATE), Acts, post(deliveries::pause))
        .on("/v1/webhooks/{endpoint}/resume", Always(Need::OPERATE), Acts, post(deliveries::resume))
        .on("/v1/webhooks/{endpoint}/replay", Always(Need::OPERATE), Acts, post(deliveries::replay_endpoint))
        .on("/v1/deliveries", Always(Need::OPERATE), Commands, get(deliveries::list_deliveries))
        .on(
            "/v1/deliveries/{delivery}/replay",
            Always(Need::OPERATE),
            Acts,
            post(deliveries::replay_delivery),
        )
        .on("/v1/settlements", Always(Need::OPERATE), Commands, get(deliveries::list_settlements))
        .on(
            "/v1/settlements/{campaign}/replay",
            Always(Need::OPERATE),
            Acts,
            post(deliveries::replay_settlements),
        )
}

/// What is answered while all places for connections are taken.
pub(super) fn health(shared: Arc<HttpShared>) -> Router {
    Router::new()
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready_without_place))
        .route_layer(from_fn_with_state(shared.clone(), guard::check_host))
        .fallback(|| async {
            let mut response = reply::text(503, crowded::NO_PLACE.to_owned());
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
            response.extensions_mut().insert(crowded::Refused);
            response
        })
        .with_state(shared)
}

fn filter(method: Method) -> MethodFilter {
    match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Patch => MethodFilter::PATCH,
        Method::Delete => MethodFilter::DELETE,
    }
}
