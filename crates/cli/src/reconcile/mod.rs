//! `scarce reconcile`: whether log, engine, tables and settlements agree, and where they part.

mod adjust;
mod books;
pub(crate) mod logs;
mod port;
mod sources;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use scarce_projection::Repaired;
use scarce_reconcile::{CheckState, Options, ReconcileError, ReconcileProgress, RepairReport, Report};
use serde_json::json;
use tokio::runtime::Runtime;

use super::files::print_rows;
use super::paint::{Paint, Tone};
use super::{Ended, Exit, Failed};
use crate::setting_flags::SettingFlags;

/// `scarce reconcile`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Reconcile {
    /// What else is compared.
    #[command(subcommand)]
    pub other: Option<Other>,
    #[command(flatten)]
    /// Settings as `scarce serve` takes them: which data, which ports, which database.
    pub settings: SettingFlags,
    /// How many differences of each check are listed; all are counted.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub limit: u16,
    /// How many seconds to wait for tables that are behind the log.
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    pub wait: u32,
    /// Put rows of the tables right that are not what the log makes of them; with --dry-run or --yes.
    #[arg(long)]
    pub repair: bool,
    /// Only say how many rows would be put right.
    #[arg(long, requires = "repair", conflicts_with = "yes")]
    pub dry_run: bool,
    /// Put them right.
    #[arg(long, requires = "repair")]
    pub yes: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
    /// Write the report as a page, too.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// What else is compared.
#[derive(Debug, clap::Subcommand)]
pub enum Other {
    /// Compare a bank's statement with the movements of an account, or a stock count with the stock of a moment.
    File(Box<books::BookFile>),
    /// Put an account or a stock item right by a command that says why and by whom.
    Adjust(Box<adjust::Adjust>),
}

pub(super) fn run(options: &Reconcile) -> Ended {
    match &options.other {
        Some(Other::File(file)) => return books::run(file),
        Some(Other::Adjust(adjustment)) => return adjust::run(adjustment),
        None => {}
    }
    if options.repair && !options.dry_run && !options.yes {
        let text = "--repair changes rows: see with --dry-run which, then do it with --yes";
        return Err(Failed::text(Exit::Usage, text));
    }
    let settings = super::config::load(&options.settings)?.settings;
    let runtime = Runtime::new()?;
    let mut opened = sources::open(&settings, &runtime)?;
    for note in &opened.notes {
        writeln!(std::io::stderr(), "{note}")?;
    }
    if options.repair {
        sources::open_to_mend(&settings, &runtime, &mut opened)?;
    } else {
        opened.let_servers_start();
    }
    let bar = progress_bar();
    let mut show = |progress: ReconcileProgress| {
        bar.set_message(format!("{} partition {}", progress.doing, progress.partition));
        bar.set_position(progress.done);
        true
    };
    let wanted = Options { limit: options.limit.into(), wait: Duration::from_secs(options.wait.into()) };
    let commits = options.repair.then_some(options.yes);
    let mut report =
        scarce_reconcile::reconcile(runtime.handle(), opened.sources(commits), wanted, &mut show);
    if let Ok(first) = &report
        && first.repair.as_ref().is_some_and(|repair| repair.is_done)
    {
        // What is said in the end is how it is now.
        let repair = first.repair.clone();
        let sources = opened.sources(None);
        report = scarce_reconcile::reconcile(runtime.handle(), sources, wanted, &mut show)
            .map(|report| Report { repair, ..report });
    }
    bar.finish_and_clear();
    let report = report?;
    if let Some(file) = &options.html {
        std::fs::write(file, report.html()).map_err(|error| {
            Failed::text(Exit::Usage, format!("cannot write to {}: {error}", file.display()))
        })?;
    }
    if options.json {
        writeln!(std::io::stdout(), "{}", report.json())?;
    } else {
        show_report(&report)?;
    }
    Ok(if report.differences() == 0 { Exit::Done } else { Exit::Broken })
}

fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {pos} {per_sec}") {
        bar.set_style(style);
    }
    bar
}

const CHECK_COLUMNS: [&str; 4] = ["check", "state", "compared", "differences"];
const COLUMNS: [&str; 7] = ["check", "partition", "resource", "value", "expected", "found", "first_event"];

fn show_report(report: &Report) -> std::io::Result<()> {
    let mut notes = Vec::new();
    let rows: Vec<_> = report
        .checks
        .iter()
        .map(|its| {
            notes.extend(its.notes.iter().map(|note| format!("{}: {note}", its.kind.word())));
            json!({
                "check": its.kind.word(), "state": its.state.word(), "compared": its.compared,
                "differences": its.differences,
            })
        })
        .collect();
    print_rows(&rows, &CHECK_COLUMNS, false)?;
    let mut out = std::io::stdout().lock();
    notes.iter().try_for_each(|note| writeln!(out, "{note}"))?;
    if !report.findings.is_empty() {
        writeln!(out)?;
        drop(out);
        print_rows(&report.findings.iter().map(row).collect::<Vec<_>>(), &COLUMNS, false)?;
        out = std::io::stdout().lock();
    }
    if let Some(repair) = &report.repair {
        writeln!(out, "{}", repaired(repair))?;
    }
    let paint = Paint::for_stream(&std::io::stdout());
    let is_whole = report.checks.iter().all(|check| check.state != CheckState::Skipped);
    let (tone, text) = match report.differences() {
        0 if is_whole => (Tone::Good, "everything is equal".to_owned()),
        0 => (Tone::Good, "everything that was compared is equal".to_owned()),
        1 => (Tone::Bad, "there is 1 difference".to_owned()),
        count => (Tone::Bad, format!("there are {count} differences")),
    };
    writeln!(out, "{}", paint.paint(tone, text))
}

/// What became of a repair.
fn repaired(RepairReport { is_done, rows, refused }: &RepairReport) -> String {
    if let Some(why) = refused {
        return format!("no row was put right: {why}");
    }
    let Repaired { added, changed, removed, left } = rows;
    let said = if *is_done { "rows put right" } else { "rows that --yes would put right" };
    let left = match left {
        0 => String::new(),
        left => format!("; {left} stay as they are, since the log no longer reaches back to them"),
    };
    format!("{said}: {changed} changed, {added} added, {removed} removed{left}")
}

fn row(its: &scarce_reconcile::Finding) -> serde_json::Value {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "(none)".to_owned());
    json!({
        "check": its.check.word(),
        "partition": its.partition.map(|partition| partition.to_string()).unwrap_or_default(),
        "resource": its.resource.clone().unwrap_or_default(),
        "value": its.field,
        "expected": value(&its.expected),
        "found": value(&its.found),
        "first_event": its.first_event.as_ref().map(ToString::to_string).unwrap_or_default(),
    })
}

impl From<ReconcileError> for Failed {
    fn from(error: ReconcileError) -> Self {
        let exit = match error {
            ReconcileError::OtherDeployment { .. } => Exit::Usage,
            ReconcileError::Unanswered { .. } | ReconcileError::Engine(_) => Exit::Unreachable,
            _ => Exit::Failed,
        };
        Self::new(exit, &error)
    }
}
