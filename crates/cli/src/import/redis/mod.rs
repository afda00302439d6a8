//! `scarce import redis`: takes over what a team keeps in a Redis of its own.
//!
//! The source is read at one moment, and all operations are written down before the first is sent. A run that goes on
//! takes them from there, with the same ids.

mod args;
mod compare;
mod send;
mod show;

pub(crate) use args::{From, FromRedis, MomentName};

use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use scarce_takeover::{Map, Plan, Resources, Snapshot, TakeoverError};

use self::show::Shown;
use super::pipe::Pipe;
use crate::{Ended, Exit, Failed, stop_on_signals};

impl std::convert::From<TakeoverError> for Failed {
    fn from(error: TakeoverError) -> Self {
        let exit = match error {
            TakeoverError::Map { .. } | TakeoverError::Address { .. } => Exit::Usage,
            TakeoverError::Source { .. } => Exit::Unreachable,
            _ => Exit::Failed,
        };
        Self::new(exit, &error)
    }
}

pub(super) fn run(import: &FromRedis) -> Ended {
    let map = read_map(&import.map)?;
    match &import.run {
        Some(run) if !import.dry_run && !import.compare => make(import, &map, run),
        run => look(import, &map, run.as_deref().unwrap_or("dry-run")),
    }
}

fn read_map(path: &Path) -> Result<Map, Failed> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failed::text(Exit::Usage, format!("cannot read {}: {error}", path.display())))?;
    Ok(Map::parse(&text)?)
}

/// Shows what would be made, or compares it with what is there.
fn look(import: &FromRedis, map: &Map, run: &str) -> Ended {
    let (plan, mut shown) = match read(import, map, run)? {
        Ok(read) => read,
        Err(shown) => return shown.print(import.json, Exit::Failed),
    };
    if !import.compare {
        return shown.print(import.json, Exit::Done);
    }
    let options = import.options();
    let mut pipe = Pipe::connect(&options)?;
    shown.differences = Some(compare::compare(&mut pipe, &plan)?);
    let exit = if shown.has_differences() { Exit::Broken } else { Exit::Done };
    shown.print(import.json, exit)
}

/// A takeover that is read at one time and made at another.
pub(crate) struct Takeover {
    import: FromRedis,
    map: Map,
    run: String,
}

impl Takeover {
    pub(crate) fn new(import: FromRedis) -> Result<Self, Failed> {
        let (map, run) = (read_map(&import.map)?, import.run.clone().unwrap_or_default());
        Ok(Self { import, map, run })
    }

    /// Reads the source at one moment, and nothing of an earlier one.
    pub(crate) fn read(&self) -> Result<Plan, Failed> {
        let path = self.import.plan_file(&self.run);
        if path.exists() {
            let text = format!("{} is there already, from an earlier run; name another run", path.display());
            return Err(Failed::text(Exit::Usage, text));
        }
        match read(&self.import, &self.map, &self.run)? {
            Ok((plan, _)) => Ok(plan),
            Err(shown) => Err(Failed::text(Exit::Failed, shown.first_problem())),
        }
    }

    /// Makes what was read.
    pub(crate) fn make(&self, plan: &Plan) -> Result<(), Failed> {
        keep(plan, &self.import.plan_file(&self.run))?;
        let options = self.import.options();
        let mut pipe = Pipe::connect(&options)?;
        if let Some(first) = compare::existing(&mut pipe, plan)?.first() {
            let text =
                format!("{first} exists already; begin with a deployment that has nothing of the source");
            return Err(Failed::text(Exit::Refused, text));
        }
        send::send(&mut pipe, plan, &AtomicBool::new(false)).map(|_| ())
    }
}

/// Makes what a plan has, or goes on with it.
fn make(import: &FromRedis, map: &Map, run: &str) -> Ended {
    let path = import.plan_file(run);
    let (plan, mut shown) = match earlier(&path, map, run, &import.from.from)? {
        Some(plan) => {
            let shown = Shown::again(&plan, &path);
            (plan, shown)
        }
        None => match read(import, map, run)? {
            Ok((plan, shown)) => {
                keep(&plan, &path)?;
                (plan, shown)
            }
            Err(shown) => return shown.print(import.json, Exit::Failed),
        },
    };
    let (options, stop) = (import.options(), stop_on_signals()?);
    let mut pipe = Pipe::connect(&options)?;
    let existing = compare::existing(&mut pipe, &plan)?;
    if !existing.is_empty() {
        shown.existing = existing;
        return shown.print(import.json, Exit::Refused);
    }
    let sent = send::send(&mut pipe, &plan, &stop);
    shown.sent = Some(sent.map_err(|failed| {
        let text = format!("{}\nrun the same again: it goes on from {}", failed.message, path.display());
        Failed::text(failed.exit, text)
    })?);
    shown.differences = Some(compare::compare(&mut pipe, &plan)?);
    let exit = if shown.has_differences() { Exit::Broken } else { Exit::Done };
    shown.print(import.json, exit)
}

/// Reads the source. What cannot be made is in what is shown.
fn read(import: &FromRedis, map: &Map, run: &str) -> Result<Result<(Plan, Shown), Shown>, Failed> {
    let source = import.source()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let begun = Instant::now();
    let mut snapshot: Snapshot = runtime.block_on(source.read(map, import.moment()))?;
    let mut shown = Shown::of(&mut snapshot, begun.elapsed(), import.dry_run);
    let resources = Resources::gather(map, snapshot);
    Ok(match Plan::new(resources, map, run, &import.from.from) {
        Ok(plan) => {
            shown.sums = plan.sums();
            Ok((plan, shown))
        }
        Err(problems) => {
            shown.problems = problems;
            Err(shown)
        }
    })
}

/// The plan of an earlier run of this name, if it is of the same map and source.
fn earlier(path: &Path, map: &Map, run: &str, source: &str) -> Result<Option<Plan>, Failed> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(Failed::text(Exit::Failed, format!("cannot read {}: {error}", path.display())));
        }
    };
    let plan = Plan::read(BufReader::new(file))
        .map_err(|error| Failed::text(Exit::Failed, format!("{}: {error}", path.display())))?;
    let heading = &plan.heading;
    let other = match () {
        () if heading.run != run => format!("the run '{}'", heading.run),
        () if heading.map != map.digest => "another map".to_owned(),
        () if heading.source != source => format!("the source {}", heading.source),
        () => return Ok(Some(plan)),
    };
    let text = format!(
        "{} is the plan of {other}; name another run or file. The run of that plan goes on with what it was begun with",
        path.display()
    );
    Err(Failed::text(Exit::Usage, text))
}

/// Keeps a plan, whole or not at all.
fn keep(plan: &Plan, path: &Path) -> Result<(), Failed> {
    let cannot = |error: std::io::Error| {
        Failed::text(Exit::Failed, format!("cannot write {}: {error}", path.display()))
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::NamedTempFile::new_in(folder).map_err(cannot)?;
    let mut out = BufWriter::new(file);
    plan.write(&mut out).map_err(cannot)?;
    out.flush().map_err(cannot)?;
    let file = out.into_inner().map_err(|error| cannot(error.into_error()))?;
    file.as_file().sync_all().map_err(cannot)?;
    file.persist(path).map_err(|error| cannot(error.error))?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(cannot)
}
