//! The display: a summary line, what callers did, then every other metric with its rate.

use super::activity::{Activity, CommandActivity, is_shown_here};
use super::sample::{Row, Sample, rate_of};
use crate::columns::aligned;

/// Values that never change or are part of the summary, and not worth watching.
const QUIET: [&str; 4] = ["process_id", "uptime_in_seconds", "loading", "partitions"];

/// The lines that stay where the rest is scrolled.
const FIXED: usize = 2;

/// The whole display as lines; without an activity if this is the first look.
pub(super) fn lines(
    address: &str,
    sample: &Sample,
    rows: &[Row],
    activity: Option<&Activity>,
) -> Vec<String> {
    let mut lines = vec![summary(address, sample, rows, activity), String::new()];
    if let Some(activity) = activity {
        lines.extend(commands(activity));
        lines.extend(refusals(activity));
    }
    lines.extend(others(rows));
    lines
}

/// A table of commands, if there were any.
fn commands(activity: &Activity) -> Vec<String> {
    let head = ["Commands", "per second", "refused", "p50 at most", "p99 at most"];
    let row = |its: &CommandActivity| {
        let refused = rate(its.refused_per_second);
        vec![its.name.clone(), rate(its.per_second), refused, time(its.p50_us), time(its.p99_us)]
    };
    titled(&head, activity.commands.iter().map(row).collect())
}

/// A table of refusals since the start, if there were any.
fn refusals(activity: &Activity) -> Vec<String> {
    let row =
        |its: &super::activity::Refusals| vec![its.code.clone(), rate(its.per_second), its.total.to_string()];
    titled(&["Refusals", "per second", "since the start"], activity.refusals.iter().map(row).collect())
}

/// A table with a head and a blank line behind it; nothing without rows.
fn titled(head: &[&str], mut rows: Vec<Vec<String>>) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    rows.insert(0, head.iter().map(|title| (*title).to_owned()).collect());
    let mut lines = aligned(rows);
    lines.push(String::new());
    lines
}

/// A time in words.
fn time(microseconds: Option<u64>) -> String {
    match microseconds {
        None => String::new(),
        Some(us) if us < 1_000 => format!("{us} µs"),
        Some(us) if us < 1_000_000 => format!("{}.{} ms", us / 1_000, us % 1_000 / 100),
        Some(us) => format!("{} s", us / 1_000_000),
    }
}

/// Every other metric with its rate.
fn others(rows: &[Row]) -> Vec<String> {
    let is_other = |row: &&Row| !QUIET.contains(&row.name.as_str()) && !is_shown_here(&row.name);
    let rows: Vec<&Row> = rows.iter().filter(is_other).collect();
    let mut lines = Vec::new();
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

fn summary(address: &str, sample: &Sample, rows: &[Row], activity: Option<&Activity>) -> String {
    let mut parts = vec![format!(
        "scarce {} at {address}",
        sample.texts.get("scarce_version").map_or("?", String::as_str)
    )];
    parts.extend(sample.value("uptime_in_seconds").map(|seconds| format!("up {}", duration(seconds))));
    if let Some(Activity { all, .. }) = activity {
        parts.push(format!("{:.0} commands/s", all.per_second));
        parts.push(format!("{:.0} refused/s", all.refused_per_second));
        let times = all.p50_us.zip(all.p99_us);
        parts.extend(times.map(|(p50, p99)| format!("p50 {}, p99 {}", time(Some(p50)), time(Some(p99)))));
    }
    parts.extend(rate_of(rows, ".durable_sequence").map(|rate| format!("{rate:.0} events/s")));
    let lags: Vec<i64> =
        rows.iter().filter(|row| row.name.ends_with(".lag_events")).map(|row| row.value).collect();
    parts.extend(lags.iter().max().map(|lag| format!("lag {lag}")));
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
    let fixed = FIXED.min(lines.len());
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
        let shown = lines("a:1", &after, &after.rows(Some(&before)), None);
        assert_eq!(shown[0], "scarce 1.2 at a:1, up 1 h 1 min, 15 events/s, 2 MiB");
        assert_eq!(shown[3], "Memory");
        assert_eq!(shown[5], "P");
        assert!(shown[6].starts_with("p0.durable_sequence") && shown[6].ends_with("15.0"), "{shown:?}");
        assert!(shown[7].ends_with(" 0"), "{shown:?}");
        assert_eq!(cut(&shown, 3, 4, 3), ["scar", "", "P"]);
        assert_eq!(cut(&shown, 0, 80, 2).len(), 2);
    }

    #[test]
    fn what_callers_did_comes_first() {
        let now = Instant::now();
        let before = Sample::read("", now);
        let text = "# Partitions\r\npartition_0:durable_sequence=4,lag_events=7\r\n# Commandstats\r\ncmdstat_STOCK.TAKE:calls=20,failed_calls=2\r\n\
            # Errorstats\r\nerrorstat_SOLD_OUT:count=2\r\n# H\r\nlatency_histogram_STOCK.TAKE:50=0,2500=20,inf=0\r\n";
        let after = Sample::read(text, now + Duration::from_secs(2));
        let activity = Activity::between(&before, &after);
        let shown = lines("a:1", &after, &after.rows(Some(&before)), Some(&activity));
        assert_eq!(
            shown[0],
            "scarce ? at a:1, 10 commands/s, 1 refused/s, p50 2.5 ms, p99 2.5 ms, 2 events/s, lag 7"
        );
        assert_eq!(shown[2].split("  ").next(), Some("Commands"));
        assert!(shown[3].starts_with("STOCK.TAKE") && shown[3].ends_with("2.5 ms"), "{shown:?}");
        assert!(shown[6].starts_with("SOLD_OUT") && shown[6].ends_with(" 2"), "{shown:?}");
        assert!(!shown[8..].iter().any(|line| line.contains("cmdstat_")), "{shown:?}");
    }
}
