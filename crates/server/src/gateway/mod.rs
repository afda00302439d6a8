//! The ports through which commands arrive.

mod access;
pub mod http;
mod places;
pub mod resp;

pub use access::Access;
pub use places::{Place, Places};
