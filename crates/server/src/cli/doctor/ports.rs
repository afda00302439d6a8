//! Whether the ports can be had, and who answers there where they are taken.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use redis::{Parser, Value};
use serde_json::json;

use super::finding::Finding;
use crate::client::{pack, text};
use crate::settings::{Password, Settings};

/// How long somebody who has a port may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// `holder` is the process that has the data directory.
pub(super) fn examine(settings: &Settings, holder: Option<u32>) -> Vec<Finding> {
    let password = settings.password.as_ref().map(Password::reveal);
    let resp = port("port resp", "--resp", settings.resp, |address| ask_resp(address, password), holder);
    let http = match settings.http {
        None => Finding::ok("port http", "off"),
        Some(address) => port("port http", "--http", address, ask_http, holder),
    };
    vec![resp, http]
}

/// Who answers on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Occupant {
    /// A server of ours, as far as it says anything of itself.
    Scarce { version: String, pid: Option<u32>, uptime_s: Option<u64> },
    /// Somebody who wants another password, or one at all.
    Locked,
    /// Somebody else, and what was heard.
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
            taken(name, address, ask(reachable(address)), holder, &choose)
        }
        Err(error) if error.kind() == ErrorKind::AddrNotAvailable => {
            Finding::fail(name, format!("{address} is no address of this machine"), choose)
        }
        Err(error) => Finding::fail(name, format!("{address} cannot be had: {error}"), choose),
    }
}

fn taken(
    name: &'static str,
    address: SocketAddr,
    occupant: Occupant,
    holder: Option<u32>,
    choose: &str,
) -> Finding {
    match occupant {
        Occupant::Scarce { version, pid, uptime_s } => {
            let mut found = format!("{address}: scarce {version}");
            found.extend(pid.map(|pid| format!(", process {pid}")));
            found.extend(uptime_s.map(|seconds| format!(", up {}", uptime(seconds))));
            let figures = json!({ "version": version, "pid": pid, "uptime_s": uptime_s });
            let finding = match pid {
                Some(_) if pid == holder => Finding::ok(name, found),
                _ => Finding::warn(
                    name,
                    found,
                    format!("it does not serve this data directory; to start one that does, {choose}"),
                ),
            };
            finding.with(figures)
        }
        Occupant::Locked => Finding::warn(
            name,
            format!("{address}: a server that wants a password"),
            format!("name its password with --password-file to learn more, or {choose}"),
        ),
        Occupant::Other(heard) => {
            Finding::fail(name, format!("{address} is taken by another program ({heard})"), choose)
        }
    }
}

/// Where a server that listens on every address can be reached.
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
        // A server without a password answers an error and then INFO all the same.
        parser.parse_value(&mut socket)?;
    }
    parser.parse_value(&mut socket)
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

/// The bytes of an answer's head that are looked at.
const HEAD_BYTES: u64 = 4 << 10;

fn ask_http(address: SocketAddr) -> Occupant {
    let heard = connect(address).and_then(|mut socket| {
        socket.write_all(
            format!("GET /livez HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes(),
        )?;
        let mut head = Vec::new();
        // Whoever sends less and stays is judged by what was sent.
        let _ = socket.take(HEAD_BYTES).read_to_end(&mut head);
        Ok(String::from_utf8_lossy(&head).into_owned())
    });
    match heard {
        Err(error) => Occupant::Other(error.to_string()),
        Ok(head) => of_head(&head),
    }
}

/// Our own port names itself in the `Server` field.
fn of_head(head: &str) -> Occupant {
    let line = head.lines().next().unwrap_or_default();
    let server = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("server").then(|| value.trim())
    });
    match server.and_then(|server| server.strip_prefix("scarce")) {
        Some(rest) => {
            Occupant::Scarce { version: rest.trim_start_matches('/').to_owned(), pid: None, uptime_s: None }
        }
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
            of_head("HTTP/1.1 404 Not Found\r\n"),
            Occupant::Other("HTTP/1.1 404 Not Found".to_owned())
        );
        assert!(matches!(of_head("HTTP/1.1 200 OK\r\nserver: scarce/0.1.0\r\n"), Occupant::Scarce { .. }));
    }

    #[test]
    fn a_port_of_ours_is_well_only_if_it_serves_this_directory() {
        let address = SocketAddr::from(([127, 0, 0, 1], 7_379));
        let ours = Occupant::Scarce { version: "0.1.0".to_owned(), pid: Some(7), uptime_s: Some(60) };
        let judge =
            |occupant: &Occupant, holder| taken("port", address, occupant.clone(), holder, "choose").status;
        assert_eq!(judge(&ours, Some(7)), Status::Ok);
        assert_eq!(judge(&ours, Some(8)), Status::Warn);
        assert_eq!(judge(&ours, None), Status::Warn);
        assert_eq!(judge(&Occupant::Locked, Some(7)), Status::Warn);
        assert_eq!(judge(&Occupant::Other(String::new()), Some(7)), Status::Fail);
    }
}
