//! The layer of environment variables.

use std::ffi::OsString;

use super::layers::{Given, Origin};
use super::problem::Problem;
use super::table::{SETTINGS, Spec, VARIABLE_PREFIX};
use super::value::Kind;
use super::{FILE_SUFFIX, meant};

/// Reads the variables. An empty one counts as unset, because some tools pass variables on empty.
pub(super) fn read(environment: &[(OsString, OsString)], problems: &mut Vec<Problem>) -> Vec<Given> {
    let mut given = Vec::new();
    for (name, value) in environment {
        let Some(name) = name.to_str().filter(|name| name.starts_with(VARIABLE_PREFIX)) else { continue };
        match find(name) {
            Some((spec, by_file)) if !value.is_empty() => {
                given.extend(setting(spec, by_file, name, value, problems));
            }
            None if looks_like_a_setting(name) => problems.push(unknown(name)),
            _ => {}
        }
    }
    given.sort_by(|first: &Given, second| first.origin.name().cmp(second.origin.name()));
    given
}

fn setting(
    spec: &'static Spec,
    by_file: bool,
    name: &str,
    value: &OsString,
    problems: &mut Vec<Problem>,
) -> Option<Given> {
    let text = value.to_str().map(str::to_owned);
    let checked = text.ok_or_else(|| "text in UTF-8".to_owned());
    match checked.and_then(|text| if by_file { Ok(text) } else { spec.check(&text).map(|()| text) }) {
        Ok(text) => {
            Some(Given { key: spec.key, text, by_file, origin: Origin::Environment(name.to_owned()) })
        }
        Err(shape) => {
            let found = match spec.kind {
                Kind::Secret | Kind::Url => String::new(),
                _ => format!(", not '{}'", value.to_string_lossy()),
            };
            let text = format!("the variable {name} must be {shape}{found}");
            problems.push(Problem::error(None, text, "correct it or unset it"));
            None
        }
    }
}

/// The short name of a variable that many know from other programs, and its setting.
const LEVEL_VARIABLE: (&str, &str) = ("SCARCE_LOG", "log_level");

/// The setting that a variable sets, and whether its value names a file with the secret.
fn find(name: &str) -> Option<(&'static Spec, bool)> {
    let suffix = FILE_SUFFIX.to_ascii_uppercase();
    SETTINGS.iter().find_map(|spec| {
        if (name, spec.key) == LEVEL_VARIABLE {
            return Some((spec, false));
        }
        let is_named = |name: &str| spec.variables().iter().any(|known| known == name);
        let by_file = spec.kind == Kind::Secret && name.strip_suffix(&suffix).is_some_and(is_named);
        (by_file || is_named(name)).then_some((spec, by_file))
    })
}

/// The maximum number of typos in a name that still counts as a setting's.
const SLIPS_MAX: usize = 2;

/// Not every unknown variable is a mistake: orchestrators set some for any service called `scarce`, such as
/// `SCARCE_PORT_7379_TCP`.
fn looks_like_a_setting(name: &str) -> bool {
    let is_other = name == format!("{VARIABLE_PREFIX}CONFIG");
    let is_near =
        |spec: &Spec| spec.variables().iter().any(|known| strsim::osa_distance(known, name) <= SLIPS_MAX);
    !is_other && (name[VARIABLE_PREFIX.len()..].contains("__") || SETTINGS.iter().any(is_near))
}

fn unknown(name: &str) -> Problem {
    let key = name[VARIABLE_PREFIX.len()..].to_ascii_lowercase().replace("__", ".");
    let advice = match meant(&key) {
        Some(spec) => format!("did you mean {}?", spec.variables()[1]),
        None => "'scarce config show' names all settings".to_owned(),
    };
    Problem::warning(None, format!("the variable {name} sets nothing"), advice)
}
