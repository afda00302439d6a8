//! Requests over hyper and rustls, for `object_store`.

use std::error::Error;
use std::fmt::{Debug, Formatter};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::unfold;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::Request;
use hyper::body::Frame;
use hyper::header::CONTENT_LENGTH;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector as Plain;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use rustls::{ClientConfig, RootCertStore};

use super::progress::RequestProgress;

/// How long nothing may move, in a request or in its answer.
const STILL_MAX: Duration = Duration::from_secs(20);

/// Where the root of a listing begins at the latest.
const LISTING_HEAD_BYTES: usize = 4 << 10;

/// How long an unused connection is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// Gives `object_store` its HTTP client.
#[derive(Clone)]
pub(super) struct Connector {
    client: legacy::Client<HttpsConnector<Plain>, BoxBody<Bytes, HttpError>>,
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
        let mut plain = Plain::new();
        plain.enforce_http(false);
        // A connection whose other end takes nothing is given up by the system, too.
        plain.set_tcp_user_timeout(Some(STILL_MAX));
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        let client = legacy::Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_timer(TokioTimer::new())
            .build(connector.wrap_connector(plain));
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
        let progress = Arc::new(RequestProgress::begin(STILL_MAX));
        let bytes = request.body().content_length() as u64;
        let is_listing = request.uri().query().is_some_and(|query| query.contains("list-type=2"));
        let answered = progress.wait(bytes, self.client.request(noted(request, &progress))).await;
        let answered = answered.map_err(|still| HttpError::new(HttpErrorKind::Timeout, still))?;
        let response = answered.map_err(|error| {
            let kind = if error.is_connect() { HttpErrorKind::Connect } else { HttpErrorKind::Interrupted };
            HttpError::new(kind, error)
        })?;
        let response = response.map(|body| {
            let frames = unfold(Some(body), |body| async move {
                let mut body: hyper::body::Incoming = body?;
                match tokio::time::timeout(STILL_MAX, body.frame()).await {
                    Ok(frame) => {
                        let interrupted = |error| HttpError::new(HttpErrorKind::Interrupted, error);
                        frame.map(|frame| (frame.map_err(interrupted), Some(body)))
                    }
                    Err(late) => Some((Err(HttpError::new(HttpErrorKind::Timeout, late)), None)),
                }
            });
            HttpResponseBody::new(StreamBody::new(frames))
        });
        if is_listing && response.status().is_success() {
            checked_listing(response).await
        } else {
            Ok(response)
        }
    }
}

/// A listing, unless it is the page of something else that listens there: without objects in it, that would be a store
/// in which nothing is.
async fn checked_listing(response: HttpResponse) -> Result<HttpResponse, HttpError> {
    let (head, body) = response.into_parts();
    let body = body.bytes().await?;
    let text = String::from_utf8_lossy(&body[..body.len().min(LISTING_HEAD_BYTES)]);
    let is_other = |tag: &&str| !tag.starts_with(['?', '!']);
    let root = text.split('<').skip(1).find(is_other).unwrap_or_default();
    if !root.starts_with("ListBucketResult") {
        return Err(HttpError::new(HttpErrorKind::Decode, NoListing));
    }
    Ok(HttpResponse::from_parts(head, HttpResponseBody::from(body)))
}

#[derive(Debug, thiserror::Error)]
#[error("what answered is no store of S3: it answered a listing with something else; check AWS_ENDPOINT_URL")]
struct NoListing;

/// A request of which it is noted how much the connection has taken.
fn noted(request: HttpRequest, progress: &Arc<RequestProgress>) -> Request<BoxBody<Bytes, HttpError>> {
    let bytes = request.body().content_length();
    let progress = progress.clone();
    let mut request = request.map(|body| {
        let note = move |frame: Frame<Bytes>| {
            progress.note(frame.data_ref().map_or(0, Bytes::len));
            frame
        };
        body.map_frame(note).boxed()
    });
    if bytes > 0 {
        // The body does not tell any more.
        request.headers_mut().entry(CONTENT_LENGTH).or_insert(bytes.into());
    }
    request
}
