//! What is wrong with a server that was reached, but with which no connection came about.

use std::error::Error as StdError;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use redis::RedisError;
use rustls::{AlertDescription, CertificateError, Error};

/// What is wrong, and what to do. `None` if the server was not reached.
pub(crate) fn of(error: &RedisError) -> Option<&'static str> {
    if error.kind() == redis::ErrorKind::Parse {
        return Some("it speaks another protocol; --resp names the RESP port");
    }
    let cause = error.source()?.downcast_ref::<Arc<dyn StdError + Send + Sync>>()?;
    if let Some(error) = cause.downcast_ref::<Error>() {
        return Some(of_tls(error));
    }
    let error = cause.downcast_ref::<io::Error>()?;
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(error) => Some(of_tls(error)),
        // Of a connection that does not come about in time, the system says something else.
        None if error.kind() == ErrorKind::WouldBlock => {
            Some("it does not answer; is it a port of 'scarce serve'?")
        }
        None => None,
    }
}

fn of_tls(error: &Error) -> &'static str {
    match error {
        Error::InvalidCertificate(error) => of_its_certificate(error),
        Error::AlertReceived(alert) => of_alert(*alert),
        Error::InvalidMessage(_) => "it does not speak TLS; connect without --tls and --tls-ca",
        _ => "the TLS handshake with it failed",
    }
}

fn of_its_certificate(error: &CertificateError) -> &'static str {
    use CertificateError as Wrong;
    match error {
        Wrong::UnknownIssuer => {
            "its certificate is of an authority that is not trusted; name it with --tls-ca"
        }
        Wrong::NotValidForName | Wrong::NotValidForNameContext { .. } => {
            "its certificate is for another host; give --resp the name that it has"
        }
        Wrong::Expired | Wrong::ExpiredContext { .. } => "its certificate has expired; renew it",
        Wrong::NotValidYet | Wrong::NotValidYetContext { .. } => {
            "its certificate is not valid yet; look at the clocks"
        }
        _ => "its certificate cannot be accepted",
    }
}

fn of_alert(alert: AlertDescription) -> &'static str {
    use AlertDescription as Alert;
    match alert {
        Alert::CertificateRequired => {
            "it asks for a certificate; show one with --tls-client-cert and --tls-client-key"
        }
        Alert::CertificateExpired => "it refused the certificate of --tls-client-cert, which has expired",
        Alert::UnknownCA => {
            "it refused the certificate of --tls-client-cert: it does not trust its authority"
        }
        Alert::BadCertificate
        | Alert::UnsupportedCertificate
        | Alert::CertificateRevoked
        | Alert::CertificateUnknown
        | Alert::DecryptError
        | Alert::AccessDenied => "it refused the certificate of --tls-client-cert",
        _ => "it ended the TLS handshake",
    }
}
