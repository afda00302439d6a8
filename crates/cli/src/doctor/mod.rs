//! `scarce doctor`: checks whether this machine is fit to run the server, and says how to fix problems.
//!
//! It uses the settings of `scarce serve` and changes nothing. Its only file is unnamed and disappears with
//! the process, however that ends.

mod certificate;
mod clock;
mod data;
mod disk;
mod finding;
mod kernel;
mod limits;
mod listener;
mod mounts;
mod ports;
mod redis;
mod sinks;
mod slow;

use std::io::Write;

use clap::Args;
use scarce_server::keys::KeyStore;
use scarce_settings::{EngineChoice, Loaded, ServerSettings};

use super::paint::{Paint, Tone};
use super::{Ended, Exit};
use crate::setting_flags::SettingFlags;
use finding::{Finding, Status};

/// `scarce doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    #[command(flatten)]
    /// Settings as `scarce serve` takes them.
    pub settings: SettingFlags,
    /// Print JSON, one object per finding.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(options: &Doctor) -> Ended {
    let loaded = super::config::load(&options.settings)?;
    let findings = examine(&loaded);
    let mut out = std::io::stdout().lock();
    if options.json {
        findings.iter().try_for_each(|finding| writeln!(out, "{}", finding.json()))?;
    } else {
        let paint = Paint::for_stream(&std::io::stdout());
        findings.iter().try_for_each(|finding| show(&mut out, paint, finding))?;
        writeln!(out, "{}", conclusion(&findings))?;
    }
    let has_failed = findings.iter().any(|finding| finding.status == Status::Fail);
    Ok(if has_failed { Exit::Failed } else { Exit::Done })
}

fn examine(loaded: &Loaded) -> Vec<Finding> {
    let settings = &loaded.settings;
    let steps = clock::Steps::watch();
    let (mut findings, mut found) = (Vec::new(), data::Found::default());
    if redis::is_asked_for(loaded) {
        findings = redis::examine(settings);
    }
    // With Redis, nothing is stored here.
    if settings.engine == EngineChoice::Embedded {
        let (of_data, its) = data::examine(settings);
        (findings, found) = ([findings, of_data].concat(), its);
        findings.extend(disk::examine(settings));
    }
    findings.extend(sinks::examine(settings));
    findings.extend(ports::examine(settings, found.holder));
    findings.extend(slow::examine(settings));
    findings.push(password(settings));
    findings.extend(certificate::examine(settings));
    findings.extend(limits::examine(settings));
    findings.extend(kernel::examine());
    findings.extend(clock::examine(&steps, found.newest_stamp));
    findings
}

fn password(settings: &ServerSettings) -> Finding {
    const NAME: &str = "password";
    let has_keys = || KeyStore::of(settings).and_then(|keys| keys.load()).is_ok_and(|keys| !keys.is_empty());
    match settings.exposed() {
        Some(_) if settings.password.is_none() && has_keys() => {
            Finding::ok(NAME, "none, and there are keys of callers")
        }
        Some(problem) => Finding::fail(NAME, problem.text, problem.advice),
        None if settings.password.is_some() => Finding::ok(NAME, "set"),
        None => Finding::ok(NAME, "none is needed: only this machine is served"),
    }
}

/// The width of the column of names.
const NAME_WIDTH: usize = 18;

fn show(out: &mut impl Write, paint: Paint, finding: &Finding) -> std::io::Result<()> {
    let (word, tone) = match finding.status {
        Status::Ok => ("ok  ", Tone::Good),
        Status::Warn => ("warn", Tone::Warning),
        Status::Fail => ("fail", Tone::Bad),
    };
    writeln!(out, "{}  {:<NAME_WIDTH$}  {}", paint.paint(tone, word), finding.name, finding.found)?;
    match &finding.advice {
        Some(advice) => {
            writeln!(out, "      {:<NAME_WIDTH$}  {}", "", paint.paint(tone, format!("→ {advice}")))
        }
        None => Ok(()),
    }
}

fn conclusion(findings: &[Finding]) -> String {
    let count = |status| findings.iter().filter(|finding| finding.status == status).count();
    match (count(Status::Fail), count(Status::Warn)) {
        (0, 0) => "all is well; 'scarce serve' can start".to_owned(),
        (0, warnings) => {
            format!("'scarce serve' can start; {warnings} of {} could be better", findings.len())
        }
        (failures, _) => format!("{failures} of {} must be put right first", findings.len()),
    }
}
