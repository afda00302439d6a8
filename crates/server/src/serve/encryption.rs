//! TLS of the ports: the certificate, which is read again when its files change, and the threads that shake hands for the
//! RESP port.

use std::time::Duration;

use jiff::Timestamp;
use scarce_gateway::{CertificateFacts, Tls, TlsFiles, Validity};
use scarce_gateway_resp::Handshakes;
use scarce_settings::ServerSettings;
use tokio::runtime::{Builder, Runtime};

use super::ServeError;

/// How often it is looked whether the files changed.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);

/// How long the files may take to be read before that is told.
const READ_USUAL: Duration = Duration::from_secs(10);

/// TLS of the ports, until it is dropped.
pub(super) struct Encryption {
    pub(super) tls: Tls,
    runtime: Option<Runtime>,
}

impl Encryption {
    /// `None` if the ports speak no TLS.
    pub(super) fn start(settings: &ServerSettings) -> Result<Option<Self>, ServeError> {
        let Some(files) = tls_files(settings)? else { return Ok(None) };
        let tls = Tls::read(files)?;
        // As many as there are cores: each handshake takes one for a while.
        let runtime = Builder::new_multi_thread().thread_name("tls").enable_all().build()?;
        runtime.spawn(watch(tls.clone()));
        Ok(Some(Self { tls, runtime: Some(runtime) }))
    }

    /// Where the RESP port's handshakes are done.
    pub(super) fn handshakes(&self) -> Option<Handshakes> {
        let runtime = self.runtime.as_ref()?.handle().clone();
        Some(Handshakes { tls: self.tls.clone(), runtime })
    }
}

impl Drop for Encryption {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The files of the certificate. `None` if the ports speak no TLS.
///
/// # Errors
/// When the settings do not go together.
pub fn tls_files(settings: &ServerSettings) -> Result<Option<TlsFiles>, ServeError> {
    let (certificate, key) = (settings.tls_cert.clone(), settings.tls_key.clone());
    let client_authorities = settings.tls_client_ca.clone();
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(Some(TlsFiles { certificate, key, client_authorities })),
        (None, None) if client_authorities.is_none() => Ok(None),
        (None, None) => Err(ServeError::TlsSettings("tls_client_ca needs tls_cert and tls_key")),
        _ => Err(ServeError::TlsSettings("tls_cert and tls_key go together; give both or none")),
    }
}

/// Tells once whenever the certificate is not valid, or not for long.
#[derive(Default)]
struct Told(Option<(CertificateFacts, Validity, Option<String>)>);

impl Told {
    fn look(&mut self, tls: &Tls, now: Timestamp) {
        let Some(facts) = tls.facts() else { return };
        let validity = facts.validity(now);
        let seen = Some((facts, validity, tls.doubt()));
        if self.0 == seen {
            return;
        }
        if let Some((CertificateFacts { not_before, not_after, hosts, .. }, _, doubt)) = &seen {
            let hosts = hosts.join(" ");
            match validity.problem() {
                None => tracing::info!(hosts, %not_after, "the certificate of the ports is valid"),
                Some(problem) => tracing::warn!(hosts, %not_before, %not_after, "{problem}"),
            }
            if let Some(doubt) = doubt {
                tracing::warn!("{doubt}");
            }
        }
        self.0 = seen;
    }
}

/// Reads the files again when they change. What cannot be used is told once, and not before it is seen twice: programs
/// that renew certificates write one file after the other.
async fn watch(tls: Tls) {
    let (mut seen, mut told) = (None, None);
    let mut of_validity = Told::default();
    loop {
        of_validity.look(&tls, Timestamp::now());
        tokio::time::sleep(LOOK_INTERVAL).await;
        let problem = match reload(&tls).await {
            Ok(changed) => {
                if changed {
                    tracing::info!("the certificate was read again; new connections go by it");
                }
                None
            }
            Err(reason) => Some(reason),
        };
        if problem.is_some() && problem == seen && problem != told {
            let reason = problem.as_deref().unwrap_or_default();
            tracing::error!(reason, "the certificate changed and cannot be used; the former one is shown");
            told.clone_from(&problem);
        }
        if problem.is_none() {
            told = None;
        }
        seen = problem;
    }
}

/// Reads the files on a thread of its own: those of a file system that is away are waited for without end.
async fn reload(tls: &Tls) -> Result<bool, String> {
    let tls = tls.clone();
    let mut reading = tokio::task::spawn_blocking(move || tls.reload().map_err(|error| error.to_string()));
    let read = match tokio::time::timeout(READ_USUAL, &mut reading).await {
        Ok(read) => read,
        Err(_) => {
            tracing::error!("the files of the certificate do not answer; the former one is shown");
            reading.await
        }
    };
    read.unwrap_or_else(|error| Err(error.to_string()))
}
