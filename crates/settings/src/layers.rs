//! From layers to settings: which value wins, and where it comes from.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use super::outflow::masked;
use super::problem::{FilePosition, Problem};
use super::table::{SETTINGS, ServerSettings, Spec, VARIABLE_PREFIX};
use super::value::Kind;
use super::{environment, file, read_secret};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The table's default.
    Default,
    /// A configuration file.
    File {
        /// The position in the file.
        place: FilePosition,
        /// The key.
        key: String,
    },
    /// The environment variable of this name.
    Environment(String),
    /// The flag of this name, including its hyphens.
    Flag(String),
}

impl Origin {
    /// The layer's name.
    #[must_use]
    pub const fn layer(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File { .. } => "file",
            Self::Environment(_) => "environment",
            Self::Flag(_) => "flag",
        }
    }

    pub(super) fn place(&self) -> Option<FilePosition> {
        match self {
            Self::File { place, .. } => Some(place.clone()),
            _ => None,
        }
    }

    /// What the user wrote to set it: a key, a variable or a flag.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Default => "the default",
            Self::File { key, .. } => key,
            Self::Environment(name) | Self::Flag(name) => name,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::File { place, key } => {
                write!(formatter, "{}:{} {key}", place.path.display(), place.line)
            }
            Self::Environment(name) => write!(formatter, "environment {name}"),
            Self::Flag(name) => write!(formatter, "flag {name}"),
        }
    }
}

/// A value that a layer assigns to a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The setting's key.
    pub key: &'static str,
    /// The value as text; for a secret in a file, the file's name.
    pub text: String,
    /// Whether the text names a file that contains the value.
    pub by_file: bool,
    /// Where it comes from.
    pub origin: Origin,
}

/// The sources of settings.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The requested configuration file; it must exist.
    pub config: Option<PathBuf>,
    /// The default files, read if none was requested and if they exist; later ones win.
    pub usual_files: Vec<PathBuf>,
    /// The process's variables.
    pub environment: Vec<(OsString, OsString)>,
    /// Values from flags.
    pub flags: Vec<Given>,
}

impl Sources {
    /// The default files and the variables of this process, plus a file and flags.
    #[must_use]
    pub fn of_process(config: Option<PathBuf>, flags: Vec<Given>) -> Self {
        Self {
            config,
            usual_files: vec!["/etc/scarce/scarce.toml".into(), "scarce.toml".into()],
            environment: std::env::vars_os().collect(),
            flags,
        }
    }

    /// The files to read, in the order of the layers.
    fn files(&self) -> Vec<PathBuf> {
        let name = format!("{VARIABLE_PREFIX}CONFIG");
        let variable = self.environment.iter().find(|(key, value)| *key == *name && !value.is_empty());
        match self.config.clone().or_else(|| variable.map(|(_, value)| value.into())) {
            Some(asked) => vec![asked],
            None => self.usual_files.iter().filter(|path| path.exists()).cloned().collect(),
        }
    }
}

/// A setting for display.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its row in the table.
    pub spec: &'static Spec,
    /// Its value as text; `None` if unset, and never a secret.
    pub text: Option<String>,
    /// Where it comes from.
    pub origin: Origin,
}

/// The settings and their origins.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The settings.
    pub settings: ServerSettings,
    /// Every setting in the order of the table.
    pub shown: Vec<Shown>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// Settings that are likely mistakes.
    pub warnings: Vec<Problem>,
}

/// Shown in place of a secret.
const SECRET_SHOWN: &str = "(set)";

/// Merges the layers.
///
/// # Errors
/// Everything that is wrong, in the order of the layers, including warnings.
pub fn load(sources: &Sources) -> Result<Loaded, Vec<Problem>> {
    let mut problems = Vec::new();
    let files = sources.files();
    let mut layers: Vec<Vec<Given>> = files.iter().map(|path| file::read(path, &mut problems)).collect();
    layers.push(environment::read(&sources.environment, &mut problems));
    layers.push(sources.flags.clone());
    layers.iter_mut().flatten().for_each(make_plain);
    layers.iter().for_each(|layer| check_twice(layer, &mut problems));
    let given = SETTINGS.iter().map(|spec| topmost(spec, &layers)).collect::<Vec<_>>();
    let texts: Vec<_> =
        given.iter().map(|given| given.as_ref().and_then(|g| value(g, &mut problems))).collect();
    if problems.iter().any(|problem| !problem.is_warning) {
        return Err(problems);
    }
    let text_of =
        |key: &str| SETTINGS.iter().position(|spec| spec.key == key).and_then(|at| texts[at].clone());
    let settings = ServerSettings::read(text_of).map_err(|key| {
        vec![Problem::error(None, format!("{key} has no value"), "set it in the file or by its flag")]
    })?;
    let shown = SETTINGS.iter().zip(given).map(|(spec, given)| shown(spec, given)).collect();
    Ok(Loaded { settings, shown, files, warnings: problems })
}

/// The value from the topmost layer that has one, or else the default.
fn topmost(spec: &'static Spec, layers: &[Vec<Given>]) -> Option<Given> {
    let given = layers.iter().rev().find_map(|layer| layer.iter().find(|given| given.key == spec.key));
    given.cloned().or_else(|| {
        let text = spec.default?.to_owned();
        Some(Given { key: spec.key, text, by_file: false, origin: Origin::Default })
    })
}

/// The effective text: the content of the file, if a file is named.
fn value(given: &Given, problems: &mut Vec<Problem>) -> Option<String> {
    if !given.by_file {
        return Some(given.text.clone());
    }
    let what = match given.key {
        "secrets_key" => "key",
        "settlement_secret" => "secret",
        _ => "password",
    };
    read_secret(Path::new(&given.text), what)
        .map_err(|text| {
            let advice = format!("put the {what} there, or correct {}", given.origin.name());
            problems.push(Problem::error(given.origin.place(), text, advice));
        })
        .ok()
}

/// `1h` and 3600000 are the same value.
fn make_plain(given: &mut Given) {
    if let Some(spec) = SETTINGS.iter().find(|spec| spec.key == given.key) {
        given.text = spec.plain(std::mem::take(&mut given.text));
    }
}

/// Rejects duplicates: within one layer, nothing says which of two values is meant.
fn check_twice(layer: &[Given], problems: &mut Vec<Problem>) {
    for (at, later) in layer.iter().enumerate() {
        let Some(first) = layer[..at].iter().find(|first| first.key == later.key) else { continue };
        if (&first.text, first.by_file) != (&later.text, later.by_file) {
            let names = format!("{} and {} both set {}", first.origin.name(), later.origin.name(), later.key);
            problems.push(Problem::error(later.origin.place(), names, "remove one of them"));
        }
    }
}

fn shown(spec: &'static Spec, given: Option<Given>) -> Shown {
    let origin = given.as_ref().map_or(Origin::Default, |given| given.origin.clone());
    let text = given.map(|given| match (spec.kind, given.by_file) {
        (Kind::Secret, true) => format!("{SECRET_SHOWN}, read from {}", given.text),
        (Kind::Secret, false) => SECRET_SHOWN.to_owned(),
        (Kind::Url, _) => masked(&given.text),
        _ => given.text,
    });
    Shown { spec, text, origin }
}
