//! `scarce config`: the settings, their origins, and their problems.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
#[cfg(feature = "kafka")]
use scarce_kafka::KafkaSettings;
use serde_json::{Value, json};

use super::columns::aligned;
use super::setting_flags::SettingFlags;
use super::{Ended, Exit, Failed};
#[cfg(feature = "kafka")]
use scarce_server::pipeline::kafka::settings_of_clients;
use scarce_settings::{self as settings, FilePosition, Kind, Loaded, Origin, Problem, ServerSettings};

/// `scarce config`.
#[derive(Debug, clap::Subcommand)]
pub enum Config {
    /// Print every setting with its value.
    Show(Show),
    /// Say what is wrong with the settings, and where.
    Check(Check),
}

/// `scarce config show`.
#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    /// Settings as `scarce serve` takes them, to see what would come of them.
    pub settings: SettingFlags,
    /// Say where each value comes from.
    #[arg(long)]
    pub origin: bool,
    /// Print JSON, one object per setting.
    #[arg(long)]
    pub json: bool,
}

/// `scarce config check`.
#[derive(Debug, Args)]
pub struct Check {
    /// The file; without it, the files and variables that `scarce serve` would take.
    pub file: Option<PathBuf>,
    /// Print JSON, one object per problem.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(options: &Config) -> Ended {
    match options {
        Config::Show(options) => show(options),
        Config::Check(options) => check(options),
    }
}

/// Loads the settings for another subcommand; warnings go to stderr.
pub(super) fn load(flags: &SettingFlags) -> Result<Loaded, Failed> {
    let loaded =
        flags.load().map_err(|problems| Failed::text(Exit::Usage, scarce_settings::listed(&problems)))?;
    // If stderr is gone, there is nobody to warn.
    let mut stderr = std::io::stderr().lock();
    loaded.warnings.iter().for_each(|warning| drop(writeln!(stderr, "warning: {warning}")));
    Ok(loaded)
}

/// The database of another subcommand, with its password.
pub(super) fn sql_url(settings: &ServerSettings) -> Result<String, Failed> {
    settings.sql_url().ok_or_else(|| {
        Failed::text(Exit::Usage, "say which database: --sql sqlite://scarce.db, or as the server is told")
    })
}

/// The Kafka settings of another subcommand.
#[cfg(feature = "kafka")]
pub(super) fn kafka(settings: &ServerSettings) -> Result<KafkaSettings, Failed> {
    settings_of_clients(settings)
        .ok_or_else(|| Failed::text(Exit::Usage, "say where Kafka is, with --kafka HOST:PORT"))
}

fn show(options: &Show) -> Ended {
    let loaded = load(&options.settings)?;
    let mut out = std::io::stdout().lock();
    if options.json {
        loaded.shown.iter().try_for_each(|shown| writeln!(out, "{}", shown.to_json()))?;
        return Ok(Exit::Done);
    }
    let rows = loaded.shown.iter().map(|shown| {
        let origin = if options.origin { shown.origin.to_string() } else { String::new() };
        vec![shown.spec.key.to_owned(), value(shown), origin]
    });
    aligned(rows).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    Ok(Exit::Done)
}

/// The value with its unit.
fn value(shown: &settings::Shown) -> String {
    shown.text.as_ref().map_or_else(|| "(not set)".to_owned(), |text| shown.spec.readable(text))
}

fn check(options: &Check) -> Ended {
    let flags = SettingFlags { config: options.file.clone(), given: Vec::new() };
    let (problems, files) = match flags.load() {
        Ok(loaded) => (warnings(&loaded), loaded.files),
        Err(problems) => (problems, Vec::new()),
    };
    let mut out = std::io::stdout().lock();
    for problem in &problems {
        if options.json {
            writeln!(out, "{}", problem_json(problem))?;
        } else {
            writeln!(out, "{}: {problem}", if problem.is_warning { "warning" } else { "error" })?;
        }
    }
    if problems.iter().any(|problem| !problem.is_warning) {
        return Ok(Exit::Failed);
    }
    if !options.json {
        let names: Vec<_> = files.iter().map(|path| path.display().to_string()).collect();
        let read = if names.is_empty() { "there is no file".to_owned() } else { names.join(", ") };
        writeln!(out, "ok: {read}; 'scarce config show --origin' says what counts")?;
    }
    Ok(Exit::Done)
}

/// Problems that do not make the settings invalid, but prevent the server from starting or expose secrets. A
/// password may still come from a variable or a flag of the server, so these are only warnings.
fn warnings(loaded: &Loaded) -> Vec<Problem> {
    let mut warnings = loaded.warnings.clone();
    warnings.extend(loaded.settings.exposed().map(|exposed| Problem { is_warning: true, ..exposed }));
    warnings.extend(loaded.shown.iter().filter_map(readable_secret));
    warnings
}

/// A secret in a world-readable file.
fn readable_secret(shown: &settings::Shown) -> Option<Problem> {
    use std::os::unix::fs::PermissionsExt;
    let Origin::File { place, key } = &shown.origin else { return None };
    if shown.spec.kind != Kind::Secret || key != shown.spec.key {
        return None;
    }
    let mode = std::fs::metadata(&place.path).ok()?.permissions().mode();
    let text = format!("{key} stands in a file that everybody may read");
    let advice = format!("chmod 600 {}, or name a file of its own with {key}_file", place.path.display());
    (mode & 0o004 != 0).then(|| Problem::warning(Some(place.clone()), text, advice))
}

fn problem_json(problem: &Problem) -> Value {
    let place = problem.place.as_ref();
    let part = |of: fn(&FilePosition) -> usize| place.map(of).filter(|number| *number > 0);
    json!({
        "severity": if problem.is_warning { "warning" } else { "error" },
        "path": place.map(|place| &place.path),
        "line": part(|place| place.line),
        "column": part(|place| place.column),
        "problem": problem.text,
        "advice": problem.advice,
    })
}
