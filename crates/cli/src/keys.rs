//! `scarce keys`: the keys of callers, beside a running server, which notices a change within a second.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use jiff::Timestamp;
use scarce_access::{Asked, Key, KeyError, KeyId, Ring, Scope, Shown};
use scarce_server::keys::{KeyStore, KeyStoreError};
use scarce_settings::{EngineChoice, duration};
use serde_json::{Value, json};

use super::files::print_rows;
use super::{Ended, Exit, Failed};
use crate::setting_flags::KeyFlags;

/// `scarce keys`.
#[derive(Debug, Subcommand)]
pub enum Keys {
    /// Make a key and print it, this once. Only a hash of its secret is kept.
    Create(Create),
    /// List the keys, those that are over included.
    List(List),
    /// Show one key.
    Show(Show),
    /// Make a key in place of another one, with its scopes and its namespace; for a while both can be used.
    Rotate(Rotate),
    /// End a key at once, with the connections of those who came with it.
    Revoke(Revoke),
}

/// `scarce keys create`.
#[derive(Debug, Args)]
pub struct Create {
    /// Where the keys are.
    #[command(flatten)]
    pub settings: KeyFlags,
    /// The name of the caller, such as checkout.
    #[arg(long)]
    pub name: String,
    /// What it may do: verbs, kinds and resources, such as take,settle:stock:sku-*; can be given several times. Verbs are
    /// read, take, settle, create, administrate and operate, kinds account, stock, campaign, coupon, market and script;
    /// resources are an id, the beginning of ids and a *, or a tag in braces. What is left out is all.
    #[arg(long = "scope", value_name = "SCOPE", required = true, value_parser = Scope::parse)]
    pub scopes: Vec<Scope>,
    /// The namespace of its operation ids, to share it with other keys; one of its own where this is not given, and that of
    /// the password if it is empty.
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// For how long it can be used, such as 90d; without end where this is not given.
    #[arg(long, value_name = "DURATION", value_parser = read_ttl)]
    pub expires: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `scarce keys list`.
#[derive(Debug, Args)]
pub struct List {
    /// Where the keys are.
    #[command(flatten)]
    pub settings: KeyFlags,
    /// Print JSON, an object on each line.
    #[arg(long)]
    pub json: bool,
}

/// `scarce keys show`.
#[derive(Debug, Args)]
pub struct Show {
    /// Where the keys are.
    #[command(flatten)]
    pub settings: KeyFlags,
    /// Its id or its name.
    pub key: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `scarce keys rotate`.
#[derive(Debug, Args)]
pub struct Rotate {
    /// Where the keys are.
    #[command(flatten)]
    pub settings: KeyFlags,
    /// Its id or its name.
    pub key: String,
    /// How long the former one can still be used.
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = read_overlap)]
    pub overlap: u64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `scarce keys revoke`.
#[derive(Debug, Args)]
pub struct Revoke {
    /// Where the keys are.
    #[command(flatten)]
    pub settings: KeyFlags,
    /// Its id, or its name where one key of that name can be used.
    pub key: String,
    /// Revoke every key of that name.
    #[arg(long)]
    pub all: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// The columns of the list.
const COLUMNS: [&str; 8] =
    ["id", "name", "standing", "scopes", "namespace", "created", "expires", "last_used"];

/// The longest time of a key: a hundred years.
const TTL_MS_MAX: u64 = 36_500 * 86_400_000;

fn read_ttl(text: &str) -> Result<u64, String> {
    duration::read(text, &(1_000..=TTL_MS_MAX)).map_err(|shape| format!("must be {shape}"))
}

fn read_overlap(text: &str) -> Result<u64, String> {
    duration::read(text, &(0..=TTL_MS_MAX)).map_err(|shape| format!("must be {shape}"))
}

pub(super) fn run(keys: &Keys) -> Ended {
    match keys {
        Keys::Create(options) => create(options),
        Keys::List(options) => list(options),
        Keys::Show(options) => show(options),
        Keys::Rotate(options) => rotate(options),
        Keys::Revoke(options) => revoke(options),
    }
}

/// The store of the server with these settings. Who names a Redis and no engine means that Redis.
fn open(flags: &KeyFlags) -> Result<KeyStore, Failed> {
    let is_given = |key: &str| flags.0.given.iter().any(|given| given.key == key);
    let mut settings = super::config::load(&flags.0)?.settings;
    if is_given("redis_url") && !is_given("engine") {
        settings.engine = EngineChoice::Redis;
    }
    Ok(KeyStore::of(&settings)?)
}

pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn create(options: &Create) -> Ended {
    let asked = Asked {
        name: options.name.clone(),
        scopes: options.scopes.clone(),
        namespace: options.namespace.clone(),
        ttl_ms: options.expires,
    };
    make(&options.settings, options.json, |ring, shown| ring.create(&asked, shown, now_ms()))
}

fn rotate(options: &Rotate) -> Ended {
    make(&options.settings, options.json, |ring, shown| {
        ring.rotate(&options.key, shown, options.overlap, now_ms())
    })
}

/// Makes a key. It is printed before it is kept: one that nobody saw must not be there, nor end another one.
fn make(
    flags: &KeyFlags,
    as_json: bool,
    mut change: impl FnMut(&mut Ring, &Shown) -> Result<Key, KeyError>,
) -> Ended {
    if leads_nowhere() {
        return Err(KeyError::Unseen(std::io::Error::other("standard output leads nowhere")).into());
    }
    let store = open(flags)?;
    let shown = Shown::draw().map_err(KeyError::from)?;
    let mut is_printed = false;
    let made = store.change(|ring| {
        let key = change(ring, &shown)?;
        if !is_printed {
            present(&store, &key, &shown, as_json).map_err(KeyError::Unseen)?;
            is_printed = true;
        }
        Ok(())
    });
    match made {
        Err(error) if is_printed => {
            let id = shown.id;
            let doubt =
                format!("{error}; the key {id} was printed and not kept, unless 'scarce keys list' shows it");
            Err(Failed::text(Failed::from(error).exit, doubt))
        }
        made => made.map(|()| Exit::Done).map_err(Failed::from),
    }
}

/// Whether what is printed is thrown away: standard output was closed, or is the null device.
fn leads_nowhere() -> bool {
    let out = std::io::stdout().as_fd().try_clone_to_owned().and_then(|out| File::from(out).metadata());
    let null = std::fs::metadata("/dev/null");
    matches!((out, null), (Ok(out), Ok(null)) if out.file_type().is_char_device() && out.rdev() == null.rdev())
}

/// Prints a new key: its text alone on stdout, so that it can be put into a file, and what is to be said of it on stderr,
/// which nobody needs to read.
fn present(store: &KeyStore, key: &Key, shown: &Shown, as_json: bool) -> std::io::Result<()> {
    let mut stderr = std::io::stderr().lock();
    for scope in &key.scopes {
        if let Some(warning) = scope.warning() {
            let _ = writeln!(stderr, "warning: the scope {scope} {warning}");
        }
    }
    let mut stdout = std::io::stdout().lock();
    if as_json {
        let mut json = key.public_json();
        json["key"] = shown.reveal().into();
        writeln!(stdout, "{json}")?;
    } else {
        let _ =
            writeln!(stderr, "key {} of '{}' in {}; it is shown this once:", key.id, key.name, store.place());
        writeln!(stdout, "{}", shown.reveal())?;
    }
    stdout.flush()
}

fn list(options: &List) -> Ended {
    let store = open(&options.settings)?;
    let (ring, uses) = (store.load()?, store.last_uses()?);
    if ring.is_empty() && !options.json {
        writeln!(std::io::stderr(), "there are no keys in {}", store.place())?;
        return Ok(Exit::Done);
    }
    let rows: Vec<Value> = ring.keys().map(|key| row(key, &uses, options.json)).collect();
    print_rows(&rows, &COLUMNS, options.json)?;
    Ok(Exit::Done)
}

fn show(options: &Show) -> Ended {
    let store = open(&options.settings)?;
    let (ring, uses) = (store.load()?, store.last_uses()?);
    let row = row(ring.find(&options.key, now_ms())?, &uses, options.json);
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{row}")?;
        return Ok(Exit::Done);
    }
    for name in COLUMNS {
        writeln!(out, "{name:<10}  {}", row[name].as_str().unwrap_or("-"))?;
    }
    Ok(Exit::Done)
}

fn row(key: &Key, uses: &BTreeMap<KeyId, u64>, as_json: bool) -> Value {
    let standing = key.standing(now_ms()).word();
    let used_ms = uses.get(&key.id).copied();
    if as_json {
        let mut json = key.public_json();
        json["standing"] = standing.into();
        json["last_used_ms"] = used_ms.into();
        return json;
    }
    let time = |ms: Option<u64>| {
        let at = ms.and_then(|ms| Timestamp::from_millisecond(i64::try_from(ms).ok()?).ok());
        at.map_or_else(|| "-".to_owned(), |at| at.to_string())
    };
    let scopes: Vec<String> = key.scopes.iter().map(ToString::to_string).collect();
    let namespace = if key.namespace.is_empty() { "(the password's)" } else { &key.namespace };
    json!({
        "id": key.id.to_string(),
        "name": key.name,
        "standing": standing,
        "scopes": scopes.join(" "),
        "namespace": namespace,
        "created": time(Some(key.created_ms)),
        "expires": time(key.expires_ms),
        "last_used": time(used_ms),
    })
}

fn revoke(options: &Revoke) -> Ended {
    let store = open(&options.settings)?;
    let revoked = store.change(|ring| ring.revoke(&options.key, options.all, now_ms()))?;
    for (id, is_new) in revoked {
        if options.json {
            writeln!(std::io::stdout(), "{}", json!({ "id": id.to_string(), "was_revoked": !is_new }))?;
            continue;
        }
        let text = if is_new { "is revoked; servers notice within a second" } else { "was revoked already" };
        writeln!(std::io::stderr(), "key {id} {text}")?;
    }
    Ok(Exit::Done)
}

impl From<KeyStoreError> for Failed {
    fn from(error: KeyStoreError) -> Self {
        let exit = match &error {
            KeyStoreError::Redis(_) => Exit::Unreachable,
            KeyStoreError::Change(KeyError::Damaged(_) | KeyError::Random(_) | KeyError::Unseen(_)) => {
                Exit::Failed
            }
            KeyStoreError::Change(_) => Exit::Usage,
            KeyStoreError::Moved { .. } => Exit::Refused,
            _ => Exit::Failed,
        };
        Self::new(exit, &error)
    }
}

impl From<KeyError> for Failed {
    fn from(error: KeyError) -> Self {
        KeyStoreError::Change(error).into()
    }
}
