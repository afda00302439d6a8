//! The embedded engine: one owner thread per partition, a thread beside it that writes and syncs, and one that
//! makes snapshots.
//!
//! ```text
//! sockets, inbox → owner: stamp, decide, apply, encode → committer: append, sync → answers
//!                                                      → keeper: snapshots, spare segments
//! ```
//!
//! State lives in memory; the journal and snapshots are files in a data directory. A port may serve its sockets on
//! an owner's own thread ([`Port`]); everybody else hands batches to the [`Inbox`] through
//! [`Engine`](scarce_engine::Engine).
//!
//! This crate must not know sockets, wire formats, an asynchronous runtime, or another engine, and touches the disk
//! only through [`storage::Storage`].
//!
//! Begin reading at [`open`] and [`Owner`]; then [`journal`].

mod batch;
mod commit;
pub mod consumers;
pub mod deployment;
mod engine;
mod error;
mod fold;
mod image;
mod inbox;
mod inputs;
mod inventory;
pub mod journal;
mod keeper;
pub mod lock;
pub mod log;
mod look;
mod memory;
mod open;
mod owner;
mod partition;
mod progress;
mod reach;
mod receipts;
mod recovery;
pub mod relocation;
mod restore;
mod run;
mod runs;
mod settings;
pub mod snapshot;
pub mod storage;
mod sweep;
mod timekeeper;
mod waker;

pub use engine::Embedded;
pub use error::EmbeddedError;
pub use fold::FoldError;
pub use inbox::{Inbox, Mail};
pub use inventory::{Inventory, InventoryFile, KnownFile, inventory};
pub use look::{
    LogVerdict, OnEntries, PartitionFiles, Refusal, SnapshotVerdict, base_image, base_machine, read_entries,
    verify_snapshots,
};
pub use memory::{MemoryBudget, MemoryMeter, TooLarge};
pub use open::{DeploymentFiles, RecoveredDeployment, Running, open, open_files, open_standbys};
pub use owner::{Owner, PendingAnswer};
pub use partition::partition_directory;
pub use receipts::ReceiptsError;
pub use recovery::{RecoveryProgress, machine_settings, newest_machine, verify_partition};
pub use restore::{RestoreError, Restored, Until, restore_partition};
pub use run::{Port, SilentPort};
pub use runs::RunError;
pub use scarce_core::event::epoch;
pub use settings::{ClockChoice, EmbeddedSettings, OPERATIONS_IN_MEMORY, SystemClock};
