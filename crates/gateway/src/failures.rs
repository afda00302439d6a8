//! Why handshakes failed, counted.

use std::io::{Error, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};

/// Why a handshake failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeFailure {
    /// The caller speaks no TLS.
    Plain,
    /// It took too long.
    Late,
    /// The caller left.
    Gone,
    /// It was too large, or too many were large.
    Large,
    /// The caller showed no certificate, or none that is trusted.
    Certificate,
    /// The caller refused what it was shown: it does not trust the certificate, or it is for another host.
    Refused,
    /// Something else: no version of TLS that both speak, or no TLS after all.
    Other,
}

impl HandshakeFailure {
    /// All.
    pub const ALL: [Self; 7] =
        [Self::Plain, Self::Late, Self::Gone, Self::Large, Self::Certificate, Self::Refused, Self::Other];

    /// Its name in metrics.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Late => "late",
            Self::Gone => "gone",
            Self::Large => "large",
            Self::Certificate => "certificate",
            Self::Refused => "refused",
            Self::Other => "other",
        }
    }

    pub(crate) fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::TimedOut => Self::Late,
            ErrorKind::FileTooLarge | ErrorKind::OutOfMemory => Self::Large,
            ErrorKind::UnexpectedEof
            | ErrorKind::BrokenPipe
            | ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionReset => Self::Gone,
            _ => match error.get_ref().and_then(|its| its.downcast_ref::<rustls::Error>()) {
                Some(rustls::Error::NoCertificatesPresented | rustls::Error::InvalidCertificate(_)) => {
                    Self::Certificate
                }
                Some(rustls::Error::AlertReceived(_)) => Self::Refused,
                _ => Self::Other,
            },
        }
    }
}

/// How many handshakes failed, by why.
#[derive(Debug, Default)]
pub(crate) struct Failures([AtomicU64; HandshakeFailure::ALL.len()]);

impl Failures {
    pub(crate) fn note(&self, failure: HandshakeFailure) {
        self.0[failure as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count(&self, failure: HandshakeFailure) -> u64 {
        self.0[failure as usize].load(Ordering::Relaxed)
    }
}
