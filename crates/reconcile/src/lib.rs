//! Whether everything that is derived from a log agrees with it, and where it parts: the engine's state, the tables in
//! SQL, the credits of claimed packets, and what must hold in any state.
//!
//! ```text
//! log ─▶ fold ─┬─ figures of each event ──────────▶ log
//!              ├─ digest of each resource ◀─ engine ▶ engine
//!              ├─ sums of the state ──────────────▶ invariants
//!              ├─ rows ◀──────────────────── tables ▶ tables, settlement
//!              └─ messages ◀───────────────── topic ▶ topic
//! findings ─▶ the log once more ─▶ the first event after which the two sides part
//! ```
//!
//! Begin with [`reconcile`]. It asks a [`LogSource`] for the log, an [`EngineSource`] for the state as the engine answers
//! it, and the tables for their rows, and gives a [`Report`]. Nothing is changed anywhere,
//! unless rows of the tables are to be put right ([`Mending`]).
//!
//! This crate must not know ports or settings, nor how a database is reached.

mod engine;
mod error;
mod figures;
mod files;
mod findings;
mod fold;
mod html;
mod invariants;
mod mirror;
mod movements;
mod report;
mod rows;
mod run;
mod served;
mod settlement;
mod source;
mod tables;
mod topic;
mod touched;
mod trace;

pub use error::ReconcileError;
pub use files::{EndOf, FilesLog, OpenError};
pub use html::{Page, safe};
pub use mirror::MirrorSide;
pub use movements::{LogMovement, Wanted, movements, units_then};
pub use report::{Check, CheckKind, CheckState, EventPlace, Finding, Reach, RepairReport, Report};
pub use rows::{RowsReport, compare_rows};
pub use run::{Mending, Options, ReconcileProgress, Sources, reconcile};
pub use scarce_outflow::LogCopy;
pub use served::Served;
pub use source::{EngineSource, Figures, HeldDigest, LogSource, Take, figures_of, look_commands};
