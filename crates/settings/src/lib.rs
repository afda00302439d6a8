//! The settings of `scarce serve`, in layers: defaults, then files, then variables, then flags. A
//! later layer wins.
//!
//! One table (`table.rs`) declares them all. Files are parsed with positions, so that every problem names line
//! and column; a generic deserializer would lose the positions.
//!
//! Must not know: a command line, or a running server; these read the settings.
//!
//! Where to begin: `table.rs`, the settings; [`load`], which puts the layers together.

#![forbid(unsafe_code)]

pub mod duration;
mod environment;
mod file;
mod layers;
mod logs;
mod memory;
mod origins;
mod outflow;
mod problem;
mod reconciling;
mod redis;
mod scales;
mod secret;
mod shown;
mod table;
mod value;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;

use scarce_api::nearest::nearest;

pub use layers::{Given, Loaded, Origin, Shown, Sources, load};
pub use logs::{LogFormat, LogLevel};
pub use memory::MemoryMax;
pub use origins::Origins;
pub use outflow::{Properties, SettlementChoice, SqlUrl};
pub use problem::{FilePosition, Problem, listed};
pub use reconciling::RepairLevel;
pub use scales::{AssetScale, AssetScales};
pub use secret::read_secret;
pub use table::{SETTINGS, ServerSettings, Spec, VARIABLE_PREFIX};
pub use value::{EngineChoice, Kind, Password, RedisUrl, Setting};

/// How long a password must be that others can guess at.
const PASSWORD_CHARACTERS_MIN: usize = 12;

impl ServerSettings {
    /// The ports that are reachable from outside although there is no password, or one that is soon guessed.
    #[must_use]
    pub fn exposed(&self) -> Option<Problem> {
        let characters = self.password.as_ref().map(|password| password.reveal().chars().count());
        let (what, advice) = match characters {
            None => (
                "there is no password".to_owned(),
                "give --password-file, make a key with 'scarce keys create', or listen on 127.0.0.1",
            ),
            Some(count) if count < PASSWORD_CHARACTERS_MIN && !self.accept_weak_password => (
                format!("the password has only {count} of at least {PASSWORD_CHARACTERS_MIN} characters"),
                "choose a longer one, listen on 127.0.0.1, or give --accept-weak-password",
            ),
            Some(_) => return None,
        };
        let is_open = |address: &SocketAddr| !address.ip().is_loopback();
        let ports = [("resp", Some(self.resp)), ("http", self.http)];
        let (key, address) =
            ports.into_iter().find_map(|(key, address)| Some((key, address.filter(is_open)?)))?;
        Some(Problem::error(
            None,
            format!("{key} on {address} can be reached from outside, but {what}"),
            advice,
        ))
    }
}

/// The suffix of a secret's key whose value is the name of a file.
pub const FILE_SUFFIX: &str = "_file";

/// The setting of a key in a file, and whether its value names a file with the secret.
fn find(key: &str) -> Option<(&'static Spec, bool)> {
    SETTINGS.iter().find_map(|spec| {
        let by_file = spec.kind == Kind::Secret
            && key.strip_suffix(FILE_SUFFIX).is_some_and(|secret| secret == spec.key);
        (spec.key == key || by_file).then_some((spec, by_file))
    })
}

/// The setting that a mistyped key was meant to be: one that ends with it, or the most similar one.
fn meant(key: &str) -> Option<&'static Spec> {
    let last = key.rsplit_once('.').map_or(key, |(_, last)| last);
    let of = |name: &str, part: fn(&Spec) -> &'static str| SETTINGS.iter().find(|spec| part(spec) == name);
    of(last, Spec::short_key)
        .or_else(|| {
            nearest(key, SETTINGS.iter().map(|spec| spec.key)).and_then(|key| of(key, |spec| spec.key))
        })
        .or_else(|| {
            nearest(last, SETTINGS.iter().map(Spec::short_key)).and_then(|key| of(key, Spec::short_key))
        })
}
