//! A deployment moves beside its running server. The one who moves it talks to that server over a socket in its data
//! directory, so that who may use the files may move them:
//!
//! ```text
//! who moves: ARRIVAL                                      the server: DEPARTURE
//!   begin ─────────────────────────────────────────────▶  one move at a time
//!   copy the files, open the copy, follow the log   ◀───  how far it is durable
//!   compare                                         ◀───  digests
//!   rest ──────────────────────────────────────────────▶  takes no changes: a second at most
//!   take the rest, mark the new files as whole
//!   finish ────────────────────────────────────────────▶  marks the old files: they are served no more
//! ```
//!
//! Where the connection ends before the last step, the server goes on as before.

mod arrival;
mod belongings;
mod departure;
mod wire;

pub use arrival::{Arrival, ArrivalCopy, ArrivalError, Arrived};
pub use belongings::{BelongingError, take_along};
pub(crate) use departure::Departure;

/// The socket in the data directory.
const SOCKET_NAME: &str = "relocation.socket";
