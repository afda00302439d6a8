//! The layer of flags, generated from the server's table of settings.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, ValueHint};

use scarce_settings::{FILE_SUFFIX, Given, Kind, Loaded, Origin, Problem, SETTINGS, Sources, Spec, load};

/// What the command line says of settings: `--config`, and a flag for each.
#[derive(Clone, Debug, Default)]
pub struct SettingFlags {
    /// The file to read instead of the default ones.
    pub config: Option<PathBuf>,
    /// The settings that were given.
    pub given: Vec<Given>,
}

const CONFIG: &str = "config";

impl SettingFlags {
    /// The settings of all layers, with these flags on top.
    ///
    /// # Errors
    /// All problems.
    pub fn load(&self) -> Result<Loaded, Vec<Problem>> {
        load(&Sources::of_process(self.config.clone(), self.given.clone()))
    }

    fn read(matches: &ArgMatches, specs: impl Iterator<Item = &'static Spec>) -> Self {
        let given = specs.filter_map(|spec| {
            let text = matches.get_one::<String>(spec.key)?.clone();
            let origin = Origin::Flag(format!("--{}", name(spec)));
            Some(Given { key: spec.key, text, by_file: spec.kind == Kind::Secret, origin })
        });
        Self { config: matches.get_one(CONFIG).cloned(), given: given.collect() }
    }
}

/// What has to do with a Redis beside its own settings.
const OF_REDIS: [&str; 5] = [
    "partitions",
    "limits.operations_max",
    "limits.receipt_retention_ms",
    "limits.outflow_lag_max",
    "ids.ulid_times",
];

/// Flags of some of the settings, for subcommands that have no ports of their own.
macro_rules! some_flags {
    ($(#[$doc:meta])* $name:ident $chosen:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub struct $name(pub SettingFlags);

        impl $name {
            fn specs() -> impl Iterator<Item = &'static Spec> {
                let chosen: fn(&str) -> bool = $chosen;
                SETTINGS.iter().filter(move |spec| chosen(spec.key))
            }
        }

        impl FromArgMatches for $name {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                Ok(Self(SettingFlags::read(matches, Self::specs())))
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl Args for $name {
            fn augment_args(command: Command) -> Command {
                Self::specs().fold(command.arg(config()), |command, spec| command.arg(flag(spec)))
            }

            fn augment_args_for_update(command: Command) -> Command {
                Self::augment_args(command)
            }
        }
    };
}

some_flags! {
    /// The flags of whatever works on a Redis.
    RedisFlags |key| key.starts_with("redis_") || OF_REDIS.contains(&key)
}

/// What a server in front of Redis is told, and who only copies there need not know.
const OF_REDIS_SERVERS: [&str; 5] =
    ["redis_url", "redis_deployment", "redis_scripts", "redis_clock_skew_ms", "redis_log_retention_ms"];

some_flags! {
    /// The flags of whatever moves a deployment to or from a Redis that is named otherwise.
    MoveFlags |key| key.starts_with("redis_") && !OF_REDIS_SERVERS.contains(&key)
}

some_flags! {
    /// The flags of whatever works on the keys of callers.
    KeyFlags |key| key == "data" || key == "engine" || key.starts_with("redis_")
}

some_flags! {
    /// The flags of whatever reads the audit log.
    AuditFlags |key| key == "data"
}

some_flags! {
    /// The flags of whatever works on the database that is projected into.
    SqlFlags |key| key == "sql" || key.starts_with("sql_")
}

some_flags! {
    /// The flags of whatever compares that database with an engine.
    SqlStateFlags |key| {
        key == "sql" || key.starts_with("sql_") || key == "data" || key == "engine" || key.starts_with("redis_") || OF_REDIS.contains(&key)
    }
}

some_flags! {
    /// The flags of whatever works on what consumers have made of the log.
    StoreFlags |key| ["kafka", "mirror", "sql"].iter().any(|its| key == *its || key.starts_with(&format!("{its}_")))
}

some_flags! {
    /// The flags of whatever works on the mirror.
    MirrorFlags |key| key == "mirror" || key.starts_with("mirror_")
}

some_flags! {
    /// The flags of whatever works on the database that is delivered from.
    DeliveryFlags |key| key == "sql" || key.starts_with("sql_") || key == "secrets_key"
}

some_flags! {
    /// The flags of whatever works with Kafka.
    KafkaFlags |key| key == "kafka" || key.starts_with("kafka_")
}

some_flags! {
    /// The flags of whatever brings events from Kafka into a database.
    KafkaSqlFlags |key| ["kafka", "sql"].iter().any(|its| key == *its || key.starts_with(&format!("{its}_")))
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self::read(matches, SETTINGS.iter()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::read(matches, SETTINGS.iter());
        Ok(())
    }
}

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        SETTINGS.iter().fold(command.arg(config()), |command, spec| command.arg(flag(spec)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn config() -> Arg {
    let help = "A file of settings in TOML, instead of /etc/scarce/scarce.toml and ./scarce.toml \
                [env: SCARCE_CONFIG]";
    Arg::new(CONFIG).long(CONFIG).value_name("FILE").value_parser(clap::value_parser!(PathBuf)).help(help)
}

/// A secret only has a flag that names a file, because anyone can read a process's arguments.
fn name(spec: &Spec) -> String {
    let suffix = if spec.kind == Kind::Secret { FILE_SUFFIX.replace('_', "-") } else { String::new() };
    format!("{}{suffix}", spec.flag())
}

fn flag(spec: &'static Spec) -> Arg {
    let arg = Arg::new(spec.key).long(name(spec)).help(help(spec)).help_heading(spec.heading);
    match spec.kind {
        Kind::Secret => arg.value_name("FILE").value_hint(ValueHint::FilePath),
        Kind::Switch => arg
            .value_name(spec.value_name)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_parser(checked(spec)),
        Kind::Text | Kind::Url | Kind::Integer => {
            let is_directory = spec.value_name == "DIR";
            let hint = if is_directory { ValueHint::DirPath } else { ValueHint::Other };
            arg.value_name(spec.value_name).value_hint(hint).value_parser(checked(spec))
        }
    }
}

fn checked(spec: &'static Spec) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync {
    move |text| match spec.check(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(shape) => Err(format!("must be {shape}")),
    }
}

fn help(spec: &Spec) -> String {
    let [variable, _] = spec.variables();
    let default = spec.default.filter(|_| spec.kind != Kind::Switch);
    let default = default.map(|text| if spec.is_duration() { spec.readable(text) } else { text.to_owned() });
    let default = default.map(|default| format!(" [default: {default}]")).unwrap_or_default();
    let meaning = spec.meaning.trim_end_matches('.');
    match spec.kind {
        Kind::Secret => {
            let suffix = FILE_SUFFIX.to_ascii_uppercase();
            let (first, rest) = meaning.split_at(1);
            format!("A file with {}{rest} [env: {variable}{suffix}]", first.to_ascii_lowercase())
        }
        _ => format!("{meaning}{default} [env: {variable}]"),
    }
}
