//! Whether the ports are free, and what answers on those in use.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use redis::{Parser, Value};
use scarce_client::{pack, text};
use scarce_settings::{Password, ServerSettings};
use serde_json::json;

use super::finding::Finding;
use super::listener::{self, Listener};

/// How long the process on a port may take to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// `holder` is the process that holds the data directory.
pub(super) fn examine(settings: &ServerSettings, holder: Option<u32>) -> Vec<Finding> {
    let password = settings.password.as_ref().map(Password::reveal);
    let resp = port("port resp", "--resp", settings.resp, |address| ask_resp(address, password), holder);
    let http = match settings.http {
        None => Finding::ok("port http", "off"),
        Some(address) => port("port http", "--http", address, ask_http, holder),
    };
    vec![resp, http]
}

/// What answers on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Occupant {
    /// A Scarce server, as far as it identifies itself.
    Scarce { version: String, pid: Option<u32>, uptime_s: Option<u64> },
    /// A server that requires a password, or another one.
    Locked,
    /// A Scarce server that speaks TLS.
    Encrypted,
    /// Something else, with its answer.
    Other(String),
}

fn port(
    name: &'static str,
    flag: &str,
    address: SocketAddr,
    ask: impl Fn(SocketAddr) -> Occupant,
    holder: Option<u32>,
) -> Finding {
    let choose = format!("choose another with {flag}");
    match TcpListener::bind(address) {
        Ok(_) if address.port() == 0 => Finding::ok(name, format!("{address}: any port that is free")),
        Ok(_) => Finding::ok(name, format!("{address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            let taken = Taken { name, address, owner: listener::of(address), holder };
            taken.judge(&ask(reachable(address)), &choose)
        }
        Err(error) if error.kind() == ErrorKind::AddrNotAvailable => {
            Finding::fail(name, format!("{address} is no address of this machine"), choose)
        }
        Err(error) => Finding::fail(name, format!("{address} cannot be had: {error}"), choose),
    }
}

/// The name of Scarce processes.
const OWN_NAME: &str = "scarce";

/// A port in use.
struct Taken {
    name: &'static str,
    address: SocketAddr,
    /// The process that listens there, if this user may see it.
    owner: Option<Listener>,
    /// The process that holds the data directory.
    holder: Option<u32>,
}

impl Taken {
    fn judge(&self, occupant: &Occupant, choose: &str) -> Finding {
        let told = match occupant {
            Occupant::Scarce { pid, .. } => *pid,
            _ => None,
        };
        let pid = told.or(self.owner.as_ref().map(|owner| owner.pid));
        let found = format!("{}: {}{}", self.address, describe(occupant), process(pid));
        let is_ours = self.owner.as_ref().is_some_and(|owner| owner.name == OWN_NAME);
        let finding = match occupant {
            _ if pid.is_some() && pid == self.holder => {
                Finding::ok(self.name, format!("{found}, which has this data directory"))
            }
            Occupant::Locked if !is_ours => {
                let advice = format!("name its password with --password-file to learn more, or {choose}");
                Finding::warn(self.name, found, advice)
            }
            Occupant::Other(_) if !is_ours => {
                let by = self.owner.as_ref().map(|owner| format!(", {}", owner.name)).unwrap_or_default();
                Finding::fail(self.name, format!("{found}{by}"), choose)
            }
            _ => {
                let advice =
                    format!("it does not serve this data directory; to start one that does, {choose}");
                Finding::warn(self.name, found, advice)
            }
        };
        finding.with(self.figures(occupant, pid))
    }

    fn figures(&self, occupant: &Occupant, pid: Option<u32>) -> serde_json::Value {
        let (version, uptime_s) = match occupant {
            Occupant::Scarce { version, uptime_s, .. } => (Some(version), *uptime_s),
            _ => (None, None),
        };
        json!({ "address": self.address, "pid": pid, "version": version, "uptime_s": uptime_s })
    }
}

fn describe(occupant: &Occupant) -> String {
    match occupant {
        Occupant::Scarce { version, uptime_s: Some(seconds), .. } => {
            format!("scarce {version}, up {}", uptime(*seconds))
        }
        Occupant::Scarce { version, .. } => format!("scarce {version}"),
        Occupant::Locked => "a server that wants a password".to_owned(),
        Occupant::Encrypted => "a scarce that speaks TLS".to_owned(),
        Occupant::Other(heard) => format!("taken by another program ({heard})"),
    }
}

fn process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(", process {pid}")).unwrap_or_default()
}

/// An address at which a server that listens on all addresses can be reached.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpStream::connect_timeout(&address, PATIENCE)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    Ok(socket)
}

fn ask_resp(address: SocketAddr, password: Option<&str>) -> Occupant {
    match info(address, password) {
        Ok(Value::ServerError(error)) if ["NOAUTH", "WRONGPASS"].contains(&error.code()) => Occupant::Locked,
        Ok(Value::ServerError(error)) if is_of_tls(error.details().unwrap_or_default()) => {
            Occupant::Encrypted
        }
        Ok(value) => match text(&value) {
            Some(info) => of_info(&info),
            None => Occupant::Other("it answers, but not as Scarce does".to_owned()),
        },
        Err(error) => Occupant::Other(error.to_string()),
    }
}

fn info(address: SocketAddr, password: Option<&str>) -> Result<Value, redis::RedisError> {
    let mut socket = connect(address)?;
    let mut bytes = Vec::new();
    password.inspect(|password| pack(&["AUTH", password], &mut bytes));
    pack(&["INFO"], &mut bytes);
    socket.write_all(&bytes)?;
    let mut parser = Parser::new();
    if password.is_some() {
        // A server without a password answers with an error and then INFO all the same.
        parser.parse_value(&mut socket)?;
    }
    parser.parse_value(&mut socket)
}

/// Whether a port that speaks TLS says so to a caller that does not.
fn is_of_tls(answer: &str) -> bool {
    answer.contains("this port speaks TLS")
}

fn of_info(info: &str) -> Occupant {
    let field = |name: &str| {
        info.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .map(|value| value.trim().to_owned())
    };
    match field("scarce_version") {
        None => Occupant::Other(
            field("redis_version")
                .map_or_else(|| "no Scarce".to_owned(), |version| format!("Redis {version} or the like")),
        ),
        Some(version) => Occupant::Scarce {
            version,
            pid: field("process_id").and_then(|pid| pid.parse().ok()),
            uptime_s: field("uptime_in_seconds").and_then(|seconds| seconds.parse().ok()),
        },
    }
}

/// The maximum number of bytes of an answer to read.
const ANSWER_BYTES: u64 = 256 << 10;

fn ask_http(address: SocketAddr) -> Occupant {
    let heard = connect(address).and_then(|mut socket| {
        let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        socket.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        // A server that sends less and stays connected is judged by what it sent.
        let _ = socket.take(ANSWER_BYTES).read_to_end(&mut answer);
        Ok(String::from_utf8_lossy(&answer).into_owned())
    });
    match heard {
        Err(error) => Occupant::Other(error.to_string()),
        Ok(answer) => of_metrics(&answer),
    }
}

/// The Scarce port reports its version in the metrics, unless they require a password.
fn of_metrics(answer: &str) -> Occupant {
    let line = answer.lines().next().unwrap_or_default();
    let info = answer.lines().find_map(|line| line.strip_prefix("scarce_build_info{version=\""));
    match info.and_then(|rest| rest.split('"').next()) {
        Some(version) => Occupant::Scarce { version: version.to_owned(), pid: None, uptime_s: None },
        None if line.starts_with("HTTP/1.1 401") => Occupant::Locked,
        None if is_of_tls(answer) => Occupant::Encrypted,
        None if line.starts_with("HTTP/") => Occupant::Other(line.to_owned()),
        None => Occupant::Other("it does not speak HTTP".to_owned()),
    }
}

fn uptime(seconds: u64) -> String {
    indicatif::HumanDuration(Duration::from_secs(seconds)).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::finding::Status;
    use super::*;

    #[test]
    fn who_answers_is_told_by_what_it_says() {
        let ours = of_info(
            "# Server\r\nredis_version:7.4.0\r\nscarce_version:0.1.0\r\nprocess_id:7\r\nuptime_in_seconds:60\r\n",
        );
        assert_eq!(ours, Occupant::Scarce { version: "0.1.0".to_owned(), pid: Some(7), uptime_s: Some(60) });
        assert_eq!(
            of_info("redis_version:7.0.15\r\n"),
            Occupant::Other("Redis 7.0.15 or the like".to_owned())
        );
        assert_eq!(
            of_metrics("HTTP/1.1 404 Not Found\r\n"),
            Occupant::Other("HTTP/1.1 404 Not Found".to_owned())
        );
        let metrics = "HTTP/1.1 200 OK\r\n\r\n# HELP x\nscarce_build_info{version=\"0.1.0\"} 1\n";
        assert!(matches!(of_metrics(metrics), Occupant::Scarce { version, .. } if version == "0.1.0"));
        assert_eq!(of_metrics("HTTP/1.1 401 Unauthorized\r\n"), Occupant::Locked);
        let encrypted = "HTTP/1.1 400 Bad Request\r\n\r\nthis port speaks TLS; use https://\n";
        assert_eq!(of_metrics(encrypted), Occupant::Encrypted);
    }

    #[test]
    fn a_port_of_ours_is_well_only_if_it_serves_this_directory() {
        let address = SocketAddr::from(([127, 0, 0, 1], 7_379));
        let ours = Occupant::Scarce { version: "0.1.0".to_owned(), pid: Some(7), uptime_s: Some(60) };
        let judge = |occupant: &Occupant, owner: Option<(u32, &str)>, holder| {
            let owner = owner.map(|(pid, name)| Listener { pid, name: name.to_owned() });
            Taken { name: "port", address, owner, holder }.judge(occupant, "choose").status
        };
        let other = Occupant::Other("HTTP/1.1 404 Not Found".to_owned());
        assert_eq!(judge(&ours, None, Some(7)), Status::Ok);
        assert_eq!(judge(&ours, None, Some(8)), Status::Warn);
        assert_eq!(judge(&ours, None, None), Status::Warn);
        assert_eq!(judge(&Occupant::Locked, None, Some(7)), Status::Warn);
        assert_eq!(judge(&Occupant::Locked, Some((7, "scarce")), Some(7)), Status::Ok);
        assert_eq!(judge(&other, Some((7, "scarce")), Some(7)), Status::Ok);
        assert_eq!(judge(&other, Some((8, "scarce")), Some(7)), Status::Warn);
        assert_eq!(judge(&other, Some((8, "nginx")), Some(7)), Status::Fail);
        assert_eq!(judge(&other, None, Some(7)), Status::Fail);
    }
}
