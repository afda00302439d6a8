//! The doors through which commands come in.

mod access;
pub mod http;
pub mod resp;

pub use access::Access;
