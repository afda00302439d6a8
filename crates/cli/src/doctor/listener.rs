//! The process that listens on a port, as far as this user may see it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

/// A listening process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listener {
    /// Its process id.
    pub(super) pid: u32,
    /// Its name.
    pub(super) name: String,
}

/// The process that listens on an address, or on all addresses with its port.
pub(super) fn of(address: SocketAddr) -> Option<Listener> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(std::fs::read_to_string);
    let inode = tables.iter().flatten().find_map(|table| inode_of(table, address))?;
    let wanted = format!("socket:[{inode}]");
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let pid = pids.into_iter().find(|pid| has_open(*pid, &wanted))?;
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some(Listener { pid, name: name.trim().to_owned() })
}

/// Descriptors of other users' processes are invisible.
fn has_open(pid: u32, wanted: &str) -> bool {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .any(|target| target == Path::new(wanted))
}

/// The state of a listening socket in `/proc/net/tcp`.
const LISTENS: &str = "0A";

/// The inode of the socket that listens there.
fn inode_of(table: &str, address: SocketAddr) -> Option<u64> {
    table.lines().skip(1).find_map(|line| {
        let columns: Vec<_> = line.split_whitespace().collect();
        let (local, state, inode) = (columns.get(1)?, columns.get(3)?, columns.get(9)?);
        let local = parse(local)?;
        let is_there =
            local.port() == address.port() && (local.ip() == address.ip() || local.ip().is_unspecified());
        (is_there && *state == LISTENS).then(|| inode.parse().ok())?
    })
}

/// `0100007F:1CD3`: words of four bytes in native byte order, and the port.
fn parse(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let word = |at: usize| {
        let digits = ip.get(8 * at..8 * at + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let ip = match ip.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for at in 0..4 {
                bytes[4 * at..4 * at + 4].copy_from_slice(&word(at)?);
            }
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn ones_own_socket_is_found() {
        let socket = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = socket.local_addr().expect("its address");
        assert_eq!(of(address).map(|listener| listener.pid), Some(std::process::id()));
        let everywhere = TcpListener::bind("[::]:0").expect("a port");
        let port = everywhere.local_addr().expect("its address").port();
        let seen = of(SocketAddr::from(([127, 0, 0, 1], port)));
        assert_eq!(seen.map(|listener| listener.pid), Some(std::process::id()));
    }

    #[test]
    fn only_who_listens_there_counts() {
        let table = "  sl  local_address rem_address   st\n\
            0: 0100007F:1CD3 00000000:0000 0A 0:0 0:0 0 0 0 77 1\n\
            1: 0100007F:1CD4 0100007F:1CD3 01 0:0 0:0 0 0 0 78 1\n";
        let inode = |text: &str| inode_of(table, text.parse().expect("an address"));
        assert_eq!(inode("127.0.0.1:7379"), Some(77));
        assert_eq!(inode("127.0.0.1:7380"), None, "that one is connected");
        assert_eq!(inode("127.0.0.2:7379"), None);
    }
}
