//! Where the servers are: one, a primary that sentinels know, or a cluster; and how one logs in there.

use std::fmt;
use std::path::PathBuf;

use redis::{ConnectionAddr, TlsCertificates};

/// What an address must look like, to follow "must be".
pub const SHAPE: &str = "redis://HOST:PORT[/DB], redis+unix:///PATH, redis+sentinel://HOST:PORT[,HOST:PORT…]/SERVICE[/DB] \
                         or redis+cluster://HOST:PORT[,HOST:PORT…]; rediss… for TLS; user and password are settings of their own";

/// The port of a server that names none.
const SERVER_PORT: u16 = 6_379;

/// The port of a sentinel that names none.
const SENTINEL_PORT: u16 = 26_379;

/// One server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// A host and a port.
    Tcp(String, u16),
    /// A socket's path.
    Unix(PathBuf),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(host, port) if host.contains(':') => write!(formatter, "[{host}]:{port}"),
            Self::Tcp(host, port) => write!(formatter, "{host}:{port}"),
            Self::Unix(path) => write!(formatter, "{}", path.display()),
        }
    }
}

impl Endpoint {
    /// Reads `host`, `host:port` or `[address]:port`.
    #[must_use]
    pub fn parse(text: &str, port_usual: u16) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, "")) => (host, None),
            Some((host, rest)) => (host, Some(rest.strip_prefix(':')?)),
            None => text.rsplit_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
        };
        let port = port.map_or(Some(port_usual), |port| port.parse().ok().filter(|port| *port != 0))?;
        (!host.is_empty() && !host.contains('@')).then(|| Self::Tcp(host.to_owned(), port))
    }

    /// Reads what one server calls another, or itself; who does not know its own name is where it was asked.
    #[must_use]
    pub fn announced(address: &str, asked: &Self) -> Option<Self> {
        let (host, port) = address.rsplit_once(':')?;
        let port = port.parse().ok()?;
        match (host.trim_matches(['[', ']']), asked) {
            ("" | "?", Self::Tcp(host, _)) => Some(Self::Tcp(host.clone(), port)),
            ("" | "?", Self::Unix(_)) => None,
            (host, _) => Some(Self::Tcp(host.to_owned(), port)),
        }
    }

    pub(super) fn connection_address(&self, is_tls: bool) -> ConnectionAddr {
        match self {
            Self::Unix(path) => ConnectionAddr::Unix(path.clone()),
            Self::Tcp(host, port) if is_tls => {
                ConnectionAddr::TcpTls { host: host.clone(), port: *port, insecure: false, tls_params: None }
            }
            Self::Tcp(host, port) => ConnectionAddr::Tcp(host.clone(), *port),
        }
    }
}

/// How the servers are put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// One server, which is always the primary.
    Standalone(Endpoint),
    /// Sentinels that know which server is the primary of a service.
    Sentinel {
        /// Those that are asked first; they name the others.
        sentinels: Vec<Endpoint>,
        /// The name under which they know the primary.
        service: String,
    },
    /// A cluster, in which each node knows who serves which slot.
    Cluster {
        /// Those that are asked first; they name the others.
        seeds: Vec<Endpoint>,
    },
}

/// Where the servers are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// How they are put together.
    pub topology: Topology,
    /// The database's number.
    pub database: i64,
    /// Whether connections are encrypted.
    pub is_tls: bool,
}

impl Address {
    /// Reads an address of the forms in [`SHAPE`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(path) = text.strip_prefix("redis+unix://").or_else(|| text.strip_prefix("unix://")) {
            let is_path = path.starts_with('/') && !path.contains(['?', '#']);
            let topology = Topology::Standalone(Endpoint::Unix(PathBuf::from(path)));
            return is_path.then_some(Self { topology, database: 0, is_tls: false });
        }
        let (scheme, rest) = text.split_once("://")?;
        let (encrypted, kind) = scheme.split_once('+').unwrap_or((scheme, ""));
        let is_tls = match encrypted {
            "redis" => false,
            "rediss" => true,
            _ => return None,
        };
        let mut parts = rest.split('/');
        let hosts = parts.next()?;
        let port_usual = if kind == "sentinel" { SENTINEL_PORT } else { SERVER_PORT };
        let mut endpoints: Vec<Endpoint> =
            hosts.split(',').map(|host| Endpoint::parse(host, port_usual)).collect::<Option<_>>()?;
        let topology = match kind {
            "" if endpoints.len() == 1 => Topology::Standalone(endpoints.remove(0)),
            "sentinel" => {
                let service = parts.next().filter(|name| !name.is_empty())?.to_owned();
                Topology::Sentinel { sentinels: endpoints, service }
            }
            "cluster" => Topology::Cluster { seeds: endpoints },
            _ => return None,
        };
        let database = match parts.next().filter(|number| !number.is_empty()) {
            // A cluster has one database only.
            Some(number) if kind != "cluster" => number.parse().ok().filter(|number| *number >= 0)?,
            Some(_) => return None,
            None => 0,
        };
        parts.next().is_none().then_some(Self { topology, database, is_tls })
    }
}

/// How one logs in.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Login {
    /// The user; without one, Redis' default user.
    pub user: Option<String>,
    /// The user's password.
    pub password: Option<String>,
    /// The password of the sentinels.
    pub sentinel_password: Option<String>,
}

impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

/// What encrypted connections are checked with.
#[derive(Clone, Default)]
pub struct Tls {
    /// Authorities that are believed, in PEM; without them, those of the system.
    pub authorities: Option<Vec<u8>>,
    /// The certificate shown, in PEM, and its key.
    pub client: Option<(Vec<u8>, Vec<u8>)>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl From<Tls> for TlsCertificates {
    fn from(tls: Tls) -> Self {
        let client_tls =
            tls.client.map(|(client_cert, client_key)| redis::ClientTlsConfig { client_cert, client_key });
        Self { client_tls, root_cert: tls.authorities }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: &str, port: u16) -> Endpoint {
        Endpoint::Tcp(host.to_owned(), port)
    }

    #[test]
    fn every_form_is_read() {
        let read = |text| Address::parse(text).expect(text);
        let one = read("redis://host:7000/3");
        assert_eq!(
            (one.topology, one.database, one.is_tls),
            (Topology::Standalone(tcp("host", 7_000)), 3, false)
        );
        let socket = Topology::Standalone(Endpoint::Unix("/run/redis.sock".into()));
        assert_eq!(read("redis+unix:///run/redis.sock").topology, socket);
        let sentinels = vec![tcp("a", 26_379), tcp("::1", 7)];
        let service = "shop".to_owned();
        let watched = read("rediss+sentinel://a,[::1]:7/shop/2");
        assert_eq!(watched.topology, Topology::Sentinel { sentinels, service });
        assert_eq!((watched.database, watched.is_tls), (2, true));
        let seeds = vec![tcp("a", 1), tcp("b", 6_379)];
        assert_eq!(read("redis+cluster://a:1,b").topology, Topology::Cluster { seeds });
    }

    #[test]
    fn what_servers_call_each_other_is_read() {
        let asked = tcp("here", 1);
        let read = |text| Endpoint::announced(text, &asked);
        assert_eq!(read("10.0.0.1:7001"), Some(tcp("10.0.0.1", 7_001)));
        assert_eq!(read("fe80::1:7001"), Some(tcp("fe80::1", 7_001)));
        assert_eq!((read(":7001"), read("?:7001")), (Some(tcp("here", 7_001)), Some(tcp("here", 7_001))));
        assert_eq!(read("nothing"), None);
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in [
            "",
            "host:6379",
            "http://host",
            "redis://",
            "redis://a,b",
            "redis://a:0",
            "redis://a:99999",
            "redis://user:secret@host",
            "redis+sentinel://a",
            "redis+sentinel://a/",
            "redis+cluster://a/1",
            "redis://a/x",
            "redis://a/1/2",
            "redis+unix://relative",
            "redis+unix:///a?db=1",
            "redis+ring://a",
        ] {
            assert_eq!(Address::parse(text), None, "{text}");
        }
    }
}
