//! Requests over hyper and rustls, for `object_store`.

use std::error::Error;
use std::fmt::{Debug, Formatter};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::BodyExt;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector as Plain;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    HttpResponseBody, HttpService,
};
use rustls::{ClientConfig, RootCertStore};

/// How long the beginning of an answer is waited for.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// How long an unused connection is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// Gives `object_store` its HTTP client.
#[derive(Clone)]
pub(super) struct Connector {
    client: legacy::Client<HttpsConnector<Plain>, HttpRequestBody>,
}

impl Debug for Connector {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Connector").finish_non_exhaustive()
    }
}

impl Connector {
    pub(super) fn new() -> Result<Self, Box<dyn Error + Send + Sync>> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        // Without any, connections with TLS fail and say why.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        let client = legacy::Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_timer(TokioTimer::new())
            .build(connector.build());
        Ok(Self { client })
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Connector {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answered = tokio::time::timeout(ANSWER_TIMEOUT, self.client.request(request)).await;
        let answered = answered.map_err(|late| HttpError::new(HttpErrorKind::Timeout, late))?;
        let response = answered.map_err(|error| {
            let kind = if error.is_connect() { HttpErrorKind::Connect } else { HttpErrorKind::Interrupted };
            HttpError::new(kind, error)
        })?;
        let interrupted = |error| HttpError::new(HttpErrorKind::Interrupted, error);
        Ok(response.map(|body| HttpResponseBody::new(body.map_err(interrupted))))
    }
}
