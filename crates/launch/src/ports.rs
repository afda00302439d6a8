//! Free ports.

use std::net::TcpListener;
use std::sync::{Mutex, PoisonError};

use crate::LaunchError;

/// What every server prints when its port is in use: the text is the system's.
const PORT_TAKEN: &str = "Address already in use";

/// How often to retry with other ports if one was taken in the meantime.
const ATTEMPTS_MAX: usize = 5;

/// The maximum number of ports to check for a free one.
const LOOKS_MAX: usize = 1_000;

/// The first port to use; those below belong to well-known servers.
const FIRST: u16 = 10_000;

/// The start of the system's ephemeral range, unless it says otherwise.
const EPHEMERAL_FIRST: u16 = 32_768;

/// What keeps the ports of this process from others that look for free ones, until it ends. A server that is killed and
/// started again would otherwise find that the server of another process has its port, or its clients would find that server.
static RESERVED: Mutex<Vec<Reservation>> = Mutex::new(Vec::new());

/// Starts something on that many free ports; retries with others if one of them was taken in between.
pub(crate) fn with_free<const COUNT: usize, T>(
    mut start: impl FnMut([u16; COUNT]) -> Result<T, LaunchError>,
) -> Result<T, LaunchError> {
    for _ in 1..ATTEMPTS_MAX {
        match start(free()?) {
            Err(LaunchError::Ended { output, .. }) if output.contains(PORT_TAKEN) => {}
            started => return started,
        }
    }
    start(free()?)
}

/// Free ports below the ephemeral range, from which the system assigns ports to outgoing connections. In that
/// range, a client that keeps retrying a dead server's port may end up connected to itself, and the server
/// could not get its port back.
fn free<const COUNT: usize>() -> Result<[u16; COUNT], LaunchError> {
    let end = ephemeral_first().max(FIRST + 1);
    // All held at once, so that they differ.
    let mut held = Vec::with_capacity(COUNT);
    for _ in 0..LOOKS_MAX {
        if held.len() == COUNT {
            break;
        }
        let port = fastrand::u16(FIRST..end);
        let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) else { continue };
        held.extend(reserve(port).map(|reservation| (port, listener, reservation)));
    }
    let ports: Vec<u16> = held.iter().map(|(port, ..)| *port).collect();
    let reservations = held.into_iter().map(|(.., reservation)| reservation);
    RESERVED.lock().unwrap_or_else(PoisonError::into_inner).extend(reservations);
    ports.try_into().map_err(|_| std::io::Error::other(format!("no free port below {end} was found")).into())
}

/// A name that only one process can have, and that the kernel takes back when the process ends.
#[cfg(target_os = "linux")]
type Reservation = std::os::unix::net::UnixListener;

/// Reserves a port; `None` if another process has.
#[cfg(target_os = "linux")]
fn reserve(port: u16) -> Option<Reservation> {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener};

    let name = SocketAddr::from_abstract_name(format!("scarce-launch-port-{port}")).ok()?;
    UnixListener::bind_addr(&name).ok()
}

#[cfg(not(target_os = "linux"))]
type Reservation = ();

#[cfg(not(target_os = "linux"))]
fn reserve(_: u16) -> Option<Reservation> {
    Some(())
}

fn ephemeral_first() -> u16 {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    range.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(EPHEMERAL_FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports_differ_and_are_none_that_the_system_gives_away() {
        let ports: [u16; 20] = free().expect("ports");
        let different: std::collections::BTreeSet<u16> = ports.into_iter().collect();
        assert_eq!(different.len(), ports.len());
        assert!(ports.iter().all(|port| (FIRST..ephemeral_first()).contains(port)), "{ports:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_port_that_was_given_out_is_not_given_out_again() {
        let [port] = free().expect("a port");
        assert!(reserve(port).is_none(), "while its server is down");
    }

    #[test]
    fn a_port_that_was_taken_meanwhile_is_given_up_for_another() {
        let mut tried = Vec::new();
        let started = with_free(|[port]| {
            tried.push(port);
            let taken = LaunchError::Ended { program: "x", output: format!("bind: {PORT_TAKEN}") };
            if tried.len() < 3 { Err(taken) } else { Ok(port) }
        });
        assert_eq!(started.expect("started"), tried[2]);
    }
}
