//! A client for the RESP port, like any other client.

use std::time::{Duration, Instant};

use redis::{ClientTlsConfig, Cmd, Connection, ConnectionLike, TlsCertificates, Value};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use super::trouble;

/// Why a request was not answered.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nothing answers at the address.
    #[error("cannot reach {address}; is 'scarce serve' running there?")]
    Unreachable {
        /// Where.
        address: String,
        /// Why.
        #[source]
        source: redis::RedisError,
    },
    /// It was reached, but no connection came about.
    #[error("{address} was reached: {problem}")]
    Trouble {
        /// Where.
        address: String,
        /// What is wrong, and what to do.
        problem: &'static str,
        /// What the libraries say.
        #[source]
        source: redis::RedisError,
    },
    /// The certificates that TLS is to go by cannot be used.
    #[error("{0}")]
    Certificates(&'static str),
    /// The server wants a password, or another one.
    #[error("the server at {address} {act} ({said}); --password-file names the file that holds it")]
    Password {
        /// Where.
        address: String,
        /// What it does.
        act: &'static str,
        /// What the server says.
        said: String,
    },
    /// The connection broke before the answer was read, so the outcome is unknown.
    #[error("the connection broke before the answer came; ask again with the same id")]
    Broken(#[source] redis::RedisError),
    /// The server answered an error to a command that every server supports.
    #[error("{0}")]
    Refused(String),
}

/// How a connection is encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientTls {
    /// Authorities in PEM that the server must be certified by; without them, the system's.
    pub authorities: Option<Vec<u8>>,
    /// The certificate in PEM that is shown to the server, and its key.
    pub certificate: Option<(Vec<u8>, Vec<u8>)>,
    /// Whether to speak to anyone who answers, whatever it shows. For addresses that nobody else can answer at.
    pub is_unverified: bool,
}

/// A connection to a RESP port.
pub struct Client {
    connection: Connection,
    packed: Vec<u8>,
}

/// How long a connection and the first answer may take together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the first answer is waited for at least, however long the connection took.
const ANSWER_TIMEOUT_MIN: Duration = Duration::from_millis(250);

/// What is said when there is no certificate to show, or its key is another's.
const MISMATCHED: &str = "--tls-client-cert and --tls-client-key must have a certificate and its own key, in PEM and not encrypted";

/// What a port that speaks TLS says to a caller that does not.
const SPEAKS_TLS: &str = "this port speaks TLS";

impl Client {
    /// Connects to `host:port`, and logs in.
    ///
    /// # Errors
    /// When nothing answers at the address, or the server refuses the password.
    pub fn connect(address: &str, password: Option<&str>) -> Result<Self, ClientError> {
        Self::connect_over(address, password, None)
    }

    /// Connects to `host:port`, in TLS if so asked, and logs in.
    ///
    /// # Errors
    /// When nothing answers at the address, or not as it must, or the server refuses the password.
    pub fn connect_over(
        address: &str,
        password: Option<&str>,
        tls: Option<&ClientTls>,
    ) -> Result<Self, ClientError> {
        Self::connect_within(CONNECT_TIMEOUT, address, password, tls)
    }

    fn connect_within(
        timeout: Duration,
        address: &str,
        password: Option<&str>,
        tls: Option<&ClientTls>,
    ) -> Result<Self, ClientError> {
        let begun = Instant::now();
        let unreachable = |source| unreached(address, source);
        let client = match tls {
            None => redis::Client::open(format!("redis://{address}")),
            Some(tls) => {
                tls.check()?;
                let insecure = if tls.is_unverified { "/#insecure" } else { "" };
                redis::Client::build_with_tls(format!("rediss://{address}{insecure}"), tls.certificates())
            }
        };
        let client = client.map_err(unreachable)?;
        let connection = client.get_connection_with_timeout(timeout).map_err(unreachable)?;
        let mut client = Self { connection, packed: Vec::new() };
        // The library asks something first, and takes no answer for one: a silent port has had its time by now.
        client.set_timeout(timeout.saturating_sub(begun.elapsed()).max(ANSWER_TIMEOUT_MIN))?;
        // Not within the address: the library would not tell a refused password from a server that is away.
        let answer = match password {
            Some(password) => client.call(&["AUTH", password]),
            None => client.call(&["PING"]),
        };
        let answer = answer.map_err(|error| match error {
            // Nothing was asked of it yet.
            ClientError::Broken(source) if trouble::of(&source).is_some() => unreached(address, source),
            error => error,
        })?;
        client.connection.set_read_timeout(None).map_err(ClientError::Broken)?;
        let denied = |act, said| ClientError::Password { address: address.to_owned(), act, said };
        match Reply::of(answer) {
            Reply::Error(said) if said.starts_with("NOAUTH ") => Err(denied("wants a password", said)),
            // It was not looked at.
            Reply::Error(said)
                if password.is_some() && (said.starts_with("LOADING ") || said.contains(SPEAKS_TLS)) =>
            {
                Err(ClientError::Refused(said))
            }
            Reply::Error(said) if password.is_some() => Err(denied("refused the password", said)),
            _ => Ok(client),
        }
    }

    /// Sets the timeout for an answer.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_timeout(&self, timeout: Duration) -> Result<(), ClientError> {
        self.connection.set_read_timeout(Some(timeout)).map_err(ClientError::Broken)
    }

    /// Sets the timeout for the server to accept what is sent.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_send_timeout(&self, timeout: Duration) -> Result<(), ClientError> {
        self.connection.set_write_timeout(Some(timeout)).map_err(ClientError::Broken)
    }

    /// Sends packed commands without waiting for their answers.
    ///
    /// # Errors
    /// When the connection broke; some commands may be carried out.
    pub fn send(&mut self, packed: &[u8]) -> Result<(), ClientError> {
        self.connection.send_packed_command(packed).map_err(ClientError::Broken)
    }

    /// Reads the next answer. Errors of the server are values.
    ///
    /// # Errors
    /// When the connection broke.
    pub fn receive(&mut self) -> Result<Value, ClientError> {
        self.connection.recv_response().map_err(ClientError::Broken)
    }

    /// Sends one command and reads its answer. Errors of the server are values.
    ///
    /// # Errors
    /// When the connection broke.
    pub fn call<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Result<Value, ClientError> {
        let mut values = self.pipeline(&[words])?;
        Ok(values.pop().unwrap_or(Value::Nil))
    }

    /// Sends many commands at once and reads their answers, in order.
    ///
    /// # Errors
    /// When the connection broke; some commands may have been carried out.
    pub fn pipeline<W: AsRef<[u8]>, C: AsRef<[W]>>(
        &mut self,
        commands: &[C],
    ) -> Result<Vec<Value>, ClientError> {
        self.packed.clear();
        for words in commands {
            pack(words.as_ref(), &mut self.packed);
        }
        self.connection.req_packed_commands(&self.packed, 0, commands.len()).map_err(ClientError::Broken)
    }
}

fn unreached(address: &str, source: redis::RedisError) -> ClientError {
    let address = address.to_owned();
    match trouble::of(&source) {
        Some(problem) => ClientError::Trouble { address, problem, source },
        None => ClientError::Unreachable { address, source },
    }
}

impl ClientTls {
    /// Whether there is what must be.
    fn check(&self) -> Result<(), ClientError> {
        let has_certificates =
            |pem: &[u8]| CertificateDer::pem_slice_iter(pem).next().is_some_and(|first| first.is_ok());
        if self.authorities.as_deref().is_some_and(|pem| !has_certificates(pem)) {
            return Err(ClientError::Certificates("--tls-ca must have certificates of authorities, in PEM"));
        }
        let Some((certificate, key)) = &self.certificate else { return Ok(()) };
        let chain: Vec<_> = CertificateDer::pem_slice_iter(certificate).flatten().collect();
        let key = PrivateKeyDer::from_pem_slice(key).ok();
        let provider = rustls::crypto::ring::default_provider();
        let shown = key.and_then(|key| CertifiedKey::from_der(chain, key, &provider).ok());
        shown.map(|_| ()).ok_or(ClientError::Certificates(MISMATCHED))
    }

    fn certificates(&self) -> TlsCertificates {
        let certificate = self.certificate.clone();
        TlsCertificates {
            client_tls: certificate
                .map(|(client_cert, client_key)| ClientTlsConfig { client_cert, client_key }),
            root_cert: self.authorities.clone(),
        }
    }
}

/// Appends a command in wire format.
pub fn pack<W: AsRef<[u8]>>(words: &[W], out: &mut Vec<u8>) {
    let mut command = Cmd::new();
    for word in words {
        command.arg(word.as_ref());
    }
    command.write_packed_command(out);
}

/// An answer as text, if it is one.
#[must_use]
pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) => Some(text.clone()),
        Value::Okay => Some("OK".to_owned()),
        _ => None,
    }
}

/// An answer as an integer, if it is one.
#[must_use]
pub fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int(value) => Some(*value),
        _ => None,
    }
}

/// The answer to a mutating command.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Applied, with these values.
    Applied(Vec<Value>),
    /// Refused, with a code and its facts.
    Refused(String, Vec<Value>),
    /// An error of the server.
    Error(String),
}

impl Reply {
    /// Parses an answer.
    #[must_use]
    pub fn of(value: Value) -> Self {
        match value {
            Value::Array(mut values) => match values.first().and_then(integer) {
                Some(1) => {
                    values.remove(0);
                    Self::Applied(values)
                }
                Some(0) if values.len() > 1 => {
                    let code = text(&values[1]).unwrap_or_default();
                    Self::Refused(code, values.split_off(2))
                }
                _ => Self::Applied(values),
            },
            Value::ServerError(error) => {
                Self::Error(format!("{} {}", error.code(), error.details().unwrap_or_default()))
            }
            other => Self::Applied(vec![other]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_port_that_says_nothing_is_named() {
        let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = silent.local_addr().expect("an address").to_string();
        let told =
            Client::connect_within(Duration::from_secs(1), &address, None, None).err().expect("it is silent");
        assert!(told.to_string().contains("was reached: it does not answer"), "{told}");
    }
}
