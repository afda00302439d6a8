//! The display: a summary line, then every metric with its rate.

use super::sample::{Row, Sample, rate_of};

/// Values that never change or are part of the summary, and not worth watching.
const QUIET: [&str; 4] = ["process_id", "uptime_in_seconds", "loading", "partitions"];

/// The whole display as lines.
pub(super) fn lines(address: &str, sample: &Sample, rows: &[Row]) -> Vec<String> {
    let mut lines = vec![summary(address, sample, rows), String::new()];
    let rows: Vec<&Row> = rows.iter().filter(|row| !QUIET.contains(&row.name.as_str())).collect();
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max(16);
    lines.push(format!("{:<width$}  {:>16}  {:>14}", "", "value", "per second"));
    let mut section = "";
    for row in rows {
        if row.section != section {
            section = &row.section;
            lines.push(section.to_owned());
        }
        let rate = row.per_second.map(rate).unwrap_or_default();
        lines.push(format!("{:<width$}  {:>16}  {rate:>14}", row.name, row.value).trim_end().to_owned());
    }
    lines
}

fn summary(address: &str, sample: &Sample, rows: &[Row]) -> String {
    let mut parts = vec![format!(
        "scarce {} at {address}",
        sample.texts.get("scarce_version").map_or("?", String::as_str)
    )];
    parts.extend(sample.value("uptime_in_seconds").map(|seconds| format!("up {}", duration(seconds))));
    parts.extend(rate_of(rows, ".durable_sequence").map(|rate| format!("{rate:.0} events/s")));
    parts.extend(sample.value("connected_clients").map(|clients| format!("{clients} connections")));
    parts.extend(sample.value("used_memory_rss").map(|bytes| format!("{} MiB", bytes >> 20)));
    parts.join(", ")
}

fn duration(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, ..) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

fn rate(rate: f64) -> String {
    if rate == 0.0 { String::new() } else { format!("{rate:.1}") }
}

/// The visible part of the lines, from an offset; the summary always stays.
pub(super) fn cut(lines: &[String], from: usize, width: usize, height: usize) -> Vec<String> {
    let fixed = 3.min(lines.len());
    let (head, rest) = lines.split_at(fixed);
    let shown = rest.iter().skip(from).take(height.saturating_sub(fixed));
    head.iter().take(height).chain(shown).map(|line| line.chars().take(width).collect()).collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn figures_stand_under_their_sections_with_their_rates() {
        let now = Instant::now();
        let before = Sample::read("# P\r\np0:durable_sequence=10\r\n", now);
        let text = "# Server\r\nscarce_version:1.2\r\nuptime_in_seconds:3700\r\n# Memory\r\nused_memory_rss:2097152\r\n\
            # P\r\np0:durable_sequence=40,depth=0\r\n";
        let after = Sample::read(text, now + Duration::from_secs(2));
        let shown = lines("a:1", &after, &after.rows(Some(&before)));
        assert_eq!(shown[0], "scarce 1.2 at a:1, up 1 h 1 min, 15 events/s, 2 MiB");
        assert_eq!(shown[3], "Memory");
        assert_eq!(shown[5], "P");
        assert!(shown[6].starts_with("p0.durable_sequence") && shown[6].ends_with("15.0"), "{shown:?}");
        assert!(shown[7].ends_with(" 0"), "{shown:?}");
        assert_eq!(cut(&shown, 2, 4, 4), ["scar", "", "    ", "P"]);
        assert_eq!(cut(&shown, 0, 80, 2).len(), 2);
    }
}
