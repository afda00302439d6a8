//! Waiting rooms: who wants something that is guarded takes a ticket, and may have it when its time has come.

mod file;
mod ticket;

pub use file::{Room, RoomFileError, read};
pub use ticket::{Ticket, TicketKey};
