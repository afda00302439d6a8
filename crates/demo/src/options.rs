//! The engine of a demonstration.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use scarce_core::outcome::Durability;
use scarce_settings::{Given, Origin, SETTINGS, ServerSettings, Sources};

use crate::failure::DemoError;

/// Which engine decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// Files of this machine.
    #[default]
    Embedded,
    /// A Redis.
    Redis,
}

/// What is started where no Redis is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Topology {
    /// One server.
    #[default]
    Standalone,
    /// A primary and a replica behind three sentinels; the primary is killed too.
    Sentinel,
    /// Three primaries, each with a replica; the one that the demonstration uses is killed too.
    Cluster,
}

/// How safe a change must be before it is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// In the memory of the Redis that decides.
    #[default]
    Memory,
    /// In a replica too.
    Replicated,
    /// On that Redis' disk.
    Synced,
}

impl Level {
    /// The engine's durability level.
    pub(super) const fn durability(self) -> Durability {
        match self {
            Self::Memory => Durability::Memory,
            Self::Replicated => Durability::Replicated,
            Self::Synced => Durability::Synced,
        }
    }
}

/// Which engine decides, and where it keeps what it knows.
#[derive(Clone, Debug, Args)]
pub struct EngineOptions {
    /// Which engine decides: embedded on files of this machine, or redis.
    #[arg(long, value_enum, default_value_t, value_name = "ENGINE")]
    pub engine: EngineName,
    /// A Redis of your own, as 'scarce serve' takes it; the demonstration uses a prefix of its own there and deletes
    /// its keys at the end. Without it, it starts servers of its own.
    #[arg(long, value_name = "URL", value_parser = address)]
    pub redis_url: Option<String>,
    /// A file with the password of that Redis.
    #[arg(long, value_name = "FILE", requires = "redis_url")]
    pub redis_password_file: Option<PathBuf>,
    /// What is started where no Redis is named.
    #[arg(long, value_enum, value_name = "TOPOLOGY", conflicts_with = "redis_url")]
    pub topology: Option<Topology>,
    /// How safe a change in Redis must be before it is answered.
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub durability: Option<Level>,
}

/// Parses an address as the setting does.
fn address(text: &str) -> Result<String, String> {
    let found = SETTINGS.iter().find(|spec| spec.key == "redis_url");
    found.map_or(Ok(()), |spec| spec.check(text)).map_err(|shape| format!("must be {shape}"))?;
    Ok(text.to_owned())
}

impl EngineOptions {
    /// Whether the engine is Redis.
    ///
    /// # Errors
    /// When there are options for Redis but the engine is another.
    pub(super) fn is_redis(&self) -> Result<bool, DemoError> {
        let given = [
            ("--redis-url", self.redis_url.is_some()),
            ("--topology", self.topology.is_some()),
            ("--durability", self.durability.is_some()),
        ];
        match (self.engine, given.iter().find(|(_, is_given)| *is_given)) {
            (EngineName::Embedded, Some((flag, _))) => {
                Err(DemoError::usage(format!("{flag} is for --engine redis; give that too")))
            }
            (engine, _) => Ok(engine == EngineName::Redis),
        }
    }

    /// The settings for the user's own Redis, from variables and these options.
    ///
    /// # Errors
    /// When they are invalid.
    pub(super) fn settings(&self, url: &str, prefix: &str) -> Result<ServerSettings, DemoError> {
        let given = |key, text: &str, by_file| Given {
            key,
            text: text.to_owned(),
            by_file,
            origin: Origin::Flag(format!("--{}", key.replace('_', "-"))),
        };
        let mut all = vec![given("redis_url", url, false), given("redis_prefix", prefix, false)];
        let file = self.redis_password_file.as_ref().map(|file| file.display().to_string());
        all.extend(file.map(|file| given("redis_password", &file, true)));
        let loaded = scarce_settings::load(&Sources::of_process(None, all));
        let loaded = loaded.map_err(|problems| DemoError::usage(scarce_settings::listed(&problems)))?;
        // If stderr is gone, there is nobody to warn.
        let mut stderr = std::io::stderr().lock();
        loaded.warnings.iter().for_each(|warning| drop(writeln!(stderr, "warning: {warning}")));
        Ok(loaded.settings)
    }
}
