//! Metrics of the process: its memory, its disk, its file descriptors, and the connections that take most of them.

use std::path::Path;

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use scarce_engine::memory::MemoryLevels;
use scarce_engine::scripts::ScriptFilling;
use scarce_gateway::{ConnectionPlaces, PortKind, descriptors, process};

/// The memory budget, and what is used of it.
pub(super) fn memory(encoder: &mut DescriptorEncoder<'_>, levels: &MemoryLevels) -> std::fmt::Result {
    let MemoryLevels { used_bytes, max_bytes, reserved_bytes, reusable_bytes, is_refusing, .. } = *levels;
    let gauges = [
        ("scarce_memory_used_bytes", "Memory that the process takes", used_bytes),
        ("scarce_memory_max_bytes", "Memory that the process may take", max_bytes),
        ("scarce_memory_reserved_bytes", "Memory that the next snapshot takes for its time", reserved_bytes),
        ("scarce_memory_reusable_bytes", "Memory that removed records left for new ones", reusable_bytes),
        (
            "scarce_memory_refusing",
            "1 while new operation ids and new records are refused for lack of memory",
            u64::from(is_refusing),
        ),
    ];
    for (name, help, value) in gauges {
        let family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        ConstGauge::new(value).encode(family)?;
    }
    Ok(())
}

/// Resident memory, and the room on the disk with the data.
pub(super) fn usual(encoder: &mut DescriptorEncoder<'_>, directory: &Path) -> std::fmt::Result {
    let room = process::disk_room(directory);
    let levels = [
        ("process_resident_memory_bytes", "Resident memory of the process", process::resident_bytes()),
        (
            "scarce_disk_available_bytes",
            "Room that is left on the file system of the data",
            room.map(|room| room.available),
        ),
        ("scarce_disk_size_bytes", "Size of the file system of the data", room.map(|room| room.size)),
    ];
    for (name, help, level) in levels {
        let Some(level) = level else { continue };
        let family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        ConstGauge::new(level).encode(family)?;
    }
    Ok(())
}

/// The connections of each port.
pub(super) fn ports(encoder: &mut DescriptorEncoder<'_>, places: &ConnectionPlaces) -> std::fmt::Result {
    let help = "Open connections, by port";
    let mut family =
        encoder.encode_descriptor("scarce_port_connections_open", help, None, MetricType::Gauge)?;
    for port in PortKind::ALL {
        let open = ConstGauge::new(places.open_at(port));
        open.encode(family.encode_family(&[("port", port.word())])?)?;
    }
    let help = "Connections that were accepted since the start, by port";
    let mut family =
        encoder.encode_descriptor("scarce_port_connections_accepted", help, None, MetricType::Counter)?;
    for port in PortKind::ALL {
        let accepted = ConstCounter::new(places.accepted_at(port));
        accepted.encode(family.encode_family(&[("port", port.word())])?)?;
    }
    Ok(())
}

/// How full the registry of scripts is.
pub(super) fn scripts(encoder: &mut DescriptorEncoder<'_>, filling: ScriptFilling) -> std::fmt::Result {
    for (name, level, max) in filling.figures() {
        let what = match name {
            "bytes" => "Bytes of all registered versions of scripts",
            "names" => "Names in the registry of scripts, with removed ones",
            _ => "Registered versions of scripts",
        };
        for (name, help, level) in [
            (format!("scarce_script_{name}"), what.to_owned(), level),
            (format!("scarce_script_{name}_max"), format!("{what}, at most"), max),
        ] {
            let family = encoder.encode_descriptor(&name, &help, None, MetricType::Gauge)?;
            ConstGauge::new(level).encode(family)?;
        }
    }
    Ok(())
}

/// Open file descriptors, their limit, and connections.
pub(super) fn descriptors(
    encoder: &mut DescriptorEncoder<'_>,
    places: &ConnectionPlaces,
) -> std::fmt::Result {
    let levels = [
        ("process_open_fds", "Open file descriptors", descriptors::open_count()),
        ("process_max_fds", "The limit of open file descriptors", descriptors::open_max()),
        ("scarce_connections_open", "Open connections of all ports", Some(places.open())),
        ("scarce_connections_max", "Connections that may be open, over all ports", Some(places.max())),
        (
            "scarce_unread_reply_bytes",
            "Memory of replies that callers have not read yet",
            Some(places.unread.bytes()),
        ),
    ];
    for (name, help, level) in levels {
        let Some(level) = level else { continue };
        let family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        ConstGauge::new(level).encode(family)?;
    }
    let counters = [
        (
            "scarce_connections_refused",
            "Connections that were refused because all places were taken",
            places.refused(),
        ),
        (
            "scarce_connections_unread",
            "Connections that were closed because unread replies took too much memory",
            places.unread.closed(),
        ),
        (
            "scarce_connections_stalled",
            "Connections that were closed because their callers had read nothing for too long",
            places.unread.stalled(),
        ),
    ];
    for (name, help, count) in counters {
        let family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        ConstCounter::new(count).encode(family)?;
    }
    Ok(())
}
