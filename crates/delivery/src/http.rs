//! Requests to receivers.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use hyper::{Method, Request, Response, Uri, body::Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use scarce_outflow::{TRACEPARENT, TraceParent};

use crate::secret::signatures;
use crate::store::now_ms;
use crate::{DeliveryError, DeliveryOptions, Secret};

/// How much of a response is read, and kept as the error's text.
const ANSWER_BYTES_MAX: usize = 4 << 10;

/// How long an unused connection to a receiver is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The user agent.
const AGENT: &str = concat!("scarce/", env!("CARGO_PKG_VERSION"));

/// Sends requests. Redirects are not followed: a status of 300 to 399 is a failure.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    timeout: Duration,
}

/// A message to a receiver.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) url: String,
    /// Newest first.
    pub(crate) secrets: Vec<Secret>,
    pub(crate) id: String,
    pub(crate) body: String,
    /// Whether the id is also sent as `Idempotency-Key`.
    pub(crate) has_key: bool,
    /// The trace that it is part of.
    pub(crate) trace: Option<TraceParent>,
}

/// A receiver's response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReceiverAnswer {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    /// The beginning of the body.
    pub(crate) text: String,
}

impl ReceiverAnswer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The reason of a failure, for reports.
    pub(crate) fn reason(&self) -> String {
        let text = self.text.trim();
        if text.is_empty() {
            format!("it answered {}", self.status)
        } else {
            format!("it answered {}: {text}", self.status)
        }
    }
}

impl Sender {
    pub(crate) fn new(options: &DeliveryOptions) -> Result<Self, DeliveryError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable("the system", &error))?
            .with_root_certificates(roots(options)?)
            .with_no_client_auth();
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_timer(TokioTimer::new())
            .build(connector.build());
        Ok(Self { client, timeout: options.request_timeout })
    }

    /// Sends a message; returns the response, or the reason why there is none.
    pub(crate) async fn send(&self, message: &Message) -> Result<ReceiverAnswer, String> {
        let request = request(message)?;
        match tokio::time::timeout(self.timeout, self.client.request(request)).await {
            Ok(Ok(response)) => Ok(self.read(response).await),
            Ok(Err(error)) => Err(format!("it cannot be reached: {}", with_causes(&error))),
            Err(_) => Err(format!("it did not answer within {} ms", self.timeout.as_millis())),
        }
    }

    /// Reads a response. Its status counts, even if its body breaks off.
    async fn read(&self, response: Response<Incoming>) -> ReceiverAnswer {
        let status = response.status().as_u16();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = retry_after.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        let mut bytes = Vec::new();
        // A timeout counts like a body that breaks off.
        let _ = tokio::time::timeout(self.timeout, read_body(response.into_body(), &mut bytes)).await;
        ReceiverAnswer { status, retry_after, text: String::from_utf8_lossy(&bytes).into_owned() }
    }
}

/// A message as a request.
fn request(message: &Message) -> Result<Request<Full<Bytes>>, String> {
    let timestamp_s = now_ms() / 1_000;
    let signature = signatures(&message.secrets, &message.id, timestamp_s, message.body.as_bytes());
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(&message.url)
        .header(CONTENT_TYPE, "application/json")
        .header(USER_AGENT, AGENT)
        .header("webhook-id", &message.id)
        .header("webhook-timestamp", timestamp_s)
        .header("webhook-signature", signature);
    if message.has_key {
        request = request.header("idempotency-key", &message.id);
    }
    if let Some(trace) = &message.trace {
        request = request.header(TRACEPARENT, trace.as_str());
    }
    let body = Full::new(Bytes::from(message.body.clone()));
    request.body(body).map_err(|error| format!("no request can be made: {error}"))
}

/// Reads the part of a body that is kept.
async fn read_body(mut body: Incoming, bytes: &mut Vec<u8>) {
    while bytes.len() < ANSWER_BYTES_MAX
        && let Some(Ok(frame)) = body.frame().await
    {
        if let Some(data) = frame.data_ref() {
            bytes.extend_from_slice(&data[..data.len().min(ANSWER_BYTES_MAX - bytes.len())]);
        }
    }
}

/// An error with its causes.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// The certificate authorities of the system and of the options. A system without any is not an error:
/// receivers may be reached without TLS, and requests to others report the problem.
fn roots(options: &DeliveryOptions) -> Result<RootCertStore, DeliveryError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = &options.ca_file {
        let shown = path.display().to_string();
        let file = CertificateDer::pem_file_iter(path).map_err(|error| unusable(&shown, &error))?;
        let before = roots.len();
        for certificate in file {
            let certificate = certificate.map_err(|error| unusable(&shown, &error))?;
            roots.add(certificate).map_err(|error| unusable(&shown, &error))?;
        }
        if roots.len() == before {
            return Err(unusable(&shown, &"the file has no certificate"));
        }
    }
    Ok(roots)
}

fn unusable(path: &str, error: &impl ToString) -> DeliveryError {
    DeliveryError::Certificates { path: path.to_owned(), what: error.to_string() }
}

/// Checks that an address can be sent to. Addresses in our own network are allowed: those who may add an
/// endpoint decide where we connect to.
pub(crate) fn check_url(url: &str) -> Result<(), DeliveryError> {
    let refused = |what| Err(DeliveryError::Url { url: url.to_owned(), what });
    let Ok(uri) = url.parse::<Uri>() else { return refused("it is not a URL") };
    let Some(authority) = uri.authority() else { return refused("it names no host") };
    match uri.scheme_str() {
        _ if url.len() > URL_BYTES_MAX => refused("it is longer than 2048 bytes"),
        _ if !url.is_ascii() => refused("it has other characters than ASCII"),
        _ if authority.as_str().contains('@') => {
            refused("it names a user; receivers check the signature instead")
        }
        Some("http" | "https") if !authority.host().is_empty() => Ok(()),
        _ => refused("it begins neither with http:// nor with https://"),
    }
}

/// The longest address.
const URL_BYTES_MAX: usize = 2_048;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_receivers_are_told_from_others() {
        for right in ["http://h", "https://h:1/p?q=1", "https://[::1]:8443/hook"] {
            assert!(check_url(right).is_ok(), "{right}");
        }
        let long = format!("http://h/{}", "a".repeat(2_048));
        for wrong in ["", "h", "/p", "ftp://h/", "https://u:p@h/", "https://", "http://h h/", &long] {
            assert!(check_url(wrong).is_err(), "{wrong}");
        }
    }
}
