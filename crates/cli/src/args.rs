//! The command line's arguments.

use std::path::PathBuf;

use clap::builder::{FalseyValueParser, OsStringValueParser, TypedValueParser};
use clap::{Args, Parser};
use scarce_demo::Demo;

use super::audit::Audit;
use super::backup::Backup;
use super::bench::Bench;
use super::completions::{Completions, ManPages};
use super::config::Config;
use super::consumers::Consumers;
use super::dead_letters::DeadLetters;
use super::deliver::{Settlements, Webhooks};
use super::doctor::Doctor;
use super::history::History;
use super::import::Import;
use super::journal::Journal;
use super::keys::Keys;
use super::migrate::Migrate;
use super::mirror::MirrorCommand;
use super::packets::Packets;
use super::projection::ProjectionCommand;
use super::reconcile::Reconcile;
use super::repl::Repl;
use super::restore::Restore;
use super::script::ScriptCommand;
use super::serve::Serve;
use super::shadow::Shadow;
use super::snapshot::Snapshot;
use super::top::Top;
use super::trial::Try;

/// Hands out what there is not enough of: balances, stock, red packets, coupons, the best price.
#[derive(Debug, Parser)]
#[command(name = "scarce", version, about, propagate_version = true, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub subcommand: Subcommand,
}

/// What to do.
#[derive(Debug, clap::Subcommand)]
pub enum Subcommand {
    /// Run the server.
    Serve(Serve),
    /// Run a server with sample data and the console, and forget all of it at the end.
    Try(Try),
    /// Show what the system does, on a server of its own that is killed on the way.
    Demo(Demo),
    /// Send one command to a server and print the answer.
    Call(Call),
    /// Talk to a server, command by command, with completion and help.
    Repl(Repl),
    /// Look at a journal, check it or write out its events, without changing anything.
    #[command(subcommand)]
    Journal(Journal),
    /// Make snapshots, list them and check them.
    #[command(subcommand)]
    Snapshot(Snapshot),
    /// Say what an outcome code means and what to do about it.
    Explain(super::explain::Explain),
    /// Show the settings of 'scarce serve', or check them.
    #[command(subcommand)]
    Config(Config),
    /// Look whether this machine is fit to run the server, and say what to do where it is not.
    Doctor(Doctor),
    /// Back up a data directory while a server runs on it; list, verify and remove backups.
    #[command(subcommand)]
    Backup(Backup),
    /// Make a new data directory from a backup or a copy of one, as it was at a sequence or a time.
    Restore(Restore),
    /// Move a deployment into other files, or among another number of partitions.
    Migrate(Migrate),
    /// Run a file of operations against a server, or bring in balances or stock.
    Import(Box<Import>),
    /// Stand in front of a Redis in use, and compare what its scripts answer with what Scarce would.
    Shadow(Box<Shadow>),
    /// Put a server under load and measure it.
    Bench(Bench),
    /// Watch a server's counters and their rates.
    Top(Top),
    /// Try out how red packets are cut, or recompute the cut of a closed campaign.
    #[command(subcommand)]
    Packets(Packets),
    /// Register, run, list and remove scripts of your own on the servers that the Redis engine uses.
    #[command(subcommand)]
    Scripts(ScriptCommand),
    /// Make, list, rotate and revoke the keys of callers, and say what each may do.
    #[command(subcommand)]
    Keys(Keys),
    /// Read who administered what and who was turned away, or follow it.
    Audit(Audit),
    /// See who consumes the log of a server and how far each is, or forget one.
    #[command(subcommand)]
    Consumers(Consumers),
    /// Say who is sent events by HTTP, and see what became of it.
    #[command(subcommand)]
    Webhooks(Webhooks),
    /// See what became of claimed red packets, and mend what could not be credited.
    #[command(subcommand)]
    Settlements(Settlements),
    /// Look at the commands from Kafka that could not be read, and send them again.
    #[command(subcommand)]
    DeadLetters(DeadLetters),
    /// Ask the database that the log is projected into what happened: statements, sales, claims, trades.
    History(History),
    /// See how far the log is in the database that it is projected into, or make the tables anew.
    #[command(subcommand)]
    Projection(ProjectionCommand),
    /// See how far a mirror in Redis is, compare it with the engine, or have it written anew.
    #[command(subcommand)]
    Mirror(MirrorCommand),
    /// Compare log, engine, tables and settlements, and say after which event they part.
    Reconcile(Reconcile),
    /// Print a script that completes this command line, for a shell to read.
    Completions(Completions),
    /// Print the manual page, or write those of all subcommands.
    Man(ManPages),
}

/// A file, or nothing: a variable that is set to nothing asks for nothing.
fn maybe_empty() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Which server to talk to.
#[derive(Clone, Debug, Args)]
pub struct Target {
    /// The server's RESP port.
    #[arg(long, env = "SCARCE_RESP", default_value = "127.0.0.1:7379", value_name = "ADDR")]
    pub resp: String,
    /// A file with the server's password.
    #[arg(long, env = "SCARCE_PASSWORD_FILE", value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Speak TLS to the server.
    #[arg(long, env = "SCARCE_TLS", value_parser = FalseyValueParser::new())]
    pub tls: bool,
    /// Authorities in PEM that the server must be certified by, instead of the system's; speaks TLS.
    #[arg(long, env = "SCARCE_TLS_CA", value_name = "FILE", value_parser = maybe_empty())]
    pub tls_ca: Option<PathBuf>,
    /// The certificate in PEM to show to the server; speaks TLS.
    #[arg(long, env = "SCARCE_TLS_CLIENT_CERT", value_name = "FILE", requires = "tls_client_key")]
    pub tls_client_cert: Option<PathBuf>,
    /// The key of that certificate.
    #[arg(long, env = "SCARCE_TLS_CLIENT_KEY", value_name = "FILE", requires = "tls_client_cert")]
    pub tls_client_key: Option<PathBuf>,
}

/// `scarce call`.
#[derive(Debug, Args)]
pub struct Call {
    #[command(flatten)]
    /// Which server.
    pub target: Target,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
    /// The command and its arguments, as in redis-cli.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub words: Vec<String>,
}
