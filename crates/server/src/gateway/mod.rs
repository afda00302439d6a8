//! The ports through which commands arrive.

mod access;
pub mod http;
pub mod resp;

pub use access::Access;
