//! Outside books against what Scarce has booked: a bank's statement against the movements of an account, a stock count
//! against the stock of a moment.
//!
//! ```text
//! file ─▶ statement: lines with day, amount, operation, references; bad lines with the reason
//!             │
//! state ─▶ matcher ◀─ movements
//!             │ by operation, then by reference, then by amount and day
//!             ▼
//!         report, and the state for the next file
//! ```
//!
//! Must not know: where our movements come from, settings, ports, databases. Everything here is pure but for the input that is
//! handed over.

#![forbid(unsafe_code)]

mod balance;
mod camt;
mod csv;
mod day;
mod error;
mod index;
mod items;
mod keys;
mod map;
mod matching;
mod mt940;
mod number;
mod records;
mod report;
mod state;
mod statement;
mod text;

pub use day::Day;
pub use error::BookError;
pub use items::{ITEMS_MAX, Item, Items};
pub use map::{Format, Here, Kind, Map, There, Units};
pub use matching::{Comparing, Matcher, Movement, OPEN_MAX};
pub use number::Numbers;
pub use report::{Finding, Matched, Matter, Pair, Report, Tally};
pub use state::{Again, Closed, State};
pub use statement::{BadLine, Reading, Statement};
