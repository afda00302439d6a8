//! The arguments of `scarce import redis`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use scarce_engine_redis::address::{Login, Tls};
use scarce_takeover::{Moment, Source};

use crate::args::Target;
use crate::call::{read_file, read_password};
use crate::import::args::{EngineName, Options, run_name};
use crate::setting_flags::RedisFlags;
use crate::{Exit, Failed};

/// `scarce import redis`.
#[derive(Debug, Args)]
pub struct FromRedis {
    #[command(flatten)]
    /// The Redis that is read.
    pub from: From,
    /// What the keys mean, in TOML; see the reference.
    #[arg(long, value_name = "FILE")]
    pub map: PathBuf,
    /// The name of this run. Under the same name nothing is made twice, and an interrupted run goes on.
    #[arg(long, value_name = "NAME", value_parser = run_name, required_unless_present_any = ["dry_run", "compare"])]
    pub run: Option<String>,
    /// Show what would be made, and change nothing anywhere; the source is neither paused nor checked for writers.
    #[arg(long)]
    pub dry_run: bool,
    /// Make nothing: read the source at one moment and compare the server with it; exit code 5 if they differ.
    #[arg(long, conflicts_with = "dry_run")]
    pub compare: bool,
    /// How the keys are read as they are at one moment.
    #[arg(long, value_enum, default_value = "pause", value_name = "HOW")]
    pub moment: MomentName,
    /// For how long the source may hold up its writers at most. It is let go as soon as the keys are read.
    #[arg(long, default_value_t = 5_000, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=600_000))]
    pub pause_ms: u64,
    /// The file of the plan, from which an interrupted run goes on; by default the run's name with .plan.ndjson behind it.
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    #[command(flatten)]
    /// Which server.
    pub target: Target,
    /// Import straight into a Redis, without a server: --redis-url says where, the other settings as for 'scarce serve'.
    #[arg(long, value_enum, value_name = "ENGINE")]
    pub engine: Option<EngineName>,
    #[command(flatten)]
    /// Where that Redis is and what is there, for --engine redis.
    pub redis: RedisFlags,
    /// How many operations may wait for their answers at once.
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub window: u32,
    /// How long to try again when the server is gone or takes nothing.
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    pub retry_for: u64,
    /// Print the summary as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The Redis that is in use.
#[derive(Clone, Debug, Args)]
pub struct From {
    /// The Redis that is in use: redis://HOST:PORT[/DB], rediss://… for TLS, redis+sentinel://… or redis+cluster://….
    #[arg(long, value_name = "URL")]
    pub from: String,
    /// The user that logs in there; without one, Redis' default user.
    #[arg(long, value_name = "NAME")]
    pub from_user: Option<String>,
    /// A file with the password there.
    #[arg(long, value_name = "FILE")]
    pub from_password_file: Option<PathBuf>,
    /// A file with the password of the sentinels.
    #[arg(long, value_name = "FILE")]
    pub from_sentinel_password_file: Option<PathBuf>,
    /// Authorities in PEM that it must be certified by, instead of the system's.
    #[arg(long, value_name = "FILE")]
    pub from_tls_ca: Option<PathBuf>,
    /// The certificate in PEM to show there.
    #[arg(long, value_name = "FILE", requires = "from_tls_client_key")]
    pub from_tls_client_cert: Option<PathBuf>,
    /// The key of that certificate.
    #[arg(long, value_name = "FILE", requires = "from_tls_client_cert")]
    pub from_tls_client_key: Option<PathBuf>,
}

/// How the keys are read as they are at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MomentName {
    /// The source holds up its writers meanwhile (CLIENT PAUSE … WRITE); readers go on.
    Pause,
    /// The writers have been stopped, or it is a replica that follows no more; refused if it changes meanwhile.
    Still,
}

impl From {
    pub(crate) fn login(&self) -> Result<Login, Failed> {
        let secret = |path: &Option<PathBuf>| path.as_deref().map(read_password).transpose();
        Ok(Login {
            user: self.from_user.clone(),
            password: secret(&self.from_password_file)?,
            sentinel_password: secret(&self.from_sentinel_password_file)?,
        })
    }

    pub(crate) fn tls(&self) -> Result<Tls, Failed> {
        let client = match (&self.from_tls_client_cert, &self.from_tls_client_key) {
            (Some(certificate), Some(key)) => Some((read_file(certificate)?, read_file(key)?)),
            _ => None,
        };
        Ok(Tls { authorities: self.from_tls_ca.as_deref().map(read_file).transpose()?, client })
    }

    fn source(&self) -> Result<Source, Failed> {
        Source::new(&self.from, self.login()?, self.tls()?).map_err(|error| Failed::new(Exit::Usage, &error))
    }
}

impl FromRedis {
    pub(super) fn source(&self) -> Result<Source, Failed> {
        self.from.source()
    }

    pub(super) fn moment(&self) -> Moment {
        match self.moment {
            _ if self.dry_run => Moment::Look,
            MomentName::Pause => Moment::Pause(Duration::from_millis(self.pause_ms)),
            MomentName::Still => Moment::Still,
        }
    }

    /// The file of the plan of a run.
    pub(super) fn plan_file(&self, run: &str) -> PathBuf {
        self.plan.clone().unwrap_or_else(|| {
            let is_plain = |one: char| one.is_ascii_alphanumeric() || matches!(one, '-' | '_' | '.');
            let name: String = run.chars().map(|one| if is_plain(one) { one } else { '_' }).collect();
            PathBuf::from(format!("{name}.plan.ndjson"))
        })
    }

    /// How operations are sent, as for other imports.
    pub(super) fn options(&self) -> Options {
        Options {
            target: self.target.clone(),
            engine: self.engine,
            redis: self.redis.clone(),
            scales: Vec::new(),
            run: None,
            outcomes: None,
            report: None,
            from_line: 1,
            refusals_ok: false,
            window: self.window,
            retry_for: self.retry_for,
            json: self.json,
        }
    }
}
