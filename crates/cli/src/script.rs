//! `scarce scripts`: scripts of one's own on the servers that the Redis engine uses.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use redis::Value;
use scarce_engine_redis::script::{Call, Registered, Script, ScriptError, Scripts};
use serde_json::json;

use super::paint::Paint;
use super::{Ended, Exit, Failed, show};
use crate::setting_flags::SettingFlags;

/// `scarce scripts`.
#[derive(Debug, Subcommand)]
pub enum ScriptCommand {
    /// Register a script under a name, as its next version, and load it on every primary.
    Load(Load),
    /// Run a script by its name, its name and version, or its digest, where its keys are.
    Run(Run),
    /// List the scripts that are registered.
    List(List),
    /// Print the text of a script.
    Show(Show),
    /// Remove a script with all of its versions.
    Remove(Remove),
}

/// `scarce scripts load`.
#[derive(Debug, Args)]
pub struct Load {
    #[command(flatten)]
    /// Where the servers are.
    pub settings: SettingFlags,
    /// Its name; that of the file where this is not given.
    #[arg(long)]
    pub name: Option<String>,
    /// It writes nothing; servers with Functions hold it to that.
    #[arg(long)]
    pub read_only: bool,
    /// The script as EVAL takes it, or - for standard input.
    pub file: PathBuf,
}

/// `scarce scripts run`.
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    /// Where the servers are.
    pub settings: SettingFlags,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
    /// A key that the script gets, as KEYS[1] and so on, behind the namespace of scripts; the first one says where the
    /// script runs.
    #[arg(long = "key", value_name = "KEY")]
    pub keys: Vec<String>,
    /// Run where this key is, without handing it to the script.
    #[arg(long, value_name = "KEY")]
    pub on: Option<String>,
    /// The script's name, its name and version such as raise_to@2, or the 40 digits of its digest.
    pub name: String,
    /// What the script gets as ARGV[1] and so on.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub arguments: Vec<String>,
}

/// `scarce scripts list`.
#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    /// Where the servers are.
    pub settings: SettingFlags,
    /// Also list versions that are not current.
    #[arg(long)]
    pub all: bool,
    /// Print JSON, one object for each script.
    #[arg(long)]
    pub json: bool,
}

/// `scarce scripts show`.
#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    /// Where the servers are.
    pub settings: SettingFlags,
    /// The script's name, or its name and version such as raise_to@2.
    pub name: String,
}

/// `scarce scripts remove`.
#[derive(Debug, Args)]
pub struct Remove {
    #[command(flatten)]
    /// Where the servers are.
    pub settings: SettingFlags,
    /// The script's name.
    pub name: String,
}

pub(super) fn run(command: &ScriptCommand) -> Ended {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match command {
            ScriptCommand::Load(options) => load(options).await,
            ScriptCommand::Run(options) => run_one(options).await,
            ScriptCommand::List(options) => list(options).await,
            ScriptCommand::Show(options) => show_text(options).await,
            ScriptCommand::Remove(options) => remove(options).await,
        }
    })
}

async fn open(settings: &SettingFlags) -> Result<Scripts, Failed> {
    let settings = super::config::load(settings)?.settings;
    let settings = settings.redis().map_err(|reason| Failed::text(Exit::Failed, reason))?;
    Ok(Scripts::open(&settings).await?)
}

async fn load(options: &Load) -> Ended {
    let body = read(&options.file)?;
    let name = match &options.name {
        Some(name) => name.clone(),
        None => options.file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let script = match options.read_only {
        true => Script::reader(&name, &body)?,
        false => Script::new(&name, &body)?,
    };
    let mut out = std::io::stdout().lock();
    for loaded in open(&options.settings).await?.load(&script).await? {
        writeln!(out, "{}  {}@{}  {}", loaded.server, script.name(), loaded.version, loaded.called_by)?;
    }
    Ok(Exit::Done)
}

fn read(file: &Path) -> Result<String, Failed> {
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(file)
        .map_err(|error| Failed::text(Exit::Usage, format!("cannot read {}: {error}", file.display())))
}

async fn run_one(options: &Run) -> Ended {
    let scripts = open(&options.settings).await?;
    let mut keys = options.keys.iter().map(|key| scripts.key_of_client(key));
    let call = match (&options.on, keys.next()) {
        (Some(on), first) => {
            let call = Call::routed(&scripts.key_of_client(on));
            first.into_iter().fold(call, |call, key| call.key(&key))
        }
        (None, Some(first)) => Call::on(&first),
        (None, None) => {
            let text = "say where the script runs: --key KEY for a key that it gets, or --on KEY";
            return Err(Failed::text(Exit::Usage, text));
        }
    };
    let call = keys.fold(call, |call, key| call.key(&key));
    let call = options.arguments.iter().fold(call, |call, argument| call.argument(argument));
    let value: Value = scripts.run_named(&options.name, &call).await?;
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", super::call::json(&value))?;
    } else {
        let paint = Paint::for_stream(&std::io::stdout());
        out.write_all(show::answer::<&str>(&[], &value, paint).as_bytes())?;
    }
    Ok(Exit::Done)
}

async fn list(options: &List) -> Ended {
    let mut out = std::io::stdout().lock();
    let registry = open(&options.settings).await?.read_registry().await?;
    let is_wanted = |found: &&Arc<Registered>| options.all || registry.is_current(found);
    for found in registry.all().filter(is_wanted) {
        let (script, version) = (&found.script, found.version);
        let (name, function, sha) = (script.name(), script.function(), script.sha());
        if options.json {
            let line = json!({
                "name": name, "version": version, "read_only": found.is_read_only, "function": function, "sha": sha,
                "body": script.body(),
            });
            writeln!(out, "{line}")?;
        } else {
            let rights = if found.is_read_only { "reads" } else { "writes" };
            writeln!(out, "{name}@{version}  {rights}  {function}  {sha}")?;
        }
    }
    Ok(Exit::Done)
}

async fn show_text(options: &Show) -> Ended {
    let found = open(&options.settings).await?.find(&options.name).await?;
    std::io::stdout().lock().write_all(found.script.body().as_bytes())?;
    Ok(Exit::Done)
}

async fn remove(options: &Remove) -> Ended {
    let name = &options.name;
    if !open(&options.settings).await?.remove(name).await? {
        return Err(ScriptError::Missing { name: name.clone() }.into());
    }
    writeln!(std::io::stdout().lock(), "{name} is removed; servers notice within a second")?;
    Ok(Exit::Done)
}

impl From<ScriptError> for Failed {
    fn from(error: ScriptError) -> Self {
        let exit = match error {
            ScriptError::Name { .. } | ScriptError::Size { .. } | ScriptError::CrossSlot { .. } => {
                Exit::Usage
            }
            ScriptError::Unavailable { .. } => Exit::Unreachable,
            _ => Exit::Failed,
        };
        Self::new(exit, &error)
    }
}
