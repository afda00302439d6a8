//! `scarce audit`: reads the audit log of a server on this machine, running or not.

use std::io::Write;
use std::net::IpAddr;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use scarce_audit::{Filter, Kind, Record};
use scarce_server::serve::audit;

use super::setting_flags::AuditFlags;
use super::{Ended, Exit, Failed};

/// How often more is looked for.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// How many records are read together.
const TOGETHER_MAX: usize = 1_000;

/// `scarce audit`.
#[derive(Debug, Args)]
pub struct Audit {
    /// Where the audit log is: in the folder audit of the data directory.
    #[command(flatten)]
    pub settings: AuditFlags,
    /// Only acts, denials or gaps.
    #[arg(long, value_name = "KIND")]
    pub kind: Option<Kind>,
    /// Only of this key, by its id or its name, or of this user.
    #[arg(long, value_name = "KEY")]
    pub who: Option<String>,
    /// Only from this address.
    #[arg(long, value_name = "ADDRESS")]
    pub address: Option<IpAddr>,
    /// Only of this command, route or subcommand; with a * at its end, of all that begin so.
    #[arg(long, value_name = "COMMAND")]
    pub what: Option<String>,
    /// Only about this resource.
    #[arg(long, value_name = "ID")]
    pub resource: Option<String>,
    /// Only with this outcome, such as APPLIED or LACKS_SCOPE.
    #[arg(long, value_name = "CODE")]
    pub outcome: Option<String>,
    /// Only from this time on, such as 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub since: Option<Timestamp>,
    /// Only before this time.
    #[arg(long, value_name = "TIME")]
    pub until: Option<Timestamp>,
    /// How many of the last records to print; 0 prints all.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub last: usize,
    /// Go on with what is recorded from now on.
    #[arg(long)]
    pub follow: bool,
    /// Print JSON, one object a record.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(options: &Audit) -> Ended {
    let settings = super::config::load(&options.settings.0)?.settings;
    let folder = audit::folder(&settings);
    if !folder.path().exists() && !options.follow {
        let text = format!(
            "nothing is recorded in {}; say which data directory with --data",
            folder.path().display()
        );
        return Err(Failed::text(Exit::Failed, text));
    }
    let filter = filter(options);
    let last = if options.last == 0 { usize::MAX } else { options.last };
    let mut page = folder.last(&filter, last)?;
    print(&page.records, options.json)?;
    if !options.follow {
        return Ok(Exit::Done);
    }
    loop {
        page = folder.page(page.next, &filter, TOGETHER_MAX)?;
        print(&page.records, options.json)?;
        if !page.has_more {
            std::thread::park_timeout(LOOK_INTERVAL);
        }
    }
}

fn filter(options: &Audit) -> Filter {
    let ms = |time: Option<Timestamp>| time.and_then(|time| u64::try_from(time.as_millisecond()).ok());
    Filter {
        kind: options.kind,
        who: options.who.clone(),
        address: options.address,
        what: options.what.clone(),
        resource: options.resource.clone(),
        outcome: options.outcome.clone(),
        since_ms: ms(options.since),
        until_ms: ms(options.until),
    }
}

fn print(records: &[Record], as_json: bool) -> Result<(), Failed> {
    let mut out = std::io::stdout().lock();
    for record in records {
        if as_json {
            let json = serde_json::to_string(record).map_err(std::io::Error::from)?;
            writeln!(out, "{json}")?;
        } else {
            writeln!(out, "{}", line(record))?;
        }
    }
    Ok(out.flush()?)
}

/// A record in words.
fn line(record: &Record) -> String {
    let at = Timestamp::from_millisecond(i64::try_from(record.at_ms).unwrap_or(i64::MAX));
    let at = at.map_or_else(|_| record.at_ms.to_string(), |at| format!("{at:.3}"));
    let mut words = vec![at, record.kind.word().to_owned(), record.outcome.clone(), record.what.clone()];
    words.extend(record.resources.iter().cloned());
    words.push(format!("by {}", record.who));
    words.extend(record.name.iter().cloned());
    words.extend(record.key.iter().map(|key| format!("({key})")));
    let from =
        record.address.map_or_else(|| record.port.clone(), |address| format!("{address} {}", record.port));
    words.push(format!("from {from}"));
    words.extend(record.operation.iter().map(|operation| format!("id {operation}")));
    let place = record.partition.zip(record.sequence);
    words.extend(place.map(|(partition, sequence)| format!("event {partition}:{sequence}")));
    words.extend(record.detail.iter().map(|detail| format!("[{detail}]")));
    words.extend((record.left_out > 0).then(|| format!("{} more left out", record.left_out)));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use scarce_audit::Who;

    use super::*;

    #[test]
    fn a_record_is_a_line_of_words() {
        let who = Who::Key("0123456789ab".to_owned(), "shop".to_owned());
        let record = Record::new(Kind::Act, who, "resp", "STOCK.CREATE", "APPLIED").about(["sku-1"]);
        let address = "203.0.113.7".parse().ok();
        let record = Record { address, partition: Some(0), sequence: Some(7), left_out: 2, ..record };
        assert_eq!(
            line(&record),
            "1970-01-01T00:00:00.000Z act APPLIED STOCK.CREATE sku-1 by key shop (0123456789ab) from 203.0.113.7 resp event 0:7 2 more left out"
        );
    }
}
