//! Backups: the store and the keys to it.

mod vault;

pub(super) use vault::{KeyFile, open_vault};
