//! Whether the store still has the pieces that a backup names: by their names and lengths, without reading them.

use std::collections::{BTreeMap, BTreeSet};

use crate::prune::DATA;
use crate::store::StoredObject;
use crate::verify::users;
use crate::{BackupError, Manifest, Piece, Vault};

/// The objects with pieces that a store has, with their lengths.
pub(crate) struct Pieces(BTreeMap<String, u64>);

impl Pieces {
    /// Those that a store has now.
    pub(crate) fn list(vault: &Vault) -> Result<Self, BackupError> {
        Ok(Self::of(&vault.store.list(DATA)?))
    }

    /// Those below the folders in which a backup has pieces.
    pub(crate) fn list_for(vault: &Vault, manifest: &Manifest) -> Result<Self, BackupError> {
        let pieces = manifest.pieces();
        let folders: BTreeSet<_> = pieces.values().map(|piece| format!("{DATA}{}/", piece.of)).collect();
        let mut found = Vec::new();
        for folder in folders {
            found.extend(vault.store.list(&folder)?);
        }
        Ok(Self::of(&found))
    }

    pub(crate) fn of(objects: &[StoredObject]) -> Self {
        Self(objects.iter().map(|object| (object.name.clone(), object.bytes)).collect())
    }

    pub(crate) fn has(&self, piece: &Piece, is_encrypted: bool) -> bool {
        // Where a link takes the place of a folder, reading alone tells.
        self.0.contains_key(&format!("{DATA}{}", piece.of))
            || self.0.get(&piece.object()) == Some(&piece.stored_bytes(is_encrypted))
    }

    /// What a backup lacks of what its manifest names: the first piece with a file that needs it, and how many others.
    pub(crate) fn lacking(&self, vault: &Vault, manifest: &Manifest) -> Option<String> {
        let pieces = manifest.pieces();
        let is_encrypted = manifest.key.is_some();
        let mut lacking = pieces.iter().filter(|(_, piece)| !self.has(piece, is_encrypted));
        let (name, _) = lacking.next()?;
        let others = match lacking.count() {
            0 => String::new(),
            count => format!(", and so do {count} other pieces"),
        };
        let fault = if self.0.contains_key(name) { "has another length" } else { "is missing" };
        let users = users(manifest).remove(name).unwrap_or_default().join(", ");
        Some(format!("{} {fault}{others}; it is needed for {users}", vault.store.locate(name)))
    }
}
