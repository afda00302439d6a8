//! A real HTTP server that records its requests, and answers as it is told to.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::{LOOK_INTERVAL, PATIENCE};

/// A recorded request.
#[derive(Clone, Debug)]
pub struct Heard {
    pub at: Instant,
    /// By name in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Heard {
    pub fn id(&self) -> &str {
        self.header("webhook-id")
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).expect("JSON")
    }
}

/// What it does after recording a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Answer with a status.
    Status(u16),
    /// Answer with a status, a header and a body.
    Full(u16, &'static str, String),
    /// Never answer.
    Never,
    /// Close the connection without an answer.
    Close,
}

type Manner = Arc<dyn Fn(usize, &Heard) -> Reply + Send + Sync>;

/// A receiver. Dropping it closes its connections, even in the middle of a request.
pub struct Receiver {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Heard>>>,
    manner: Arc<Mutex<Manner>>,
    scheme: &'static str,
    end: Option<oneshot::Sender<()>>,
    ended: Option<tokio::task::JoinHandle<()>>,
}

impl Receiver {
    /// A receiver that answers 204 to all.
    pub async fn start() -> Self {
        Self::with(|_, _| Reply::Status(204)).await
    }

    /// A receiver with this behavior, which gets the number of earlier requests, and the request.
    pub async fn with(manner: impl Fn(usize, &Heard) -> Reply + Send + Sync + 'static) -> Self {
        Self::listen(manner, None).await
    }

    pub async fn with_tls(tls: TlsAcceptor) -> Self {
        Self::listen(|_, _| Reply::Status(200), Some(tls)).await
    }

    async fn listen(
        manner: impl Fn(usize, &Heard) -> Reply + Send + Sync + 'static,
        tls: Option<TlsAcceptor>,
    ) -> Self {
        let mut receiver = Self {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            heard: Arc::default(),
            manner: Arc::new(Mutex::new(Arc::new(manner))),
            scheme: if tls.is_some() { "https" } else { "http" },
            end: None,
            ended: None,
        };
        receiver.serve(tls).await;
        receiver
    }

    /// Changes its behavior.
    pub fn set(&self, manner: impl Fn(usize, &Heard) -> Reply + Send + Sync + 'static) {
        *self.manner.lock().expect("no panic") = Arc::new(manner);
    }

    pub fn url(&self) -> String {
        format!("{}://localhost:{}/hook", self.scheme, self.address.port())
    }

    /// The requests so far.
    pub fn heard(&self) -> MutexGuard<'_, Vec<Heard>> {
        self.heard.lock().expect("no panic")
    }

    /// The distinct ids that it got.
    pub fn ids(&self) -> std::collections::BTreeSet<String> {
        self.heard().iter().map(|heard| heard.id().to_owned()).collect()
    }

    /// Kills it in the middle of its requests; its port is closed then.
    pub async fn kill(&mut self) {
        drop(self.end.take());
        if let Some(ended) = self.ended.take() {
            ended.await.expect("no panic");
        }
    }

    /// Starts it again on the same port.
    pub async fn start_again(&mut self) {
        self.serve(None).await;
    }

    /// Listens on the same port; an outgoing connection may have been given it for a while.
    async fn listener(&self) -> TcpListener {
        let begun = Instant::now();
        loop {
            match TcpListener::bind(self.address).await {
                Ok(listener) => return listener,
                Err(error) => assert!(begun.elapsed() < PATIENCE, "{}: {error}", self.address),
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }

    async fn serve(&mut self, tls: Option<TlsAcceptor>) {
        let listener = self.listener().await;
        self.address = listener.local_addr().expect("an address");
        let (end, mut ending) = oneshot::channel::<()>();
        let (heard, manner) = (Arc::clone(&self.heard), Arc::clone(&self.manner));
        self.end = Some(end);
        self.ended = Some(tokio::spawn(async move {
            // Dropped with the listener, so that all connections end.
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    accepted = listener.accept() => {
                        let (stream, _) = accepted.expect("a connection");
                        let (heard, manner, tls) = (Arc::clone(&heard), Arc::clone(&manner), tls.clone());
                        connections.spawn(async move {
                            match tls {
                                None => connection(stream, heard, manner).await,
                                Some(tls) => {
                                    if let Ok(stream) = tls.accept(stream).await {
                                        connection(stream, heard, manner).await;
                                    }
                                }
                            }
                        });
                    }
                    _ = &mut ending => return,
                }
            }
        }));
    }
}

async fn connection(
    stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    heard: Arc<Mutex<Vec<Heard>>>,
    manner: Arc<Mutex<Manner>>,
) {
    let service = service_fn(|request| answer(request, &heard, &manner));
    // It ends when the client ends it, or the answer says so.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(
    request: Request<Incoming>,
    heard: &Mutex<Vec<Heard>>,
    manner: &Mutex<Manner>,
) -> Result<Response<Full<Bytes>>, std::io::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(std::io::Error::other)?.to_bytes();
    let header = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
        (name.as_str().to_owned(), value.to_str().expect("ASCII").to_owned())
    };
    let headers = head.headers.iter().map(header).collect();
    let request =
        Heard { at: Instant::now(), headers, body: String::from_utf8(body.to_vec()).expect("UTF-8") };
    let before = {
        let mut heard = heard.lock().expect("no panic");
        heard.push(request.clone());
        heard.len() - 1
    };
    let manner = Arc::clone(&manner.lock().expect("no panic"));
    match manner(before, &request) {
        Reply::Status(status) => Ok(response(status, "x-nothing", String::new())),
        Reply::Full(status, header, body) => Ok(response(status, header, body)),
        Reply::Never => Ok(std::future::pending::<Result<_, Infallible>>().await.expect("never")),
        Reply::Close => Err(std::io::Error::other("as it was told")),
    }
}

/// A response; `header` is a header with its value after a colon.
fn response(status: u16, header: &str, body: String) -> Response<Full<Bytes>> {
    let (name, value) = header.split_once(':').unwrap_or((header, ""));
    let builder = Response::builder().status(status).header(name, value.trim());
    builder.body(Full::new(Bytes::from(body))).expect("an answer")
}
