//! The store of backups and the keys to it, as they are typed.

use std::path::PathBuf;

use clap::Args;
use scarce_backup::{Keys, Vault, store};

use crate::{Exit, Failed};

/// The key of encrypted backups.
#[derive(Debug, Args)]
pub struct KeyFile {
    /// A file of keys for backups, one on each line; the first one encrypts. 'scarce backup key' makes it.
    #[arg(long, env = "SCARCE_BACKUP_KEY_FILE", value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// Also take backups that are not encrypted although a key is given, and make one beside others that are or are not
    /// encrypted, unlike this one.
    #[arg(long)]
    pub allow_plain: bool,
}

/// Opens a store with the keys to it.
pub(crate) fn open_vault(url: &str, key: &KeyFile) -> Result<Vault, Failed> {
    let store = store::open(url).map_err(|error| Failed::new(Exit::Usage, &error))?;
    let keys = key.key_file.as_deref().map(Keys::read).transpose();
    let keys = keys.map_err(|error| Failed::new(Exit::Failed, &error))?.unwrap_or_default();
    Ok(Vault { store, keys: keys.allowing_plain(key.allow_plain) })
}
