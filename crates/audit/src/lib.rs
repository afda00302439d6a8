//! The audit log: who administered what, and who was denied. A folder of files that are only appended to, a line of JSON for each record.
//!
//! Must not know: a port, a key, an engine, or a setting's name.
//!
//! Where to begin: [`AuditLog`], which takes records while a server runs; [`Folder`], the files; [`Record`], one line.

#![forbid(unsafe_code)]

mod acts;
mod flood;
mod folder;
mod log;
mod read;
mod record;
mod sent;

pub use acts::is_administrative;
pub use folder::{Bounds, Folder};
pub use log::{AuditFigures, AuditLog};
pub use read::{Filter, Page, Position};
pub use record::{Kind, Record, Who};
pub use sent::Sent;
