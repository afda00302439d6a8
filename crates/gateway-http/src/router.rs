//! Maps paths to handlers; those of commands are generated from the table of routes.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::RETRY_AFTER;
use axum::routing::{MethodFilter, MethodRouter, get, on, post};
use scarce_api::history::HISTORIES;
use scarce_api::problem::PortCode;
use scarce_api::{Method, ROUTES};

use super::{
    HttpShared, batch, command, consumers, crowded, documents, events, guard, health, history, metrics,
    origin, preview, reconciliations, reply, scripts,
};

/// Every route of the port.
pub(super) fn router(shared: Arc<HttpShared>) -> Router {
    let mut by_path: BTreeMap<&'static str, MethodRouter<Arc<HttpShared>>> = BTreeMap::new();
    for route in ROUTES {
        let handler = move |context, exchange| command::handle(route, context, exchange);
        let methods = by_path.remove(route.path).unwrap_or_default();
        by_path.insert(route.path, methods.merge(on(filter(route.method), handler)));
    }
    let commands =
        by_path.into_iter().fold(Router::new(), |router, (path, methods)| router.route(path, methods));
    let histories = HISTORIES.iter().fold(commands, |router, its| {
        router.route(its.path, get(move |context, exchange| history::handle(its, context, exchange)))
    });
    let guarded = histories
        .route("/v1/batch", post(batch::handle))
        .route("/v1/packet-previews", post(preview::handle))
        .route("/v1/events", get(events::handle))
        .route("/v1/consumers", get(consumers::handle))
        .route("/v1/reconciliations", get(reconciliations::list).post(reconciliations::request))
        .route("/v1/reconciliations/{id}", get(reconciliations::show))
        .route("/v1/scripts", get(scripts::list))
        .route("/v1/scripts/{script}", get(scripts::show).post(scripts::register).delete(scripts::remove))
        .route("/v1/scripts/{script}/run", post(scripts::run))
        .route("/metrics", get(metrics::handle))
        .layer(axum::middleware::from_fn_with_state(shared.clone(), guard::authenticate));
    let open = Router::new()
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/openapi.json", get(documents::openapi))
        .route("/problems/{code}", get(documents::explain))
        .route("/docs", get(documents::docs_root))
        .route("/docs/", get(documents::docs_index))
        .route("/docs/{*file}", get(documents::docs_file));
    guarded
        .merge(open)
        .fallback(|speech| async move { reply::of_port(PortCode::NotFound, speech) })
        .method_not_allowed_fallback(
            |speech| async move { reply::of_port(PortCode::MethodNotAllowed, speech) },
        )
        .layer(axum::middleware::from_fn_with_state(shared.clone(), origin::check_origin))
        .layer(axum::middleware::from_fn_with_state(shared.clone(), guard::check_host))
        .with_state(shared)
}

/// What is answered while all places for connections are taken.
pub(super) fn health(shared: Arc<HttpShared>) -> Router {
    Router::new()
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready_without_place))
        .route_layer(axum::middleware::from_fn_with_state(shared.clone(), guard::check_host))
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
