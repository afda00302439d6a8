//! TLS of the ports: what they show and whom they trust, read from files, and again while the server runs.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rustix::fs::OFlags;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};

use super::failures::Failures;
use super::{Bounded, CertificateFacts, HandshakeFailure};

/// What the PEM of a key has that needs a passphrase.
const ENCRYPTED: &[u8] = b"ENCRYPTED";

/// The name of HTTP/2 in a handshake (RFC 7301).
pub const HTTP_2: &[u8] = b"h2";

/// What the HTTP port offers in a handshake, the best first.
const HTTP_PROTOCOLS: [&[u8]; 2] = [HTTP_2, b"http/1.1"];

/// The largest file that is read: a few hundred certificates.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Where the certificate is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate in PEM, and after it those between it and its authority.
    pub certificate: PathBuf,
    /// Its key in PEM.
    pub key: PathBuf,
    /// Authorities in PEM. If given, callers must show a certificate of one of them.
    pub client_authorities: Option<PathBuf>,
}

/// Why the files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is a folder, a pipe or a device.
    #[error("{path} is no file")]
    NoFile {
        /// Which.
        path: PathBuf,
    },
    /// It is something else than certificates or a key.
    #[error("{path} has more than {FILE_BYTES_MAX} bytes, which no certificate has")]
    TooLarge {
        /// Which.
        path: PathBuf,
    },
    /// A file has no certificate or key in PEM.
    #[error("{path} has no {what} in PEM")]
    Foreign {
        /// Which.
        path: PathBuf,
        /// What it should have.
        what: &'static str,
    },
    /// They do not go together, or the library does not support them.
    #[error("{path} cannot be used: {reason}")]
    Unusable {
        /// The certificate or the authorities.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// The contents of the files.
#[derive(Clone, PartialEq, Eq)]
struct Contents {
    certificate: Vec<u8>,
    key: Vec<u8>,
    client_authorities: Option<Vec<u8>>,
}

/// What connections begin with. Those that are open keep what they began with.
struct Current {
    contents: Contents,
    config: Arc<ServerConfig>,
    /// The same with the protocols of HTTP.
    http_config: Arc<ServerConfig>,
    facts: Option<CertificateFacts>,
    /// Which authority of callers is not one.
    doubt: Option<String>,
}

/// TLS of all ports.
#[derive(Clone)]
pub struct Tls {
    files: Arc<TlsFiles>,
    current: Arc<RwLock<Current>>,
    /// What large handshakes take, all together.
    large_bytes: Arc<AtomicUsize>,
    failures: Arc<Failures>,
    reloads_failed: Arc<AtomicU64>,
    is_for_http: bool,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// When they cannot be read or used.
    pub fn read(files: TlsFiles) -> Result<Self, TlsError> {
        let contents = Contents::read(&files)?;
        let config = contents.config(&files)?;
        let (facts, doubt) = (contents.facts(), contents.doubt(&files));
        let http_config = offering_http(&config);
        let current = Current { contents, config, http_config, facts, doubt };
        Ok(Self::new(files, current))
    }

    fn new(files: TlsFiles, current: Current) -> Self {
        Self {
            files: Arc::new(files),
            current: Arc::new(RwLock::new(current)),
            large_bytes: Arc::default(),
            failures: Arc::default(),
            reloads_failed: Arc::default(),
            is_for_http: false,
        }
    }

    /// The same, with which callers agree on a version of HTTP.
    #[must_use]
    pub fn for_http(&self) -> Self {
        Self { is_for_http: true, ..self.clone() }
    }

    /// What a connection that begins now goes by.
    #[must_use]
    pub fn config(&self) -> Arc<ServerConfig> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        if self.is_for_http { current.http_config.clone() } else { current.config.clone() }
    }

    /// One whose files are not read again.
    #[cfg(test)]
    pub(super) fn of(config: ServerConfig) -> Self {
        let nowhere = PathBuf::new();
        let files = TlsFiles { certificate: nowhere.clone(), key: nowhere, client_authorities: None };
        let contents = Contents { certificate: Vec::new(), key: Vec::new(), client_authorities: None };
        let config = Arc::new(config);
        let http_config = offering_http(&config);
        Self::new(files, Current { contents, config, http_config, facts: None, doubt: None })
    }

    /// A socket whose caller shakes hands.
    pub(super) fn bounded<S>(&self, socket: S) -> Bounded<S> {
        Bounded::new(socket, self.files.client_authorities.is_some(), Arc::clone(&self.large_bytes))
    }

    /// Reads the files again. Whether they are others than before; connections that begin from now on go by them.
    ///
    /// # Errors
    /// When they cannot be read or used; then nothing changes.
    pub fn reload(&self) -> Result<bool, TlsError> {
        self.replace().inspect_err(|_| {
            self.reloads_failed.fetch_add(1, Ordering::Relaxed);
        })
    }

    fn replace(&self) -> Result<bool, TlsError> {
        let contents = Contents::read(&self.files)?;
        if self.current.read().unwrap_or_else(PoisonError::into_inner).contents == contents {
            return Ok(false);
        }
        let (config, facts) = (contents.config(&self.files)?, contents.facts());
        let (doubt, http_config) = (contents.doubt(&self.files), offering_http(&config));
        let current = Current { contents, config, http_config, facts, doubt };
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = current;
        Ok(true)
    }

    /// What the certificate says of itself, if that can be read.
    #[must_use]
    pub fn facts(&self) -> Option<CertificateFacts> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).facts.clone()
    }

    /// What is likely a mistake in the authorities of callers.
    #[must_use]
    pub fn doubt(&self) -> Option<String> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).doubt.clone()
    }

    /// How many handshakes failed for this reason.
    #[must_use]
    pub fn handshakes_failed(&self, failure: HandshakeFailure) -> u64 {
        self.failures.count(failure)
    }

    /// How often the files could not be read again, or not be used.
    #[must_use]
    pub fn reloads_failed(&self) -> u64 {
        self.reloads_failed.load(Ordering::Relaxed)
    }

    pub(super) fn failures(&self) -> &Failures {
        &self.failures
    }
}

impl Contents {
    fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        Ok(Self {
            certificate: read(&files.certificate)?,
            key: read(&files.key)?,
            client_authorities: files.client_authorities.as_deref().map(read).transpose()?,
        })
    }

    fn doubt(&self, files: &TlsFiles) -> Option<String> {
        let (path, pem) = files.client_authorities.as_deref().zip(self.client_authorities.as_deref())?;
        let certificates = certificates(path, pem).ok()?;
        let is_none =
            |its: &CertificateDer<'_>| CertificateFacts::of(its).is_some_and(|its| !its.is_authority);
        let at = certificates.iter().position(is_none)? + 1;
        Some(format!(
            "{}: certificate number {at} is not that of an authority, so it lets nobody else in",
            path.display()
        ))
    }

    fn private_key(&self, path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
        PrivateKeyDer::from_pem_slice(&self.key).map_err(|_| {
            let is_encrypted = self.key.windows(ENCRYPTED.len()).any(|part| part == ENCRYPTED);
            let what = if is_encrypted { "private key without a passphrase" } else { "private key" };
            TlsError::Foreign { path: path.to_owned(), what }
        })
    }

    fn facts(&self) -> Option<CertificateFacts> {
        CertificateFacts::of(&CertificateDer::from_pem_slice(&self.certificate).ok()?)
    }

    fn config(&self, files: &TlsFiles) -> Result<Arc<ServerConfig>, TlsError> {
        let unusable = |path: &Path, reason: String| TlsError::Unusable { path: path.to_owned(), reason };
        let certificates = certificates(&files.certificate, &self.certificate)?;
        let damaged = certificates.iter().position(|its| CertificateFacts::of(its).is_none());
        if let Some(at) = damaged {
            let reason = format!("its certificate number {} is damaged", at + 1);
            return Err(unusable(&files.certificate, reason));
        }
        let key = self.private_key(&files.key)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(&files.certificate, error.to_string()))?;
        let builder = match files.client_authorities.as_deref().zip(self.client_authorities.as_deref()) {
            None => builder.with_no_client_auth(),
            Some((path, authorities)) => {
                let mut roots = rustls::RootCertStore::empty();
                for authority in self::certificates(path, authorities)? {
                    roots.add(authority).map_err(|error| unusable(path, error.to_string()))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                    .build()
                    .map_err(|error| unusable(path, error.to_string()))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let config = builder.with_single_cert(certificates, key);
        let mut config = config.map_err(|error| unusable(&files.certificate, explain(&error)))?;
        if self.client_authorities.is_some() {
            // A caller that resumes a session shows no certificate, which may have expired since.
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        Ok(Arc::new(config))
    }
}

fn offering_http(config: &Arc<ServerConfig>) -> Arc<ServerConfig> {
    let mut config = ServerConfig::clone(config);
    config.alpn_protocols = HTTP_PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Arc::new(config)
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let unreadable = |source| TlsError::Unreadable { path: path.to_owned(), source };
    // A pipe that nobody writes to would be waited for already when it is opened.
    let without_waiting = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(without_waiting).open(path).map_err(unreadable)?;
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(TlsError::NoFile { path: path.to_owned() });
    }
    let mut contents = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut contents).map_err(unreadable)?;
    if contents.len() as u64 > FILE_BYTES_MAX {
        return Err(TlsError::TooLarge { path: path.to_owned() });
    }
    Ok(contents)
}

fn explain(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InconsistentKeys(_) => {
            "the key is not that of its first certificate, which must be the server's own".to_owned()
        }
        error => error.to_string(),
    }
}

fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let foreign = || TlsError::Foreign { path: path.to_owned(), what: "certificate" };
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    certificates.ok().filter(|certificates| !certificates.is_empty()).ok_or_else(foreign)
}

#[cfg(test)]
mod tests;
