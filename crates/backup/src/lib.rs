//! Backups of the embedded engine: full and incremental, made beside a running server, in a folder or another store; and of state
//! that is elsewhere, which its engine gives as files.
//!
//! ```text
//! backups/<id>.manifest    what a backup consists of; written last, and without it there is no backup
//! data/<id>/<hash>         pieces of files that this backup brought; later ones refer to them
//! log/<id>/<number>-<time> what was logged after the backup, shipped by a running server
//! deployment               whose backups these are
//! pending/<id>             a backup that is being made: nothing of it is removed
//! ```
//!
//! Must not know: the command line, and how the engine decides. It copies files that
//! [`inventory`](scarce_engine_embedded::inventory()) names, and gives them back as a [`Storage`] to restore from.
//!
//! Where to begin: [`create()`], then [`Manifest`]; then [`Stream`], which ships the log that follows a backup. A restore
//! reads through [`BackupStorage`].
//!
//! [`Storage`]: scarce_engine_embedded::storage::Storage

#![forbid(unsafe_code)]

mod attempt;
mod binding;
mod catalog;
mod choose;
mod create;
mod error;
mod former;
mod history;
mod key;
mod live;
mod log;
mod manifest;
mod piece;
mod prune;
mod ship;
#[cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on fails"))]
mod shipped;
mod source;
pub mod store;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests;
mod there;
mod verify;

pub use binding::{check_there, remember};
pub use catalog::{Listed, list};
pub use choose::{Chosen, Point, choose};
pub use create::{BackupProgress, CreateOptions, create};
pub use error::BackupError;
pub use key::{Key, KeyError, Keys};
pub use live::{LiveSource, MadeFile, MadePartition, create_live, read_file};
pub use log::{LogEnd, ShippedLog, log_end, read_log};
pub use manifest::{FilePart, Manifest, PartitionPart, Piece};
pub use piece::Vault;
pub use prune::{Keep, Pruned, prune};
pub use ship::{Shipped, Stream, open_stream};
pub use shipped::Reached;
pub use source::BackupStorage;
pub use verify::{Damage, Verified, verify};
