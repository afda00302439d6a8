//! Settings of the log.

use std::fmt;
use std::time::Duration;

use tracing_subscriber::filter::{LevelFilter, Targets};

use super::table::{ServerSettings, Spec};
use super::value::{Kind, Setting};

/// What all modules of this server begin with.
const OWN_MODULES: &str = "scarce";

/// How much is logged.
#[derive(Clone, PartialEq, Eq)]
pub struct LogLevel(String);

impl LogLevel {
    /// The filter of events.
    #[must_use]
    pub fn targets(&self) -> Targets {
        // It was checked when it was read.
        parse(&self.0).unwrap_or_default()
    }
}

impl fmt::Debug for LogLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Setting for LogLevel {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        "off, error, warn, info, debug or trace, with MODULE=LEVEL after commas if needed".to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        parse(text).map(|_| Self(text.to_owned()))
    }
}

/// The filter that a text describes.
fn parse(text: &str) -> Option<Targets> {
    let mut targets = Targets::new();
    for (at, part) in text.split(',').enumerate() {
        targets = match part.split_once('=') {
            Some((module, level)) if !module.is_empty() => targets.with_target(module, level_of(level)?),
            None if at == 0 => {
                let level = level_of(part)?;
                // Libraries only tell what is wrong: at lower levels some of them print statements and packets.
                targets.with_target(OWN_MODULES, level).with_default(level.min(LevelFilter::WARN))
            }
            _ => return None,
        };
    }
    Some(targets)
}

fn level_of(word: &str) -> Option<LevelFilter> {
    ["off", "error", "warn", "info", "debug", "trace"].contains(&word).then(|| word.parse().ok()).flatten()
}

impl ServerSettings {
    /// From when on something is logged as slow; `None` if nothing is.
    #[must_use]
    pub fn slow(&self) -> Option<Duration> {
        (self.slow_ms > 0).then(|| Duration::from_millis(self.slow_ms))
    }
}

/// How a line of the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// An object for each line, for programs.
    Json,
}

impl Setting for LogFormat {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        "text or json".to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        match text {
            "text" => Some(Self::Text),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::filter::LevelFilter;

    use super::super::table::SETTINGS;
    use super::*;

    #[test]
    fn libraries_stay_quiet_unless_they_are_named() {
        let spec = SETTINGS.iter().find(|spec| spec.key == "log_level").expect("the setting");
        let read = |text: &str| LogLevel::read(text, spec);
        let level = read("debug,sqlx=info").expect("a level").targets();
        let would = |target: &str, level_of: tracing::Level| level.would_enable(target, &level_of);
        assert!(would("scarce_outflow::runner", tracing::Level::DEBUG));
        assert!(would("sqlx::query", tracing::Level::INFO));
        assert!(!would("hyper::proto", tracing::Level::INFO) && would("hyper", tracing::Level::WARN));
        assert_eq!(read("off").map(|level| level.targets().default_level()), Some(Some(LevelFilter::OFF)));
        for wrong in ["", "loud", "info,warn", "=info", "info,sqlx=loud"] {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }
}
