//! The command line: subcommands, how they end, and what they print.
//!
//! Must not know: how a command is decided, kept or sent on. A subcommand reads what was typed, asks a server or reads
//! files through the crates below, and prints.
//!
//! Where to begin: [`run`] names every subcommand; `serve.rs` starts a server, `args.rs` says what may be typed.

#![forbid(unsafe_code)]

mod acts;
mod args;
mod audit;
mod backup;
mod bench;
mod call;
mod columns;
mod completions;
mod config;
mod consumers;
mod dead_letters;
mod deliver;
mod doctor;
mod explain;
mod files;
mod history;
mod import;
mod journal;
mod keys;
mod migrate;
mod mirror;
mod packets;
mod paint;
mod projection;
mod reconcile;
mod repl;
mod restore;
mod script;
mod serve;
mod setting_flags;
mod shadow;
mod show;
mod sinks;
mod snapshot;
mod top;
mod trial;

pub use args::{Arguments, Subcommand};
pub use import::{Import, count_operations};

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use scarce_client::ClientError;
use scarce_demo::{DemoError, Verdict};
use scarce_engine_embedded::EmbeddedError;
use scarce_engine_redis::RedisError;
use scarce_server::pipeline::PipelineError;
use signal_hook::consts::{SIGINT, SIGTERM};

/// How a subcommand ended; its number is the exit code of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Something failed.
    Failed = 1,
    /// The command line itself was wrong.
    Usage = 2,
    /// The engine refused.
    Refused = 3,
    /// Nothing answered.
    Unreachable = 4,
    /// An invariant is broken.
    Broken = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// A subcommand that failed: what to print, and the exit code.
#[derive(Debug)]
pub struct Failed {
    /// The exit code.
    pub exit: Exit,
    /// The message on stderr.
    pub message: String,
}

impl Failed {
    /// A failure with all its causes.
    pub fn new(exit: Exit, error: &(dyn std::error::Error + 'static)) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            // Some errors have the same text as their cause.
            let text = cause.to_string();
            if !message.ends_with(&text) {
                message.push_str("\n  because: ");
                message.push_str(&text);
            }
            source = cause.source();
        }
        Self { exit, message }
    }

    /// A failure with only a text.
    pub fn text(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Self {
        // The reader has enough, like 'head': nothing failed, and there is nothing to report.
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::text(Exit::Done, "");
        }
        Self::new(Exit::Failed, &error)
    }
}

impl From<ClientError> for Failed {
    fn from(error: ClientError) -> Self {
        let exit = match error {
            ClientError::Refused(_) | ClientError::Password { .. } => Exit::Failed,
            ClientError::Certificates(_) => Exit::Usage,
            ClientError::Unreachable { .. } | ClientError::Trouble { .. } | ClientError::Broken(_) => {
                Exit::Unreachable
            }
        };
        Self::new(exit, &error)
    }
}

impl From<PipelineError> for Failed {
    fn from(error: PipelineError) -> Self {
        let exit = if matches!(error, PipelineError::WithoutKafka) { Exit::Usage } else { Exit::Failed };
        Self::new(exit, &error)
    }
}

impl From<EmbeddedError> for Failed {
    fn from(error: EmbeddedError) -> Self {
        Self::new(Exit::Failed, &error)
    }
}

impl From<RedisError> for Failed {
    fn from(error: RedisError) -> Self {
        let exit = match error {
            RedisError::Server(_) => Exit::Unreachable,
            RedisError::Occupied { .. } => Exit::Refused,
            _ => Exit::Failed,
        };
        Self::new(exit, &error)
    }
}

impl From<DemoError> for Failed {
    fn from(error: DemoError) -> Self {
        match error {
            DemoError::Client(error) => error.into(),
            DemoError::System(error) => error.into(),
            DemoError::Usage(_) => Self::new(Exit::Usage, &error),
            error => Self::new(Exit::Failed, &error),
        }
    }
}

/// The first signal requests an orderly stop, a second one ends the process at once.
fn stop_on_signals() -> Result<Arc<AtomicBool>, Failed> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, stop.clone())?;
        signal_hook::flag::register(signal, stop.clone())?;
    }
    Ok(stop)
}

/// The result of a subcommand.
pub type Ended = Result<Exit, Failed>;

/// Runs the subcommand.
///
/// # Errors
/// When it fails.
pub fn run(arguments: Arguments) -> Ended {
    let act = acts::Act::of(&arguments.subcommand);
    let ended = carry_out(arguments.subcommand);
    if let Some(act) = act {
        act.note(&ended);
    }
    ended
}

fn carry_out(subcommand: Subcommand) -> Ended {
    match subcommand {
        Subcommand::Serve(options) => serve::run(&options),
        Subcommand::Try(options) => trial::run(&options),
        Subcommand::Call(options) => call::run(&options),
        Subcommand::Repl(options) => repl::run(&options),
        Subcommand::Config(options) => config::run(&options),
        Subcommand::Doctor(options) => doctor::run(&options),
        Subcommand::Journal(options) => journal::run(&options),
        Subcommand::Snapshot(options) => snapshot::run(&options),
        Subcommand::Backup(options) => backup::run(&options),
        Subcommand::Restore(options) => restore::run(&options),
        Subcommand::Migrate(options) => migrate::run(&options),
        Subcommand::Scripts(options) => script::run(&options),
        Subcommand::Webhooks(options) => deliver::run_webhooks(&options),
        Subcommand::Settlements(options) => deliver::run_settlements(&options),
        Subcommand::DeadLetters(options) => dead_letters::run(&options),
        Subcommand::Keys(options) => keys::run(&options),
        Subcommand::Consumers(options) => consumers::run(&options),
        Subcommand::Audit(options) => audit::run(&options),
        Subcommand::History(options) => history::run(&options),
        Subcommand::Mirror(options) => mirror::run(&options),
        Subcommand::Projection(options) => projection::run(&options),
        Subcommand::Reconcile(options) => reconcile::run(&options),
        Subcommand::Packets(options) => packets::run(&options),
        Subcommand::Completions(options) => completions::run(&options),
        Subcommand::Man(options) => completions::man(&options),
        Subcommand::Explain(options) => explain::run(&options),
        Subcommand::Import(options) => import::run(&options),
        Subcommand::Shadow(options) => shadow::run(&options),
        Subcommand::Bench(options) => bench::run(&options),
        Subcommand::Top(options) => top::run(&options),
        Subcommand::Demo(options) => Ok(match scarce_demo::run(&options)? {
            Verdict::Holds => Exit::Done,
            Verdict::Broken => Exit::Broken,
        }),
    }
}
