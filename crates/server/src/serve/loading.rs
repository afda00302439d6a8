//! The ports while nothing is served: callers are told that the engine recovers, and how far it is, or where the deployment
//! is.

use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use scarce_engine::Failure;
use scarce_engine_embedded::RecoveryProgress;
use tokio::runtime::{Builder, Runtime};

use scarce_gateway::{ConnectionPlaces, Tls, Unserved};
use scarce_gateway_http as http;
use scarce_gateway_resp as resp;

/// How long answers that are being written may take when the recovery has ended.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// The ports during a recovery. Dropping it closes their connections; the ports stay open.
pub(super) struct Loading {
    runtime: Option<Runtime>,
    at: Arc<Mutex<Option<RecoveryProgress>>>,
}

impl Loading {
    pub(super) fn begin(
        resp: &TcpListener,
        http: Option<&TcpListener>,
        places: &Arc<ConnectionPlaces>,
        tls: Option<&Tls>,
    ) -> std::io::Result<Self> {
        let at = Arc::<Mutex<Option<RecoveryProgress>>>::default();
        let shown = Arc::clone(&at);
        let told: Unserved = Arc::new(move || {
            let reason = text(*shown.lock().unwrap_or_else(PoisonError::into_inner));
            Failure::Unavailable { reason }
        });
        Ok(Self { runtime: Some(tell(resp, http, places, tls, &told)?), at })
    }

    /// The ports of a deployment that is elsewhere.
    pub(super) fn elsewhere(
        resp: &TcpListener,
        http: Option<&TcpListener>,
        places: &Arc<ConnectionPlaces>,
        tls: Option<&Tls>,
        address: String,
    ) -> std::io::Result<Self> {
        let told: Unserved = Arc::new(move || Failure::Migrated { address: address.clone() });
        Ok(Self { runtime: Some(tell(resp, http, places, tls, &told)?), at: Arc::default() })
    }

    /// Notes how far the recovery is.
    pub(super) fn note(&self, progress: RecoveryProgress) {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
    }
}

/// Tells callers until the runtime is shut down.
fn tell(
    resp: &TcpListener,
    http: Option<&TcpListener>,
    places: &Arc<ConnectionPlaces>,
    tls: Option<&Tls>,
    told: &Unserved,
) -> std::io::Result<Runtime> {
    let runtime =
        Builder::new_multi_thread().worker_threads(1).thread_name("loading").enable_all().build()?;
    let entered = runtime.enter();
    let resp = tokio::net::TcpListener::from_std(resp.try_clone()?)?;
    runtime.spawn(resp::loading::serve(resp, Arc::clone(places), Arc::clone(told), tls.cloned()));
    if let Some(http) = http {
        let http = tokio::net::TcpListener::from_std(http.try_clone()?)?;
        runtime.spawn(http::loading::serve(http, Arc::clone(places), Arc::clone(told), tls.cloned()));
    }
    drop(entered);
    Ok(runtime)
}

impl Drop for Loading {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(END_TIMEOUT);
        }
    }
}

fn text(at: Option<RecoveryProgress>) -> String {
    match at {
        Some(RecoveryProgress { partition, bytes_done, bytes_total }) if bytes_total > 0 => {
            let percent = bytes_done.saturating_mul(100) / bytes_total;
            format!(
                "scarce is reading the journal of partition {partition}, {percent} % are done; try again soon"
            )
        }
        _ => "scarce is reading its snapshot; try again soon".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    fn answer(listener: &TcpListener, request: &str, bytes: usize) -> String {
        let mut socket =
            TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection");
        socket.write_all(request.as_bytes()).expect("sent");
        let mut heard = String::new();
        socket.take(bytes as u64).read_to_string(&mut heard).expect("an answer");
        heard
    }

    #[test]
    fn callers_are_told_how_far_the_recovery_is() {
        let bind = || {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            listener.set_nonblocking(true).expect("a port that does not block");
            listener
        };
        let (resp, http) = (bind(), bind());
        let loading =
            Loading::begin(&resp, Some(&http), &ConnectionPlaces::new(10, 0), None).expect("it begins");
        let told = "-LOADING scarce is reading its snapshot; try again soon\r\n";
        assert_eq!(answer(&resp, "*1\r\n$4\r\nPING\r\n", told.len()), told);
        loading.note(RecoveryProgress { partition: 3, bytes_done: 1, bytes_total: 4 });
        let told = "-LOADING scarce is reading the journal of partition 3, 25 % are done; try again soon\r\n";
        assert_eq!(answer(&resp, "PING\r\nPING\r\n", 2 * told.len()), told.repeat(2));
        let get =
            |path: &str| answer(&http, &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"), 4_096);
        assert!(get("/livez").starts_with("HTTP/1.1 200"));
        let ready = get("/readyz");
        assert!(ready.starts_with("HTTP/1.1 503") && ready.contains("25 %"), "{ready}");
        let other = get("/v1/stock/sku-1");
        assert!(other.starts_with("HTTP/1.1 503") && other.contains("UNAVAILABLE"), "{other}");
        drop(loading);
        let address = "there:7379".to_owned();
        let _told = Loading::elsewhere(&resp, Some(&http), &ConnectionPlaces::new(10, 0), None, address)
            .expect("it begins");
        let told =
            "-MIGRATED this deployment has moved to there:7379; send the request there, with the same id\r\n";
        assert_eq!(answer(&resp, "PING\r\n", told.len()), told);
        let other = get("/v1/stock/sku-1");
        assert!(other.starts_with("HTTP/1.1 421") && other.contains("there:7379"), "{other}");
    }
}
