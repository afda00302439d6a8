//! Making a backup beside a running server.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use scarce_engine::random::{self, hex};
use scarce_engine_embedded::deployment::Deployment;
use scarce_engine_embedded::lock::{DirectoryLock, Hold, LockError};
use scarce_engine_embedded::storage::{FileStorage, Storage, StorageFile};
use scarce_engine_embedded::{
    EmbeddedError, Inventory, InventoryFile, PartitionFiles, inventory, partition_directory,
};

use crate::attempt::{Attempt, clear_left};
use crate::binding::{bind, check_known};
use crate::catalog::manifest_name;
use crate::former::{Former, files_there, former_backup};
use crate::manifest::{Beginning, FilePart, Manifest, PartitionPart, Piece};
use crate::piece::PIECE_BYTES;
use crate::prune::{pending_name, remove_all};
use crate::store::StoreError;
use crate::{BackupError, Vault};

/// What to back up, and how.
#[derive(Clone, Copy)]
pub struct CreateOptions<'a> {
    /// The data directory; a server may be running on it.
    pub data: &'a Path,
    /// Whether everything is read and put again, without referring to earlier backups.
    pub is_full: bool,
    /// Asked before each piece is put: why it is not to be made after all.
    pub abandon: &'a (dyn Fn() -> Option<String> + Sync),
}

impl<'a> CreateOptions<'a> {
    /// An incremental backup of a data directory, made to its end.
    #[must_use]
    pub fn of(data: &'a Path) -> Self {
        Self { data, is_full: false, abandon: &|| None }
    }
}

/// How far a backup has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupProgress {
    /// The partition.
    pub partition: u32,
    /// Bytes that are in the store.
    pub bytes_done: u64,
    /// Bytes of the partition.
    pub bytes_total: u64,
}

const DEPLOYMENT_FILE: &str = "deployment.toml";
const DEPLOYMENT_BYTES_MAX: u64 = 64 << 10;

/// How often a directory is looked at again that changed meanwhile.
const ATTEMPTS_MAX: u32 = 5;

/// Makes a backup, and gives its manifest and what was left out because it is damaged. It is there once this has
/// returned, and not before, unless the store did not answer when the manifest was put.
///
/// # Errors
/// When the data cannot be read or is damaged, the store fails, or has backups of another deployment. Then nothing is
/// left but what [`prune`](crate::prune()) removes.
pub fn create(
    vault: &Vault,
    options: CreateOptions<'_>,
    on_progress: &mut dyn FnMut(BackupProgress),
) -> Result<(Manifest, Vec<String>), BackupError> {
    check_known(vault, options.data)?;
    let left = clear_left(vault, options.data);
    let id = new_id()?;
    let attempt = Attempt::begin(vault, options.data, &id, left);
    vault.store.put(&pending_name(&id), b"")?;
    vault.store.settle()?;
    attempt.expect(false);
    let made = load_deployment(options.data).and_then(|deployment| {
        let whose = (hex(&deployment.deployment_id), options.is_full);
        Making::begin(vault, whose, options.abandon, &id)?.run(options.data, &deployment, on_progress)
    });
    let mut may_come = false;
    let made = made.and_then(|made| {
        attempt.expect(true);
        let published = publish(vault, &made.0);
        may_come = matches!(published, Err(BackupError::Store(StoreError::Unanswered { .. })));
        published.map(|()| made)
    });
    if may_come {
        // A manifest that gets there later needs its pieces. The next backup removes them, or pruning.
        return made;
    }
    attempt.expect(false);
    // Where the store fails again, the next backup removes it later.
    let cleared = if made.is_err() { take_back(vault, &id) } else { Ok(()) };
    let removed = vault.store.remove(&pending_name(&id)).and_then(|()| vault.store.settle());
    if cleared.is_ok() && removed.is_ok() {
        attempt.end();
    }
    let made = made?;
    // The backup is complete; that it still counts as one in the making holds up nothing but pruning.
    drop(removed);
    Ok(made)
}

fn load_deployment(data: &Path) -> Result<Deployment, BackupError> {
    let root = FileStorage::open_read_only(data).map_err(EmbeddedError::from)?;
    let deployment = Deployment::load(&root).map_err(EmbeddedError::from)?;
    deployment.ok_or_else(|| {
        let data = data.display();
        BackupError::NotFound(format!("{data} holds no deployment; name the directory of 'scarce serve'"))
    })
}

/// Puts the manifest: from then on the backup is there.
pub(crate) fn publish(vault: &Vault, manifest: &Manifest) -> Result<(), BackupError> {
    let (store, id) = (&vault.store, &manifest.id);
    store.settle()?;
    store.put(&manifest_name(id), &manifest.encode(&vault.keys))?;
    store.settle()?;
    match store.get(&pending_name(id), 1) {
        // Where pruning took it for abandoned, pieces may be gone.
        Err(StoreError::Missing { place }) => {
            let text = format!("{place} was removed: 'prune' took this backup for abandoned; make it again");
            Err(BackupError::NotFound(text))
        }
        found => Ok(found.map(drop)?),
    }
}

/// Removes what was put. The manifest may be among it, and goes first: what it names stays until then.
pub(crate) fn take_back(vault: &Vault, id: &str) -> Result<(), BackupError> {
    vault.store.remove(&manifest_name(id))?;
    vault.store.settle()?;
    remove_all(&*vault.store, &format!("data/{id}/"))
}

pub(crate) fn new_id() -> Result<String, BackupError> {
    let salt: [u8; 4] = random::bytes().map_err(BackupError::Random)?;
    let now = Timestamp::from_millisecond(i64::try_from(now_ms()).unwrap_or(0)).unwrap_or_default();
    Ok(format!("{}-{}", now.strftime("%Y%m%dT%H%M%SZ"), hex(&salt)))
}

pub(crate) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// A backup that is being put into a store.
pub(crate) struct Making<'a> {
    vault: &'a Vault,
    abandon: &'a (dyn Fn() -> Option<String> + Sync),
    pub(crate) manifest: Manifest,
    former: Former,
    /// Pieces that the store has for certain, by their hashes.
    pieces: BTreeMap<String, Piece>,
    problems: Vec<String>,
}

impl<'a> Making<'a> {
    /// Begins a backup of a deployment, which is a full one if that is asked for.
    pub(crate) fn begin(
        vault: &'a Vault,
        (deployment_id, is_full): (String, bool),
        abandon: &'a (dyn Fn() -> Option<String> + Sync),
        id: &str,
    ) -> Result<Self, BackupError> {
        let key = vault.keys.first().map(|key| key.id().to_owned());
        let former = former_backup(vault, &deployment_id)?;
        bind(vault, &deployment_id)?;
        let number = former.number + 1;
        let former = former.manifest;
        let former = former.filter(|former| !is_full && former.key == key);
        let beginning = Beginning {
            id: id.to_owned(),
            deployment: deployment_id,
            number,
            builds_on: former.as_ref().map(|former| former.id.clone()),
            full_at_ms: former.as_ref().map_or(0, Manifest::full_at_ms),
            key,
        };
        let manifest = Manifest::begin(beginning);
        let former = former.map(|former| files_there(vault, former)).transpose()?.unwrap_or_default();
        let pieces = former.values().flat_map(|file| &file.pieces);
        let pieces = pieces.map(|piece| (piece.hash.clone(), piece.clone())).collect();
        Ok(Self { vault, abandon, manifest, former, pieces, problems: Vec::new() })
    }

    fn run(
        mut self,
        data: &Path,
        deployment: &Deployment,
        on_progress: &mut dyn FnMut(BackupProgress),
    ) -> Result<(Manifest, Vec<String>), BackupError> {
        // Before it is begun, so that every partition still leads back to that time when its turn comes.
        let hold = |partition| Hold::take(data.join(partition_directory(partition)));
        let holds: Vec<_> =
            (0..deployment.partitions).map(hold).collect::<Result<_, _>>().map_err(EmbeddedError::from)?;
        self.manifest.begun_at_ms = now_ms();
        let root = FileStorage::open_read_only(data).map_err(EmbeddedError::from)?;
        let file = root.open(DEPLOYMENT_FILE).map_err(EmbeddedError::from)?;
        let mut head = vec![0; usize::try_from(DEPLOYMENT_BYTES_MAX).unwrap_or(0)];
        let read = file.read_at(0, &mut head).map_err(EmbeddedError::from)?;
        head.truncate(read);
        let length = read as u64;
        let file =
            InventoryFile { name: DEPLOYMENT_FILE.to_owned(), length, head, end: length, is_known: false };
        let part = self.put_file(&root, &file, None, &mut |_| {})?;
        self.manifest.files.push(part);
        for partition in 0..deployment.partitions {
            self.put_partition(data, (deployment, partition), on_progress)?;
        }
        drop(holds);
        self.manifest.ended_at_ms = now_ms();
        Ok((self.manifest, self.problems))
    }

    fn put_partition(
        &mut self,
        data: &Path,
        (deployment, partition): (&Deployment, u32),
        on_progress: &mut dyn FnMut(BackupProgress),
    ) -> Result<(), BackupError> {
        let directory = data.join(partition_directory(partition));
        let storage = FileStorage::open_read_only(&directory).map_err(EmbeddedError::from)?;
        let storage: Arc<dyn Storage> = Arc::new(storage);
        let found = self.take_inventory(data, (deployment, partition), &storage)?;
        let looked_at_ms = now_ms();
        let mut progress = BackupProgress {
            partition,
            bytes_done: 0,
            bytes_total: found.files.iter().map(|file| file.end).sum(),
        };
        let mut files = Vec::new();
        for file in &found.files {
            let mut advance = |bytes| {
                progress.bytes_done += bytes;
                on_progress(progress);
            };
            files.push(self.put_file(&*storage, file, Some(partition), &mut advance)?);
        }
        self.problems
            .extend(found.problems.iter().map(|problem| format!("partition {partition}: {problem}")));
        self.manifest.partitions.push(PartitionPart {
            partition,
            epoch: found.epoch,
            first_sequence: found.first_sequence,
            last_sequence: found.last_sequence,
            last_at_ms: found.last_at,
            looked_at_ms,
            is_cut: found.is_cut,
            snapshots: found.snapshots,
            files,
        });
        Ok(())
    }

    fn take_inventory(
        &self,
        data: &Path,
        (deployment, partition): (&Deployment, u32),
        storage: &Arc<dyn Storage>,
    ) -> Result<Inventory, BackupError> {
        let files = PartitionFiles { storage: storage.clone(), deployment, partition };
        let known = |name: &str, length: u64, head: &[u8]| self.known(partition, name, length, head);
        let mut attempt = 1;
        loop {
            // Where a server runs, it alone knows whether the last frames are durable, unless they say so.
            let is_at_rest = !matches!(
                DirectoryLock::share(data),
                Err(LockError::Held { .. } | LockError::Unusable { .. })
            );
            match inventory(&files, is_at_rest, &known) {
                Err(_) if !is_at_rest && attempt < ATTEMPTS_MAX => attempt += 1,
                found => return Ok(found?),
            }
        }
    }

    fn known(&self, partition: u32, name: &str, length: u64, head: &[u8]) -> Option<u64> {
        let former = self.former.get(&(Some(partition), name.to_owned()))?;
        let first = former.pieces.first()?;
        let is_same = former.length == length && first.hash == self.vault.name_of(head);
        is_same.then(|| former.bytes())
    }

    fn put_file(
        &mut self,
        storage: &dyn Storage,
        file: &InventoryFile,
        partition: Option<u32>,
        on_bytes: &mut dyn FnMut(u64),
    ) -> Result<FilePart, BackupError> {
        if file.is_known
            && let Some(former) = self.former.get(&(partition, file.name.clone()))
        {
            on_bytes(file.end);
            return Ok(former.clone());
        }
        let mut pieces = Vec::new();
        if !file.head.is_empty() {
            pieces.push(self.put_piece(&file.head)?);
            on_bytes(file.head.len() as u64);
        }
        let mut at = file.head.len() as u64;
        if at < file.end {
            let opened = storage.open(&file.name).map_err(EmbeddedError::from)?;
            let mut content = vec![0; PIECE_BYTES];
            while at < file.end {
                let wanted = usize::try_from(file.end - at).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
                read_whole(&*opened, storage, &file.name, at, &mut content[..wanted])?;
                pieces.push(self.put_piece(&content[..wanted])?);
                at += wanted as u64;
                on_bytes(wanted as u64);
            }
        }
        Ok(FilePart { name: file.name.clone(), length: file.length, pieces })
    }

    /// Puts a file that is made while it is put.
    pub(crate) fn put_made(&mut self, name: &str, content: &[u8]) -> Result<FilePart, BackupError> {
        let pieces = content.chunks(PIECE_BYTES).map(|piece| self.put_piece(piece));
        let pieces = pieces.collect::<Result<_, _>>()?;
        Ok(FilePart { name: name.to_owned(), length: content.len() as u64, pieces })
    }

    fn put_piece(&mut self, content: &[u8]) -> Result<Piece, BackupError> {
        if let Some(reason) = (self.abandon)() {
            return Err(BackupError::Abandoned(reason));
        }
        let hash = self.vault.name_of(content);
        if let Some(known) = self.pieces.get(&hash) {
            return Ok(known.clone());
        }
        let piece = Piece { hash, bytes: content.len() as u64, of: self.manifest.id.clone() };
        self.vault.put(&piece, content)?;
        self.pieces.insert(piece.hash.clone(), piece.clone());
        Ok(piece)
    }
}

fn read_whole(
    file: &dyn StorageFile,
    storage: &dyn Storage,
    name: &str,
    at: u64,
    content: &mut [u8],
) -> Result<(), BackupError> {
    let read = file.read_at(at, content).map_err(EmbeddedError::from)?;
    if read == content.len() {
        return Ok(());
    }
    let reason = "it became shorter while it was read".to_owned();
    Err(BackupError::Damaged { place: storage.locate(name), reason })
}
